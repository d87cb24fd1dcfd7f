//! The dialects of `dialects/`, compiled in.

use super::DialectFile;
use std::sync::OnceLock;

static TEXTS: &[&str] = &include!(concat!(env!("OUT_DIR"), "/dialects.rs"));

/// All of them, sorted by their names.
///
/// # Panics
/// When a file of `dialects/` is none.
pub fn built_in_dialects() -> &'static [DialectFile] {
    static FILES: OnceLock<Vec<DialectFile>> = OnceLock::new();
    FILES.get_or_init(|| {
        let files = TEXTS.iter().map(|text| toml::from_str(text));
        files
            .map(|file| file.expect("the files of dialects/ can be read"))
            .collect()
    })
}

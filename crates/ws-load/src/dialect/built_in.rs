//! The dialects that are compiled in: the files of `dialects/`.

use super::interpreter::read_dialect;
use run_record::{Dialect, DialectFile};
use std::sync::OnceLock;

/// The texts of all files in that folder, from the build script.
static TEXTS: &[&str] = &include!(concat!(env!("OUT_DIR"), "/dialects.rs"));

/// All of them.
pub fn built_in_dialects() -> &'static [DialectFile] {
    static FILES: OnceLock<Vec<DialectFile>> = OnceLock::new();
    FILES.get_or_init(|| {
        let files = TEXTS.iter().map(|text| read_dialect(text));
        files
            .map(|file| file.expect("the files of dialects/ can be read"))
            .collect()
    })
}

/// The file of a dialect at a URL; binary has none, and that of a plan is no built-in one.
pub(super) fn file(dialect: Dialect, url: &str) -> Option<&'static DialectFile> {
    let name = match dialect {
        Dialect::Phoenix if has_serializer_2(url) => "phoenix-2",
        Dialect::Binary | Dialect::File => return None,
        dialect => dialect.name(),
    };
    built_in_dialects().iter().find(|file| file.name == name)
}

/// The serializer follows from the parameter `vsn` of the URL's query, as in Phoenix itself.
fn has_serializer_2(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| {
        url.query_pairs()
            .any(|(key, value)| key == "vsn" && value.starts_with("2."))
    })
}

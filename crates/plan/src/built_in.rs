//! The dialects of `dialects/`, compiled in.

use super::DialectFile;
use std::sync::OnceLock;

/// A file of `dialects/`. It is read when it is asked for: reading all of them takes longer than all else
/// that a program does before its first connection.
struct BuiltIn {
    /// Name of the file and of the dialect.
    name: &'static str,
    text: &'static str,
    read: OnceLock<DialectFile>,
}

// `FILES`: all of them, sorted by their names.
include!(concat!(env!("OUT_DIR"), "/dialects.rs"));

impl BuiltIn {
    const fn new(name: &'static str, text: &'static str) -> Self {
        let read = OnceLock::new();
        Self { name, text, read }
    }

    fn file(&self) -> &DialectFile {
        let read = || toml::from_str(self.text).expect("the files of dialects/ can be read");
        self.read.get_or_init(read)
    }
}

/// All of them, sorted by their names.
///
/// # Panics
/// When a file of `dialects/` is none.
pub fn built_in_dialects() -> impl Iterator<Item = &'static DialectFile> + Clone {
    FILES.iter().map(BuiltIn::file)
}

/// The one of this name.
///
/// # Panics
/// As [`built_in_dialects`].
pub fn built_in_dialect(name: &str) -> Option<&'static DialectFile> {
    let mut files = FILES.iter();
    files.find(|file| file.name == name).map(BuiltIn::file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_name_of_its_dialect() {
        assert!(FILES.len() >= 4, "{}", FILES.len());
        for file in &FILES {
            assert_eq!(file.file().name, file.name);
        }
    }
}

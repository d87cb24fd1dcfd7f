//! A dialect in a file of its own.

use crate::error::PlanFileError;
use crate::text::bounded;
use crate::words;
use plan::DialectFile;
use std::fs::File;
use std::path::Path;

/// Longest file in bytes: the longest template, an example of its answer, and all else.
const LONGEST: u64 = 4 << 20;

/// Reads a dialect file. Whether it makes sense is not looked at.
///
/// # Errors
/// With the file, the line and the key, when it cannot be read or has a key or value that no
/// dialect has.
pub fn read_dialect(path: &Path) -> Result<DialectFile, PlanFileError> {
    let name = path.display().to_string();
    let read = File::open(path).and_then(|file| bounded(file, LONGEST));
    match read {
        Ok(text) => toml::from_str(&text).map_err(|error| words::of_file(&name, &text, &error)),
        Err(source) => Err(PlanFileError::Unreadable {
            what: "dialect file",
            name,
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"
name = "lines"
summary = "Lines of text."

[send]
echo = "echo {stamp}{padding}"

[[receive]]
means = "echo"
pattern = "echo {stamp}{padding}"
example = "echo {stamp}{padding}"
"#;

    fn read(text: &str) -> Result<DialectFile, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        std::fs::write(&path, text).unwrap();
        let place = format!("{}/", folder.path().display());
        read_dialect(&path).map_err(|error| error.to_string().replace(&place, ""))
    }

    #[test]
    fn what_is_wrong_is_told_in_one_line_with_its_place() {
        assert_eq!(read(LINES).unwrap().name, "lines");
        let changed = |from: &str, to: &str| {
            assert!(LINES.contains(from), "{from}");
            read(&LINES.replace(from, to)).unwrap_err()
        };
        for (from, to, expected) in [
            (
                "summary",
                "sumary",
                "x.toml, line 3: unknown key `sumary`; did you mean `summary`?",
            ),
            (
                "means",
                "meens",
                "x.toml, line 9: unknown key `receive.meens`; did you mean `receive.means`?",
            ),
            (
                "\"echo\"\npattern",
                "\"ecoh\"\npattern",
                "x.toml, line 9: `receive.means`: unknown value `ecoh`; did you mean `echo`?",
            ),
            (
                "summary",
                "# summary",
                "x.toml, line 1: the key `summary` is missing",
            ),
        ] {
            assert_eq!(changed(from, to), expected);
        }
        for (from, to) in [
            ("pattern =", "when = { \"/a\" = { equals = 1 } }\n#"),
            ("pattern =", "when = { \"/a\" = 1.5 }\n#"),
            ("name =", "name = ="),
            ("pattern =", "means = \"x\"\npattern ="),
        ] {
            let words = changed(from, to);
            assert!(words.starts_with("x.toml, line "), "{words}");
            assert!(!words.contains('\n'), "{words}");
        }
    }

    #[test]
    fn a_file_that_is_too_long_or_missing_is_named() {
        let long = format!("{LINES}#{}", "x".repeat(LONGEST as usize));
        let words = read(&long).unwrap_err();
        assert_eq!(
            words,
            "cannot read the dialect file x.toml: it is longer than 4 MiB"
        );
        let missing = read_dialect(Path::new("/nonexistent/x.toml")).unwrap_err();
        let missing = missing.to_string();
        assert!(
            missing.contains("/nonexistent/x.toml: No such file"),
            "{missing}"
        );
    }
}

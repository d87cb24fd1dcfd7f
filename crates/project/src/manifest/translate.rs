//! Turns the parser's messages into the words of the manifest's documentation.
//!
//! serde has no typed form of "unknown field"; its wording has been stable since 1.0 and the
//! tests of this folder pin it. A message that is not recognised passes through unchanged.

use super::suggestion;

pub(super) fn message(original: &str) -> String {
    let original = original.lines().next().unwrap_or(original);
    if let Some(rest) = original.strip_prefix("unknown field ") {
        let words = quoted(rest);
        if let Some((key, known)) = words.split_first() {
            return format!("unknown key \"{key}\"{}", suggestion(key, known.to_vec()));
        }
    }
    if let Some(rest) = original.strip_prefix("unknown variant ") {
        let words = quoted(rest);
        if let Some((value, known)) = words.split_first() {
            return format!(
                "unknown value \"{value}\"{}",
                suggestion(value, known.to_vec())
            );
        }
    }
    if let Some(rest) = original.strip_prefix("missing field ") {
        return format!("missing key \"{}\"", rest.trim_matches('`'));
    }
    original.to_owned()
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

//! The strings and numbers of a JSON text, and where they stand in it.

use serde::de::IgnoredAny;
use std::ops::Range;

/// A string or a number of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Its bytes; of a string those between the quotes.
    pub(super) range: Range<usize>,
    /// The nearest name before it; `value` where there is none.
    pub(super) key: String,
    pub(super) is_string: bool,
}

/// Where the JSON of a text begins: behind digits, as Socket.IO writes them. `None` where the rest is
/// neither an object nor an array.
pub(super) fn json_at(text: &str) -> Option<usize> {
    let at = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[at..];
    let is_json = rest.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(rest).is_ok();
    is_json.then_some(at)
}

/// The leaves of a text in their order; empty where it holds no JSON.
pub(super) fn leaves(text: &str) -> Vec<Leaf> {
    let Some(mut at) = json_at(text) else {
        return Vec::new();
    };
    let bytes = text.as_bytes();
    let (mut leaves, mut key) = (Vec::new(), "value".to_owned());
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let range = string_at(bytes, at);
                at = range.end + 1;
                let rest = text[at..].trim_start();
                if rest.starts_with(':') {
                    text[range].clone_into(&mut key);
                } else {
                    leaves.push(leaf(range, &key, true));
                }
            }
            b'-' | b'0'..=b'9' => {
                let is_of_number = |byte: &&u8| b"+-.eE0123456789".contains(byte);
                let length = bytes[at..].iter().take_while(is_of_number).count();
                leaves.push(leaf(at..at + length, &key, false));
                at += length;
            }
            _ => at += 1,
        }
    }
    leaves
}

fn leaf(range: Range<usize>, key: &str, is_string: bool) -> Leaf {
    Leaf {
        range,
        key: key.to_owned(),
        is_string,
    }
}

/// The bytes of the string whose quote is at `at`, in a valid text.
fn string_at(bytes: &[u8], at: usize) -> Range<usize> {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    at + 1..end.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(String, &str)> {
        let all = leaves(text).into_iter();
        all.map(|leaf| (leaf.key, &text[leaf.range])).collect()
    }

    #[test]
    fn leaves_have_the_name_before_them() {
        let text = r#"42["join",{"room": "a\"b","n":-1.5e3,"in":[1,{"x":true}],"e":""}]"#;
        let expected = [
            ("value", "join"),
            ("room", r#"a\"b"#),
            ("n", "-1.5e3"),
            ("in", "1"),
            ("e", ""),
        ];
        let expected = expected.map(|(key, text)| (key.to_owned(), text));
        assert_eq!(found(text), expected);
    }

    #[test]
    fn what_is_no_json_has_none() {
        for text in ["", "2", "42", "hello {\"a\":1}", "{\"a\":", "12 [1]"] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_leaf_is_a_value_of_the_text(text in r#"[0-9]{0,2}\{"[a-z\\\\"]{0,4}":("[^"]{0,3}"|[0-9]{1,3})\}"#) {
            for leaf in leaves(&text) {
                let written = &text[leaf.range.clone()];
                let written = if leaf.is_string { format!("\"{written}\"") } else { written.to_owned() };
                prop_assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok(), "{}", written);
            }
        }
    }
}

//! The strings and numbers of a JSON text, and where they stand in it.

use serde::de::IgnoredAny;
use std::ops::Range;

/// Longest name of a namespace of Socket.IO, in bytes.
const LONGEST_NAMESPACE: usize = 128;

/// A string or a number of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf<'t> {
    /// Its bytes; of a string those between the quotes.
    pub(super) range: Range<usize>,
    /// The nearest name before it; `value` where there is none.
    pub(super) key: &'t str,
    pub(super) is_string: bool,
}

/// What stands before the JSON of a packet of Socket.IO: `42`, `42/chat,17`, `451-/chat,`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packet<'t> {
    /// Digits of the type, with those of the acknowledgement where there is no namespace.
    pub(super) digits: &'t str,
    /// The count of attachments and the namespace, with what stands around them.
    pub(super) middle: &'t str,
    /// The number of the acknowledgement behind a namespace or attachments.
    pub(super) number: &'t str,
}

impl<'t> Packet<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let digits = |text: &'t str| {
            let count = text.bytes().take_while(u8::is_ascii_digit).count();
            text.split_at(count)
        };
        let (first, rest) = digits(text);
        if first.is_empty() {
            return Self::default();
        }
        let dash = usize::from(rest.starts_with('-'));
        let behind = &rest[dash..];
        let head = behind.bytes().take(LONGEST_NAMESPACE);
        let namespace = match behind.starts_with('/') {
            true => head
                .clone()
                .position(|byte| byte == b',')
                .map_or(0, |at| at + 1),
            false => 0,
        };
        let (middle, rest) = rest.split_at(dash + namespace);
        let number = if middle.is_empty() {
            ""
        } else {
            digits(rest).0
        };
        Self {
            digits: first,
            middle,
            number,
        }
    }

    pub(super) const fn length(&self) -> usize {
        self.digits.len() + self.middle.len() + self.number.len()
    }
}

/// Where the JSON of a text begins: behind what Socket.IO writes before it. `None` where the rest is
/// neither an object nor an array.
pub(super) fn json_at(text: &str) -> Option<usize> {
    let at = Packet::new(text).length();
    let rest = &text[at..];
    let is_json = rest.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(rest).is_ok();
    is_json.then_some(at)
}

/// The leaves of a text in their order; none where it holds no JSON.
pub(super) fn leaves(text: &str) -> impl Iterator<Item = Leaf<'_>> {
    let mut at = json_at(text).unwrap_or(text.len());
    let bytes = text.as_bytes();
    let mut key = "value";
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let range = string_at(bytes, at);
                    at = range.end + 1;
                    if text[at..].trim_start().starts_with(':') {
                        key = &text[range];
                        continue;
                    }
                    return Some(Leaf {
                        range,
                        key,
                        is_string: true,
                    });
                }
                b'-' | b'0'..=b'9' => {
                    let is_of_number = |byte: &&u8| b"+-.eE0123456789".contains(byte);
                    let length = bytes[at..].iter().take_while(is_of_number).count();
                    let range = at..at + length;
                    at += length;
                    return Some(Leaf {
                        range,
                        key,
                        is_string: false,
                    });
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// The bytes of the string whose quote is at `at`, in a valid text.
pub(super) fn string_at(bytes: &[u8], at: usize) -> Range<usize> {
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
        let owned = |leaf: Leaf<'_>| (leaf.key.to_owned(), &text[leaf.range]);
        leaves(text).map(owned).collect()
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

    #[test]
    fn what_stands_before_the_json_of_a_packet_is_known() {
        for (text, expected) in [
            ("42[1]", Some(("42", "", ""))),
            ("4217[1]", Some(("4217", "", ""))),
            ("40/admin,{\"sid\":\"x\"}", Some(("40", "/admin,", ""))),
            ("43/admin,17[]", Some(("43", "/admin,", "17"))),
            ("451-[{}]", Some(("451", "-", ""))),
            ("451-/a,7[{}]", Some(("451", "-/a,", "7"))),
            ("40/admin{}", None),
            ("/admin,{}", None),
        ] {
            let found = json_at(text).map(|_| Packet::new(text));
            let found = found.map(|of| (of.digits, of.middle, of.number));
            assert_eq!(found, expected, "{text}");
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

//! Bytes of a peer as they may be printed.

use std::fmt::Write as _;

/// The first `most` bytes of `bytes` in printable ASCII. Everything else is escaped, and so is the
/// backslash. The number of bytes that were cut off is added.
pub fn printable(bytes: &[u8], most: usize) -> String {
    let (shown, rest) = bytes.split_at(bytes.len().min(most));
    let mut text = String::with_capacity(shown.len());
    for &byte in shown {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(byte.into()),
            _ => write!(text, "{}", byte.escape_ascii()).expect("a String takes everything"),
        }
    }
    if !rest.is_empty() {
        write!(text, "... ({} more bytes)", rest.len()).expect("a String takes everything");
    }
    text
}

/// Words, perhaps of a peer, in which whatever a terminal would obey is escaped: control characters
/// but the tab, and characters that change the direction of what follows (Unicode, UAX 9).
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) {
            write!(out, "{}", c.escape_unicode()).expect("a String takes everything");
        } else {
            out.push(c);
        }
    }
    out
}

fn steers(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_printable_is_escaped_and_what_is_long_is_cut() {
        assert_eq!(
            printable(b"a \"b\"\\\x1b[31m\r\n\0", 100),
            r#"a "b"\\\x1b[31m\r\n\x00"#
        );
        assert_eq!(printable("é".as_bytes(), 100), r"\xc3\xa9");
        assert_eq!(printable(b"abcdef", 4), "abcd... (2 more bytes)");
        assert_eq!(printable(b"abcd", 4), "abcd");
    }

    #[test]
    fn words_keep_their_letters_and_lose_what_steers_a_terminal() {
        assert_eq!(
            escaped("caf\u{e9}\t\x1b[31m\n\u{9b}\u{202e}"),
            "caf\u{e9}\t\\u{1b}[31m\\u{a}\\u{9b}\\u{202e}"
        );
    }

    proptest! {
        #[test]
        fn escaped_words_hold_no_control_character(text: String) {
            prop_assert!(escaped(&text).chars().all(|c| c == '\t' || !c.is_control()));
        }

        #[test]
        fn no_byte_reaches_a_terminal_as_it_came(bytes: Vec<u8>, most in 0usize..200) {
            let text = printable(&bytes, most);
            prop_assert!(text.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            prop_assert!(text.len() <= 4 * most + 40);
        }
    }
}

//! Texts that are written with escapes, and where each byte of what they say stood.

use super::secret::Secret;
use std::ops::Range;

/// A text without its escapes.
pub(super) struct Decoded {
    pub(super) text: String,
    /// Where each of its bytes stood, and the end.
    at: Vec<usize>,
}

/// Reads the escape at the beginning of a text into another, and gives its length; 0 where none is.
type Escape = fn(&str, &mut String) -> usize;

impl Decoded {
    fn by(raw: &str, escape: Escape) -> Self {
        let (mut text, mut at) = (String::new(), Vec::new());
        let mut rest = raw;
        while let Some(letter) = rest.chars().next() {
            let begin = raw.len() - rest.len();
            let mut length = escape(rest, &mut text);
            if length == 0 {
                text.push(letter);
                length = letter.len_utf8();
            }
            at.resize(text.len(), begin);
            rest = rest.get(length..).unwrap_or_default();
        }
        at.push(raw.len());
        Self { text, at }
    }

    /// The string of JSON that stands between two quotes (RFC 8259, 7).
    pub(super) fn of_json(raw: &str) -> Self {
        Self::by(raw, of_json)
    }

    /// Where a part of it stood.
    pub(super) fn place(&self, range: &Range<usize>) -> Range<usize> {
        self.at[range.start]..self.at[range.end]
    }
}

/// Finds what `into` finds in a text that is written with escapes outside of any JSON.
pub(super) fn look(text: &str, into: &dyn Fn(&str) -> Vec<Secret>, out: &mut Vec<Secret>) {
    let ways: [(&[&str], Escape); 3] = [
        (&["%"], of_url),
        (&["&quot;", "&#", "&apos;", "&lt;", "&amp;"], of_markup),
        (&["\\\"", "\\u00"], of_quotes),
    ];
    for (signs, escape) in ways {
        if !signs.iter().any(|sign| text.contains(sign)) {
            continue;
        }
        let decoded = Decoded::by(text, escape);
        if decoded.text.len() < text.len() {
            for secret in into(&decoded.text) {
                out.push(Secret {
                    range: decoded.place(&secret.range),
                    name: secret.name,
                });
            }
        }
    }
}

fn of_json(rest: &str, out: &mut String) -> usize {
    if !rest.starts_with('\\') {
        return 0;
    }
    let length = match rest.as_bytes().get(1) {
        Some(b'u') => {
            let unit = |at: usize| u16::from_str_radix(rest.get(at..at + 4)?, 16).ok();
            let is_pair = unit(2).is_some_and(|unit| (0xD800..0xDC00).contains(&unit))
                && rest.get(6..8) == Some("\\u");
            if is_pair { 12 } else { 6 }
        }
        _ => 2,
    };
    let quoted = format!("\"{}\"", rest.get(..length).unwrap_or(rest));
    let read: String = serde_json::from_str(&quoted).unwrap_or_else(|_| "\u{fffd}".to_owned());
    out.push_str(&read);
    length
}

/// Percent-encoded bytes (RFC 3986, 2.1), as many as one character has.
fn of_url(rest: &str, out: &mut String) -> usize {
    let byte = |at: usize| {
        let digits = rest.get(at..at + 3)?.strip_prefix('%')?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex
            .then(|| u8::from_str_radix(digits, 16).ok())
            .flatten()
    };
    let bytes: Vec<u8> = (0..4).map_while(|index| byte(index * 3)).collect();
    let read = (1..=bytes.len()).find_map(|count| std::str::from_utf8(&bytes[..count]).ok());
    out.push_str(read.unwrap_or_default());
    read.map_or(0, |read| read.len() * 3)
}

fn of_markup(rest: &str, out: &mut String) -> usize {
    let entities = [
        ("&quot;", '"'),
        ("&#34;", '"'),
        ("&#x22;", '"'),
        ("&apos;", '\''),
        ("&#39;", '\''),
        ("&#x27;", '\''),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&amp;", '&'),
    ];
    let found = entities.iter().find(|(entity, _)| rest.starts_with(entity));
    out.extend(found.map(|(_, letter)| letter));
    found.map_or(0, |(entity, _)| entity.len())
}

fn of_quotes(rest: &str, out: &mut String) -> usize {
    let is_escape = ["\\\"", "\\\\", "\\u"]
        .iter()
        .any(|escape| rest.starts_with(escape));
    if is_escape { of_json(rest, out) } else { 0 }
}

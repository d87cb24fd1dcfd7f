//! What `--compression` offers: the words of `Sec-WebSocket-Extensions` (RFC 7692, 7.1), and a level.

use plan::{Compression, LEVELS, WINDOWS};

/// Of the flag without a value: the server may choose a window for what is sent.
pub(super) const DEFAULT: &str = "client_max_window_bits";

const WORDS: &str = "server_no_context_takeover, client_no_context_takeover, \
                     server_max_window_bits=8..15, client_max_window_bits[=8..15], level=1..9";

/// A text that offers no compression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoOffer {
    #[error("`{0}` stands twice")]
    Twice(String),
    #[error("`{0}` is no parameter of permessage-deflate: expected {WORDS}")]
    Unknown(String),
    #[error("{name} is a number from {least} to {most}, not `{text}`")]
    Number {
        name: String,
        text: String,
        least: u8,
        most: u8,
    },
}

/// Parameters with `;` or `,` between them.
pub(super) fn parse(text: &str) -> Result<Compression, NoOffer> {
    let mut read = Compression::default();
    let mut seen = Vec::new();
    let words = text.split([';', ',']).map(str::trim);
    for word in words.filter(|word| !word.is_empty()) {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (word, None),
        };
        if seen.contains(&name) {
            return Err(NoOffer::Twice(name.to_owned()));
        }
        seen.push(name);
        match (name, value) {
            ("server_no_context_takeover", None) => read.server_no_context_takeover = true,
            ("client_no_context_takeover", None) => read.client_no_context_takeover = true,
            ("client_max_window_bits", None) => read.client_max_window_bits = Some(WINDOWS.1),
            ("client_max_window_bits", Some(bits)) => {
                read.client_max_window_bits = Some(number(name, bits, WINDOWS)?);
            }
            ("server_max_window_bits", Some(bits)) => {
                read.server_max_window_bits = Some(number(name, bits, WINDOWS)?);
            }
            ("level", Some(level)) => read.level = number(name, level, LEVELS)?,
            _ => {
                return Err(NoOffer::Unknown(word.to_owned()));
            }
        }
    }
    Ok(read)
}

fn number(name: &str, text: &str, (least, most): (u8, u8)) -> Result<u8, NoOffer> {
    let number = text.parse().ok();
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| NoOffer::Number {
            name: name.to_owned(),
            text: text.to_owned(),
            least,
            most,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_with_either_separator() {
        let expected = Compression {
            server_no_context_takeover: true,
            client_max_window_bits: Some(10),
            level: 1,
            ..Compression::default()
        };
        for text in [
            "server_no_context_takeover; client_max_window_bits=10; level=1",
            "level=1,client_max_window_bits = 10,server_no_context_takeover,",
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        assert_eq!(parse(DEFAULT).unwrap().client_max_window_bits, Some(15));
        assert_eq!(parse(""), Ok(Compression::default()));
    }

    #[test]
    fn what_cannot_be_offered_is_refused_in_words() {
        for (text, words) in [
            ("server_max_window_bits", "expected server_no_context"),
            ("server_max_window_bits=16", "from 8 to 15, not `16`"),
            ("client_max_window_bits=x", "from 8 to 15, not `x`"),
            ("level=0", "from 1 to 9"),
            ("server_no_context_takeover=1", "is no parameter"),
            ("level=1; level=2", "`level` stands twice"),
            ("ws://127.0.0.1:1/", "is no parameter"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}

//! What requests carry and replies say, the same for all dialects. Does no I/O.

use crate::target::Dialect;
use serde_json::{Value, json};
use std::fmt;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Echo,
    Broadcast,
    Result,
    Error,
}

impl Kind {
    /// The name in all JSON dialects.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
            Self::Result => "broadcastResult",
            Self::Error => "error",
        }
    }

    /// Byte 0 of the binary dialect.
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Echo => b'e',
            Self::Broadcast => b'b',
            Self::Result => b'r',
            Self::Error => b'?',
        }
    }
}

/// What a request carries and its reply must carry.
#[derive(Clone, Debug)]
pub(crate) enum Payload {
    Json(Value),
    /// A binary message without its byte 0.
    Bytes(Vec<u8>),
}

/// A message of the server.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) kind: Kind,
    pub(crate) payload: Payload,
    /// Bytes of the whole message.
    pub(crate) len: usize,
}

impl Payload {
    /// A payload that can be told from all others of the run, with `padding` bytes of filling.
    pub(crate) fn tagged(dialect: Dialect, tag: u64, padding: usize) -> Self {
        Self::filled(dialect, tag, &"p".repeat(padding))
    }

    /// The same with this filling, which has no character that JSON escapes.
    pub(crate) fn filled(dialect: Dialect, tag: u64, padding: &str) -> Self {
        match dialect {
            Dialect::Binary => Self::binary(&[&tag.to_be_bytes()[..], padding.as_bytes()].concat()),
            _ => Self::Json(json!({"tag": tag, "padding": padding})),
        }
    }

    /// A binary payload behind its true size.
    pub(crate) fn binary(body: &[u8]) -> Self {
        let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
        bytes.extend_from_slice(body);
        Self::Bytes(bytes)
    }

    /// The tag, if there is one.
    pub(crate) fn tag(&self) -> Option<u64> {
        match self {
            Self::Json(value) => value.get("tag")?.as_u64(),
            Self::Bytes(bytes) => Some(u64::from_be_bytes(bytes.get(4..12)?.try_into().ok()?)),
        }
    }

    /// Equal as the protocol means it: bytes as they are, JSON by value.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Json(a), Self::Json(b)) => json_equal(a, b),
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            _ => false,
        }
    }
}

/// Numbers are compared as doubles, which hold all that the protocol promises (±2^53).
fn json_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| json_equal(a, b)))
        }
        _ => a == b,
    }
}

pub(crate) fn abbreviated(text: &str) -> String {
    const SHOWN: usize = 120;
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}... ({} bytes)", &text[..cut], text.len()),
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(value) => f.write_str(&abbreviated(&value.to_string())),
            Self::Bytes(bytes) => {
                let shown: Vec<_> = bytes.iter().take(24).map(|b| format!("{b:02x}")).collect();
                write!(f, "{} ({} bytes)", shown.join(" "), bytes.len())
            }
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opcode = match self.payload {
            Payload::Json(_) => "text",
            Payload::Bytes(_) => "binary",
        };
        write!(f, "{opcode} {} of {}", self.kind.word(), self.payload)
    }
}

/// Why a message of a server says nothing in its dialect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unread {
    #[error("a message that is not JSON ({reason}): {shown}")]
    NotJson { reason: String, shown: String },
    #[error("an event that is no array ({reason}): {shown}")]
    NoArray { reason: String, shown: String },
    #[error("a binary message of {0} bytes")]
    Binary(usize),
    /// It lacks something, or has something that it must not have.
    #[error("{what}: {shown}")]
    Wrong { what: &'static str, shown: String },
    /// It is not about what was asked for.
    #[error("{0}")]
    Other(String),
}

impl Unread {
    pub(crate) fn wrong(what: &'static str, message: &[u8]) -> Self {
        Self::Wrong {
            what,
            shown: shown(message),
        }
    }

    pub(crate) fn other(message: &[u8]) -> Self {
        Self::Other(shown(message))
    }
}

fn shown(message: &[u8]) -> String {
    abbreviated(&String::from_utf8_lossy(message))
}

/// The JSON of a message.
pub(crate) fn json(message: &[u8]) -> Result<Value, Unread> {
    serde_json::from_slice(message).map_err(|error| Unread::NotJson {
        reason: error.to_string(),
        shown: shown(message),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_equal_by_value_and_structure_counts() {
        let value = |text| Payload::Json(serde_json::from_str(text).unwrap());
        for (a, b) in [("1", "1.0"), ("-0.0", "0"), ("1e300", "1E+300")] {
            assert!(value(a).equals(&value(b)), "{a} {b}");
        }
        assert!(value(r#"{"a":1,"b":[2]}"#).equals(&value(r#"{"b":[2.0],"a":1}"#)));
        for (a, b) in [
            ("9007199254740991", "9007199254740992"),
            ("1", "true"),
            ("null", "0"),
            ("[]", "{}"),
            ("[1,2]", "[2,1]"),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
        ] {
            assert!(!value(a).equals(&value(b)), "{a} {b}");
        }
    }
}

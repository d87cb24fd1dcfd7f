//! Requests and replies of the text and the binary dialect (docs/protocol.md). Does no I/O.

use crate::target::Dialect;
use serde_json::{Value, json};
use std::fmt;
use ws_proto::Opcode;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Echo,
    Broadcast,
    Result,
    Error,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
            Self::Result => "broadcastResult",
            Self::Error => "error",
        }
    }

    const fn byte(self) -> u8 {
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
}

impl Payload {
    /// A payload that can be told from all others of the run, with `padding` bytes of filling.
    pub(crate) fn tagged(dialect: Dialect, tag: u64, padding: usize) -> Self {
        match dialect {
            Dialect::Text => Self::Json(json!({"tag": tag, "padding": "p".repeat(padding)})),
            Dialect::Binary => {
                let mut body = tag.to_be_bytes().to_vec();
                body.resize(8 + padding, b'p');
                Self::binary(&body)
            }
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

    /// The request of this kind, as opcode and message.
    pub(crate) fn request(&self, kind: Kind) -> (Opcode, Vec<u8>) {
        match self {
            Self::Json(value) => {
                let text = format!("{{\"type\":\"{}\",\"payload\":{value}}}", kind.word());
                (Opcode::Text, text.into_bytes())
            }
            Self::Bytes(bytes) => {
                let mut message = vec![kind.byte()];
                message.extend_from_slice(bytes);
                (Opcode::Binary, message)
            }
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

impl Reply {
    /// Reads a message of the server.
    pub(crate) fn parse(opcode: Opcode, message: &[u8]) -> Result<Self, String> {
        if opcode == Opcode::Binary {
            let (kind, rest) = match message {
                [b'e', rest @ ..] => (Kind::Echo, rest),
                [b'b', rest @ ..] => (Kind::Broadcast, rest),
                [b'r', rest @ ..] => (Kind::Result, rest),
                // The error answer is JSON on every dialect.
                _ => return Self::parse_text(message),
            };
            return Ok(Self {
                kind,
                payload: Payload::Bytes(rest.to_vec()),
            });
        }
        Self::parse_text(message)
    }

    fn parse_text(message: &[u8]) -> Result<Self, String> {
        let shown = || abbreviated(&String::from_utf8_lossy(message));
        let value: Value = serde_json::from_slice(message)
            .map_err(|error| format!("a message that is not JSON ({error}): {}", shown()))?;
        let kind = match value.get("type").and_then(Value::as_str) {
            Some("echo") => Kind::Echo,
            Some("broadcast") => Kind::Broadcast,
            Some("broadcastResult") => Kind::Result,
            Some("error") => Kind::Error,
            _ => return Err(format!("a message without a known type: {}", shown())),
        };
        match value {
            Value::Object(mut object) if object.contains_key("payload") => Ok(Self {
                kind,
                payload: Payload::Json(object["payload"].take()),
            }),
            _ => Err(format!("a message without a payload: {}", shown())),
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

fn abbreviated(text: &str) -> String {
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

    #[test]
    fn tags_survive_both_dialects() {
        for dialect in [Dialect::Text, Dialect::Binary] {
            let payload = Payload::tagged(dialect, 77, 3);
            let (opcode, message) = payload.request(Kind::Broadcast);
            let reply = Reply::parse(opcode, &message).unwrap();
            assert_eq!(reply.kind, Kind::Broadcast);
            assert_eq!(reply.payload.tag(), Some(77));
            assert!(reply.payload.equals(&payload));
        }
    }

    #[test]
    fn what_is_no_reply_is_named() {
        let error = |text: &str| Reply::parse(Opcode::Text, text.as_bytes()).unwrap_err();
        assert!(error("{").contains("not JSON"));
        assert!(error(r#"{"type":"x"}"#).contains("known type"));
        assert!(error(r#"{"type":"echo"}"#).contains("without a payload"));
        assert!(Reply::parse(Opcode::Binary, b"").is_err());
    }
}

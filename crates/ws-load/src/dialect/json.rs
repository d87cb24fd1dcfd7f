//! The text dialect, and the JSON payload that the frameworks' dialects wrap.

use super::StampForm;
use super::{Codec, Incoming, Kind, Malformed, either};
use run_record::Workload;
use serde::Deserialize;
use serde_json::Value;

/// The payload of every JSON dialect: a stamp and, unless empty, the padding.
pub(super) struct Body {
    padding: String,
}

impl Body {
    pub(super) const fn new(padding: String) -> Self {
        Self { padding }
    }

    /// Appends the payload as JSON text. Neither stamp nor padding needs escaping.
    pub(super) fn write(&self, stamp: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"stamp":""#);
        StampForm::Hex.write(stamp, out);
        if !self.padding.is_empty() {
            out.extend_from_slice(br#"","padding":""#);
            out.extend_from_slice(self.padding.as_bytes());
        }
        out.extend_from_slice(br#""}"#);
    }

    /// Reads a payload back: its stamp, and whether all else is as it was written.
    pub(super) fn read(&self, payload: &Value) -> Option<(u64, bool)> {
        let object = payload.as_object()?;
        let stamp = StampForm::Hex.read(object.get("stamp")?.as_str()?.as_bytes())?;
        let padding = object.get("padding").map(Value::as_str);
        let intact = match padding {
            None => self.padding.is_empty() && object.len() == 1,
            Some(text) => text == Some(&self.padding) && object.len() == 2,
        };
        Some((stamp, intact))
    }
}

/// A message kind by the name that all JSON dialects share.
pub(super) fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "echo" => Kind::Echo,
        "broadcast" => Kind::Broadcast,
        "broadcastResult" => Kind::Result,
        _ => return None,
    })
}

/// A message of one of the three kinds around a payload of [`Body`].
pub(super) fn message(name: &str, payload: &Value, body: &Body) -> Result<Incoming, Malformed> {
    let kind = kind(name).ok_or_else(|| Malformed(format!("unknown message type `{name}`")))?;
    match body.read(payload) {
        Some((stamp, intact)) => Ok(Incoming::Message {
            kind,
            stamp,
            intact,
        }),
        None => Err(Malformed(format!("a {name} without a readable stamp"))),
    }
}

/// Parses a JSON message of a known shape.
pub(super) fn parse<'a, T: Deserialize<'a>>(message: &'a [u8]) -> Result<T, Malformed> {
    serde_json::from_slice(message).map_err(|error| {
        Malformed(if error.is_data() {
            error.to_string()
        } else {
            "not JSON".to_owned()
        })
    })
}

/// The request names that all JSON dialects share.
pub(super) const fn request_name(workload: Workload) -> &'static str {
    workload.name()
}

/// The text dialect.
pub(super) struct Json {
    body: Body,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    payload: Value,
}

impl Json {
    pub(super) const fn new(padding: String) -> Self {
        Self {
            body: Body::new(padding),
        }
    }
}

impl Codec for Json {
    fn request(&self, workload: Workload, stamp: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"type":""#);
        out.extend_from_slice(request_name(workload).as_bytes());
        out.extend_from_slice(br#"","payload":"#);
        self.body.write(stamp, out);
        out.push(b'}');
    }

    fn expects(&self, workload: Workload) -> String {
        either(workload, |name| {
            format!(r#"{{"type":"{name}","payload":{{"stamp":...}}}}"#)
        })
    }

    fn parse(&self, bytes: &[u8]) -> Result<Incoming, Malformed> {
        let envelope: Envelope = parse(bytes)?;
        if envelope.kind == "error" {
            return Ok(Incoming::Refused);
        }
        message(&envelope.kind, &envelope.payload, &self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn codec() -> Json {
        Json::new("123".into())
    }

    fn message(kind: Kind, intact: bool) -> Result<Incoming, Malformed> {
        Ok(Incoming::Message {
            kind,
            stamp: 0xAB,
            intact,
        })
    }

    #[test]
    fn requests_are_json_of_the_protocol() {
        let mut out = Vec::new();
        codec().request(Workload::Broadcast, 0xAB, &mut out);
        assert_eq!(
            serde_json::from_slice::<Value>(&out).unwrap(),
            json!({"type": "broadcast", "payload": {"stamp": "00000000000000ab", "padding": "123"}})
        );
        let mut bare = Vec::new();
        Json::new(String::new()).request(Workload::Echo, 1, &mut bare);
        assert_eq!(
            bare,
            br#"{"type":"echo","payload":{"stamp":"0000000000000001"}}"#
        );
    }

    #[test]
    fn answers_are_understood_whatever_their_spelling() {
        let reordered =
            br#" {"payload" : {"padding":"1\u0032\u0033","stamp":"00000000000000ab"}, "type":"broadcastResult"}"#;
        assert_eq!(codec().parse(reordered), message(Kind::Result, true));
    }

    #[test]
    fn a_changed_payload_is_not_intact() {
        for payload in [
            json!({"stamp": "00000000000000ab", "padding": "124"}),
            json!({"stamp": "00000000000000ab"}),
            json!({"stamp": "00000000000000ab", "padding": "123", "more": 1}),
            json!({"stamp": "00000000000000ab", "padding": 123}),
        ] {
            let text = json!({"type": "echo", "payload": payload}).to_string();
            assert_eq!(codec().parse(text.as_bytes()), message(Kind::Echo, false));
        }
    }

    #[test]
    fn refusals_and_nonsense_are_told_apart() {
        let parse = |text: &str| codec().parse(text.as_bytes());
        assert_eq!(
            parse(r#"{"type":"error","payload":"no"}"#),
            Ok(Incoming::Refused)
        );
        assert!(parse(r#"{"type":"hello","payload":{}}"#).is_err());
        assert!(parse(r#"{"type":"echo","payload":{"stamp":"zz"}}"#).is_err());
        assert!(parse(r#"{"type":"echo""#).is_err());
        assert!(parse("[]").is_err());
    }
}

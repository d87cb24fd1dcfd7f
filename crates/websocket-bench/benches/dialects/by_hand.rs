//! Recognisers of the same messages as code, one for each dialect: what a dialect file is held against.
//! They parse with serde as far as the meaning of a message goes, and compare the padding.

use serde::Deserialize;
use serde_json::Value;

/// A recogniser of an intact delivery or echo: its stamp.
pub(crate) type Parse = fn(&[u8], &str) -> Option<u64>;

fn stamp_of(payload: &Value, padding: &str) -> Option<u64> {
    let object = payload.as_object()?;
    let stamp = u64::from_str_radix(object.get("stamp")?.as_str()?, 16).ok()?;
    let is_intact = object.get("padding")?.as_str()? == padding && object.len() == 2;
    is_intact.then_some(stamp)
}

fn has_kind(kind: &str) -> bool {
    matches!(kind, "echo" | "broadcast" | "broadcastResult")
}

#[derive(Deserialize)]
struct Text {
    #[serde(rename = "type")]
    kind: String,
    payload: Value,
}

pub(crate) fn text(message: &[u8], padding: &str) -> Option<u64> {
    let message: Text = serde_json::from_slice(message).ok()?;
    has_kind(&message.kind)
        .then(|| stamp_of(&message.payload, padding))
        .flatten()
}

#[derive(Deserialize)]
struct Phoenix {
    topic: String,
    event: String,
    payload: Value,
}

pub(crate) fn phoenix(message: &[u8], padding: &str) -> Option<u64> {
    let message: Phoenix = serde_json::from_slice(message).ok()?;
    let inner = match (&*message.topic, &*message.event) {
        ("room:lobby", "phx_reply") if message.payload["status"] == "ok" => {
            &message.payload["response"]
        }
        ("room:lobby", "broadcast") => &message.payload,
        _ => return None,
    };
    has_kind(inner["type"].as_str()?)
        .then(|| stamp_of(&inner["body"], padding))
        .flatten()
}

#[derive(Deserialize)]
struct Cable {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<Value>,
}

pub(crate) fn action_cable(message: &[u8], padding: &str) -> Option<u64> {
    let frame: Cable = serde_json::from_slice(message).ok()?;
    let inner = frame.message.filter(|_| frame.kind.is_none())?;
    has_kind(inner["action"].as_str()?)
        .then(|| stamp_of(&inner["payload"], padding))
        .flatten()
}

/// A message of which all but the 16 digits of the stamp is known.
pub(crate) struct Known {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Known {
    /// # Panics
    /// When the message does not hold the stamp.
    pub(crate) fn new(message: &[u8], stamp: u64) -> Self {
        let stamp = format!("{stamp:016x}");
        let mut places = message.windows(stamp.len());
        let at = places.position(|place| place == stamp.as_bytes());
        let at = at.expect("the stamp is in the message");
        Self {
            before: message[..at].to_vec(),
            after: message[at + stamp.len()..].to_vec(),
        }
    }

    pub(crate) fn stamp(&self, message: &[u8]) -> Option<u64> {
        let rest = message.strip_prefix(&*self.before)?;
        let (digits, after) = rest.split_first_chunk::<16>()?;
        let digit = |value: u64, digit: &u8| match digit {
            b'0'..=b'9' => Some(value << 4 | u64::from(digit - b'0')),
            b'a'..=b'f' => Some(value << 4 | u64::from(digit - b'a' + 10)),
            _ => None,
        };
        let stamp = digits.iter().try_fold(0, digit)?;
        (after == self.after).then_some(stamp)
    }
}

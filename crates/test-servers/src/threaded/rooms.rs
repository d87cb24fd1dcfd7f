//! Topics (docs/protocol.md, Rooms): requests and their answers, in text.

use super::request::Rejection;
use super::speech::text_frame;
use serde_json::{Value, json};
use ws_proto::Opcode;

/// Longest name of a topic, in characters.
const LONGEST: usize = 64;

/// A request about a topic.
#[derive(Clone, Debug)]
pub(crate) enum RoomRequest {
    Subscribe(String),
    Unsubscribe(String),
    Publish { topic: String, payload: Value },
}

impl RoomRequest {
    /// The frame that a publication sends to each subscriber.
    pub(crate) fn message(&self) -> Vec<u8> {
        self.frame("message")
    }

    /// The same with the first character of its padding changed.
    pub(crate) fn spoilt(&self) -> Vec<u8> {
        let mut spoilt = self.clone();
        if let Self::Publish { payload, .. } = &mut spoilt
            && let Some(Value::String(padding)) = payload.get_mut("padding")
        {
            padding.replace_range(..1, "#");
        }
        spoilt.message()
    }

    /// The frame that answers the sender.
    pub(crate) fn answer(&self) -> Vec<u8> {
        self.frame(match self {
            Self::Subscribe(_) => "subscribed",
            Self::Unsubscribe(_) => "unsubscribed",
            Self::Publish { .. } => "publishResult",
        })
    }

    fn frame(&self, word: &str) -> Vec<u8> {
        let message = match self {
            Self::Subscribe(topic) | Self::Unsubscribe(topic) => {
                json!({"type": word, "topic": topic})
            }
            Self::Publish { topic, payload } => {
                json!({"type": word, "topic": topic, "payload": payload})
            }
        };
        text_frame(&message.to_string())
    }
}

/// Reads a message that is about a topic; `None` of any other.
pub(super) fn read(opcode: Opcode, message: &[u8]) -> Option<Result<RoomRequest, Rejection>> {
    if opcode != Opcode::Text {
        return None;
    }
    let mut value: Value = serde_json::from_slice(message).ok()?;
    let make = match value.get("type")?.as_str()? {
        "subscribe" => |topic, _| Ok(RoomRequest::Subscribe(topic)),
        "unsubscribe" => |topic, _| Ok(RoomRequest::Unsubscribe(topic)),
        "publish" => |topic, payload: Option<Value>| match payload {
            Some(payload) => Ok(RoomRequest::Publish { topic, payload }),
            None => Err(Rejection::NothingToPublish),
        },
        _ => return None,
    };
    let payload = value.get_mut("payload").map(Value::take);
    let topic = value["topic"].as_str().filter(|topic| is_name(topic));
    Some(match topic {
        Some(topic) => make(topic.to_owned(), payload),
        None => Err(Rejection::UnknownTopic),
    })
}

fn is_name(topic: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    (1..=LONGEST).contains(&topic.len()) && topic.chars().all(allowed)
}

//! Topics (docs/protocol.md, Rooms): requests, what they are answered, and those of the text dialect.

use super::request::{Rejection, stamp_of};
use super::speech::{Speech, text_frame};
use serde_json::{Value, json};
use ws_proto::Opcode;

/// Longest name of a topic, in characters.
const LONGEST: usize = 64;

/// What is asked about a topic.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Subscribe,
    Unsubscribe,
    Publish(Value),
}

/// A request about a topic.
#[derive(Clone, Debug)]
pub(crate) struct RoomRequest {
    pub(crate) act: Act,
    pub(crate) topic: String,
    /// That of the sender.
    pub(super) speech: Speech,
    /// What an answer must repeat of its request, where the framework has that.
    pub(super) reference: Value,
}

impl RoomRequest {
    pub(super) const fn new(speech: Speech, topic: String, act: Act) -> Self {
        Self {
            act,
            topic,
            speech,
            reference: Value::Null,
        }
    }

    /// The topic is one that the protocol permits.
    pub(crate) fn names_topic(&self) -> bool {
        let allowed = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
        (1..=LONGEST).contains(&self.topic.len()) && self.topic.chars().all(allowed)
    }

    /// Why an honest server does not do it for a client that is `subscribed` to the topic, or is not.
    pub(crate) fn refusal(&self, subscribed: bool) -> Option<Rejection> {
        let needs_subscription = match (self.speech, &self.act) {
            (Speech::Plain | Speech::SocketIo | Speech::Mqtt(_), _) | (_, Act::Subscribe) => false,
            (_, Act::Publish(_)) => true,
            (speech, Act::Unsubscribe) => speech == Speech::ActionCable,
        };
        let is_refused = !self.names_topic() || needs_subscription && !subscribed;
        is_refused.then_some(Rejection::UnknownTopic)
    }

    /// The stamp in the payload of a publication, as [`super::Request::stamp`].
    pub(crate) fn stamp(&self) -> Option<u64> {
        stamp_of(self.payload())
    }

    /// What an answer repeats of its request.
    pub(crate) const fn reference(&self) -> &Value {
        &self.reference
    }

    /// The frame that a publication sends to each subscriber who speaks so.
    pub(crate) fn message(&self, to: Speech) -> Vec<u8> {
        to.room_message(&self.topic, self.payload())
    }

    /// The same with the first character of its padding changed.
    pub(crate) fn spoilt(&self, to: Speech) -> Vec<u8> {
        let mut spoilt = self.clone();
        if let Act::Publish(payload) = &mut spoilt.act
            && let Some(Value::String(padding)) = payload.get_mut("padding")
        {
            padding.replace_range(..1, "#");
        }
        spoilt.message(to)
    }

    /// The frames that answer the sender, who was `subscribed` to the topic before, or was not.
    pub(crate) fn answer(&self, subscribed: bool) -> Vec<u8> {
        self.speech.room_answer(self, subscribed)
    }

    pub(super) fn payload(&self) -> &Value {
        match &self.act {
            Act::Publish(payload) => payload,
            Act::Subscribe | Act::Unsubscribe => &Value::Null,
        }
    }
}

pub(super) fn message(topic: &str, payload: &Value) -> Vec<u8> {
    text_frame(&json!({"type": "message", "topic": topic, "payload": payload}).to_string())
}

pub(super) fn answer(request: &RoomRequest) -> Vec<u8> {
    let topic = &request.topic;
    let answer = match &request.act {
        Act::Subscribe => json!({"type": "subscribed", "topic": topic}),
        Act::Unsubscribe => json!({"type": "unsubscribed", "topic": topic}),
        Act::Publish(payload) => {
            json!({"type": "publishResult", "topic": topic, "payload": payload})
        }
    };
    text_frame(&answer.to_string())
}

/// Reads a message that is about a topic; `None` of any other.
pub(super) fn read(opcode: Opcode, message: &[u8]) -> Option<Result<RoomRequest, Rejection>> {
    if opcode != Opcode::Text {
        return None;
    }
    let mut value: Value = serde_json::from_slice(message).ok()?;
    let payload = value.get_mut("payload").map(Value::take);
    let act = match value.get("type")?.as_str()? {
        "subscribe" => Ok(Act::Subscribe),
        "unsubscribe" => Ok(Act::Unsubscribe),
        "publish" => payload.map(Act::Publish).ok_or(Rejection::NothingToPublish),
        _ => return None,
    };
    let topic = value["topic"].as_str().ok_or(Rejection::UnknownTopic);
    Some(topic.and_then(|topic| Ok(RoomRequest::new(Speech::Plain, topic.to_owned(), act?))))
}

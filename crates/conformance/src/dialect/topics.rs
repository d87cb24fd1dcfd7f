//! Topics, where a dialect has them (docs/protocol.md, Rooms): how they are asked for, and what a
//! message about them says.

use crate::message::{Payload, Unread};
use serde_json::Value;
use std::fmt;

/// What a message of the server about a topic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Word {
    Subscribed,
    /// The server has taken up the end of a subscription, which is not yet its confirmation.
    Leaving,
    /// The framework has ended a subscription.
    Closed,
    Unsubscribed,
    Message,
    Published,
}

/// A message of the server about a topic.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    pub(crate) word: Word,
    pub(crate) topic: String,
    pub(crate) payload: Option<Value>,
}

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Subscribe,
    Unsubscribe,
}

/// The topics of a dialect. The defaults are those of text.
pub(crate) trait Topics: Sync {
    /// A request without a payload.
    fn ask(&self, wish: Wish, topic: &str) -> String;

    fn publish(&self, topic: &str, payload: &Value) -> String;

    /// What comes in answer to a wish, in any order; `again`: of a client that has what it wishes.
    fn answers(&self, wish: Wish, _again: bool) -> &'static [Word] {
        match wish {
            Wish::Subscribe => &[Word::Subscribed],
            Wish::Unsubscribe => &[Word::Unsubscribed],
        }
    }

    /// A client may publish to a topic that it is not subscribed to.
    fn serves_outsiders(&self) -> bool {
        true
    }

    /// Reads a message of the server about a topic; an error says what it is instead.
    fn read(&self, message: &[u8]) -> Result<Heard, Unread>;

    /// Requests that the server must refuse: each with the topic that its client is subscribed to
    /// before, if it must be.
    fn faulty(&self) -> Vec<(Option<&'static str>, String)>;
}

/// Texts that are no names of topics.
pub(super) fn no_names() -> [String; 5] {
    let long = "x".repeat(65);
    ["", &long, "a b", "a/b", "\u{e4}"].map(str::to_owned)
}

impl Heard {
    pub(crate) fn is(&self, word: Word, topic: &str, payload: &Payload) -> bool {
        let own = self.payload.clone().map(Payload::Json);
        self.word == word && self.topic == topic && own.is_some_and(|own| own.equals(payload))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Subscribed => "subscribed",
            Self::Leaving => "reply to the leave",
            Self::Closed => "phx_close",
            Self::Unsubscribed => "unsubscribed",
            Self::Message => "message",
            Self::Published => "publishResult",
        })
    }
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload = self.payload.as_ref().map(Value::to_string);
        let payload = payload.unwrap_or_else(|| "no payload".into());
        let payload = crate::message::abbreviated(&payload);
        write!(f, "{} of {:?} with {payload}", self.word, self.topic)
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Subscribe => "subscribe",
            Self::Unsubscribe => "unsubscribe",
        })
    }
}

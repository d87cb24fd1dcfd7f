//! The two dialects of `docs/protocol.md`. Does not know connections: a message comes in, and what
//! is to be sent comes out.

use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// What a message asks for. The broadcast goes first: that is the ack rule.
pub(crate) struct Answer {
    pub(crate) broadcast: Option<Message>,
    pub(crate) reply: Message,
}

impl From<Message> for Answer {
    fn from(reply: Message) -> Self {
        Answer {
            broadcast: None,
            reply,
        }
    }
}

/// An outgoing message of the text dialect.
#[derive(Serialize)]
struct Envelope<'a, P: ?Sized> {
    r#type: &'a str,
    payload: &'a P,
}

/// A message of data comes back as it came. The library has answered control frames.
pub(crate) fn echo(message: Message) -> Option<Answer> {
    match message {
        Message::Text(_) | Message::Binary(_) => Some(message.into()),
        _ => None,
    }
}

pub(crate) fn answer(message: Message) -> Option<Answer> {
    match message {
        Message::Text(text) => Some(answer_text(&text)),
        Message::Binary(data) => Some(answer_binary(data)),
        _ => None,
    }
}

fn answer_text(text: &str) -> Answer {
    // A map, since serde would also take an array for a struct. The payload stays as it was
    // written, and has been validated.
    let Ok(fields) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(text) else {
        return failure("the message is not a JSON object");
    };
    let kind = fields
        .get("type")
        .and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok());
    let Some(kind) = kind else {
        return failure("\"type\" is missing or not a string");
    };
    let Some(payload) = fields.get("payload") else {
        return failure("\"payload\" is missing");
    };
    match &*kind {
        "echo" => envelope("echo", *payload).into(),
        "broadcast" => Answer {
            broadcast: Some(envelope("broadcast", *payload)),
            reply: envelope("broadcastResult", *payload),
        },
        _ => failure("\"type\" is neither \"echo\" nor \"broadcast\""),
    }
}

fn answer_binary(data: Bytes) -> Answer {
    match data.first() {
        Some(b'e') => Message::Binary(data).into(),
        Some(b'b') => {
            let mut result = data.to_vec();
            result[0] = b'r';
            Answer {
                broadcast: Some(Message::Binary(data)),
                reply: Message::binary(result),
            }
        }
        Some(_) => failure("byte 0 of the binary message is neither \"e\" nor \"b\""),
        None => failure("the binary message is empty"),
    }
}

fn failure(words: &str) -> Answer {
    envelope("error", words).into()
}

fn envelope<P: Serialize + ?Sized>(kind: &str, payload: &P) -> Message {
    let envelope = Envelope {
        r#type: kind,
        payload,
    };
    let mut text = serde_json::to_string(&envelope).expect("strings and validated JSON serialize");
    text.shrink_to_fit(); // it may wait in queues for long
    Message::text(text)
}

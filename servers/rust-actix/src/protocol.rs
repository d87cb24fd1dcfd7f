//! The two dialects of `docs/protocol.md`. Does not know connections: a message comes in, and what
//! is to be sent comes out.

use crate::outbox::Outgoing;
use actix_web::web::Bytes;
use bytestring::ByteString;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// What a message asks for. The broadcast goes first: that is the ack rule.
pub(crate) struct Answer {
    pub(crate) broadcast: Option<Outgoing>,
    pub(crate) reply: Outgoing,
}

impl From<Outgoing> for Answer {
    fn from(reply: Outgoing) -> Self {
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

/// A message of data.
pub(crate) enum Incoming {
    Text(ByteString),
    Binary(Bytes),
}

/// Every message comes back as it came.
pub(crate) fn echo(message: Incoming) -> Answer {
    match message {
        Incoming::Text(text) => Outgoing::Text(text).into(),
        Incoming::Binary(data) => Outgoing::Binary(data).into(),
    }
}

pub(crate) fn answer(message: Incoming) -> Answer {
    match message {
        Incoming::Text(text) => answer_text(&text),
        Incoming::Binary(data) => answer_binary(data),
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
        Some(b'e') => Outgoing::Binary(data).into(),
        Some(b'b') => {
            let mut result = data.to_vec();
            result[0] = b'r';
            Answer {
                broadcast: Some(Outgoing::Binary(data)),
                reply: Outgoing::Binary(result.into()),
            }
        }
        Some(_) => failure("byte 0 of the binary message is neither \"e\" nor \"b\""),
        None => failure("the binary message is empty"),
    }
}

fn failure(words: &str) -> Answer {
    envelope("error", words).into()
}

fn envelope<P: Serialize + ?Sized>(kind: &str, payload: &P) -> Outgoing {
    let envelope = Envelope {
        r#type: kind,
        payload,
    };
    let mut text = serde_json::to_string(&envelope).expect("strings and validated JSON serialize");
    text.shrink_to_fit(); // it may wait in queues for long
    Outgoing::Text(text.into())
}

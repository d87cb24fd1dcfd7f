//! The two dialects of `docs/protocol.md`. Does not know connections: a message comes in, and what
//! is to be sent comes out.

use crate::outbox::Message;
use crate::topics::Topic;
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use wtx::web_socket::OpCode;

/// What a message asks for. What others are to get goes before the reply: that is the ack rule.
pub(crate) struct Answer {
    pub(crate) action: Action,
    pub(crate) reply: Message,
}

pub(crate) enum Action {
    Reply,
    Broadcast(Message),
    Subscribe(Topic),
    Unsubscribe(Topic),
    Publish(Topic, Message),
}

impl From<Message> for Answer {
    fn from(reply: Message) -> Self {
        Answer {
            action: Action::Reply,
            reply,
        }
    }
}

/// An outgoing message of the text dialect.
#[derive(Serialize)]
struct Envelope<'a, P: ?Sized> {
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<&'a P>,
}

/// Every message comes back as it came.
pub(crate) fn echo(message: Message) -> Answer {
    message.into()
}

pub(crate) fn answer(message: Message) -> Answer {
    match message.opcode {
        OpCode::Text => answer_text(&message.payload),
        _ => answer_binary(message),
    }
}

fn answer_text(text: &[u8]) -> Answer {
    // A map, since serde would also take an array for a struct. The payload stays as it was
    // written, and has been validated.
    let Ok(fields) = serde_json::from_slice::<HashMap<Cow<'_, str>, &RawValue>>(text) else {
        return failure("the message is not a JSON object");
    };
    let string = |key| {
        let raw: &&RawValue = fields.get(key)?;
        serde_json::from_str::<Cow<'_, str>>(raw.get()).ok()
    };
    let Some(kind) = string("type") else {
        return failure("\"type\" is missing or not a string");
    };
    let payload = fields.get("payload").copied();
    if let "subscribe" | "unsubscribe" | "publish" = &*kind {
        let Some(topic) = string("topic").and_then(|name| Topic::new(&name)) else {
            return failure("\"topic\" is missing or no name of a topic");
        };
        return answer_about(topic, &kind, payload);
    }
    let Some(payload) = payload else {
        return failure("\"payload\" is missing");
    };
    match &*kind {
        "echo" => envelope("echo", payload).into(),
        "broadcast" => Answer {
            action: Action::Broadcast(envelope("broadcast", payload)),
            reply: envelope("broadcastResult", payload),
        },
        _ => failure("\"type\" is unknown"),
    }
}

fn answer_about(topic: Topic, kind: &str, payload: Option<&RawValue>) -> Answer {
    let about = |kind, payload| {
        serialized(&Envelope {
            r#type: kind,
            topic: Some(topic.name()),
            payload,
        })
    };
    match (kind, payload) {
        ("subscribe", _) => Answer {
            reply: about("subscribed", None),
            action: Action::Subscribe(topic),
        },
        ("unsubscribe", _) => Answer {
            reply: about("unsubscribed", None),
            action: Action::Unsubscribe(topic),
        },
        (_, Some(_)) => Answer {
            reply: about("publishResult", payload),
            action: Action::Publish(topic.clone(), about("message", payload)),
        },
        (_, None) => failure("\"payload\" is missing"),
    }
}

fn answer_binary(message: Message) -> Answer {
    match message.payload.first() {
        Some(b'e') => message.into(),
        Some(b'b') => {
            let mut result = message.payload.to_vec();
            result[0] = b'r';
            Answer {
                reply: data(OpCode::Binary, result),
                action: Action::Broadcast(message),
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
    serialized(&Envelope {
        r#type: kind,
        topic: None,
        payload: Some(payload),
    })
}

fn serialized<P: Serialize + ?Sized>(envelope: &Envelope<'_, P>) -> Message {
    let mut text = serde_json::to_vec(envelope).expect("strings and validated JSON serialize");
    text.shrink_to_fit(); // it may wait in queues for long
    data(OpCode::Text, text)
}

fn data(opcode: OpCode, payload: impl Into<Bytes>) -> Message {
    Message {
        opcode,
        payload: payload.into(),
    }
}

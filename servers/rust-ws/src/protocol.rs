//! The two dialects of `docs/protocol.md`. Does not know connections: a message comes in, and what
//! is to be sent comes out.

use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use ws::Message;

/// Characters (docs/protocol.md, "Rooms").
const LONGEST_TOPIC: usize = 64;

/// What a message asks for. What others are to get goes first: that is the ack rule.
pub(crate) struct Answer {
    pub(crate) others: Others,
    pub(crate) reply: Message,
}

pub(crate) enum Others {
    None,
    All(Message),
    Subscribers(String, Message),
}

impl From<Message> for Answer {
    fn from(reply: Message) -> Self {
        Answer {
            others: Others::None,
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
    match message {
        Message::Text(text) => answer_text(&text),
        Message::Binary(data) => answer_binary(data),
    }
}

fn answer_text(text: &str) -> Answer {
    // A map, since serde would also take an array for a struct. The payload stays as it was
    // written, and has been validated.
    let Ok(fields) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(text) else {
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
        let Some(topic) = string("topic").filter(|name| is_topic(name)) else {
            return failure("\"topic\" is missing or no name of a topic");
        };
        return answer_about(topic.into_owned(), &kind, payload);
    }
    let Some(payload) = payload else {
        return failure("\"payload\" is missing");
    };
    match &*kind {
        "echo" => envelope("echo", payload).into(),
        "broadcast" => Answer {
            others: Others::All(envelope("broadcast", payload)),
            reply: envelope("broadcastResult", payload),
        },
        _ => failure("\"type\" is unknown"),
    }
}

fn answer_about(topic: String, kind: &str, payload: Option<&RawValue>) -> Answer {
    let about = |kind, payload| {
        serialized(&Envelope {
            r#type: kind,
            topic: Some(&topic),
            payload,
        })
    };
    match (kind, payload) {
        ("subscribe", _) => about("subscribed", None).into(),
        ("unsubscribe", _) => about("unsubscribed", None).into(),
        (_, Some(_)) => Answer {
            reply: about("publishResult", payload),
            others: Others::Subscribers(topic.clone(), about("message", payload)),
        },
        (_, None) => failure("\"payload\" is missing"),
    }
}

fn is_topic(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
    (1..=LONGEST_TOPIC).contains(&name.len()) && name.bytes().all(known)
}

fn answer_binary(mut data: Vec<u8>) -> Answer {
    match data.first() {
        Some(b'e') => Message::Binary(data).into(),
        Some(b'b') => {
            let broadcast = Message::Binary(data.clone());
            data[0] = b'r';
            Answer {
                others: Others::All(broadcast),
                reply: Message::Binary(data),
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
    let text = serde_json::to_string(envelope).expect("strings and validated JSON serialize");
    Message::Text(text)
}

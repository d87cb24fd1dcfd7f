//! The two dialects of `docs/protocol.md`. Does not know connections: a message comes in, what it
//! asks for comes out, in parts of frames that borrow from it.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// Payloads are JSON as it was written, validated.
#[derive(Debug, PartialEq)]
pub(crate) enum Request<'a> {
    Echo(&'a str),
    Broadcast(&'a str),
    Subscribe(String),
    Unsubscribe(String),
    Publish(String, &'a str),
    Error(&'static str),
}

const LONGEST_TOPIC: usize = 64;

fn is_topic(name: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
    (1..=LONGEST_TOPIC).contains(&name.len()) && name.bytes().all(is_fit)
}

pub(crate) fn text(message: &[u8]) -> Request<'_> {
    // A map, since serde would also take an array for a struct.
    let Ok(fields) = serde_json::from_slice::<HashMap<Cow<'_, str>, &RawValue>>(message) else {
        return Request::Error("the message is not a JSON object");
    };
    let string = |key| {
        let raw: &&RawValue = fields.get(key)?;
        serde_json::from_str::<Cow<'_, str>>(raw.get()).ok()
    };
    let Some(kind) = string("type") else {
        return Request::Error("\\\"type\\\" is missing or not a string");
    };
    let payload = fields.get("payload").map(|payload| payload.get());
    let topic = || string("topic").filter(|name| is_topic(name));
    match (&*kind, payload) {
        ("echo", Some(payload)) => Request::Echo(payload),
        ("broadcast", Some(payload)) => Request::Broadcast(payload),
        ("echo" | "broadcast", None) => Request::Error("\\\"payload\\\" is missing"),
        ("subscribe" | "unsubscribe" | "publish", payload) => match (topic(), &*kind, payload) {
            (None, ..) => Request::Error("\\\"topic\\\" is missing or no name of a topic"),
            (Some(topic), "subscribe", _) => Request::Subscribe(topic.into_owned()),
            (Some(topic), "unsubscribe", _) => Request::Unsubscribe(topic.into_owned()),
            (Some(topic), _, Some(payload)) => Request::Publish(topic.into_owned(), payload),
            (Some(_), _, None) => Request::Error("\\\"payload\\\" is missing"),
        },
        _ => Request::Error("\\\"type\\\" is unknown"),
    }
}

/// A message of the text dialect in parts.
pub(crate) fn envelope<'a>(kind: &'a str, payload: &'a str) -> [&'a [u8]; 5] {
    [
        br#"{"type":""#,
        kind.as_bytes(),
        br#"","payload":"#,
        payload.as_bytes(),
        b"}",
    ]
}

/// A topic has no character that JSON would escape.
pub(crate) fn about<'a>(kind: &'a str, topic: &'a str) -> [&'a [u8]; 5] {
    [
        br#"{"type":""#,
        kind.as_bytes(),
        br#"","topic":""#,
        topic.as_bytes(),
        br#""}"#,
    ]
}

pub(crate) fn publication<'a>(kind: &'a str, topic: &'a str, payload: &'a str) -> [&'a [u8]; 7] {
    [
        br#"{"type":""#,
        kind.as_bytes(),
        br#"","topic":""#,
        topic.as_bytes(),
        br#"","payload":"#,
        payload.as_bytes(),
        b"}",
    ]
}

/// `words` are written as JSON writes them.
pub(crate) fn error(words: &str) -> [&[u8]; 3] {
    [
        br#"{"type":"error","payload":""#,
        words.as_bytes(),
        br#""}"#,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        assert_eq!(
            text(br#" {"payload": [1, "x"], "type":"\u0065cho"} "#),
            Request::Echo(r#"[1, "x"]"#)
        );
        assert_eq!(
            text(br#"{"type":"publish","topic":"a.B-_:1","payload":null}"#),
            Request::Publish("a.B-_:1".into(), "null")
        );
        for bad in [
            "",
            "[]",
            "{",
            r#"["echo"]"#,
            r#"{"type":"echo"}"#,
            r#"{"type":1,"payload":1}"#,
            r#"{"type":"broadcastResult","payload":1}"#,
            r#"{"type":"subscribe"}"#,
            r#"{"type":"subscribe","topic":""}"#,
            r#"{"type":"subscribe","topic":"a b"}"#,
            r#"{"type":"publish","topic":"a"}"#,
        ] {
            match text(bad.as_bytes()) {
                Request::Error(words) => {
                    let json = error(words).concat();
                    serde_json::from_slice::<serde_json::Value>(&json).expect("it is JSON");
                }
                other => panic!("{bad}: {other:?}"),
            }
        }
        assert!(is_topic(&"x".repeat(64)) && !is_topic(&"x".repeat(65)));
    }
}

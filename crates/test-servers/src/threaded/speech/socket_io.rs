//! Socket.IO 4 over WebSocket alone, the namespace `/`.

use super::{Answer, Asked, Speaker, Speech, text_frame};
use crate::threaded::request::{Rejection, Request};
use crate::threaded::rooms::{Act, RoomRequest};
use serde_json::{Value, json};

/// The session of Engine.IO. Its heartbeat is farther away than a test lasts.
pub(super) const SESSION: &str = r#"0{"sid":"session","upgrades":[],"pingInterval":600000,"pingTimeout":600000,"maxPayload":16777216}"#;
/// Events about a topic.
const ROOMS: [&str; 3] = ["subscribe", "unsubscribe", "publish"];
const NAMESPACE: &str = r#"40{"sid":"namespace"}"#;

pub(super) fn wrap(event: &str, payload: &Value) -> String {
    format!(r#"42["{event}",{payload}]"#)
}

pub(super) fn room_message(topic: &str, payload: &Value) -> Vec<u8> {
    event(&json!(["message", topic, payload]))
}

pub(super) fn room_answer(request: &RoomRequest) -> Vec<u8> {
    let topic = &request.topic;
    event(&match &request.act {
        Act::Subscribe => json!(["subscribed", topic]),
        Act::Unsubscribe => json!(["unsubscribed", topic]),
        Act::Publish(payload) => json!(["publishResult", topic, payload]),
    })
}

fn event(arguments: &Value) -> Vec<u8> {
    text_frame(&format!("42{arguments}"))
}

/// As the library does: an event without a listener is passed over, a packet that cannot be read
/// ends the connection.
pub(super) fn refusal(why: Rejection) -> Answer {
    match why {
        Rejection::UnknownType => Answer::Nothing,
        Rejection::MissingPayload { .. } | Rejection::NothingToPublish => {
            Answer::Frame(text_frame(&wrap("error", &Value::from("no payload"))))
        }
        _ => Answer::Close(1008),
    }
}

pub(super) fn read(from: Speaker, bytes: &[u8]) -> Result<Asked, Rejection> {
    let text = std::str::from_utf8(bytes).map_err(|_| Rejection::MalformedJson)?;
    if text == "40" {
        return Ok(Asked::Member(true, Some(text_frame(NAMESPACE))));
    }
    if text == "41" {
        return Ok(Asked::Member(false, None));
    }
    let arguments = text.strip_prefix("42").ok_or(Rejection::MalformedJson)?;
    if arguments.starts_with('/') || !from.member {
        return Err(Rejection::UnknownTopic);
    }
    let arguments = match serde_json::from_str(arguments) {
        Ok(Value::Array(arguments)) => arguments,
        Ok(_) => return Err(Rejection::NotAnObject),
        Err(_) => return Err(Rejection::MalformedJson),
    };
    let mut arguments = arguments.into_iter();
    let broadcast = match arguments.next() {
        Some(Value::String(name)) if name == "echo" => false,
        Some(Value::String(name)) if name == "broadcast" => true,
        Some(Value::String(name)) if ROOMS.contains(&name.as_str()) => {
            return read_room(&name, arguments);
        }
        Some(Value::String(_) | Value::Number(_)) => return Err(Rejection::UnknownType),
        _ => return Err(Rejection::MissingType),
    };
    let payload = arguments
        .next()
        .ok_or(Rejection::MissingPayload { broadcast })?;
    Ok(Asked::Request(Request::wrapped(
        from.speech,
        broadcast,
        payload,
        Value::Null,
    )))
}

/// An event about a topic, of which the arguments behind the name are given.
fn read_room(name: &str, mut arguments: impl Iterator<Item = Value>) -> Result<Asked, Rejection> {
    let Some(Value::String(topic)) = arguments.next() else {
        return Err(Rejection::UnknownTopic);
    };
    let act = match name {
        "subscribe" => Act::Subscribe,
        "unsubscribe" => Act::Unsubscribe,
        _ => Act::Publish(arguments.next().ok_or(Rejection::NothingToPublish)?),
    };
    Ok(Asked::Room(RoomRequest::new(Speech::SocketIo, topic, act)))
}

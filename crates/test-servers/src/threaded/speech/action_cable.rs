//! Action Cable, one channel, with a topic or without.

use super::{Asked, Speaker, text_frame};
use crate::threaded::request::{Rejection, Request};
use crate::threaded::rooms::{Act, RoomRequest};
use crate::threaded::speech::Speech;
use serde_json::{Map, Value, json};

const IDENTIFIER: &str = r#"{"channel":"BenchmarkChannel"}"#;

pub(super) fn wrap(action: &str, payload: &Value) -> String {
    json!({"identifier": IDENTIFIER, "message": {"action": action, "payload": payload}}).to_string()
}

/// The topic of an identifier that has one.
fn topic_of(identifier: &str) -> Option<String> {
    let identifier: Value = serde_json::from_str(identifier).ok()?;
    let is_known = identifier["channel"] == "BenchmarkChannel";
    let topic = identifier["topic"].as_str().filter(|_| is_known)?;
    Some(topic.to_owned())
}

fn of_topic(topic: &str, message: &Value) -> Vec<u8> {
    let identifier = format!(
        r#"{{"channel":"BenchmarkChannel","topic":{}}}"#,
        json!(topic)
    );
    text_frame(&json!({"identifier": identifier, "message": message}).to_string())
}

pub(super) fn room_message(topic: &str, payload: &Value) -> Vec<u8> {
    of_topic(topic, &json!({"action": "message", "payload": payload}))
}

/// A subscription that there is already is passed over.
pub(super) fn room_answer(request: &RoomRequest, subscribed: bool) -> Vec<u8> {
    match &request.act {
        Act::Subscribe if subscribed => Vec::new(),
        Act::Subscribe => {
            let identifier = &request.reference;
            let confirmed = json!({"identifier": identifier, "type": "confirm_subscription"});
            text_frame(&confirmed.to_string())
        }
        Act::Unsubscribe => of_topic(&request.topic, &json!({"action": "unsubscribed"})),
        Act::Publish(payload) => {
            let result = json!({"action": "publishResult", "payload": payload});
            of_topic(&request.topic, &result)
        }
    }
}

fn object(text: &[u8]) -> Result<Map<String, Value>, Rejection> {
    match serde_json::from_slice(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Rejection::NotAnObject),
        Err(_) => Err(Rejection::MalformedJson),
    }
}

pub(super) fn read(from: Speaker, bytes: &[u8]) -> Result<Asked, Rejection> {
    let command = object(bytes)?;
    let name = command.get("command").ok_or(Rejection::MissingType)?;
    let identifier = command.get("identifier").and_then(Value::as_str);
    let known = identifier == Some(IDENTIFIER);
    if let Some(topic) = identifier.and_then(topic_of) {
        let act = read_room(name.as_str(), command.get("data").and_then(Value::as_str))?;
        let mut request = RoomRequest::new(Speech::ActionCable, topic, act);
        request.reference = json!(identifier);
        return Ok(Asked::Room(request));
    }
    match name.as_str() {
        Some("subscribe") if known => {
            let confirmed = json!({"identifier": IDENTIFIER, "type": "confirm_subscription"});
            let frame = text_frame(&confirmed.to_string());
            Ok(Asked::Member(true, Some(frame)))
        }
        Some("unsubscribe") if known && from.member => Ok(Asked::Member(false, None)),
        Some("message") if known && from.member => {
            let data = command.get("data").and_then(Value::as_str);
            perform(from, data.ok_or(Rejection::MissingType)?)
        }
        Some("subscribe" | "unsubscribe" | "message") => Err(Rejection::UnknownTopic),
        _ => Err(Rejection::UnknownType),
    }
}

/// What is asked with the identifier of a topic.
fn read_room(command: Option<&str>, data: Option<&str>) -> Result<Act, Rejection> {
    match command {
        Some("subscribe") => Ok(Act::Subscribe),
        Some("unsubscribe") => Ok(Act::Unsubscribe),
        Some("message") => {
            let mut data = object(data.ok_or(Rejection::MissingType)?.as_bytes())?;
            if data.get("action").and_then(Value::as_str) != Some("publish") {
                return Err(Rejection::UnknownType);
            }
            let payload = data.remove("payload");
            payload.map(Act::Publish).ok_or(Rejection::NothingToPublish)
        }
        _ => Err(Rejection::UnknownType),
    }
}

fn perform(from: Speaker, data: &str) -> Result<Asked, Rejection> {
    let mut data = object(data.as_bytes())?;
    let action = data.get("action").ok_or(Rejection::MissingType)?;
    let broadcast = match action.as_str() {
        Some("echo") => false,
        Some("broadcast") => true,
        _ => return Err(Rejection::UnknownType),
    };
    let payload = data
        .remove("payload")
        .ok_or(Rejection::MissingPayload { broadcast })?;
    Ok(Asked::Request(Request::wrapped(
        from.speech,
        broadcast,
        payload,
        Value::Null,
    )))
}

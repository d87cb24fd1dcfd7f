//! Action Cable, one channel.

use super::{Asked, Speaker, text_frame};
use crate::threaded::request::{Rejection, Request};
use serde_json::{Map, Value, json};

const IDENTIFIER: &str = r#"{"channel":"BenchmarkChannel"}"#;

pub(super) fn wrap(action: &str, payload: &Value) -> String {
    json!({"identifier": IDENTIFIER, "message": {"action": action, "payload": payload}}).to_string()
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
    let known = command.get("identifier").and_then(Value::as_str) == Some(IDENTIFIER);
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

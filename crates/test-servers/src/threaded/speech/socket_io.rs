//! Socket.IO 4 over WebSocket alone, the namespace `/`.

use super::{Answer, Asked, Speaker, text_frame};
use crate::threaded::request::{Rejection, Request};
use serde_json::Value;

/// The session of Engine.IO. Its heartbeat is farther away than a test lasts.
pub(super) const SESSION: &str = r#"0{"sid":"session","upgrades":[],"pingInterval":600000,"pingTimeout":600000,"maxPayload":16777216}"#;
const NAMESPACE: &str = r#"40{"sid":"namespace"}"#;

pub(super) fn wrap(event: &str, payload: &Value) -> String {
    format!(r#"42["{event}",{payload}]"#)
}

/// As the library does: an event without a listener is passed over, a packet that cannot be read
/// ends the connection.
pub(super) fn refusal(why: Rejection) -> Answer {
    match why {
        Rejection::UnknownType => Answer::Nothing,
        Rejection::MissingPayload { .. } => {
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

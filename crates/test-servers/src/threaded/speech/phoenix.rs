//! Phoenix channels, one topic.

use super::{Answer, Asked, Rejected, text_frame};
use crate::threaded::request::{Rejection, Reply, Request, error_words};
use crate::threaded::speech::{Speaker, Speech};
use serde_json::{Value, json};

const TOPIC: &str = "room:lobby";

/// What the socket process of Phoenix closes with when it fails.
const FAILED: u16 = 1011;

/// The references of a push: `[join_ref, ref]`.
fn references(join_ref: &Value, reference: &Value) -> Value {
    json!([join_ref, reference])
}

fn message(arrays: bool, refs: &Value, topic: &str, event: &str, payload: &Value) -> String {
    if arrays {
        json!([refs[0], refs[1], topic, event, payload]).to_string()
    } else {
        json!({"topic": topic, "event": event, "payload": payload, "ref": refs[1]}).to_string()
    }
}

fn reply(arrays: bool, refs: &Value, topic: &str, status: &str, response: &Value) -> String {
    let payload = json!({"status": status, "response": response});
    message(arrays, refs, topic, "phx_reply", &payload)
}

pub(super) fn wrap(arrays: bool, kind: Reply, payload: &Value, refs: &Value) -> String {
    let body = json!({"type": kind.name(), "body": payload});
    match kind {
        Reply::Broadcast => message(arrays, &Value::Null, TOPIC, "broadcast", &body),
        Reply::Error => reply(arrays, refs, TOPIC, "error", &body),
        Reply::Echo | Reply::Result => reply(arrays, refs, TOPIC, "ok", &body),
    }
}

pub(super) fn refusal(arrays: bool, why: Rejection, refs: &Value) -> Vec<u8> {
    let reason = json!({"reason": error_words(why)});
    text_frame(&reply(arrays, refs, TOPIC, "error", &reason))
}

/// The parts of a push, as a serializer of Phoenix wants them, or why it fails on it.
fn parts(arrays: bool, bytes: &[u8]) -> Result<[Value; 5], Rejection> {
    let value: Value = serde_json::from_slice(bytes).map_err(|_| Rejection::MalformedJson)?;
    match (value, arrays) {
        (Value::Array(parts), true) if parts.len() == 5 => {
            let mut parts = parts.into_iter();
            Ok([(); 5].map(|()| parts.next().unwrap_or_default()))
        }
        // A part is missing, and which one cannot be known.
        (Value::Array(parts), true) if parts.len() == 4 => Err(Rejection::MissingType),
        (Value::Object(mut object), false) => {
            let mut part = |name: &str| object.remove(name);
            let (Some(topic), Some(event)) = (part("topic"), part("event")) else {
                return Err(Rejection::MissingType);
            };
            let payload = part("payload").ok_or(Rejection::NotAnObject)?;
            Ok([
                part("join_ref").unwrap_or_default(),
                part("ref").unwrap_or_default(),
                topic,
                event,
                payload,
            ])
        }
        _ => Err(Rejection::NotAnObject),
    }
}

pub(super) fn read(from: Speaker, bytes: &[u8]) -> Result<Asked, Rejected> {
    let arrays = from.speech == Speech::PhoenixV2;
    let [join_ref, reference, topic, event, mut payload] =
        parts(arrays, bytes).map_err(|why| Rejected {
            why,
            answer: Answer::Close(FAILED),
        })?;
    let refs = references(&join_ref, &reference);
    let refused = |why| Err(from.speech.refuse(why, &refs));
    let answer = |topic: &str| text_frame(&reply(arrays, &refs, topic, "ok", &json!({})));
    let Some(event) = event.as_str() else {
        return refused(Rejection::MissingType);
    };
    match (topic.as_str(), event) {
        (Some("phoenix"), "heartbeat") => {
            let refs = references(&Value::Null, &reference);
            let frame = text_frame(&reply(arrays, &refs, "phoenix", "ok", &json!({})));
            Ok(Asked::Heartbeat(frame))
        }
        (Some(TOPIC), "phx_join") => Ok(Asked::Member(true, Some(answer(TOPIC)))),
        (Some(TOPIC), _) if !from.member => refused(Rejection::UnknownTopic),
        (Some(TOPIC), "phx_leave") => Ok(Asked::Member(false, Some(answer(TOPIC)))),
        (Some(TOPIC), "echo" | "broadcast") => match payload.get_mut("body") {
            Some(body) => Ok(Asked::Request(Request::wrapped(
                from.speech,
                event == "broadcast",
                body.take(),
                refs,
            ))),
            None => refused(Rejection::MissingPayload {
                broadcast: event == "broadcast",
            }),
        },
        (Some(TOPIC), _) => refused(Rejection::UnknownType),
        _ => refused(Rejection::UnknownTopic),
    }
}

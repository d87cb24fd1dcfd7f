//! Phoenix channels: the lobby, and a topic for each room.

use super::{Answer, Asked, Rejected, text_frame};
use crate::threaded::request::{Rejection, Reply, Request, error_words};
use crate::threaded::rooms::{Act, RoomRequest};
use crate::threaded::speech::{Speaker, Speech};
use serde_json::{Value, json};

const TOPIC: &str = "room:lobby";

/// What stands before the name of a topic.
const ROOM: &str = "room:";

/// What the socket process of Phoenix closes with when it fails.
const FAILED: u16 = 1011;

/// The references of a push: `[join_ref, ref, topic]`.
fn references(join_ref: &Value, reference: &Value, topic: &Value) -> Value {
    json!([join_ref, reference, topic])
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
    let topic = refs[2].as_str().unwrap_or(TOPIC);
    text_frame(&reply(arrays, refs, topic, "error", &reason))
}

pub(super) fn room_message(arrays: bool, topic: &str, payload: &Value) -> Vec<u8> {
    let body = json!({"type": "message", "body": payload});
    let topic = format!("{ROOM}{topic}");
    text_frame(&message(arrays, &Value::Null, &topic, "message", &body))
}

/// A join ends an earlier one; a channel that ends says so, and when its client has left the topic.
pub(super) fn room_answer(arrays: bool, request: &RoomRequest, subscribed: bool) -> Vec<u8> {
    let (refs, topic) = (&request.reference, format!("{ROOM}{}", request.topic));
    let response = match &request.act {
        Act::Publish(payload) => json!({"type": "publishResult", "body": payload}),
        Act::Subscribe | Act::Unsubscribe => json!({}),
    };
    let mut frames = text_frame(&reply(arrays, refs, &topic, "ok", &response));
    if subscribed && !matches!(request.act, Act::Publish(_)) {
        let refs = json!([refs[0], refs[0]]);
        let closed = message(arrays, &refs, &topic, "phx_close", &json!({}));
        frames.extend(text_frame(&closed));
    }
    if subscribed && matches!(request.act, Act::Unsubscribe) {
        let refs = json!([refs[0], null]);
        let left = message(arrays, &refs, &topic, "unsubscribed", &json!({}));
        frames.extend(text_frame(&left));
    }
    frames
}

/// What is asked on the topic of a room.
fn read_room(
    speech: Speech,
    topic: &str,
    event: &str,
    payload: &mut Value,
) -> Result<RoomRequest, Rejection> {
    let act = match event {
        "phx_join" => Act::Subscribe,
        "phx_leave" => Act::Unsubscribe,
        "publish" => match payload.get_mut("body") {
            Some(body) => Act::Publish(body.take()),
            None => return Err(Rejection::NothingToPublish),
        },
        _ => return Err(Rejection::UnknownTopic),
    };
    Ok(RoomRequest::new(speech, topic.to_owned(), act))
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
    let refs = references(&join_ref, &reference, &topic);
    let refused = |why| Err(from.speech.refuse(why, &refs));
    let answer = |topic: &str| text_frame(&reply(arrays, &refs, topic, "ok", &json!({})));
    let Some(event) = event.as_str() else {
        return refused(Rejection::MissingType);
    };
    match (topic.as_str(), event) {
        (Some("phoenix"), "heartbeat") => {
            let refs = references(&Value::Null, &reference, &topic);
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
        (Some(topic), _) if topic.starts_with(ROOM) => {
            match read_room(from.speech, &topic[ROOM.len()..], event, &mut payload) {
                Ok(request) => Ok(Asked::Room(RoomRequest {
                    reference: refs,
                    ..request
                })),
                Err(why) => refused(why),
            }
        }
        _ => refused(Rejection::UnknownTopic),
    }
}

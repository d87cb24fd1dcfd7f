//! Requests really parsed, and their replies (docs/protocol.md).

use super::hub::Peer;
use super::speech::Speech;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use ws_proto::{Opcode, encode_frame};

/// A valid request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) opcode: Opcode,
    pub(crate) broadcast: bool,
    body: Body,
    /// That of the sender.
    speech: Speech,
    /// The other members of the message, in the plain dialects.
    asides: Map<String, Value>,
    /// What a reply must repeat of its request, where the framework has that.
    reference: Value,
}

#[derive(Clone, Debug)]
enum Body {
    Json(Value),
    /// The whole message, byte 0 included.
    Bytes(Vec<u8>),
}

/// What a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Echo,
    Broadcast,
    Result,
    Error,
}

impl Reply {
    /// The name in all JSON dialects.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
            Self::Result => "broadcastResult",
            Self::Error => "error",
        }
    }
}

/// Why a message is no request (docs/protocol.md, Errors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    MalformedJson,
    NotAnObject,
    MissingType,
    UnknownType,
    MissingPayload {
        /// Of a broadcast, not an echo.
        broadcast: bool,
    },
    UnknownTopic,
    /// A publication without a payload.
    NothingToPublish,
    EmptyBinary,
    UnknownByte,
}

impl Request {
    pub(crate) fn parse(opcode: Opcode, message: &[u8]) -> Result<Self, Rejection> {
        if opcode == Opcode::Binary {
            let broadcast = match message.first() {
                Some(b'e') => false,
                Some(b'b') => true,
                Some(_) => return Err(Rejection::UnknownByte),
                None => return Err(Rejection::EmptyBinary),
            };
            return Ok(Self {
                opcode,
                broadcast,
                body: Body::Bytes(message.to_vec()),
                speech: Speech::Plain,
                asides: Map::new(),
                reference: Value::Null,
            });
        }
        let value = serde_json::from_slice(message).map_err(|_| Rejection::MalformedJson)?;
        let Value::Object(mut object) = value else {
            return Err(Rejection::NotAnObject);
        };
        let kind = object.get("type").ok_or(Rejection::MissingType)?;
        let broadcast = match kind.as_str() {
            Some("echo") => false,
            Some("broadcast") => true,
            _ => return Err(Rejection::UnknownType),
        };
        let payload = object
            .remove("payload")
            .ok_or(Rejection::MissingPayload { broadcast })?;
        Ok(Self {
            asides: object,
            ..Self::wrapped(Speech::Plain, broadcast, payload, json!(null))
        })
    }

    /// A request that came in a message of `speech`.
    pub(crate) fn wrapped(
        speech: Speech,
        broadcast: bool,
        payload: Value,
        reference: Value,
    ) -> Self {
        Self {
            opcode: speech.opcode(),
            broadcast,
            body: Body::Json(payload),
            speech,
            asides: Map::new(),
            reference,
        }
    }

    /// A string among the other members of the message.
    pub(crate) fn aside(&self, name: &str) -> Option<&str> {
        self.asides.get(name)?.as_str()
    }

    /// The reference, for a server that changes it.
    pub(crate) const fn reference_mut(&mut self) -> &mut Value {
        &mut self.reference
    }

    /// Bytes of the payload as it stands in a reply.
    pub(crate) fn payload_len(&self) -> usize {
        match &self.body {
            Body::Json(payload) => payload.to_string().len(),
            Body::Bytes(bytes) => bytes.len(),
        }
    }

    /// What a load generator writes into its payloads to know them again: `stamp`, 16 hexadecimal
    /// digits, or the 8 bytes that a binary payload begins with (docs/protocol.md).
    pub(crate) fn stamp(&self) -> Option<u64> {
        match &self.body {
            Body::Json(payload) => stamp_of(payload),
            Body::Bytes(message) => {
                let payload = message.get(5..)?;
                payload
                    .first_chunk()
                    .map(|stamp| u64::from_be_bytes(*stamp))
            }
        }
    }

    /// Flips bits of the stamp; false where there is none.
    pub(crate) fn change_stamp(&mut self, bits: u64) -> bool {
        let Some(stamp) = self.stamp() else {
            return false;
        };
        let other = stamp ^ bits;
        match &mut self.body {
            Body::Json(payload) => payload["stamp"] = Value::from(format!("{other:016x}")),
            Body::Bytes(message) => message[5..13].copy_from_slice(&other.to_be_bytes()),
        }
        true
    }

    /// The payload, for a server that changes it: JSON ...
    pub(crate) fn json_mut(&mut self) -> Option<&mut Value> {
        match &mut self.body {
            Body::Json(value) => Some(value),
            Body::Bytes(_) => None,
        }
    }

    /// ... or the whole binary message.
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut Vec<u8>> {
        match &mut self.body {
            Body::Json(_) => None,
            Body::Bytes(bytes) => Some(bytes),
        }
    }

    /// The message that answers this request, as `reply`.
    pub(crate) fn message(&self, reply: Reply) -> Vec<u8> {
        self.message_in(self.speech, reply)
    }

    fn message_in(&self, speech: Speech, reply: Reply) -> Vec<u8> {
        match &self.body {
            Body::Json(payload) => speech.wrap(reply, payload, &self.reference),
            Body::Bytes(bytes) => {
                let mut message = bytes.clone();
                if reply == Reply::Result {
                    message[0] = b'r';
                }
                message
            }
        }
    }

    /// The same in one unmasked frame.
    pub(crate) fn frame(&self, reply: Reply) -> Vec<u8> {
        self.frame_in(self.speech, reply)
    }

    fn frame_in(&self, speech: Speech, reply: Reply) -> Vec<u8> {
        let mut frame = Vec::new();
        let message = self.message_in(speech, reply);
        encode_frame(&mut frame, self.opcode, None, &message);
        frame
    }

    /// The broadcast, ready for these connections.
    pub(crate) fn broadcast(&self, peers: &[Arc<Peer>]) -> Broadcast {
        let mut frames: Vec<(Speech, Vec<u8>)> = Vec::new();
        for peer in peers {
            if !frames.iter().any(|(speech, _)| *speech == peer.speech) {
                let frame = self.frame_in(peer.speech, Reply::Broadcast);
                frames.push((peer.speech, frame));
            }
        }
        Broadcast(frames)
    }
}

/// A broadcast, encoded once for each way in which the listeners speak.
pub(crate) struct Broadcast(Vec<(Speech, Vec<u8>)>);

impl Broadcast {
    pub(crate) fn send(&self, peer: &Peer) {
        let frame = self.0.iter().find(|(speech, _)| *speech == peer.speech);
        if let Some((_, frame)) = frame {
            peer.send(frame);
        }
    }
}

/// The stamp in a payload of JSON.
pub(super) fn stamp_of(payload: &Value) -> Option<u64> {
    stamp_of_digits(payload.get("stamp")?.as_str()?)
}

/// The stamp that hexadecimal digits are.
pub(crate) fn stamp_of_digits(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

/// What is wrong with a bad message, in words.
pub(crate) const fn error_words(rejection: Rejection) -> &'static str {
    match rejection {
        Rejection::MalformedJson => "malformed JSON",
        Rejection::NotAnObject => "not an object",
        Rejection::MissingType => "no type",
        Rejection::UnknownType => "unknown type",
        Rejection::MissingPayload { .. } | Rejection::NothingToPublish => "no payload",
        Rejection::UnknownTopic => "unmatched topic",
        Rejection::EmptyBinary => "empty binary message",
        Rejection::UnknownByte => "unknown byte 0",
    }
}

/// The error answer of the plain dialects.
pub(crate) fn error_message(rejection: Rejection) -> String {
    json!({"type": "error", "payload": error_words(rejection)}).to_string()
}

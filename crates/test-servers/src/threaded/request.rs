//! Requests really parsed, and their replies (docs/protocol.md, Text and Binary).

use serde_json::Value;
use ws_proto::{Opcode, encode_frame};

/// A valid request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) opcode: Opcode,
    pub(crate) broadcast: bool,
    body: Body,
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
}

/// Why a message is no request (docs/protocol.md, Errors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    MalformedJson,
    NotAnObject,
    MissingType,
    UnknownType,
    MissingPayload,
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
        let payload = object.remove("payload").ok_or(Rejection::MissingPayload)?;
        Ok(Self {
            opcode,
            broadcast,
            body: Body::Json(payload),
        })
    }

    /// The payload, for those who want to spoil it: JSON ...
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
        match &self.body {
            Body::Json(payload) => {
                let kind = match reply {
                    Reply::Echo => "echo",
                    Reply::Broadcast => "broadcast",
                    Reply::Result => "broadcastResult",
                };
                format!("{{\"type\":\"{kind}\",\"payload\":{payload}}}").into_bytes()
            }
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
        let mut frame = Vec::new();
        encode_frame(&mut frame, self.opcode, None, &self.message(reply));
        frame
    }
}

/// The frame that tells a client about a bad message.
pub(crate) fn error_frame(rejection: Rejection) -> Vec<u8> {
    let words = match rejection {
        Rejection::MalformedJson => "malformed JSON",
        Rejection::NotAnObject => "not an object",
        Rejection::MissingType => "no type",
        Rejection::UnknownType => "unknown type",
        Rejection::MissingPayload => "no payload",
        Rejection::EmptyBinary => "empty binary message",
        Rejection::UnknownByte => "unknown byte 0",
    };
    let message = format!("{{\"type\":\"error\",\"payload\":\"{words}\"}}");
    let mut frame = Vec::new();
    encode_frame(&mut frame, Opcode::Text, None, message.as_bytes());
    frame
}

//! How the messages of a connection are wrapped, and what a server says to those that are no
//! requests. Does no I/O.

mod action_cable;
mod mqtt;
mod phoenix;
mod socket_io;

use super::hub::Peer;
use super::request::{Rejection, Reply, Request, error_message};
use super::rooms::{self, RoomRequest};
use crate::framework::Framework;
use crate::upgrade::RequestHead;
use serde_json::Value;
use ws_proto::{Opcode, encode_frame};

/// The message format of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    /// Text and binary.
    Plain,
    /// Phoenix, serializer 1.0.0.
    PhoenixV1,
    /// Phoenix, serializer 2.0.0.
    PhoenixV2,
    ActionCable,
    SocketIo,
    Mqtt(mqtt::Terms),
}

/// What must be known of a client to read its messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speaker {
    pub(crate) speech: Speech,
    /// Broadcasts are for it.
    pub(crate) member: bool,
}

/// What a message asks for.
pub(crate) enum Asked {
    Request(Request),
    /// To become a listener, or to stop being one; with the frame that confirms it, where there is
    /// one.
    Member(bool, Option<Vec<u8>>),
    /// About topics.
    Room(RoomRequest),
    /// A sign of life, with its answer.
    Heartbeat(Vec<u8>),
    /// For nothing: a delivery is acknowledged.
    Nothing,
}

/// A message that is no request, and what an honest server does then.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(crate) why: Rejection,
    pub(crate) answer: Answer,
}

#[derive(Debug)]
pub(crate) enum Answer {
    Frame(Vec<u8>),
    Close(u16),
    Nothing,
}

impl Rejected {
    /// Answers as an honest server does; an error ends the connection with that close code.
    pub(crate) fn answer(self, to: &Peer) -> Result<(), u16> {
        match self.answer {
            Answer::Frame(frame) => to.send(&frame),
            Answer::Close(code) => return Err(code),
            Answer::Nothing => {}
        }
        Ok(())
    }
}

impl Speech {
    pub(crate) fn new(framework: Framework, head: &RequestHead) -> Self {
        match framework {
            Framework::Plain => Self::Plain,
            Framework::ActionCable => Self::ActionCable,
            Framework::SocketIo => Self::SocketIo,
            Framework::Mqtt => Self::Mqtt(mqtt::Terms::new(&head.target)),
            Framework::Phoenix if head.target.contains("vsn=2.") => Self::PhoenixV2,
            Framework::Phoenix => Self::PhoenixV1,
        }
    }

    /// Frames behind the answer to the upgrade.
    pub(crate) fn greeting(self) -> Vec<u8> {
        match self {
            Self::ActionCable => text_frame(r#"{"type":"welcome"}"#),
            Self::SocketIo => text_frame(socket_io::SESSION),
            _ => Vec::new(),
        }
    }

    /// A client is a listener as soon as it is connected.
    pub(crate) const fn is_member_at_once(self) -> bool {
        matches!(self, Self::Plain)
    }

    /// The type of its messages; plain ones may also be binary.
    pub(crate) const fn opcode(self) -> Opcode {
        match self {
            Self::Mqtt(_) => Opcode::Binary,
            _ => Opcode::Text,
        }
    }

    fn frame(self, message: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        encode_frame(&mut frame, self.opcode(), None, message);
        frame
    }

    /// The reply around a JSON payload. `reference` is that of the request.
    pub(crate) fn wrap(self, reply: Reply, payload: &Value, reference: &Value) -> Vec<u8> {
        let name = reply.name();
        let text = match self {
            Self::Plain => format!(r#"{{"type":"{name}","payload":{payload}}}"#),
            Self::ActionCable => action_cable::wrap(name, payload),
            Self::SocketIo => socket_io::wrap(name, payload),
            Self::PhoenixV1 => phoenix::wrap(false, reply, payload, reference),
            Self::PhoenixV2 => phoenix::wrap(true, reply, payload, reference),
            Self::Mqtt(terms) => return terms.wrap(reply, payload, reference),
        };
        text.into_bytes()
    }

    /// What each subscriber of a topic is sent.
    pub(super) fn room_message(self, topic: &str, payload: &Value) -> Vec<u8> {
        match self {
            Self::Plain => rooms::message(topic, payload),
            Self::SocketIo => socket_io::room_message(topic, payload),
            Self::ActionCable => action_cable::room_message(topic, payload),
            Self::PhoenixV1 => phoenix::room_message(false, topic, payload),
            Self::PhoenixV2 => phoenix::room_message(true, topic, payload),
            Self::Mqtt(terms) => self.frame(&terms.publish(topic, payload)),
        }
    }

    /// What a request about a topic is answered, of a client that was subscribed to it before, or was
    /// not.
    pub(super) fn room_answer(self, request: &RoomRequest, subscribed: bool) -> Vec<u8> {
        match self {
            Self::Plain => rooms::answer(request),
            Self::SocketIo => socket_io::room_answer(request),
            Self::ActionCable => action_cable::room_answer(request, subscribed),
            Self::PhoenixV1 => phoenix::room_answer(false, request, subscribed),
            Self::PhoenixV2 => phoenix::room_answer(true, request, subscribed),
            Self::Mqtt(terms) => self.frame(&terms.room_answer(request)),
        }
    }

    /// What an honest server does about a request that it cannot serve.
    pub(crate) fn refuse(self, why: Rejection, reference: &Value) -> Rejected {
        let answer = match self {
            Self::Plain => Answer::Frame(text_frame(&error_message(why))),
            Self::ActionCable | Self::Mqtt(_) => Answer::Nothing,
            Self::SocketIo => socket_io::refusal(why),
            Self::PhoenixV1 => Answer::Frame(phoenix::refusal(false, why, reference)),
            Self::PhoenixV2 => Answer::Frame(phoenix::refusal(true, why, reference)),
        };
        Rejected { why, answer }
    }

    /// An error message, also where an honest server sends none.
    pub(crate) fn complaint(self, why: Rejection, reference: &Value) -> Vec<u8> {
        match self.refuse(why, reference).answer {
            Answer::Frame(frame) => frame,
            _ => self.frame(&self.wrap(Reply::Error, &Value::from("no request"), reference)),
        }
    }
}

/// Understands a message of a client.
pub(crate) fn read(from: Speaker, opcode: Opcode, message: &[u8]) -> Result<Asked, Rejected> {
    match from.speech {
        Speech::Plain => match rooms::read(opcode, message) {
            Some(asked) => asked.map(Asked::Room),
            None => Request::parse(opcode, message).map(Asked::Request),
        }
        .map_err(|why| Speech::Plain.refuse(why, &Value::Null)),
        Speech::PhoenixV1 | Speech::PhoenixV2 => phoenix::read(from, message),
        Speech::ActionCable => {
            action_cable::read(from, message).map_err(|why| from.speech.refuse(why, &Value::Null))
        }
        Speech::SocketIo => {
            socket_io::read(from, message).map_err(|why| from.speech.refuse(why, &Value::Null))
        }
        Speech::Mqtt(terms) => mqtt::read(from, terms, message),
    }
}

pub(crate) fn text_frame(message: &str) -> Vec<u8> {
    let mut frame = Vec::new();
    encode_frame(&mut frame, Opcode::Text, None, message.as_bytes());
    frame
}

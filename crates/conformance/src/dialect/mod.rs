//! The differences between the dialects (docs/protocol.md): how a connection is opened, how a
//! request is written, what a reply says, and what a server does with messages that are no
//! requests.
//!
//! The checks know one common form, [`Reply`], and ask here for the rest. Does no I/O.

mod action_cable;
pub(crate) mod phoenix;
mod plain;
mod socket_io;
mod topics;

pub(crate) use topics::{Heard, Topics, Wish, Word};

use crate::message::{Kind, Payload, Reply, Unread};
use crate::target::Dialect;
use std::borrow::Cow;
use ws_proto::Opcode;

/// What a client does next between its handshake and its first request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Ready for requests.
    Ready,
    /// Wait for the next message of the server.
    Await,
    /// Send this text message, then wait.
    Send(String),
    /// The server turned the client away, in words.
    Refused(String),
}

/// A reason why a message is no request (docs/protocol.md, Errors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No JSON.
    MalformedJson,
    /// JSON that has not the structure of a message.
    NotAnObject,
    /// No type, event, command or action.
    MissingType,
    /// An unknown one.
    UnknownType,
    /// No payload.
    MissingPayload,
    /// A topic or identifier that the client did not join.
    UnknownTopic,
}

impl Fault {
    pub(crate) const ALL: [Self; 6] = [
        Self::MalformedJson,
        Self::NotAnObject,
        Self::MissingType,
        Self::UnknownType,
        Self::MissingPayload,
        Self::UnknownTopic,
    ];
}

/// What a server must send to the sender of a bad message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owed {
    /// An error answer, or a close with one of these codes.
    Answer(&'static [u16]),
    /// The same, or nothing; the connection then goes on as if the message had not been sent.
    AnswerOrNothing(&'static [u16]),
}

/// One dialect. The defaults are those of the plain ones.
pub(crate) trait Speech: Sync {
    /// `Sec-WebSocket-Protocol` of the handshake.
    fn subprotocol(&self) -> Option<&'static str> {
        None
    }

    /// The handshake is refused without an `Origin`.
    fn needs_origin(&self) -> bool {
        false
    }

    /// Path and query of the handshake.
    fn path(&self, path: &str) -> String {
        path.to_owned()
    }

    /// The first move after the handshake.
    fn open(&self) -> Opening {
        Opening::Ready
    }

    /// The move after a message that came before [`Opening::Ready`].
    fn opened(&self, _message: &[u8]) -> Opening {
        Opening::Ready
    }

    /// True of the message that makes a client ready where the library adds something of its own to all
    /// that follow.
    fn adds(&self, _message: &[u8]) -> bool {
        false
    }

    /// A message without what the library adds.
    fn without_added<'m>(&self, message: &'m [u8]) -> Cow<'m, [u8]> {
        Cow::Borrowed(message)
    }

    /// The message by which a client leaves what it joined.
    fn leave(&self) -> Option<String> {
        None
    }

    /// The topics that clients subscribe to; absent where the dialect, or its checks, have none.
    fn topics(&self) -> Option<&dyn Topics> {
        None
    }

    /// True for traffic of the framework itself that may come at any time.
    fn is_noise(&self, _message: &[u8]) -> bool {
        false
    }

    /// True when the messages of one connection are answered in their order.
    fn is_ordered(&self) -> bool {
        true
    }

    /// The request of this kind around a JSON payload, as it stands.
    fn json_request(&self, kind: Kind, payload: &str) -> String;

    /// The request of this kind, as opcode and message.
    fn request(&self, kind: Kind, payload: &Payload) -> (Opcode, Vec<u8>) {
        match payload {
            Payload::Json(value) => {
                let text = self.json_request(kind, &value.to_string());
                (Opcode::Text, text.into_bytes())
            }
            Payload::Bytes(bytes) => (Opcode::Binary, plain::binary_request(kind, bytes)),
        }
    }

    /// Echoes in spellings that need a parser, each with its payload.
    fn odd_spellings(&self) -> Vec<(String, &'static str)>;

    /// Reads a message of the server; an error says what is wrong with it.
    fn parse(&self, opcode: Opcode, message: &[u8]) -> Result<Reply, Unread>;

    /// Text messages with this fault; none where the dialect cannot have it.
    fn faulty(&self, fault: Fault) -> Vec<String>;

    /// What the server must send to the sender of such a message.
    fn owed(&self, fault: Fault) -> Owed;
}

impl Dialect {
    pub(crate) fn speech(self) -> &'static dyn Speech {
        match self {
            Self::Text | Self::Binary => &plain::Plain,
            Self::PhoenixV1 => &phoenix::Phoenix { arrays: false },
            Self::PhoenixV2 => &phoenix::Phoenix { arrays: true },
            Self::ActionCable => &action_cable::ActionCable,
            Self::SocketIo => &socket_io::SocketIo,
        }
    }

    /// There are checks of its topics.
    pub(crate) fn has_topics(self) -> bool {
        self != Self::Binary && self.speech().topics().is_some()
    }
}

/// What the names of messages mean, the same in all JSON dialects.
fn kind(name: Option<&str>) -> Option<Kind> {
    [Kind::Echo, Kind::Broadcast, Kind::Result, Kind::Error]
        .into_iter()
        .find(|kind| Some(kind.word()) == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ALL: [Dialect; 6] = [
        Dialect::Text,
        Dialect::Binary,
        Dialect::PhoenixV1,
        Dialect::PhoenixV2,
        Dialect::ActionCable,
        Dialect::SocketIo,
    ];

    /// The JSON of a message: of Socket.IO, what is behind the type and the namespace.
    fn json_of(dialect: Dialect, message: &str) -> &str {
        if dialect != Dialect::SocketIo {
            return message;
        }
        let behind_type = message.trim_start_matches(char::is_numeric);
        behind_type.trim_start_matches("/attic,")
    }

    #[test]
    fn names_are_those_of_the_serialised_form() {
        for dialect in ALL {
            assert_eq!(json!(dialect), dialect.to_string());
        }
    }

    #[test]
    fn bad_json_is_bad_and_other_faults_are_json() {
        for dialect in ALL {
            for fault in Fault::ALL {
                for message in dialect.speech().faulty(fault) {
                    let parsed =
                        serde_json::from_str::<serde_json::Value>(json_of(dialect, &message));
                    let nested = || {
                        let data = parsed.as_ref().ok()?.get("data")?.as_str()?;
                        Some(serde_json::from_str::<serde_json::Value>(data).is_err())
                    };
                    let malformed = parsed.is_err() || nested() == Some(true);
                    let meant = fault == Fault::MalformedJson;
                    assert_eq!(malformed, meant, "{dialect}, {fault:?}: {message}");
                }
            }
        }
    }

    #[test]
    fn odd_spellings_say_what_they_are_said_to() {
        for dialect in ALL {
            for (message, payload) in dialect.speech().odd_spellings() {
                let json = json_of(dialect, &message);
                serde_json::from_str::<serde_json::Value>(json).expect(&message);
                serde_json::from_str::<serde_json::Value>(payload).expect(payload);
            }
        }
    }
}

//! The dialects: how a request is written and what an answer says. See docs/protocol.md.
//!
//! A dialect sees whole messages, never sockets or frames. What it parses here is parsed fully;
//! recognising messages without a parse is the work of [`crate::verify`].

mod action_cable;
mod binary;
mod json;
mod phoenix;
mod stamp;

use run_record::{Dialect, Plan, Workload};
pub(crate) use stamp::{StampForm, Stamps};
use std::sync::Arc;
use ws_proto::{Opcode, printable};

/// What a message is, once it is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The answer to an echo.
    Echo,
    /// A delivery of a broadcast.
    Broadcast,
    /// The sender's result of a broadcast.
    Result,
}

/// A parsed message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    /// One of the three kinds, with the stamp of its payload.
    Message {
        kind: Kind,
        stamp: u64,
        /// The rest of the payload is as it was sent.
        intact: bool,
    },
    /// The server's words that it could not do what it was asked.
    Refused,
    /// Traffic of the framework itself.
    Ignored,
}

/// A message that is not of the dialect, in words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) String);

/// So much of a message is shown, in bytes.
const MAX_SHOWN: usize = 100;

impl Malformed {
    /// The message and what is wrong with it, to be printed.
    pub(crate) fn of(&self, message: &[u8]) -> String {
        let shown = printable(message, MAX_SHOWN);
        let why = printable(self.0.as_bytes(), MAX_SHOWN);
        format!("`{shown}` ({why})")
    }
}

/// The next move of a client between its handshake and its first request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Ready for requests.
    Ready,
    /// Wait for the next message of the server.
    Await,
    /// Send this text message, then wait.
    Send(String),
    /// The server turned the client away.
    Refused(String),
}

/// One dialect.
pub(crate) trait Codec: Send + Sync {
    /// `Sec-WebSocket-Protocol` of the handshake.
    fn subprotocol(&self) -> Option<&'static str> {
        None
    }

    /// `Origin` of the handshake, unless the plan names one.
    fn origin(&self) -> Option<&str> {
        None
    }

    /// Opcode of every message, both ways.
    fn opcode(&self) -> Opcode {
        Opcode::Text
    }

    /// How stamps are written.
    fn stamp_form(&self) -> StampForm {
        StampForm::Hex
    }

    /// False when a server may deliver the broadcasts of one sender in any order.
    fn keeps_order(&self) -> bool {
        true
    }

    /// The first move after the handshake.
    fn open(&self) -> Opening {
        Opening::Ready
    }

    /// The move after a message that came before [`Opening::Ready`].
    fn opened(&self, _message: &[u8]) -> Opening {
        Opening::Ready
    }

    /// Appends the payload of a request message to `out`.
    fn request(&self, workload: Workload, stamp: u64, out: &mut Vec<u8>);

    /// What an answer to a request looks like, for people.
    fn expects(&self, workload: Workload) -> String;

    /// Understands a message.
    fn parse(&self, message: &[u8]) -> Result<Incoming, Malformed>;
}

/// The type names of the answers to a request.
const fn answer_names(workload: Workload) -> &'static [&'static str] {
    match workload {
        Workload::Echo | Workload::Connect => &["echo"],
        Workload::Broadcast => &["broadcast", "broadcastResult"],
    }
}

/// The answers to a request, one or the other, as `shape` writes each.
fn either(workload: Workload, shape: impl Fn(&str) -> String) -> String {
    let shapes: Vec<String> = answer_names(workload)
        .iter()
        .map(|name| shape(name))
        .collect();
    shapes.join(" or ")
}

/// The codec of a plan.
pub(crate) fn codec(plan: &Plan) -> Arc<dyn Codec> {
    let padding = padding(plan.message.padding);
    match plan.message.dialect {
        Dialect::Text => Arc::new(json::Json::new(padding)),
        Dialect::Binary => Arc::new(binary::Binary::new(padding)),
        Dialect::Phoenix => Arc::new(phoenix::Phoenix::new(padding, &plan.target.url)),
        Dialect::ActionCable => Arc::new(action_cable::ActionCable::new(padding, &plan.target.url)),
    }
}

/// The ancestor's padding: the digits 1234567890 over and over.
fn padding(len: u32) -> String {
    "1234567890".chars().cycle().take(len as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers have longer type names, and a server may write JSON with spaces.
    #[test]
    fn a_request_with_the_most_padding_leaves_room_within_16_mib() {
        for (dialect, url) in [
            (Dialect::Text, "ws://h/ws"),
            (Dialect::Binary, "ws://h/ws"),
            (Dialect::Phoenix, "ws://h/socket/websocket"),
            (Dialect::Phoenix, "ws://h/socket/websocket?vsn=2.0.0"),
            (Dialect::ActionCable, "ws://h/cable"),
        ] {
            let plan = crate::test_plan(url).with(|plan| {
                plan.message.dialect = dialect;
                plan.message.padding = run_record::MOST_PADDING;
            });
            let mut request = Vec::new();
            codec(&plan).request(Workload::Broadcast, u64::MAX, &mut request);
            let room = (16_usize << 20).checked_sub(request.len());
            assert!(
                room.is_some_and(|room| room >= 512),
                "{dialect:?}: {room:?}"
            );
        }
    }
}

//! The largest message (docs/protocol.md, Limits; RFC 6455, section 7.4.1 for 1009).

use crate::check::{Check, Scope};
use crate::client::{Client, Ending, Incoming};
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload};
use crate::raw::fragments;
use crate::target::{Dialect, ProtocolRequest};
use serde_json::json;
use ws_proto::Opcode;

const LIMIT: usize = 16 * 1024 * 1024;

/// Fragments of the message that is too large only as a whole.
const FRAGMENT: usize = 4 * 1024 * 1024;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-limit-accepted",
        section: "protocol, Limits",
        description: "Echoes a message of exactly 16 MiB.",
        expectation: "it comes back whole",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: |context| {
            let mut client = context.connect_large()?;
            let payload = sized(context.dialect, LIMIT);
            context.echo(&mut client, &payload)
        },
    },
    Check {
        id: "protocol-limit-accepted-in-fragments",
        section: "protocol, Limits",
        description: "Echoes a message of exactly 16 MiB in two fragments.",
        expectation: "it comes back whole",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: |context| {
            let mut client = context.connect_large()?;
            let payload = sized(context.dialect, LIMIT);
            let (opcode, message) = context.message(Kind::Echo, &payload);
            let (start, end) = message.split_at(LIMIT / 2);
            for fragment in fragments(opcode, &[start, end]) {
                client.send_raw(&fragment)?;
            }
            context.expect(&mut client, Kind::Echo, &payload)
        },
    },
    Check {
        id: "protocol-limit-refused",
        section: "protocol, Limits",
        description: "Sends an echo of 16 MiB and one byte in one frame.",
        expectation: "a close with 1009, or the end of the connection",
        scope: Scope::Each,
        needs: None,
        run: |context| {
            let mut client = context.connect_large()?;
            let (opcode, message) = too_long(context);
            client.send(opcode, &message)?;
            too_large(&mut client)
        },
    },
    Check {
        id: "protocol-limit-refused-in-fragments",
        section: "protocol, Limits",
        description: "Sends an echo of 16 MiB and one byte in fragments of 4 MiB.",
        expectation: "a close with 1009, or the end of the connection",
        scope: Scope::Each,
        needs: None,
        run: |context| {
            let mut client = context.connect_large()?;
            let (opcode, message) = too_long(context);
            let parts: Vec<&[u8]> = message.chunks(FRAGMENT).collect();
            for fragment in fragments(opcode, &parts) {
                client.send_raw(&fragment)?;
            }
            too_large(&mut client)
        },
    },
];

/// A payload whose echo request has exactly this many bytes.
pub(super) fn sized(dialect: Dialect, bytes: usize) -> Payload {
    match dialect {
        Dialect::Binary => Payload::binary(&vec![b'x'; bytes - 5]),
        _ => {
            let (_, empty) = dialect
                .speech()
                .request(Kind::Echo, &Payload::Json(json!("")));
            Payload::Json("x".repeat(bytes - empty.len()).into())
        }
    }
}

pub(super) fn too_long(context: &Context<'_>) -> (Opcode, Vec<u8>) {
    context.message(Kind::Echo, &sized(context.dialect, LIMIT + 1))
}

pub(super) fn too_large(client: &mut Client) -> Checked {
    let wait = client.timeout;
    match client.next_within(wait) {
        Some(Incoming::Close(Ok(Some(frame)))) if frame.code == 1009 => Ok(()),
        Some(Incoming::End(Ending::Eof | Ending::Reset(_))) => Ok(()),
        Some(other) => Err(Failure(format!("got {other}"))),
        None => Err(Failure(format!(
            "the connection was still open after {wait:?}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact() {
        for dialect in [
            Dialect::Text,
            Dialect::Binary,
            Dialect::PhoenixV1,
            Dialect::PhoenixV2,
            Dialect::ActionCable,
            Dialect::SocketIo,
        ] {
            let payload = sized(dialect, 1000);
            let (_, message) = dialect.speech().request(Kind::Echo, &payload);
            assert_eq!(message.len(), 1000, "{dialect}");
        }
    }
}

//! The largest message (docs/protocol.md, Limits; RFC 6455, section 7.4.1 for 1009).

use crate::check::{Check, Scope};
use crate::client::{Client, Ending, Incoming};
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload};
use crate::raw::{fragments, frame};
use crate::target::{Dialect, ProtocolRequest};
use serde_json::json;
use ws_proto::Opcode;

const LIMIT: usize = 16 * 1024 * 1024;

/// A fragment of a message that does not end.
const FRAGMENT: usize = 1024 * 1024;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-limit-accepted",
        section: "protocol, Limits",
        description: "Echoes messages of 16 MiB, and of one byte less.",
        expectation: "each comes back whole",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: |context| {
            let mut client = context.connect_large()?;
            [LIMIT - 1, LIMIT].into_iter().try_for_each(|bytes| {
                let payload = sized(context.dialect, bytes);
                let echoed = context.echo(&mut client, &payload);
                echoed.map_err(|failure| failure.at(format_args!("{bytes} bytes")))
            })
        },
    },
    Check {
        id: "protocol-limit-accepted-in-fragments",
        section: "protocol, Limits",
        description: "Echoes messages of 16 MiB, and of one byte less, each in two fragments.",
        expectation: "each comes back whole",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: |context| {
            let mut client = context.connect_large()?;
            [LIMIT - 1, LIMIT].into_iter().try_for_each(|bytes| {
                let payload = sized(context.dialect, bytes);
                let (opcode, message) = context.message(Kind::Echo, &payload);
                send_in_two(&mut client, opcode, &message)?;
                let echoed = context.expect(&mut client, Kind::Echo, &payload);
                echoed.map_err(|failure| failure.at(format_args!("{bytes} bytes")))
            })
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
        description: "Sends an echo of 16 MiB and one byte in two fragments.",
        expectation: "a close with 1009, or the end of the connection",
        scope: Scope::Each,
        needs: None,
        run: |context| {
            let mut client = context.connect_large()?;
            let (opcode, message) = too_long(context);
            send_in_two(&mut client, opcode, &message)?;
            too_large(&mut client)
        },
    },
    Check {
        id: "protocol-limit-refused-without-end",
        section: "protocol, Limits",
        description: "Sends 18 fragments of 1 MiB, and no last one.",
        expectation: "a close with 1009, or the end of the connection",
        scope: Scope::Once,
        needs: None,
        run: |context| {
            let mut client = context.connect_large()?;
            client.send_raw(&frame(Opcode::Text as u8, &[b'x'; FRAGMENT]))?;
            let more = frame(0, &[b'x'; FRAGMENT]);
            (0..=LIMIT / FRAGMENT).try_for_each(|_| client.send_raw(&more))?;
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

fn send_in_two(client: &mut Client, opcode: Opcode, message: &[u8]) -> Checked {
    let (start, end) = message.split_at(message.len() / 2);
    let mut parts = fragments(opcode, &[start, end]).into_iter();
    parts.try_for_each(|fragment| client.send_raw(&fragment))
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

//! Fragmented messages (RFC 6455, section 5.4).

use super::echo::all_answered;
use super::limits::sized;
use crate::check::{Check, Scope};
use crate::client::{Ending, Incoming};
use crate::context::{Context, as_reply, refused};
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload, Reply};
use crate::raw::{FIN, fragments, frame};
use crate::target::{Dialect, ProtocolRequest};
use serde_json::json;
use ws_proto::Opcode;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "rfc6455-5.4-fragments",
        section: "RFC 6455, 5.4",
        description: "Echoes messages in 2, 3 and many fragments, one of them empty; text is cut \
                      inside a UTF-8 sequence.",
        expectation: "each is answered as if it had come in one frame",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: fragmented,
    },
    Check {
        id: "rfc6455-5.4-ping-between-fragments",
        section: "RFC 6455, 5.4",
        description: "Echoes a message in three fragments with a ping after each of the first two.",
        expectation: "both pings are answered with their payloads, and the message too",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: with_pings,
    },
    Check {
        id: "rfc6455-5.4-message-behind-fragments",
        section: "RFC 6455, 5.4",
        description: "Sends a message in three fragments and another message behind them, all in one \
                      segment.",
        expectation: "both are echoed",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: with_message_behind,
    },
    Check {
        id: "rfc6455-5.4-many-fragments",
        section: "RFC 6455, 5.4",
        description: "Echoes a message of 50,000 bytes in fragments of one byte, each with an empty \
                      one behind it.",
        expectation: "it comes back whole, or a close with 1008 or 1009, or the end of the connection",
        scope: Scope::Once,
        needs: Some(ProtocolRequest::Echo),
        run: many_fragments,
    },
    Check {
        id: "rfc6455-5.4-continuation-without-start",
        section: "RFC 6455, 5.4",
        description: "Sends a continuation frame with no message under way.",
        expectation: "the server fails the connection",
        scope: Scope::Each,
        needs: None,
        run: |context| {
            let mut client = context.connect()?;
            let (_, message) = context.fresh(Kind::Echo);
            client.send_raw(&frame(FIN | Opcode::Continuation as u8, &message))?;
            refused(&mut client)
        },
    },
    Check {
        id: "rfc6455-5.4-interleaved-message",
        section: "RFC 6455, 5.4",
        description: "Begins a fragmented message and sends a whole one before its end.",
        expectation: "the server fails the connection",
        scope: Scope::Each,
        needs: None,
        run: |context| {
            let mut client = context.connect()?;
            let (opcode, message) = context.fresh(Kind::Echo);
            client.send_raw(&frame(opcode as u8, &message[..5]))?;
            client.send(opcode, &message)?;
            refused(&mut client)
        },
    },
];

/// A payload whose message has a character of several bytes in the middle, and where to cut it.
fn cut_payload(context: &mut Context<'_>) -> (Payload, Opcode, Vec<u8>, usize) {
    let payload = match context.dialect {
        Dialect::Binary => context.payload(),
        _ => Payload::Json(json!({"text": "ä€😀€ä"})),
    };
    let (opcode, message) = context.message(Kind::Echo, &payload);
    let astral = "😀".as_bytes();
    let found = message.windows(4).position(|window| window == astral);
    let cut = found.map_or(message.len() / 2, |at| at + 2);
    (payload, opcode, message, cut)
}

fn fragmented(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect()?;
    let (payload, opcode, message, cut) = cut_payload(context);
    let (start, end) = message.split_at(cut);
    let bytes: Vec<&[u8]> = message.chunks(1).collect();
    let divisions: [&[&[u8]]; 5] = [
        &[start, end],
        &[&start[..1], &start[1..], end],
        &[start, b"", end],
        &[b"", start, end, b""],
        &bytes,
    ];
    for parts in divisions {
        for fragment in fragments(opcode, parts) {
            client.send_raw(&fragment)?;
        }
        context
            .expect(&mut client, Kind::Echo, &payload)
            .map_err(|failure| failure.at(format_args!("{} fragments", parts.len())))?;
    }
    Ok(())
}

fn with_message_behind(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect()?;
    let (first, second) = (context.payload(), context.payload());
    let (opcode, message) = context.message(Kind::Echo, &first);
    let (start, end) = message.split_at(message.len() / 2);
    let mut segment = fragments(opcode, &[&start[..1], &start[1..], end]).concat();
    let (opcode, message) = context.message(Kind::Echo, &second);
    segment.extend(frame(FIN | opcode as u8, &message));
    client.send_raw(&segment)?;
    all_answered(context, &mut client, &[first, second])
}

/// A message in this many bytes, each of them a fragment.
const MANY: usize = 50_000;

fn many_fragments(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect_large()?;
    let payload = sized(context.dialect, MANY);
    let (opcode, message) = context.message(Kind::Echo, &payload);
    let parts: Vec<&[u8]> = message.chunks(1).flat_map(|byte| [byte, b""]).collect();
    client.send_raw(&fragments(opcode, &parts).concat())?;
    let wait = client.timeout;
    match client.next_within(wait) {
        Some(Incoming::Close(Ok(Some(frame)))) if matches!(frame.code, 1008 | 1009) => Ok(()),
        Some(Incoming::End(Ending::Eof | Ending::Reset(_))) => Ok(()),
        other => is_echo(&as_reply(other, wait)?, &payload),
    }
}

fn is_echo(reply: &Reply, payload: &Payload) -> Checked {
    if reply.kind == Kind::Echo && reply.payload.equals(payload) {
        Ok(())
    } else {
        Err(Failure(format!("got {reply} for the echo of {payload}")))
    }
}

fn with_pings(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect()?;
    let (payload, opcode, message, cut) = cut_payload(context);
    let (start, end) = message.split_at(cut);
    let parts = fragments(opcode, &[&start[..1], &start[1..], end]);
    let ping = |payload: &[u8]| frame(FIN | Opcode::Ping as u8, payload);
    let stream = [
        &parts[0][..],
        &ping(b"one"),
        &parts[1],
        &ping(b"two"),
        &parts[2],
    ];
    client.send_raw(&stream.concat())?;
    let mut pongs = Vec::new();
    let mut echoed = false;
    // The pong may come before or after the message: "as soon as is practical" (5.5.2).
    while pongs.len() < 2 || !echoed {
        let wait = client.timeout;
        match client.next_within(wait) {
            Some(Incoming::Pong(payload)) => pongs.push(payload),
            None => {
                return Err(Failure(format!(
                    "{} of 2 pongs and {} echo within {wait:?}",
                    pongs.len(),
                    if echoed { "the" } else { "no" }
                )));
            }
            other => {
                is_echo(&as_reply(other, wait)?, &payload)?;
                echoed = true;
            }
        }
    }
    if pongs.last().map(Vec::as_slice) == Some(b"two") {
        Ok(())
    } else {
        Err(Failure::new(
            "the pongs carry other payloads than the pings",
        ))
    }
}

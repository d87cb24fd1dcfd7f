//! Memory that a server keeps although nothing needs it any more (docs/protocol.md, Limits).
//!
//! A run-time that collects garbage, or whose allocator keeps what was freed, takes memory from the kernel
//! until it has enough. So the size says little, and growth that does not end says all: the same is done in
//! round after round, until the server's memory grows no more.

use super::deflate::{deflating, echo};
use super::rooms::{fresh_topic, subscribe_and_unsubscribe};
use crate::check::{Check, Scope};
use crate::client::{Client, Ending, Incoming};
use crate::context::{Context, LARGE};
use crate::failure::{Checked, Failure};
use crate::raw::{FIN, frame};
use crate::target::ProtocolRequest;
use std::ops::ControlFlow;
use std::time::Duration;
use ws_proto::Opcode;

/// Rounds after which a server's memory must have stopped growing.
const ROUNDS: usize = 24;
/// The same where a round leaves little: a JVM on a large machine took 260 MiB of garbage from the kernel in
/// 24 rounds, a little in each, before its first whole collection.
const SMALL_ROUNDS: usize = 48;

/// Topics of a round.
const TOPICS: usize = 2000;
/// So many of them are asked for in one go.
const TOPICS_AT_ONCE: usize = 100;
/// What may be left of each. A name in a set takes as much.
const LEFT_OF_TOPIC: u64 = 256;
/// Large messages behind a round of small ones. What these leave behind, a run-time may put off until its
/// memory is full, which takes longer than all rounds; large messages make it collect.
const ECHOES: usize = 4;

/// Connections of a round, each with one large message.
const CONNECTIONS: usize = 8;
const MESSAGE: usize = 1024 * 1024;
/// What may be left on a connection: compressors with their windows take some 300 KiB (zlib, "Memory
/// requirements"), and buffers may be as large as half of the message.
const LEFT_ON_CONNECTION: u64 = MESSAGE as u64;

/// Fragments of a round: every other one is empty.
const FRAGMENTS: usize = 40_000;
/// What may be left of each, of which half hold a byte.
const LEFT_OF_FRAGMENT: u64 = 32;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-rooms-memory",
        section: "protocol, Limits",
        description: "Subscribes to 2,000 topics, a hundred at once, unsubscribes from each, and echoes 1 MiB four \
                      times; all that up to 48 times, each time with other topics.",
        expectation: "the server's memory stops growing: less than 256 bytes of each topic are left",
        scope: Scope::Memory,
        needs: Some(ProtocolRequest::Rooms),
        run: topics,
    },
    Check {
        id: "protocol-large-messages-memory",
        section: "protocol, Limits",
        description: "Opens 8 connections that compress and stay open, up to 24 times; each echoes 1 MiB once.",
        expectation: "the server's memory stops growing: less than 1 MiB on each connection is left",
        scope: Scope::DeflateMemory,
        needs: Some(ProtocolRequest::Echo),
        run: large_messages,
    },
    Check {
        id: "protocol-endless-fragments",
        section: "protocol, Limits",
        description: "Sends a message in fragments of 1 byte and of none, 40,000 of them up to 24 times, and no \
                      last one; another client echoes 1 MiB four times after each 40,000.",
        expectation: "the server's memory stops growing: less than 32 bytes of each fragment are left; or it ends \
                      the connection",
        scope: Scope::Memory,
        needs: Some(ProtocolRequest::Echo),
        run: endless_fragments,
    },
];

/// Repeats a round, so many times at most, until two in a row have left less than `each` bytes each in the
/// server, or until the round ends it.
fn stops_growing(
    context: &mut Context<'_>,
    (rounds, each): (usize, u64),
    round: &mut dyn FnMut(&mut Context<'_>) -> Result<ControlFlow<()>, Failure>,
) -> Checked {
    let begun = context.server_memory()?;
    // Before the last two rounds, between them, and now.
    let mut sizes = [begun; 3];
    for number in 1..=rounds {
        if round(context)?.is_break() {
            return Ok(());
        }
        sizes = [sizes[1], sizes[2], context.server_memory()?];
        if number > 1 && sizes[2] < sizes[0] + 2 * each {
            return Ok(());
        }
    }
    let [earlier, _, latest] = sizes;
    let kib = |bytes: u64| bytes / 1024;
    Err(Failure(format!(
        "the server's memory grew from {} to {} KiB in {rounds} rounds, by {} in the last two",
        kib(begun),
        kib(latest),
        kib(latest - earlier),
    )))
}

fn topics(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect_large()?;
    let each = TOPICS as u64 * LEFT_OF_TOPIC;
    stops_growing(context, (SMALL_ROUNDS, each), &mut |context| {
        for _ in 0..TOPICS / TOPICS_AT_ONCE {
            let topics: Vec<_> = (0..TOPICS_AT_ONCE).map(|_| fresh_topic(context)).collect();
            subscribe_and_unsubscribe(context, &mut client, &topics)?;
        }
        large_echoes(context, &mut client)?;
        Ok(ControlFlow::Continue(()))
    })
}

fn large_messages(context: &mut Context<'_>) -> Checked {
    let mut open = Vec::new();
    let each = CONNECTIONS as u64 * LEFT_ON_CONNECTION;
    stops_growing(context, (ROUNDS, each), &mut |context| {
        for _ in 0..CONNECTIONS {
            let mut client = deflating(context)?;
            client.timeout = client.timeout.max(LARGE);
            let payload = context.payload_padded(MESSAGE);
            echo(context, &mut client, &payload)?;
            open.push(client);
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn endless_fragments(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect_large()?;
    let mut other = context.connect_large()?;
    let pair = [frame(0, b"x"), frame(0, b"")].concat();
    let fragments = pair.repeat(FRAGMENTS / 2);
    client.send_raw(&frame(Opcode::Text as u8, b""))?;
    let each = FRAGMENTS as u64 * LEFT_OF_FRAGMENT;
    stops_growing(context, (ROUNDS, each), &mut |context| {
        client.send_raw(&fragments)?;
        let end = has_read_all(&mut client)?;
        if end.is_continue() {
            large_echoes(context, &mut other)?;
        }
        Ok(end)
    })
}

fn large_echoes(context: &mut Context<'_>, client: &mut Client) -> Checked {
    let payload = context.payload_padded(MESSAGE);
    for _ in 0..ECHOES {
        context.echo(client, &payload)?;
    }
    Ok(())
}

/// Waits until the server has read what was sent, which its pong shows. Another check demands that pong.
fn has_read_all(client: &mut Client) -> Result<ControlFlow<()>, Failure> {
    const UNANSWERED: Duration = Duration::from_secs(1);
    client.send_raw(&frame(FIN | Opcode::Ping as u8, b"read"))?;
    match client.next_within(UNANSWERED) {
        None | Some(Incoming::Pong(_)) => Ok(ControlFlow::Continue(())),
        Some(Incoming::Close(_) | Incoming::End(Ending::Eof | Ending::Reset(_))) => {
            Ok(ControlFlow::Break(()))
        }
        Some(other) => Err(Failure(format!("got {other} within a message"))),
    }
}

//! Clients that go, in every way, and what must not be left of them (docs/protocol.md: every
//! connected client exactly once; every other connection lives on).

use super::broadcast::everyone_once;
use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload};
use crate::target::ProtocolRequest;
use ws_proto::{CloseFrame, Opcode};

/// Handshakes under way at once: small listen backlogs hold 50 (EventMachine, JRuby).
pub(super) const AT_ONCE: usize = 50;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-reset-in-broadcast",
        section: "protocol, Text and Binary",
        description: "One client resets its connection in the middle of 40 broadcasts that it does \
                      not read.",
        expectation: "five other clients get each of the 40 exactly once",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Broadcast),
        run: reset_in_broadcast,
    },
    Check {
        id: "protocol-vanished-client",
        section: "protocol, Errors",
        description: "Four clients end their connections without a close frame, three of them \
                      within a frame.",
        expectation: "the other clients get every broadcast exactly once",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Broadcast),
        run: vanished,
    },
    Check {
        id: "protocol-churn",
        section: "protocol, Text and Binary",
        description: "Opens and ends 1,000 connections, 50 at a time: with a close frame, without \
                      one, and by a reset.",
        expectation: "afterwards new connections open, and a broadcast reaches every live client \
                      exactly once",
        scope: Scope::Once,
        needs: None,
        run: churn,
    },
];

fn reset_in_broadcast(context: &mut Context<'_>) -> Checked {
    let mut clients = context.connect_many(6)?;
    let victim = clients.remove(3);
    victim.narrow();
    let payloads: Vec<Payload> = (0..40).map(|_| context.payload_padded(4000)).collect();
    let (before, after) = payloads.split_at(20);
    for payload in before {
        context.request(&mut clients[0], Kind::Broadcast, payload)?;
    }
    victim.reset();
    for payload in after {
        context.request(&mut clients[0], Kind::Broadcast, payload)?;
    }
    for (number, client) in clients.iter_mut().enumerate() {
        let at = |failure: Failure| failure.at(format_args!("client {number} of 5"));
        let broadcasts = |got: &[crate::message::Reply]| {
            got.iter().filter(|r| r.kind == Kind::Broadcast).count()
        };
        let mut got = context
            .gather(client, |got| broadcasts(got) >= payloads.len())
            .map_err(at)?;
        got.extend(context.fence(client).map_err(at)?);
        for (nth, payload) in payloads.iter().enumerate() {
            let is_it = |reply: &&crate::message::Reply| {
                reply.kind == Kind::Broadcast && reply.payload.tag() == payload.tag()
            };
            let times = got.iter().filter(is_it).count();
            if times != 1 {
                return Err(at(Failure(format!(
                    "got broadcast {} of {} {times} times",
                    nth + 1,
                    payloads.len()
                ))));
            }
        }
    }
    Ok(())
}

fn vanished(context: &mut Context<'_>) -> Checked {
    let mut clients = context.connect_many(6)?;
    for mut leaver in clients.drain(1..4) {
        let (opcode, message) = context.fresh(Kind::Broadcast);
        let frame = crate::raw::frame(crate::raw::FIN | opcode as u8, &message);
        leaver.send_raw(&frame[..frame.len() / 2])?;
    }
    drop(context.connect()?);
    for sender in 0..clients.len() {
        everyone_once(context, &mut clients, sender, 16)?;
    }
    Ok(())
}

fn churn(context: &mut Context<'_>) -> Checked {
    let mut living = context.connect_many(5)?;
    for batch in 0..1000 / AT_ONCE {
        let clients = context.connect_many(AT_ONCE).map_err(|failure| {
            let count = batch * AT_ONCE;
            failure.at(format_args!("after {count} connections"))
        })?;
        for (number, mut client) in clients.into_iter().enumerate() {
            match number % 3 {
                0 => close(&mut client)?,
                1 => drop(client),
                _ => client.reset(),
            }
        }
    }
    living.extend(context.connect_many(3)?);
    for sender in [0, 7] {
        everyone_once(context, &mut living, sender, 16)
            .map_err(|failure| failure.at("after 1,000 connections"))?;
    }
    Ok(())
}

/// Sends a close frame, and lets the server finish the closing handshake; another check tests how it does.
pub(super) fn close(client: &mut Client) -> Checked {
    let frame = CloseFrame {
        code: 1000,
        reason: String::new(),
    };
    client.send(Opcode::Close, &frame.encode())?;
    let wait = client.timeout;
    while let Some(incoming) = client.next_within(wait) {
        if matches!(incoming, Incoming::Close(_) | Incoming::End(_)) {
            break;
        }
    }
    Ok(())
}

//! The ack rule (docs/protocol.md): deliver first, answer then.

use crate::check::{Check, Scope};
use crate::client::Client;
use crate::context::{Context, as_reply};
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload};
use crate::raw;
use crate::target::ProtocolRequest;
use std::time::{Duration, Instant};

/// How long several processes may take after the result. The protocol sets no limit. This one is
/// far longer than a relay needs, and short enough to find a message that was not passed on.
const HANDED_OVER: Duration = Duration::from_secs(1);

/// Many rounds with many listeners: a thread that delivers just after the answer is sometimes
/// first.
const ROUNDS: usize = 60;
const LISTENERS: usize = 16;

/// A payload of this size takes a server that delivers after its answer a millisecond, and still
/// fits the socket buffers, so that a server with blocking writes does not wait.
const LARGE: usize = 256 * 1024;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-ack-rule",
        section: "protocol, The ack rule",
        description: "60 times, one client broadcasts; as soon as it has the result, 16 listeners \
                      ask for an echo.",
        expectation: "every listener gets the broadcast before its echo (of several processes, and \
                      from Action Cable: within 1 s of the result)",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Broadcast),
        run: ack_rule,
    },
    Check {
        id: "protocol-ack-rule-own-connection",
        section: "protocol, The ack rule",
        description: "Sends 20 broadcasts, one after the other.",
        expectation: "the sender gets each broadcast before its result",
        scope: Scope::Ordered,
        needs: Some(ProtocolRequest::Broadcast),
        run: own_connection,
    },
];

fn ack_rule(context: &mut Context<'_>) -> Checked {
    let mut listeners = context.connect_many(LISTENERS)?;
    let mut sender = context.connect()?;
    for round in 0..ROUNDS {
        // Action Cable encodes a message anew for each listener. A large one would take it the
        // whole time that it has, and would not show which came first.
        let large = round % 2 == 0 && context.speech().is_ordered();
        let padding = if large { LARGE } else { 100 };
        let payload = context.payload_padded(padding);
        let fence = context.payload();
        let (opcode, message) = context.message(Kind::Echo, &fence);
        let fence_frame = raw::frame(raw::FIN | opcode as u8, &message);
        // From the other end in every second round: the order in which a server delivers is not
        // known.
        listeners.rotate_left(5);
        context.request(&mut sender, Kind::Broadcast, &payload)?;
        let own = await_result(&mut sender, &payload)
            .map_err(|failure| failure.at("waiting for the result"))?;
        let answered = Instant::now();
        let at = |failure: Failure| failure.at(format_args!("round {} of {ROUNDS}", round + 1));
        if context.hands_over() {
            for listener in &mut listeners {
                delivered_by(context, listener, &payload, answered + HANDED_OVER).map_err(at)?;
            }
        } else {
            for listener in &mut listeners {
                listener.send_raw(&fence_frame)?;
            }
            for listener in &mut listeners {
                delivered_before(context, listener, &payload, &fence).map_err(at)?;
            }
        }
        // The sender's own broadcast may come after its result: another check tests that.
        if context.speech().is_ordered() {
            context.fence(&mut sender)?;
        } else if !own {
            delivered_by(context, &mut sender, &payload, answered + HANDED_OVER).map_err(at)?;
        }
    }
    Ok(())
}

/// Whether the sender's own broadcast came before the result.
fn await_result(sender: &mut Client, payload: &Payload) -> Result<bool, Failure> {
    let mut own = false;
    loop {
        let incoming = sender.next_spinning();
        let reply = as_reply(incoming, sender.timeout)?;
        match reply.kind {
            Kind::Result => return Ok(own),
            _ => own |= reply.payload.tag() == payload.tag(),
        }
    }
}

fn delivered_before(
    context: &Context<'_>,
    listener: &mut Client,
    payload: &Payload,
    fence: &Payload,
) -> Checked {
    let mut delivered = false;
    loop {
        let reply = context.reply(listener)?;
        delivered |= reply.kind == Kind::Broadcast && reply.payload.tag() == payload.tag();
        if reply.kind == Kind::Echo && reply.payload.equals(fence) {
            return if delivered {
                Ok(())
            } else {
                Err(Failure::new(
                    "a listener got the echo that it asked for after the result, and not yet the \
                     broadcast",
                ))
            };
        }
    }
}

fn delivered_by(
    context: &Context<'_>,
    listener: &mut Client,
    payload: &Payload,
    deadline: Instant,
) -> Checked {
    let usual = listener.timeout;
    listener.timeout = deadline.saturating_duration_since(Instant::now());
    let got = context.gather(listener, |got| {
        got.iter().any(|reply| reply.payload.tag() == payload.tag())
    })?;
    listener.timeout = usual;
    match got.last() {
        Some(reply) if reply.payload.tag() == payload.tag() => Ok(()),
        _ => Err(Failure(format!(
            "a listener did not get the broadcast within {HANDED_OVER:?} of the result"
        ))),
    }
}

fn own_connection(context: &mut Context<'_>) -> Checked {
    let mut sender = context.connect()?;
    for _ in 0..20 {
        let payload = context.payload();
        context.request(&mut sender, Kind::Broadcast, &payload)?;
        let both = |got: &[crate::message::Reply]| {
            [Kind::Broadcast, Kind::Result]
                .iter()
                .all(|kind| got.iter().any(|reply| reply.kind == *kind))
        };
        let got = context.gather(&mut sender, both)?;
        let first = |kind| got.iter().position(|reply| reply.kind == kind);
        match (first(Kind::Broadcast), first(Kind::Result)) {
            (Some(broadcast), Some(result)) if broadcast < result => {}
            (_, None) => return Err(Failure::new("no result came")),
            _ => return Err(Failure::new("the result came before the broadcast")),
        }
    }
    Ok(())
}

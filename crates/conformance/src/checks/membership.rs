//! Which clients are listeners where clients join before they are served (docs/protocol.md, Phoenix
//! and Action Cable).

use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::Context;
use crate::dialect::Speech;
use crate::failure::{Checked, Failure};
use crate::message::Kind;
use crate::target::ProtocolRequest;
use std::time::Duration;
use ws_proto::Opcode;

/// How long to wait for what must not come, and for the answer to a leave, which is optional.
const SILENCE: Duration = Duration::from_millis(200);

pub(super) static CHECKS: &[Check] = &[Check {
    id: "protocol-members-only",
    section: "protocol, Phoenix and Action Cable",
    description: "A client broadcasts; of two others, one did not join the topic (Action Cable: \
                  subscribe to the channel) and one has left it.",
    expectation: "the sender gets its broadcast, the others nothing, and their connections live",
    scope: Scope::Joined,
    needs: Some(ProtocolRequest::Broadcast),
    run: members_only,
}];

fn members_only(context: &mut Context<'_>) -> Checked {
    let mut member = context.connect()?;
    let mut stranger = context.start()?.finish()?;
    let mut leaver = context.connect()?;
    if let Some(leave) = context.speech().leave() {
        leaver.send(Opcode::Text, leave.as_bytes())?;
    }
    let mut outsiders = [("did not join", &mut stranger), ("had left", &mut leaver)];
    for (_, client) in &mut outsiders {
        // A welcome, and what the framework says to a leave.
        while let Some(Incoming::Message { .. }) = client.next_within(SILENCE) {}
    }
    let speech = context.speech();
    let payload = context.payload();
    context.request(&mut member, Kind::Broadcast, &payload)?;
    let got = context.gather(&mut member, |got| got.len() == 2)?;
    if !got.iter().any(|reply| reply.kind == Kind::Broadcast) {
        return Err(Failure::new("the sender did not get its broadcast"));
    }
    for (who, client) in outsiders {
        silent(speech, client)
            .map_err(|failure| failure.at(format_args!("a client that {who}")))?;
    }
    Ok(())
}

/// What comes next, but for the keep-alive of a framework, which clients get that did not join, too.
fn next(speech: &dyn Speech, client: &mut Client, wait: Duration) -> Option<Incoming> {
    loop {
        match client.next_within(wait) {
            Some(Incoming::Message { raw, .. }) if speech.is_noise(&raw) => {}
            other => return other,
        }
    }
}

fn silent(speech: &dyn Speech, client: &mut Client) -> Checked {
    if let Some(incoming) = next(speech, client, SILENCE) {
        return Err(Failure(format!("got {incoming}")));
    }
    client.send(Opcode::Ping, b"alive?")?;
    match next(speech, client, client.timeout) {
        Some(Incoming::Pong(_)) => Ok(()),
        Some(other) => Err(Failure(format!("got {other}"))),
        None => Err(Failure::new("it no longer answers a ping")),
    }
}

//! Broadcast and its result (docs/protocol.md, Text and Binary).

use crate::check::{Check, Scope};
use crate::client::Client;
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload, Reply};
use crate::target::ProtocolRequest;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-broadcast-exactly-once",
        section: "protocol, Text and Binary",
        description: "Three of twelve clients broadcast in turn.",
        expectation: "every client, the sender included, gets each broadcast exactly once",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Broadcast),
        run: |context| {
            let mut clients = context.connect_many(12)?;
            for sender in [0, 11, 5] {
                everyone_once(context, &mut clients, sender, 300)?;
            }
            Ok(())
        },
    },
    Check {
        id: "protocol-broadcast-payload",
        section: "protocol, Text and Binary",
        description: "Broadcasts payloads of 1,000 bytes to six clients.",
        expectation: "every client gets the payload that was sent",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Broadcast),
        run: payload,
    },
    Check {
        id: "protocol-result-payload",
        section: "protocol, Text and Binary",
        description: "Sends three broadcasts.",
        expectation: "each is answered to the sender by one result with its payload",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Broadcast),
        run: result_payload,
    },
    Check {
        id: "protocol-result-sender-only",
        section: "protocol, Text and Binary",
        description: "One of six clients broadcasts.",
        expectation: "the others get no result",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Broadcast),
        run: |context| {
            let mut clients = context.connect_many(6)?;
            let round = Round::run(context, &mut clients, 2, 700)?;
            for (number, got) in round.got.iter().enumerate() {
                if number != 2 && count(got, Kind::Result, None) > 0 {
                    return Err(Failure(format!(
                        "client {number} of 6 got a result, and client 2 had broadcast"
                    )));
                }
            }
            Ok(())
        },
    },
];

/// Two broadcasts of one sender and all that every client got of them.
///
/// The second is a fence for the first: where several processes pass messages on, a duplicate of
/// the first comes before the second. An echo is the fence after both.
struct Round {
    sent: [Payload; 2],
    got: Vec<Vec<Reply>>,
}

impl Round {
    fn run(
        context: &mut Context<'_>,
        clients: &mut [Client],
        sender: usize,
        padding: usize,
    ) -> Result<Self, Failure> {
        let sent = [(); 2].map(|()| context.payload_padded(padding));
        for payload in &sent {
            context.request(&mut clients[sender], Kind::Broadcast, payload)?;
        }
        let total = clients.len();
        let mut got = Vec::new();
        for (number, client) in clients.iter_mut().enumerate() {
            let results = if number == sender { 2 } else { 0 };
            let at = |failure: Failure| {
                failure.at(format_args!("client {number} of {total} (sender {sender})"))
            };
            let enough = |got: &[Reply]| {
                count(got, Kind::Broadcast, None) >= 2 && count(got, Kind::Result, None) >= results
            };
            let mut replies = context.gather(client, enough).map_err(at)?;
            replies.extend(context.fence(client).map_err(at)?);
            got.push(replies);
        }
        Ok(Self { sent, got })
    }
}

fn count(replies: &[Reply], kind: Kind, tag: Option<u64>) -> usize {
    let counted = replies.iter().filter(|reply| reply.kind == kind);
    counted
        .filter(|reply| tag.is_none() || reply.payload.tag() == tag)
        .count()
}

/// Every client gets each of two broadcasts exactly once. Of a server without broadcasts every
/// client lives. Payloads are told apart by their tags; another check tests whether they are whole.
pub(super) fn everyone_once(
    context: &mut Context<'_>,
    clients: &mut [Client],
    sender: usize,
    padding: usize,
) -> Checked {
    if !context.has(ProtocolRequest::Broadcast) {
        return clients
            .iter_mut()
            .try_for_each(|client| context.quiet(client));
    }
    let round = Round::run(context, clients, sender, padding)?;
    let total = round.got.len();
    for (number, got) in round.got.iter().enumerate() {
        for payload in &round.sent {
            let times = count(got, Kind::Broadcast, payload.tag());
            if times != 1 {
                return Err(Failure(format!(
                    "client {number} of {total} got the broadcast of client {sender} {times} times"
                )));
            }
        }
        if let Some(other) = got
            .iter()
            .find(|reply| !round.sent.iter().any(|p| p.tag() == reply.payload.tag()))
        {
            return Err(Failure(format!(
                "client {number} of {total} got {other}, which no client sent"
            )));
        }
    }
    Ok(())
}

fn payload(context: &mut Context<'_>) -> Checked {
    let mut clients = context.connect_many(6)?;
    for sender in [0, 5] {
        let round = Round::run(context, &mut clients, sender, 1000)?;
        for (number, got) in round.got.iter().enumerate() {
            for reply in got.iter().filter(|reply| reply.kind == Kind::Broadcast) {
                if !round.sent.iter().any(|sent| sent.equals(&reply.payload)) {
                    return Err(Failure(format!(
                        "client {number} got {reply}, which is not what client {sender} sent"
                    )));
                }
            }
        }
    }
    Ok(())
}

fn result_payload(context: &mut Context<'_>) -> Checked {
    let mut sender = context.connect()?;
    for _ in 0..3 {
        let payload = context.payload_padded(500);
        context.request(&mut sender, Kind::Broadcast, &payload)?;
        let is_result = |reply: &&Reply| reply.kind == Kind::Result;
        let mut got = context.gather(&mut sender, |got| got.iter().any(|r| is_result(&r)))?;
        got.extend(context.fence(&mut sender)?);
        let results: Vec<&Reply> = got.iter().filter(is_result).collect();
        match results[..] {
            [result] if result.payload.equals(&payload) => {}
            [result] => {
                return Err(Failure(format!(
                    "got {result} for the broadcast of {payload}"
                )));
            }
            _ => {
                return Err(Failure(format!(
                    "got {} results for one broadcast",
                    results.len()
                )));
            }
        }
    }
    Ok(())
}

//! Echo, and payloads of all lengths (docs/protocol.md, Text and Binary; RFC 6455, 5.2).

use crate::check::{Check, Scope};
use crate::client::Client;
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload, Reply};
use crate::raw::{FIN, frame};
use crate::target::{Dialect, ProtocolRequest};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-echo",
        section: "protocol, Text and Binary",
        description: "Sends 32 echoes at once, each with its own payload.",
        expectation: "each is answered once, with its payload, in the dialect of the request and \
                      in order (Action Cable: in any order)",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: echo,
    },
    Check {
        id: "protocol-echo-sender-only",
        section: "protocol, Text and Binary",
        description: "Sends echoes while four other clients listen.",
        expectation: "the others get nothing",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: sender_only,
    },
    Check {
        id: "protocol-many-messages",
        section: "protocol, Text and Binary",
        description: "Echoes 40,000 messages on one connection, up to 100 at a time.",
        expectation: "each is answered once, with its payload",
        scope: Scope::Once,
        needs: Some(ProtocolRequest::Echo),
        run: many,
    },
    Check {
        id: "rfc6455-5.2-payload-lengths",
        section: "RFC 6455, 5.2",
        description: "Echoes messages whose request or answer has about 125, 126, 65535 and 65536 \
                      bytes.",
        expectation: "each comes back whole, its length in the shortest form",
        scope: Scope::Each,
        needs: Some(ProtocolRequest::Echo),
        run: lengths,
    },
    Check {
        id: "protocol-large-payloads",
        section: "protocol, Limits",
        description: "Echoes and broadcasts payloads of 64 KiB and 1 MiB.",
        expectation: "each comes back whole, to the sender and to a listener",
        scope: Scope::Each,
        needs: None,
        run: large,
    },
    Check {
        id: "protocol-binary-payloads",
        section: "protocol, Binary",
        description: "Echoes and broadcasts an empty payload and one of all 256 byte values.",
        expectation: "each comes back byte by byte",
        scope: Scope::Only(Dialect::Binary),
        needs: None,
        run: |context| {
            let all: Vec<u8> = (0..=255).collect();
            bytes(context, &[Payload::binary(b""), Payload::binary(&all)])
        },
    },
    Check {
        id: "protocol-binary-byte-0-alone",
        section: "protocol, Binary",
        description: "Echoes and broadcasts messages of byte 0 alone, of a cut size field and with \
                      a size field that is wrong.",
        expectation: "each comes back byte by byte: the server looks at byte 0 alone",
        scope: Scope::Only(Dialect::Binary),
        needs: None,
        run: |context| {
            let bodies = [&b""[..], b"\0\0", b"\0\0\0\x09abc", b"\xFF\xFF\xFF\xFFabc"];
            bytes(context, &bodies.map(|body| Payload::Bytes(body.to_vec())))
        },
    },
    Check {
        id: "protocol-both-dialects",
        section: "protocol, Both on one connection",
        description: "Sends text and binary requests in turn on one connection.",
        expectation: "each is answered, and broadcast, in its own dialect",
        scope: Scope::Both,
        needs: None,
        run: both,
    },
];

fn echo(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect()?;
    echoes(context, &mut client, (32, 16))?;
    context.quiet(&mut client)
}

/// A server once closed each connection after 16,384 frames, because its counter was never reset. This many
/// also pass a counter of 15 bits.
const MANY: usize = 40_000;
const MANY_AT_ONCE: usize = 100;

fn many(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect()?;
    for batch in 0..MANY / MANY_AT_ONCE {
        echoes(context, &mut client, (MANY_AT_ONCE, 300)).map_err(|failure| {
            let count = batch * MANY_AT_ONCE;
            failure.at(format_args!("after {count} messages"))
        })?;
    }
    context.quiet(&mut client)
}

/// Asks for a number of echoes at once, with so much filling each, and expects all of them.
fn echoes(
    context: &mut Context<'_>,
    client: &mut Client,
    (count, padding): (usize, usize),
) -> Checked {
    let payloads = (0..count).map(|_| context.payload_padded(padding));
    let payloads: Vec<Payload> = payloads.collect();
    let mut requests = Vec::new();
    for payload in &payloads {
        let (opcode, message) = context.message(Kind::Echo, payload);
        requests.extend(frame(FIN | opcode as u8, &message));
    }
    client.send_raw(&requests)?;
    all_answered(context, client, &payloads)
}

/// Expects the echo of each of these payloads, in their order where the dialect keeps one.
pub(super) fn all_answered(
    context: &Context<'_>,
    client: &mut Client,
    payloads: &[Payload],
) -> Checked {
    if !context.speech().is_ordered() {
        return in_any_order(context, client, payloads);
    }
    let mut payloads = payloads.iter();
    payloads.try_for_each(|payload| context.expect(client, Kind::Echo, payload))
}

fn in_any_order(context: &Context<'_>, client: &mut Client, payloads: &[Payload]) -> Checked {
    let got = context.gather(client, |got| got.len() >= payloads.len())?;
    for payload in payloads {
        let is_it = |reply: &&Reply| reply.kind == Kind::Echo && reply.payload.equals(payload);
        let times = got.iter().filter(is_it).count();
        if times != 1 {
            return Err(Failure(format!(
                "{times} answers of 1 to the echo of {payload}"
            )));
        }
    }
    Ok(())
}

fn sender_only(context: &mut Context<'_>) -> Checked {
    let mut clients = context.connect_many(5)?;
    for number in [0, 4, 2] {
        let payload = context.payload_padded(5000);
        context.request(&mut clients[number], Kind::Echo, &payload)?;
        // Its own answer is another check's business.
        context.gather(&mut clients[number], |got| !got.is_empty())?;
    }
    for client in &mut clients {
        context.quiet(client)?;
    }
    Ok(())
}

fn lengths(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect()?;
    let shortest = context.payload_padded(0);
    let request = context.message(Kind::Echo, &shortest).1.len();
    context.request(&mut client, Kind::Echo, &shortest)?;
    let answer = context.reply(&mut client)?.len;
    let mut overheads = vec![request, answer];
    overheads.dedup();
    for edge in [125usize, 126, 127, 128, 65_535, 65_536, 65_537] {
        for overhead in &overheads {
            // The tag may get a digit more on the way.
            let padding = edge.saturating_sub(*overhead);
            for padding in padding.saturating_sub(1)..=padding + 1 {
                let payload = context.payload_padded(padding);
                context
                    .echo(&mut client, &payload)
                    .map_err(|failure| failure.at(format_args!("about {edge} bytes")))?;
            }
        }
    }
    Ok(())
}

fn large(context: &mut Context<'_>) -> Checked {
    let mut sender = context.connect_large()?;
    let mut listener = context.connect_large()?;
    for size in [64 * 1024, 1024 * 1024] {
        let at = |failure: Failure| failure.at(format_args!("payload of {size} bytes"));
        let payload = context.payload_padded(size);
        both_requests(context, &mut sender, &mut listener, &payload).map_err(at)?;
    }
    Ok(())
}

fn bytes(context: &mut Context<'_>, payloads: &[Payload]) -> Checked {
    let mut sender = context.connect()?;
    let mut listener = context.connect()?;
    for payload in payloads {
        both_requests(context, &mut sender, &mut listener, payload)?;
    }
    Ok(())
}

fn both(context: &mut Context<'_>) -> Checked {
    let mut sender = context.connect()?;
    let mut listener = context.connect()?;
    for _ in 0..2 {
        for dialect in [Dialect::Text, Dialect::Binary] {
            context.dialect = dialect;
            let payload = context.payload();
            both_requests(context, &mut sender, &mut listener, &payload)?;
        }
    }
    Ok(())
}

/// An echo and a broadcast of the payload, or what the server has of the two.
fn both_requests(
    context: &Context<'_>,
    sender: &mut Client,
    listener: &mut Client,
    payload: &Payload,
) -> Checked {
    if context.has(ProtocolRequest::Echo) {
        context.echo(sender, payload)?;
    }
    broadcast_pair(context, sender, listener, payload)
}

/// Where the server has broadcasts: broadcasts, and expects it at the sender and at one listener.
/// The result may come in any order, which the ack rule tests.
pub(super) fn broadcast_pair(
    context: &Context<'_>,
    sender: &mut Client,
    listener: &mut Client,
    payload: &Payload,
) -> Checked {
    if !context.has(ProtocolRequest::Broadcast) {
        return Ok(());
    }
    context.request(sender, Kind::Broadcast, payload)?;
    let got = context.gather(sender, |got| got.len() == 2)?;
    for kind in [Kind::Broadcast, Kind::Result] {
        let found = got
            .iter()
            .any(|reply| reply.kind == kind && reply.payload.equals(payload));
        if !found {
            let seen: Vec<String> = got.iter().map(ToString::to_string).collect();
            return Err(Failure(format!(
                "the sender got no {kind:?} of {payload}, but [{}]",
                seen.join("; ")
            )));
        }
    }
    context.expect(listener, Kind::Broadcast, payload)
}

//! permessage-deflate (RFC 7692), of servers that say that they have it.

use super::errors::owed_for_malformed;
use super::limits::{too_large, too_long};
use crate::check::{Check, Scope};
use crate::client::{Client, Incoming, Opening, RSV1};
use crate::context::{Context, as_reply, refused};
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload, Reply};
use crate::raw::{FIN, fragments, frame};
use crate::target::ProtocolRequest;
use ws_proto::{DeflateOffer, DeflateTerms, NegotiationError, Opcode};

const fn check(
    id: &'static str,
    section: &'static str,
    description: &'static str,
    expectation: &'static str,
    run: fn(&mut Context<'_>) -> Checked,
) -> Check {
    Check {
        id,
        section,
        description,
        expectation,
        scope: Scope::Deflate,
        needs: Some(ProtocolRequest::Echo),
        run,
    }
}

pub(super) static CHECKS: &[Check] = &[
    check(
        "rfc7692-7.1.2.2-client-window",
        "RFC 7692, 7.1.2.2",
        "Offers permessage-deflate without parameters, and with client_max_window_bits; echoes a \
         message on each connection.",
        "the server turns it on, chooses a window only where that was offered, and echoes",
        client_window,
    ),
    check(
        "rfc7692-7.1.2.1-server-window",
        "RFC 7692, 7.1.2.1",
        "Offers server_max_window_bits from 9 to 15, and echoes 40,000 bytes on each connection.",
        "the server declines, or answers with the same window or a smaller one, and echoes",
        server_window,
    ),
    check(
        "rfc7692-7.1-bad-offers",
        "RFC 7692, 7.1",
        "Offers parameters that there are not, that stand twice, or that have impossible values.",
        "the server declines the offer, or refuses the connection",
        bad_offers,
    ),
    check(
        "rfc7692-7.1.1.1-no-context-takeover",
        "RFC 7692, 7.1.1.1",
        "Offers server_no_context_takeover, and client_no_context_takeover beside it; echoes the \
         same message three times.",
        "the server declines, or answers with the parameter and compresses each echo by itself",
        no_context_takeover,
    ),
    check(
        "rfc7692-6.1-fragments",
        "RFC 7692, 6.1",
        "Echoes a compressed message in eight fragments, with a ping within it.",
        "the ping is answered, and the message as if it had come in one frame",
        in_fragments,
    ),
    check(
        "rfc7692-6.1-in-turn",
        "RFC 7692, 6.1",
        "Echoes compressed and uncompressed messages in turn on one connection.",
        "each is answered",
        in_turn,
    ),
    Check {
        needs: Some(ProtocolRequest::Broadcast),
        ..check(
            "rfc7692-7.2.1-broadcast",
            "RFC 7692, 7.2.1",
            "Broadcasts in turn from four clients: two that compress and have had other messages \
             before, one that asks for no context takeover, one without compression.",
            "each gets every broadcast, compressed with its own context or none, or not at all",
            broadcast,
        )
    },
    check(
        "rfc7692-7.2.1-incompressible",
        "RFC 7692, 7.2.1",
        "Echoes random payloads of 60 bytes to 70 KB: bytes in binary, and letters in text, which \
         compression makes smaller by a quarter at most.",
        "each comes back as it was sent",
        incompressible,
    ),
    check(
        "rfc7692-6.1-rsv1",
        "RFC 7692, 6.1",
        "Sets RSV1 on a continuation frame, and on a ping.",
        "the server fails the connection",
        rsv1,
    ),
    check(
        "rfc7692-7.2.3-blocks",
        "RFC 7692, 7.2.3",
        "Echoes messages in a block without compression, in two blocks, and in a final block.",
        "each is answered, and so is the next message of the connection",
        blocks,
    ),
    check(
        "rfc7692-7.2.3.6-empty",
        "RFC 7692, 7.2.3.6",
        "Sends a compressed message of no bytes.",
        "what an empty message without compression gets (protocol, Errors)",
        empty,
    ),
    check(
        "rfc7692-7.2.2-corrupt",
        "RFC 7692, 7.2.2",
        "Sends compressed messages with a block type that there is not, and with a reference to \
         before the first byte.",
        "the server fails the connection",
        corrupt,
    ),
    check(
        "protocol-limit-inflated",
        "protocol, Limits",
        "Sends an echo of 16 MiB and one byte, compressed to some thousand bytes.",
        "a close with 1009, or the end of the connection",
        |context| {
            let mut client = deflating(context)?;
            client.timeout = client.timeout.max(std::time::Duration::from_secs(10));
            let (opcode, message) = too_long(context);
            client.send_deflated(opcode, &message)?;
            too_large(&mut client)
        },
    ),
];

const PLAIN: DeflateOffer = DeflateOffer {
    server_no_context_takeover: false,
    client_no_context_takeover: false,
    server_max_window_bits: None,
    client_max_window_bits: None,
};

/// What clients of today offer.
const USUAL: DeflateOffer = DeflateOffer {
    client_max_window_bits: Some(15),
    ..PLAIN
};

type Offered = (Client, Result<DeflateTerms, NegotiationError>);

/// A connection that may send requests, and what the server made of an offer.
fn offer(context: &mut Context<'_>, offer: &DeflateOffer) -> Result<Offered, Failure> {
    let header = offer.to_string();
    offer_text(context, &header, offer).map_err(|failure| failure.at(format_args!("{header:?}")))
}

fn offer_text(
    context: &mut Context<'_>,
    header: &str,
    offer: &DeflateOffer,
) -> Result<Offered, Failure> {
    let key = context.key();
    let line = format!("Sec-WebSocket-Extensions: {header}\r\n");
    let opening = Opening::start_with(context.target, context.dialect, &key, &line)?;
    let (mut client, negotiated) = opening.finish_offered(offer)?;
    if matches!(negotiated, Ok(_) | Err(NegotiationError::Declined)) {
        client.ask_to_join()?;
        client.joined()?;
    }
    Ok((client, negotiated))
}

/// A connection that compresses.
pub(super) fn deflating(context: &mut Context<'_>) -> Result<Client, Failure> {
    agreed(offer(context, &USUAL)?, &USUAL)
}

fn agreed((client, negotiated): Offered, offer: &DeflateOffer) -> Result<Client, Failure> {
    match negotiated {
        Ok(_) => Ok(client),
        Err(error) => Err(Failure(format!(
            "{error}, to the offer {:?}",
            offer.to_string()
        ))),
    }
}

/// The same where a server may decline: then there is no connection.
fn if_agreed(offered: Offered, offer: &DeflateOffer) -> Result<Option<Client>, Failure> {
    match offered.1 {
        Err(NegotiationError::Declined) => Ok(None),
        _ => agreed(offered, offer).map(Some),
    }
}

pub(super) fn echo(context: &Context<'_>, client: &mut Client, payload: &Payload) -> Checked {
    let (opcode, message) = context.message(Kind::Echo, payload);
    client.send_deflated(opcode, &message)?;
    context.expect(client, Kind::Echo, payload)
}

fn client_window(context: &mut Context<'_>) -> Checked {
    let smaller = DeflateOffer {
        client_max_window_bits: Some(10),
        ..PLAIN
    };
    for of in [PLAIN, USUAL, smaller] {
        let mut client = agreed(offer(context, &of)?, &of)?;
        let payload = context.payload_padded(5_000);
        echo(context, &mut client, &payload)?;
    }
    Ok(())
}

fn server_window(context: &mut Context<'_>) -> Checked {
    for bits in 9..=15 {
        let of = DeflateOffer {
            server_max_window_bits: Some(bits),
            ..USUAL
        };
        if let Some(mut client) = if_agreed(offer(context, &of)?, &of)? {
            let payload = context.payload_padded(40_000);
            echo(context, &mut client, &payload)?;
        }
    }
    Ok(())
}

fn bad_offers(context: &mut Context<'_>) -> Checked {
    for parameters in [
        "mystery",
        "mystery=1",
        "server_no_context_takeover=1",
        "client_no_context_takeover; client_no_context_takeover",
        "server_max_window_bits",
        "server_max_window_bits=7",
        "server_max_window_bits=16",
        "client_max_window_bits=09",
        "client_max_window_bits=x",
    ] {
        let header = format!("permessage-deflate; {parameters}");
        match offer_text(context, &header, &USUAL) {
            Ok((_, Err(NegotiationError::Declined))) => {}
            Ok(_) => {
                return Err(Failure(format!(
                    "the server turned permessage-deflate on for the offer {header:?}"
                )));
            }
            // A server may refuse such a client; one that is gone is found by later checks.
            Err(_) => {}
        }
    }
    Ok(())
}

fn no_context_takeover(context: &mut Context<'_>) -> Checked {
    for client_too in [false, true] {
        let of = DeflateOffer {
            server_no_context_takeover: true,
            client_no_context_takeover: client_too,
            ..USUAL
        };
        let Some(mut client) = if_agreed(offer(context, &of)?, &of)? else {
            continue;
        };
        let payload = context.payload_padded(300);
        for _ in 0..3 {
            echo(context, &mut client, &payload)?;
        }
    }
    Ok(())
}

fn in_fragments(context: &mut Context<'_>) -> Checked {
    let mut client = deflating(context)?;
    let payload = context.payload_padded(100);
    let (opcode, message) = context.message(Kind::Echo, &payload);
    let deflated = client.deflated(&message);
    let parts: Vec<&[u8]> = deflated.chunks(deflated.len().div_ceil(8)).collect();
    let mut frames = fragments(opcode, &parts);
    frames[0][0] |= RSV1;
    frames.insert(1, frame(FIN | Opcode::Ping as u8, b"within"));
    for bytes in frames {
        client.send_raw(&bytes)?;
    }
    let (mut ponged, mut echoed) = (false, false);
    while !(ponged && echoed) {
        let wait = client.timeout;
        match client.next_within(wait) {
            Some(Incoming::Pong(payload)) if payload == b"within" => ponged = true,
            other => {
                let reply = as_reply(other, wait)?;
                if reply.kind != Kind::Echo || !reply.payload.equals(&payload) {
                    return Err(Failure(format!("got {reply} for the echo of {payload}")));
                }
                echoed = true;
            }
        }
    }
    Ok(())
}

fn in_turn(context: &mut Context<'_>) -> Checked {
    let mut client = deflating(context)?;
    for round in 0..4 {
        let payload = context.payload_padded(200);
        echo(context, &mut client, &payload)
            .map_err(|failure| failure.at(format_args!("compressed, round {round}")))?;
        let payload = context.payload_padded(200);
        context
            .echo(&mut client, &payload)
            .map_err(|failure| failure.at(format_args!("uncompressed, round {round}")))?;
    }
    Ok(())
}

fn broadcast(context: &mut Context<'_>) -> Checked {
    let forgets = DeflateOffer {
        server_no_context_takeover: true,
        ..USUAL
    };
    let mut clients = vec![("that came first", deflating(context)?)];
    let first = &mut clients[0].1;
    for size in [10, 700, 90] {
        everyone_gets(context, &mut [("that came first", first)], 0, size)?;
    }
    clients.push(("that came later", deflating(context)?));
    // What is wrong with an answer to the offer is the matter of other checks.
    let agreed = offer(context, &forgets).and_then(|answered| if_agreed(answered, &forgets));
    if let Ok(Some(client)) = agreed {
        clients.push(("without context takeover", client));
    }
    clients.push(("without compression", context.connect()?));
    let mut clients: Vec<_> = clients.iter_mut().map(|(name, c)| (*name, c)).collect();
    for round in 0..2 {
        for sender in 0..clients.len() {
            everyone_gets(context, &mut clients, sender, 200 + 300 * round)?;
        }
    }
    Ok(())
}

/// A broadcast, which each client gets as it was sent.
fn everyone_gets(
    context: &mut Context<'_>,
    clients: &mut [(&str, &mut Client)],
    sender: usize,
    size: usize,
) -> Checked {
    let payload = context.payload_padded(size);
    let (opcode, message) = context.message(Kind::Broadcast, &payload);
    let (from, client) = &mut clients[sender];
    let from = *from;
    client.send_as_agreed(opcode, &message)?;
    for (number, (name, client)) in clients.iter_mut().enumerate() {
        let at = |failure: Failure| {
            failure.at(format_args!(
                "client {name}, the broadcast of the client {from}"
            ))
        };
        let is_it = |reply: &Reply| reply.kind == Kind::Broadcast && reply.payload.equals(&payload);
        let is_result = |reply: &Reply| reply.kind == Kind::Result;
        let got = context.gather(client, |got| {
            got.iter().any(is_it) && (number != sender || got.iter().any(is_result))
        });
        let got = got.map_err(at)?;
        if !got.iter().any(is_it) {
            return Err(at(Failure(match got.first() {
                Some(other) => format!("got {other} for {payload}"),
                None => format!("got nothing for {payload}"),
            })));
        }
    }
    Ok(())
}

fn incompressible(context: &mut Context<'_>) -> Checked {
    for dialect in [Some(context.dialect), context.binary()]
        .into_iter()
        .flatten()
    {
        context.dialect = dialect;
        let mut client = deflating(context)?;
        for size in [60, 125, 1_000, 8_000, 32_768, 65_536, 70_000] {
            let payload = context.random_payload(size);
            echo(context, &mut client, &payload)
                .map_err(|failure| failure.at(format_args!("{dialect}, {size} random bytes")))?;
        }
    }
    Ok(())
}

fn rsv1(context: &mut Context<'_>) -> Checked {
    let mut client = deflating(context)?;
    let (opcode, message) = context.fresh(Kind::Echo);
    let deflated = client.deflated(&message);
    let (start, end) = deflated.split_at(4);
    client.send_raw(&frame(RSV1 | opcode as u8, start))?;
    client.send_raw(&frame(FIN | RSV1, end))?;
    refused(&mut client).map_err(|failure| failure.at("on a continuation frame"))?;
    let mut client = deflating(context)?;
    client.send_raw(&frame(FIN | RSV1 | Opcode::Ping as u8, b"ping"))?;
    refused(&mut client).map_err(|failure| failure.at("on a ping"))
}

/// A block without compression (RFC 1951, 3.2.4), which is the last of its stream or not.
fn stored(message: &[u8], is_final: bool) -> Vec<u8> {
    let len = message.len() as u16;
    let head = [
        &[u8::from(is_final)][..],
        &len.to_le_bytes(),
        &(!len).to_le_bytes(),
    ];
    [&head.concat(), message].concat()
}

fn blocks(context: &mut Context<'_>) -> Checked {
    type Form = fn(&[u8]) -> Vec<u8>;
    // What is left of the empty block whose last four bytes are removed.
    const END: &[u8] = &[0];
    let forms: [(&str, Form); 3] = [
        ("a block without compression", |message| {
            [&stored(message, false), END].concat()
        }),
        ("two blocks", |message| {
            let (start, end) = message.split_at(message.len() / 2);
            [&stored(start, false), &stored(end, false)[..], END].concat()
        }),
        ("a final block", |message| {
            [&stored(message, true), END].concat()
        }),
    ];
    for (name, form) in forms {
        let mut client = deflating(context)?;
        for _ in 0..2 {
            let payload = context.payload();
            let (opcode, message) = context.message(Kind::Echo, &payload);
            client.send_raw(&frame(FIN | RSV1 | opcode as u8, &form(&message)))?;
            context
                .expect(&mut client, Kind::Echo, &payload)
                .map_err(|failure| failure.at(name))?;
        }
    }
    Ok(())
}

fn empty(context: &mut Context<'_>) -> Checked {
    let mut client = deflating(context)?;
    let (opcode, _) = context.fresh(Kind::Echo);
    client.send_deflated(opcode, b"")?;
    owed_for_malformed(context, &mut client)
}

fn corrupt(context: &mut Context<'_>) -> Checked {
    for payload in [&[0x06, 0x00, 0x00][..], &[0xF2, 0x00, 0x11, 0x00, 0x00]] {
        let mut client = deflating(context)?;
        let (opcode, _) = context.fresh(Kind::Echo);
        client.send_raw(&frame(FIN | RSV1 | opcode as u8, payload))?;
        refused(&mut client)?;
    }
    Ok(())
}

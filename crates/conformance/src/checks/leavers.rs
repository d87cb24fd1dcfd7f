//! Clients that compress and go without a close frame while broadcasts are on their way to them
//! (RFC 7692, 7.2.1: each message is compressed with the context of its own connection).

use super::at_once::Sent;
use super::deflate::deflating;
use crate::check::{Check, Scope};
use crate::client::{Client, RSV1};
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::Kind;
use crate::raw::{FIN, frame};
use crate::target::ProtocolRequest;

const STAYING: usize = 3;
const LEAVING: usize = 6;
const LATER: usize = 2;

/// While these are on their way, the clients go, one behind every second of them.
const BROADCASTS: usize = 2 * LEAVING;

/// More than the window of 32 KiB.
const PAYLOAD: usize = 64_000;

pub(super) static CHECKS: &[Check] = &[Check {
    id: "rfc7692-7.2.1-leaving-clients",
    section: "RFC 7692, 7.2.1",
    description: "Six of nine clients that compress go without a close frame while twelve broadcasts of \
                  64 KB are on their way: by a reset, between frames and within one. Then two come, and \
                  each of the five broadcasts.",
    expectation: "the clients that stay, and those that come, get each broadcast exactly once and as it \
                  was sent",
    scope: Scope::Deflate,
    needs: Some(ProtocolRequest::Broadcast),
    run: leaving_clients,
}];

fn leaving_clients(context: &mut Context<'_>) -> Checked {
    let mut staying = many(context, STAYING)?;
    let mut leaving = many(context, LEAVING)?;
    // Those that have ended their own side alone: with what is unread they would end by a reset.
    let mut half_open = Vec::new();
    let payloads = (0..BROADCASTS).map(|_| context.payload_of_letters(PAYLOAD));
    let payloads: Vec<_> = payloads.collect();
    for (number, payload) in payloads.iter().enumerate() {
        let (opcode, message) = context.message(Kind::Broadcast, payload);
        staying[0].send_deflated(opcode, &message)?;
        if number % 2 == 1
            && let Some(client) = leaving.pop()
        {
            half_open.extend(go(context, client, leaving.len())?);
        }
    }
    let sent = Sent::new(payloads, BROADCASTS, context);
    everyone_hears(context, &mut staying, &sent, |number| match number {
        0 => BROADCASTS,
        _ => 0,
    })
    .map_err(|failure| failure.at("while others went"))?;
    drop(half_open);
    staying.extend(many(context, LATER)?);
    let payloads = staying.iter().map(|_| context.payload_of_letters(PAYLOAD));
    let payloads: Vec<_> = payloads.collect();
    for (client, payload) in staying.iter_mut().zip(&payloads) {
        let (opcode, message) = context.message(Kind::Broadcast, payload);
        client.send_deflated(opcode, &message)?;
    }
    let sent = Sent::new(payloads, 1, context);
    everyone_hears(context, &mut staying, &sent, |_| 1)
        .map_err(|failure| failure.at("when others had gone"))
}

fn many(context: &mut Context<'_>, count: usize) -> Result<Vec<Client>, Failure> {
    (0..count).map(|_| deflating(context)).collect()
}

/// Ends a connection; the client comes back if it has only ended its own side.
fn go(
    context: &mut Context<'_>,
    mut client: Client,
    number: usize,
) -> Result<Option<Client>, Failure> {
    match number % 3 {
        0 => {
            client.reset();
            return Ok(None);
        }
        1 => {
            let (opcode, message) = context.fresh(Kind::Broadcast);
            let message = client.deflated(&message);
            let frame = frame(FIN | RSV1 | opcode as u8, &message);
            client.send_raw(&frame[..frame.len() / 2])?;
        }
        _ => {}
    }
    client.end_sending();
    Ok(Some(client))
}

fn everyone_hears(
    context: &mut Context<'_>,
    clients: &mut [Client],
    sent: &Sent,
    results: impl Fn(usize) -> usize,
) -> Checked {
    let total = clients.len();
    for (number, client) in clients.iter_mut().enumerate() {
        let heard = sent.hear(client, results(number));
        heard
            .and_then(|heard| sent.exactly_once(context, client, heard))
            .map_err(|failure| failure.at(format_args!("client {} of {total}", number + 1)))?;
    }
    Ok(())
}

//! Sockets that a server keeps of connections that their clients have ended (docs/protocol.md, Limits).
//!
//! Such a socket is in the state CLOSE_WAIT (RFC 9293, 3.3.2) until the server closes it. A reset removes a
//! socket from the kernel's tables at once. Some connections are reset all the same, because a server may
//! confuse the two ends.

use super::residue::{AT_ONCE, close};
use crate::check::{Check, Scope};
use crate::client::Client;
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::Kind;
use crate::raw;
use crate::sockets::server_ends;
use crate::stream::Stream;
use procfs::net::TcpState;
use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

const BATCHES: usize = 2;

/// Of a batch, those that never open.
const UNOPENED: usize = 10;

/// Between two looks at the tables, which may have tens of thousands of sockets in TIME_WAIT: a look takes
/// milliseconds.
const LOOK: Duration = Duration::from_millis(100);

pub(super) static CHECKS: &[Check] = &[Check {
    id: "protocol-no-half-closed-sockets",
    section: "protocol, Limits",
    description: "Opens and ends 100 connections, 50 at a time: with a close frame, without one, \
                  within a frame, by a reset, and before or within the handshake.",
    expectation: "the server closes its sockets, too: none of them stays in CLOSE_WAIT",
    scope: Scope::Sockets,
    needs: None,
    run: half_closed,
}];

fn half_closed(context: &mut Context<'_>) -> Checked {
    let mut ended = HashMap::new();
    for _ in 0..BATCHES {
        let clients = context.connect_many(AT_ONCE - UNOPENED)?;
        for (number, client) in clients.into_iter().enumerate() {
            ended.insert(client.port()?, end(context, client, number)?);
        }
        for number in 0..UNOPENED {
            let (port, how) = end_unopened(context, number)?;
            ended.insert(port, how);
        }
    }
    all_closed(context, &ended)
}

/// Ends a connection, and says how.
fn end(
    context: &mut Context<'_>,
    mut client: Client,
    number: usize,
) -> Result<&'static str, Failure> {
    Ok(match number % 4 {
        0 => {
            close(&mut client)?;
            "with a close frame"
        }
        1 => "without a close frame",
        2 => {
            let (opcode, message) = context.fresh(Kind::Echo);
            let frame = raw::frame(raw::FIN | opcode as u8, &message);
            client.send_raw(&frame[..frame.len() / 2])?;
            "within a frame"
        }
        _ => {
            client.reset();
            "by a reset"
        }
    })
}

/// Begins a connection and ends it, and says from which port and how.
fn end_unopened(context: &Context<'_>, number: usize) -> Result<(u16, &'static str), Failure> {
    let failed = |error| Failure(format!("could not connect: {error}"));
    let mut stream = Stream::connect(context.target).map_err(failed)?;
    let port = stream.port().map_err(failed)?;
    if number.is_multiple_of(2) {
        return Ok((port, "before the handshake"));
    }
    let path = context.speech().path(&context.target.path);
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nUpgr",
        context.target.host
    );
    // A server that has ended the connection is done with it.
    let _ = stream.send(head.as_bytes());
    Ok((port, "within the handshake"))
}

/// Waits until the server has closed its ends of all these connections.
fn all_closed(context: &Context<'_>, ended: &HashMap<u16, &'static str>) -> Checked {
    let wait = context.target.timeout;
    let until = Instant::now() + wait;
    loop {
        let half_closed =
            server_ends(context.target).filter(|(_, state)| *state == TcpState::CloseWait);
        let left: Vec<&str> = half_closed
            .filter_map(|(port, _)| ended.get(&port).copied())
            .collect();
        let Some(how) = left.first() else {
            return Ok(());
        };
        if Instant::now() >= until {
            let alike = left.iter().filter(|other| *other == how).count();
            return Err(Failure(format!(
                "{} sockets were in CLOSE_WAIT {wait:?} after their clients had ended {} connections, \
                 {alike} of them {how}",
                left.len(),
                ended.len(),
            )));
        }
        thread::sleep(LOOK);
    }
}

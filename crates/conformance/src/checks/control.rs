//! Ping, pong and the limits of control frames (RFC 6455, section 5.5).

use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::{Context, refused};
use crate::failure::{Checked, Failure};
use crate::raw::{FIN, frame};
use ws_proto::Opcode;

const PING: u8 = Opcode::Ping as u8;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "rfc6455-5.5.2-ping",
        section: "RFC 6455, 5.5.2",
        description: "Sends pings that are empty, binary and of 125 bytes.",
        expectation: "each is answered by a pong with the same payload",
        scope: Scope::Once,
        needs: None,
        run: ping,
    },
    Check {
        id: "rfc6455-5.5.3-pings-at-once",
        section: "RFC 6455, 5.5.3",
        description: "Sends 50 pings in one segment and reads what comes.",
        expectation: "each is answered once and in order; pings before the last may go unanswered",
        scope: Scope::Once,
        needs: None,
        run: pings_at_once,
    },
    Check {
        id: "rfc6455-5.5.3-pings-unread",
        section: "RFC 6455, 5.5.3",
        description: "Sends 50,000 pings of 125 bytes without reading, and then reads what comes.",
        expectation: "each is answered once and in order; pings before the last may go unanswered",
        scope: Scope::Once,
        needs: None,
        run: pings_unread,
    },
    Check {
        id: "rfc6455-5.5.3-unsolicited-pong",
        section: "RFC 6455, 5.5.3",
        description: "Sends two unsolicited pongs.",
        expectation: "no answer, and the connection lives on",
        scope: Scope::Once,
        needs: None,
        run: |context| {
            let mut client = context.connect()?;
            for payload in [&b""[..], b"unasked"] {
                client.send(Opcode::Pong, payload)?;
            }
            context.quiet(&mut client)
        },
    },
    Check {
        id: "rfc6455-5.5-fragmented-control",
        section: "RFC 6455, 5.5",
        description: "Sends a ping without FIN.",
        expectation: "the server fails the connection",
        scope: Scope::Once,
        needs: None,
        run: |context| {
            let mut client = context.connect()?;
            client.send_raw(&frame(PING, b"part"))?;
            refused(&mut client)
        },
    },
    Check {
        id: "rfc6455-5.5-long-control",
        section: "RFC 6455, 5.5",
        description: "Sends a ping of 126 bytes.",
        expectation: "the server fails the connection",
        scope: Scope::Once,
        needs: None,
        run: |context| {
            let mut client = context.connect()?;
            client.send_raw(&frame(FIN | PING, &[b'x'; 126]))?;
            refused(&mut client)
        },
    },
];

/// A server may answer "only the most recently processed Ping frame" (RFC 6455, 5.5.3).
fn pings_at_once(context: &mut Context<'_>) -> Checked {
    const PINGS: u32 = 50;
    let mut client = context.connect()?;
    client.send_raw(&numbered_pings(PINGS, 4))?;
    numbered_pongs(context, &mut client, PINGS)
}

/// The answers are more than the sockets hold by the kernel's usual settings. A server may stop reading then.
fn pings_unread(context: &mut Context<'_>) -> Checked {
    const PINGS: u32 = 50_000;
    let mut client = context.connect_large()?;
    client.send_unread(&numbered_pings(PINGS, 125))?;
    numbered_pongs(context, &mut client, PINGS)
}

/// So many pings, each of so many bytes, which begin with its number.
fn numbered_pings(count: u32, bytes: usize) -> Vec<u8> {
    let numbered = (1..=count).map(|number| {
        let mut payload = number.to_be_bytes().to_vec();
        payload.resize(bytes, b'.');
        frame(FIN | PING, &payload)
    });
    numbered.collect::<Vec<_>>().concat()
}

/// Reads up to the answer to the last ping.
fn numbered_pongs(context: &mut Context<'_>, client: &mut Client, count: u32) -> Checked {
    let wait = client.timeout;
    let mut latest = 0;
    while latest < count {
        match client.next_within(wait) {
            Some(Incoming::Pong(pong)) => {
                let number = pong.first_chunk().map(|number| u32::from_be_bytes(*number));
                match number {
                    Some(number) if number <= count && number > latest => latest = number,
                    _ => {
                        return Err(Failure(format!(
                            "a pong carries {pong:?} after that of ping {latest} of {count}"
                        )));
                    }
                }
            }
            Some(other) => {
                return Err(Failure(format!(
                    "got {other} after the pong of ping {latest} of {count}"
                )));
            }
            None => {
                return Err(Failure(format!(
                    "no pong for the last of {count} pings within {wait:?}; the latest is of ping {latest}"
                )));
            }
        }
    }
    context.quiet(client)
}

fn ping(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect()?;
    let longest: Vec<u8> = (0..125).collect();
    for payload in [&b""[..], b"hello", &[0xFF, 0x00, 0xC0, 0x80], &longest] {
        client.send(Opcode::Ping, payload)?;
        let wait = client.timeout;
        let at = format!("ping of {} bytes", payload.len());
        match client.next_within(wait) {
            Some(Incoming::Pong(pong)) if pong == payload => {}
            Some(Incoming::Pong(_)) => {
                return Err(Failure::new("the pong has another payload").at(at));
            }
            Some(other) => return Err(Failure(format!("got {other}")).at(at)),
            None => return Err(Failure(format!("no pong within {wait:?}")).at(at)),
        }
    }
    context.quiet(&mut client)
}

//! Large broadcasts of several clients at the same time, and clients that read them late
//! (docs/protocol.md, Text and Limits).

use crate::check::{Check, Scope};
use crate::client::Client;
use crate::context::{Context, as_reply};
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload, Reply};
use crate::raw;
use crate::target::ProtocolRequest;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

const SENDERS: usize = 4;
const LATE: usize = 2;

/// Broadcasts of each sender.
const EACH: usize = 12;

/// All broadcasts together are more than the sockets hold of a client that does not read, by the kernel's
/// usual settings, and a thirteenth of what a server keeps for it.
const PAYLOAD: usize = 100_000;

pub(super) static CHECKS: &[Check] = &[Check {
    id: "protocol-large-broadcasts-at-once",
    section: "protocol, Limits",
    description: "Four clients broadcast 12 messages of 100 KB each, all at the same time, while two \
                  others do not read; then these read, too.",
    expectation: "every client gets each broadcast exactly once and as it was sent, those of one sender in \
                  their order (not of several processes, nor from Action Cable)",
    scope: Scope::Each,
    needs: Some(ProtocolRequest::Broadcast),
    run: at_once,
}];

fn at_once(context: &mut Context<'_>) -> Checked {
    let mut clients = context.connect_many(LATE + SENDERS)?;
    let payloads = (0..SENDERS * EACH).map(|_| context.payload_of_letters(PAYLOAD));
    let payloads = payloads.collect();
    let sent = Sent::new(payloads, EACH, context);
    let frames = sent.payloads.iter().map(|payload| {
        let (opcode, message) = context.message(Kind::Broadcast, payload);
        raw::frame(raw::FIN | opcode as u8, &message)
    });
    let frames: Vec<Vec<u8>> = frames.collect();
    // A server whose writes wait for the late clients is not blamed here.
    let longest = context.target.timeout / 2;
    let (late, senders) = clients.split_at_mut(LATE);
    let heard: Vec<Result<Heard, Failure>> = thread::scope(|scope| {
        let mut pauses = Vec::new();
        let mut threads = Vec::new();
        for client in late {
            let (reading, pause) = mpsc::channel::<()>();
            pauses.push(reading);
            let sent = &sent;
            threads.push(scope.spawn(move || read_late(client, sent, &pause, longest)));
        }
        for (client, own) in senders.iter_mut().zip(frames.chunks(EACH)) {
            let (sent, pauses) = (&sent, pauses.clone());
            threads.push(scope.spawn(move || {
                let heard = send(client, own, sent);
                drop(pauses);
                heard
            }));
        }
        drop(pauses);
        let done = threads.into_iter().map(thread::ScopedJoinHandle::join);
        done.map(|heard| heard.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let who = |number: usize| match number < LATE {
        true => format!("client {}, which read late", number + 1),
        false => format!("client {}, which broadcast and read", number + 1),
    };
    // A client that was cut off comes first: what it did not send is missing everywhere.
    let heard = heard.into_iter().enumerate();
    let heard = heard.map(|(number, heard)| heard.map_err(|failure| failure.at(who(number))));
    let heard: Vec<Heard> = heard.collect::<Result<_, _>>()?;
    for (number, (heard, client)) in heard.into_iter().zip(&mut clients).enumerate() {
        sent.exactly_once(context, client, heard)
            .map_err(|failure| failure.at(who(number)))?;
    }
    Ok(())
}

/// Reads when the senders have got everything, or after the longest pause.
fn read_late(
    client: &mut Client,
    sent: &Sent,
    pause: &Receiver<()>,
    longest: Duration,
) -> Result<Heard, Failure> {
    // Nothing is sent: the last sender hangs up.
    let _ = pause.recv_timeout(longest);
    sent.hear(client, 0)
}

fn send(client: &mut Client, frames: &[Vec<u8>], sent: &Sent) -> Result<Heard, Failure> {
    for frame in frames {
        client.send_reading(frame)?;
    }
    sent.hear(client, frames.len())
}

/// Broadcasts of which every client is to get each once.
pub(super) struct Sent {
    payloads: Vec<Payload>,
    /// How many consecutive payloads each sender has.
    each: usize,
    /// Each sender's broadcasts arrive in the order in which it sent them, and none of an earlier check
    /// arrives.
    is_ordered: bool,
}

/// What a client has received of them.
#[derive(Default)]
pub(super) struct Heard {
    /// Their numbers, in the order in which they arrived.
    broadcasts: Vec<usize>,
    results: usize,
}

impl Sent {
    /// Takes the payloads in the order in which they were made, `each` of them for every sender.
    pub(super) fn new(payloads: Vec<Payload>, each: usize, context: &Context<'_>) -> Self {
        Self {
            payloads,
            each,
            is_ordered: !context.hands_over(),
        }
    }

    /// Reads until all of them and so many results have come, or until nothing comes for the client's
    /// timeout.
    pub(super) fn hear(&self, client: &mut Client, results: usize) -> Result<Heard, Failure> {
        let mut heard = Heard::default();
        while heard.broadcasts.len() < self.payloads.len() || heard.results < results {
            let wait = client.timeout;
            let Some(incoming) = client.next_within(wait) else {
                break;
            };
            self.note(&as_reply(Some(incoming), wait)?, &mut heard)?;
        }
        Ok(heard)
    }

    fn note(&self, reply: &Reply, heard: &mut Heard) -> Checked {
        let tag = reply.payload.tag();
        let number = self.payloads.iter().position(|sent| sent.tag() == tag);
        match (reply.kind, number) {
            (Kind::Broadcast, Some(number)) if self.payloads[number].equals(&reply.payload) => {
                heard.broadcasts.push(number);
            }
            (Kind::Broadcast, None) if !self.is_ordered && self.are_later_than(tag) => {}
            (Kind::Result, Some(_)) => heard.results += 1,
            (_, Some(_)) => {
                return Err(Failure(format!("got {reply}, which is not what was sent")));
            }
            (_, None) => return Err(Failure(format!("got {reply}, which no client sent"))),
        }
        Ok(())
    }

    fn are_later_than(&self, tag: Option<u64>) -> bool {
        tag.is_some() && tag < self.payloads.first().and_then(Payload::tag)
    }

    /// Each came once, and those of one sender in their order where the protocol has one.
    pub(super) fn exactly_once(
        &self,
        context: &mut Context<'_>,
        client: &mut Client,
        mut heard: Heard,
    ) -> Checked {
        let all = self.payloads.len();
        for reply in context.fence(client)? {
            self.note(&reply, &mut heard)?;
        }
        for number in 0..all {
            let times = heard
                .broadcasts
                .iter()
                .filter(|came| **came == number)
                .count();
            if times != 1 {
                return Err(Failure(format!(
                    "got broadcast {} of {all} {times} times",
                    number + 1
                )));
            }
        }
        let overtakes = |at: usize, number: usize| {
            let mut before = heard.broadcasts[..at].iter();
            before.any(|other| other / self.each == number / self.each && *other > number)
        };
        let came = heard.broadcasts.iter().enumerate();
        let overtaken = came
            .filter(|_| self.is_ordered)
            .find(|(at, number)| overtakes(*at, **number));
        match overtaken {
            None => Ok(()),
            Some((_, number)) => Err(Failure(format!(
                "got broadcast {} of {all} behind a later one of the same sender",
                number + 1
            ))),
        }
    }
}

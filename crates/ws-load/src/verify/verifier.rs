//! Every message is checked: understood, matched against the ledger, timed, or named as a fault.
//!
//! The verifier of one worker. It sees whole messages and knows neither sockets nor frames.

mod asides;
mod asked;
mod begun;
mod crowd;
mod ending;
mod fed;
mod parsed;
mod sent;
mod streamed;
mod tally;
mod unawaited;

pub(crate) use asides::Asides;
pub(crate) use unawaited::RoomConfirmed;

use super::envelope::Envelopes;
use super::feeds::Feeds;
use super::first_answers::{FirstAnswers, Understanding};
use super::ledger::{Lost, Missing, Read, Received, Seats, StepLedger, Window};
use super::streams::Streams;
use crate::dialect::{Begun, Codec, Kind, Returns, Said, Stamps};
use crate::figures::Arrival;
use crate::message::Done;
use crate::net::{Asks, ConnectError};
use asked::Asked;
use crowd::Crowd;
use fed::Lead;
use plan::Measure;
use std::collections::HashSet;
use std::sync::Arc;
use tally::Tally;
use unawaited::Movers;
use ws_proto::Opcode;

/// The verifier of one worker: what was agreed for the run, the clients, the step under way, and what was
/// counted since it was last taken.
pub(crate) struct Verifier {
    codec: Arc<dyn Codec>,
    terms: Terms,
    /// What the clients show the server, which no words repeat.
    pub(crate) asks: Asks,
    crowd: Crowd,
    steps: Steps,
    pub(crate) reading: Reading,
    pub(crate) tally: Tally,
    /// That of each message; of none while a message has `begun`.
    opcode: Opcode,
    begun: Begun,
    envelopes: Envelopes,
    asked: Asked,
    /// Without results: requests of each client that no message has been taken for a result of.
    unconfirmed: Vec<u32>,
    pub(crate) movers: Movers,
    /// Samples that were settled here and that have not been followed up yet.
    pub(crate) finished: u32,
    /// Of a site: samples that are settled here and have not been reported yet.
    pub(crate) done: Vec<Done>,
    /// Whether anything of the run was understood.
    pub(crate) first_answers: FirstAnswers,
    /// What came besides answers to requests, if anything did.
    pub(crate) asides: Option<Box<Asides>>,
    /// Absent where the dialect has none.
    feeds: Option<Box<Feeds>>,
    lead: Lead,
    /// Absent where answers do not come in parts.
    streams: Option<Box<Streams>>,
}

/// What holds for the whole run.
#[derive(Debug)]
struct Terms {
    /// A delivery that was overtaken is a fault.
    keeps_order: bool,
    /// What a sender gets of what it sends to others; else it is a fault.
    returns: Returns,
    stamps: Stamps,
    /// The latency that the limit applies to.
    limited: Measure,
}

/// The steps of a run.
#[derive(Default)]
struct Steps {
    /// The one under way.
    now: Option<Arc<StepLedger>>,
    /// It was given up: messages of it that still come are neither late nor duplicates.
    given_up: bool,
    window: Window,
    /// Of each step so far: its first sample, and its clients.
    so_far: Vec<(u64, u64)>,
}

impl Steps {
    /// The step under way, unless it was given up.
    fn awaited(&self) -> Option<&StepLedger> {
        self.now.as_deref().filter(|_| !self.given_up)
    }
}

/// Where the messages in hand come from.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The read that they came with.
    pub(crate) read: Read,
    /// The message in hand may have arrived so much before its stamp, which is that of a later one;
    /// 0 where the stamp is its own.
    pub(crate) slack_ns: u64,
    /// The number of parts that the answer in hand says it has.
    parts_said: Said<u64>,
}

impl Verifier {
    pub(crate) fn new(
        codec: Arc<dyn Codec>,
        stamps: Stamps,
        limited: Measure,
        worker: u32,
        workers: u32,
        understanding: Arc<Understanding>,
    ) -> Self {
        let streams = codec.has_parts().then(Box::default);
        Self {
            terms: Terms {
                keeps_order: codec.keeps_order(),
                returns: codec.returns(),
                stamps,
                limited,
            },
            asks: Asks::default(),
            crowd: Crowd::new(worker, workers),
            steps: Steps::default(),
            reading: Reading::default(),
            tally: Tally::default(),
            opcode: codec.opcode(),
            begun: Begun::default(),
            envelopes: Envelopes::new(codec.stamp_form()),
            asked: Asked::new(&*codec),
            unconfirmed: Vec::new(),
            movers: Movers::default(),
            finished: 0,
            done: Vec::new(),
            first_answers: FirstAnswers::new(understanding),
            asides: None,
            feeds: None,
            lead: Lead::default(),
            streams,
            codec,
        }
    }

    pub(crate) fn codec(&self) -> &dyn Codec {
        &*self.codec
    }

    /// The stamp of a sample of the run.
    pub(crate) const fn stamp(&self, sample: u64) -> u64 {
        self.terms.stamps.stamp(sample)
    }

    /// A client that will be ready is in a room.
    pub(crate) fn client_in_room(&mut self, slot: u32, room: u32, is_awaited: bool) {
        let seats = self.crowd.seats.get_or_insert_default();
        seats.enter(slot, room, is_awaited);
    }

    /// The room of a client; 0 without rooms.
    #[inline]
    pub(crate) fn room(&self, slot: u32) -> u32 {
        self.crowd.room(slot)
    }

    /// Clients that samples wait for.
    pub(crate) const fn listeners(&self) -> u32 {
        self.crowd.awaited()
    }

    /// A client is ready.
    pub(crate) fn client_ready(&mut self, slot: u32) {
        self.asked.forget(slot);
        self.crowd.ready(slot);
    }

    /// A client that was ready is gone: nothing more is sent by it. The ledger is told by
    /// [`Verifier::settle_lost`].
    pub(crate) fn client_lost(&mut self, slot: u32) {
        self.forget_begun(slot);
        self.crowd.lose(slot);
        self.parts_cut(slot);
    }

    /// Counts what was due to the clients that were lost since the last call. It goes through all
    /// samples in flight, once for all of these clients. Call it before anything is sent.
    #[inline]
    pub(crate) fn settle_lost(&mut self) {
        if self.crowd.gone.count > 0 {
            self.count_lost_clients();
        }
    }

    #[cold]
    fn count_lost_clients(&mut self) {
        let mut done = Vec::new();
        let mut missing = Missing::default();
        let mut emptied = HashSet::new();
        let lost = Lost::new(&self.crowd.gone.words, self.crowd.seats.as_ref());
        if let Some(step) = &self.steps.now {
            let on_done = |index, last| done.push((index, last));
            let listeners = self.crowd.listeners();
            let window = &mut self.steps.window;
            missing = window.clients_lost(step, listeners, &lost, on_done);
        }
        if let Some(seats) = &mut self.crowd.seats {
            seats.leave(&lost, |room| {
                emptied.insert(room);
            });
        }
        self.count_missing(missing);
        if let Some(step) = self.steps.now.clone() {
            for (index, last) in done {
                self.settle(&step, index, last);
            }
        }
        self.settle_emptied(&emptied);
        self.crowd.forget_gone();
    }

    /// Waits no more for what is to be sent to rooms that have no clients left here.
    #[cold]
    fn settle_emptied(&mut self, rooms: &HashSet<u32>) {
        let Some(step) = self.steps.now.clone().filter(|_| !rooms.is_empty()) else {
            return;
        };
        let mut done = Vec::new();
        let is_empty = |room| rooms.contains(&room);
        self.steps
            .window
            .rooms_emptied(&step, self.crowd.listeners(), is_empty, |index| {
                done.push(index)
            });
        for index in done {
            self.settle(&step, index, Arrival::default());
        }
    }

    /// Begins a step.
    pub(crate) fn open_step(&mut self, step: Arc<StepLedger>) {
        self.settle_lost();
        self.steps.window.reset();
        self.steps.given_up = false;
        self.steps.so_far.push((step.first_sample, step.clients));
        self.steps.now = Some(step);
        let empty = self.crowd.seats.iter().flat_map(Seats::empty).collect();
        self.settle_emptied(&empty);
    }

    /// The step under way.
    pub(crate) const fn step(&self) -> Option<&Arc<StepLedger>> {
        self.steps.now.as_ref()
    }

    /// Whether the step was ended before its time.
    pub(crate) const fn is_given_up(&self) -> bool {
        self.steps.given_up
    }

    /// Verifies one message that reached the client in `slot` at `at_ns`.
    #[inline]
    pub(crate) fn message(&mut self, slot: u32, opcode: Opcode, payload: &[u8], at_ns: u64) {
        self.tally.messages += 1;
        if opcode != self.opcode {
            self.unusual(slot, opcode, payload, at_ns);
        } else if !self.recognise(slot, payload, at_ns) {
            match self.take_apart(slot, payload, at_ns) {
                0 => {}
                count => self.keep_end(slot, payload, count),
            }
        }
    }

    /// Verifies a message whose envelope is known; false of any other.
    #[inline]
    fn recognise(&mut self, slot: u32, message: &[u8], at_ns: u64) -> bool {
        let room = self.room(slot);
        let Some((kind, stamp)) = self.envelopes.recognise(room, message, &*self.codec) else {
            return false;
        };
        // Of a message the window compares the room.
        let topic = (kind == Kind::Published).then_some(room);
        self.account(slot, kind, stamp, topic, at_ns);
        true
    }

    /// Verifies what came in a message that was not recognised as a whole. Returns how many of its last
    /// bytes begin what goes on in the next one.
    #[cold]
    fn take_apart(&mut self, slot: u32, payload: &[u8], at_ns: u64) -> usize {
        let codec = Arc::clone(&self.codec);
        let mut rest = payload;
        loop {
            let (message, behind) = codec.cut(rest);
            // The whole is known to be none that is recognised.
            let is_whole = message.len() == payload.len();
            if is_whole || !self.recognise(slot, message, at_ns) {
                if codec.goes_on(message) {
                    return message.len();
                }
                self.parse(slot, message, at_ns);
            }
            if behind.is_empty() {
                return 0;
            }
            rest = behind;
        }
    }

    /// Notes a connection that ended although nothing here closed it.
    pub(crate) fn disconnected(&mut self, how: &ConnectError) {
        self.tally.faults.disconnected += 1;
        if self.tally.first.disconnect.is_none() {
            self.tally.first.disconnect = Some(how.to_string());
        }
    }

    /// Notes a message or frame that breaks the rules.
    pub(crate) fn malformed(&mut self, words: String) {
        self.tally.faults.malformed += 1;
        self.tally.first.malformed.get_or_insert(words);
    }

    #[inline]
    fn account(&mut self, slot: u32, kind: Kind, stamp: u64, topic: Option<u32>, at_ns: u64) {
        if self.is_unawaited(slot) {
            return self.account_unawaited(slot, kind, stamp, topic);
        }
        let Some(step) = &self.steps.now else {
            self.tally.faults.misdirected += 1;
            return;
        };
        if self.steps.given_up {
            return;
        }
        let index = match self.terms.stamps.sample(stamp) {
            Some(sample) if sample >= step.first_sample => sample - step.first_sample,
            // Of an earlier step, nothing may have been awaited, so that the server reads it now.
            Some(sample) if self.is_newer_than(slot, sample) => return,
            // Everything of it had come, or had been given up.
            Some(_) => {
                self.tally.faults.duplicate += 1;
                return;
            }
            None => {
                self.tally.faults.misdirected += 1;
                return;
            }
        };
        if !kind.is_of(step.audience) || index > u64::from(u32::MAX) {
            self.tally.faults.misdirected += 1;
            return;
        }
        let index = index as u32;
        if topic.is_some_and(|topic| topic != step.room(index)) {
            self.tally.faults.misdirected += 1;
            return;
        }
        if self.is_of_itself(step, kind, index, slot) {
            self.count_returned(kind);
            return;
        }
        let listeners = self.crowd.listeners();
        self.reading.read.is_result = kind.is_result();
        let at = Arrival {
            at_ns,
            earliest_ns: at_ns - self.reading.slack_ns.min(at_ns),
        };
        let received = match kind.is_result() {
            true => self.steps.window.result(step, listeners, index, slot, at),
            false => self.steps.window.deliver(step, listeners, index, slot, at),
        };
        match received {
            Received::Due {
                latency_ns,
                overtaken,
                party_done,
            } => {
                match kind {
                    Kind::Broadcast | Kind::Message if step.is_timed(index) => {
                        self.tally.latencies.delivery.record(latency_ns);
                    }
                    Kind::Result | Kind::Published if step.is_timed(index) => {
                        self.tally.latencies.ack.record(latency_ns);
                    }
                    _ => {}
                }
                self.tally.faults.reordered += u64::from(overtaken && self.terms.keeps_order);
                if self.reading.slack_ns > 0 && step.is_timed(index) {
                    let sent_ns = step.when_sent(index).map_or(0, |sent| sent.at_ns);
                    let is_limited = limits(self.terms.limited, kind);
                    let error_ns = at.error_since(sent_ns);
                    self.tally
                        .latencies
                        .shared
                        .note(error_ns, is_limited.then_some(latency_ns));
                }
                if let Some(last) = party_done {
                    let step = Arc::clone(step);
                    self.settle(&step, index, last);
                }
            }
            Received::Unconfirmed { party_done } => {
                let confirmed = self.steps.window.take_confirmed();
                if party_done.is_some() || confirmed.is_some() {
                    let step = Arc::clone(step);
                    self.count_confirmed(&step, confirmed);
                    if let Some(last) = party_done {
                        self.settle(&step, index, last);
                    }
                }
            }
            Received::Duplicate => self.tally.faults.duplicate += 1,
            Received::NotDue => self.tally.faults.misdirected += 1,
        }
    }

    /// This worker waits for nothing more of a sample.
    fn settle(&mut self, step: &StepLedger, index: u32, last: Arrival) {
        let Some(done) = step.settle(index, last, self.reading.read, &mut self.tally.latencies)
        else {
            return;
        };
        if step.is_shared() {
            self.done.push(done);
        }
        self.finished += 1;
    }

    fn count_missing(&mut self, missing: Missing) {
        self.tally.faults.lost += missing.deliveries;
        self.tally.faults.unanswered += missing.results;
        self.tally.of_sender.missing += missing.own;
    }
}

/// True when the limit applies to the latency that such a message ends by itself.
const fn limits(limited: Measure, kind: Kind) -> bool {
    matches!(
        (limited, kind),
        (Measure::Delivery, Kind::Broadcast | Kind::Message)
            | (Measure::Ack, Kind::Result | Kind::Published)
    )
}

#[cfg(test)]
mod tests;

//! Every message is checked: understood, matched against the ledger, timed, or named as a fault.
//!
//! The verifier of one worker. It sees whole messages and knows neither sockets nor frames.

mod asides;
mod asked;
mod begun;
mod fed;
mod parsed;
mod unawaited;

pub(crate) use asides::Asides;
pub(crate) use unawaited::RoomConfirmed;

use super::envelope::Envelopes;
use super::feeds::Feeds;
use super::first_answers::{FirstAnswers, Understanding};
use super::ledger::{Listeners, Lost, Missing, Read, Received, Seats, StepLedger, Window};
use super::streams::Streams;
use super::visits::Visits;
use crate::dialect::{Begun, Codec, Kind, Returns, Said, Stamps};
use crate::figures::{Arrival, Latencies};
use crate::message::{Done, FirstFaults, OfSender, SlowPart, VisitsPart};
use crate::net::{Asks, ConnectError};
use asked::Asked;
use fed::Lead;
use plan::Measure;
use record::Faults;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use unawaited::Between;
use ws_proto::Opcode;

/// The clients of a verifier, while its other fields change.
macro_rules! listeners {
    ($verifier:expr) => {
        Listeners {
            alive: &$verifier.alive,
            count: $verifier.alive_count,
            worker: $verifier.worker,
            workers: $verifier.workers,
            seats: $verifier.seats.as_ref(),
        }
    };
}

mod ending;
mod sent;
mod streamed;

pub(crate) struct Verifier {
    codec: Arc<dyn Codec>,
    /// That of each message; of none while a message has `begun`.
    opcode: Opcode,
    begun: Begun,
    /// A delivery that was overtaken is a fault.
    keeps_order: bool,
    /// What a sender gets of what it sends to others; else it is a fault.
    returns: Returns,
    envelopes: Envelopes,
    stamps: Stamps,
    asked: Asked,
    /// The latency that the limit applies to.
    limited: Measure,
    step: Option<Arc<StepLedger>>,
    /// Of each step so far: its first sample, and its clients.
    steps: Vec<(u64, u64)>,
    /// The step was given up: messages of it that still come are neither late nor duplicates.
    given_up: bool,
    window: Window,
    /// The read that the messages in hand came with.
    pub(crate) read: Read,
    /// The message in hand may have arrived so much before its stamp, which is that of a later one;
    /// 0 where the stamp is its own.
    pub(crate) slack_ns: u64,
    /// Clients that the ledger counts on: those that are alive, and those in `gone`.
    alive: Vec<u64>,
    /// Clients that are gone, which the ledger does not know yet.
    gone: Vec<u64>,
    gone_count: u32,
    /// How many are set in `alive`.
    alive_count: u32,
    /// A bit per client that no sample waits for.
    unawaited: Vec<u64>,
    /// Who is in which room, if there are rooms.
    seats: Option<Seats>,
    /// Those of them that leave and come back.
    visits: Visits,
    /// Those of them that are in no room just now, by slot.
    between: HashMap<u32, Between>,
    /// What was confirmed to them since it was last followed up.
    pub(crate) confirmed: Vec<RoomConfirmed>,
    worker: u32,
    workers: u32,
    /// What went wrong since it was last taken.
    pub(crate) faults: Faults,
    /// How the dialect and what senders get disagree.
    of_sender: OfSender,
    /// Without results: requests of each client that no message has been taken for a result of.
    unconfirmed: Vec<u32>,
    /// Latencies since they were last taken.
    pub(crate) latencies: Latencies,
    /// Messages since they were last taken.
    pub(crate) messages: u64,
    /// What clients did that no sample waits for, since it was last taken.
    pub(crate) slow: SlowPart,
    /// What clients heard that leave and come back, since it was last taken.
    visited: VisitsPart,
    /// Samples that were settled here and that have not been followed up yet.
    pub(crate) finished: u32,
    /// Of a site: samples that are settled here and have not been reported yet.
    pub(crate) done: Vec<Done>,
    pub(crate) first: FirstFaults,
    /// Whether anything of the run was understood.
    pub(crate) first_answers: FirstAnswers,
    /// What came besides answers to requests, if anything did.
    pub(crate) asides: Option<Box<Asides>>,
    /// Absent where the dialect has none.
    pub(crate) feeds: Option<Box<Feeds>>,
    /// Absent where answers do not come in parts.
    streams: Option<Box<Streams>>,
    /// The number of parts that the answer in hand says it has.
    parts_said: Said<u64>,
    lead: Lead,
    /// What the clients show the server, which no words repeat.
    pub(crate) asks: Asks,
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
            opcode: codec.opcode(),
            begun: Begun::default(),
            keeps_order: codec.keeps_order(),
            returns: codec.returns(),
            asked: Asked::new(&*codec),
            envelopes: Envelopes::new(codec.stamp_form()),
            codec,
            stamps,
            limited,
            step: None,
            steps: Vec::new(),
            given_up: false,
            window: Window::default(),
            read: Read::default(),
            slack_ns: 0,
            alive: Vec::new(),
            gone: Vec::new(),
            gone_count: 0,
            alive_count: 0,
            unawaited: Vec::new(),
            seats: None,
            visits: Visits::default(),
            between: HashMap::new(),
            confirmed: Vec::new(),
            worker,
            workers,
            faults: Faults::default(),
            of_sender: OfSender::default(),
            unconfirmed: Vec::new(),
            latencies: Latencies::default(),
            messages: 0,
            slow: SlowPart::default(),
            visited: VisitsPart::default(),
            finished: 0,
            done: Vec::new(),
            first: FirstFaults::default(),
            first_answers: FirstAnswers::new(understanding),
            asides: None,
            feeds: None,
            streams,
            parts_said: Said::NotAsked,
            lead: Lead::default(),
            asks: Asks::default(),
        }
    }

    pub(crate) fn codec(&self) -> &dyn Codec {
        &*self.codec
    }

    /// The stamp of a sample of the run.
    pub(crate) const fn stamp(&self, sample: u64) -> u64 {
        self.stamps.of(sample)
    }

    /// A client that will be ready is in a room.
    pub(crate) fn client_in_room(&mut self, slot: u32, room: u32, is_awaited: bool) {
        let seats = self.seats.get_or_insert_default();
        seats.enter(slot, room, is_awaited);
    }

    /// The room of a client; 0 without rooms.
    #[inline]
    pub(crate) fn room(&self, slot: u32) -> u32 {
        self.seats.as_ref().map_or(0, |seats| seats.seat(slot).room)
    }

    /// Clients that samples wait for.
    pub(crate) const fn listeners(&self) -> u32 {
        self.alive_count - self.gone_count
    }

    /// A client is ready.
    pub(crate) fn client_ready(&mut self, slot: u32) {
        self.asked.forget(slot);
        let word = slot as usize / 64;
        if self.alive.len() <= word {
            self.alive.resize(word + 1, 0);
            self.gone.resize(word + 1, 0);
        }
        self.alive[word] |= 1 << (slot % 64);
        self.alive_count += 1;
    }

    /// A client that was ready is gone: nothing more is sent by it. The ledger is told by
    /// [`Verifier::settle_lost`].
    pub(crate) fn client_lost(&mut self, slot: u32) {
        self.forget_begun(slot);
        self.gone[slot as usize / 64] |= 1 << (slot % 64);
        self.gone_count += 1;
        self.parts_cut(slot);
    }

    /// Counts what was due to the clients that were lost since the last call. It goes through all
    /// samples in flight, once for all of these clients. Call it before anything is sent.
    #[inline]
    pub(crate) fn settle_lost(&mut self) {
        if self.gone_count > 0 {
            self.count_lost_clients();
        }
    }

    #[cold]
    fn count_lost_clients(&mut self) {
        let mut done = Vec::new();
        if let Some(step) = self.step.clone() {
            let lost = Lost::new(&self.gone, self.seats.as_ref());
            let listeners = listeners!(self);
            let missing = self
                .window
                .clients_lost(&step, listeners, &lost, |index, last| {
                    done.push((index, last));
                });
            let mut emptied = HashSet::new();
            if let Some(seats) = &mut self.seats {
                seats.leave(&lost, |room| {
                    emptied.insert(room);
                });
            }
            self.count_missing(missing);
            for (index, last) in done {
                self.settle(&step, index, last);
            }
            self.settle_emptied(&emptied);
        } else if let Some(seats) = &mut self.seats {
            let lost = Lost::new(&self.gone, Some(seats));
            seats.leave(&lost, drop);
        }
        for (alive, gone) in self.alive.iter_mut().zip(&mut self.gone) {
            *alive &= !std::mem::take(gone);
        }
        self.alive_count -= self.gone_count;
        self.gone_count = 0;
    }

    /// Waits no more for what is to be sent to rooms that have no clients left here.
    #[cold]
    fn settle_emptied(&mut self, rooms: &HashSet<u32>) {
        let Some(step) = self.step.clone().filter(|_| !rooms.is_empty()) else {
            return;
        };
        let mut done = Vec::new();
        let is_empty = |room| rooms.contains(&room);
        self.window
            .rooms_emptied(&step, listeners!(self), is_empty, |index| done.push(index));
        for index in done {
            self.settle(&step, index, Arrival::default());
        }
    }

    /// Begins a step.
    pub(crate) fn open_step(&mut self, step: Arc<StepLedger>) {
        self.settle_lost();
        self.window.reset();
        self.given_up = false;
        self.steps.push((step.first_sample, step.clients));
        self.step = Some(step);
        let empty = self.seats.iter().flat_map(Seats::empty).collect();
        self.settle_emptied(&empty);
    }

    /// The step under way.
    pub(crate) const fn step(&self) -> Option<&Arc<StepLedger>> {
        self.step.as_ref()
    }

    /// Whether the step was ended before its time.
    pub(crate) const fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// Verifies one message that reached the client in `slot` at `at_ns`.
    #[inline]
    pub(crate) fn message(&mut self, slot: u32, opcode: Opcode, payload: &[u8], at_ns: u64) {
        self.messages += 1;
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
        self.faults.disconnected += 1;
        if self.first.disconnect.is_none() {
            self.first.disconnect = Some(how.to_string());
        }
    }

    /// Notes a message or frame that breaks the rules.
    pub(crate) fn malformed(&mut self, words: String) {
        self.faults.malformed += 1;
        self.first.malformed.get_or_insert(words);
    }

    #[inline]
    fn account(&mut self, slot: u32, kind: Kind, stamp: u64, topic: Option<u32>, at_ns: u64) {
        if self.is_unawaited(slot) {
            return self.account_unawaited(slot, kind, stamp, topic);
        }
        let Some(step) = &self.step else {
            self.faults.misdirected += 1;
            return;
        };
        if self.given_up {
            return;
        }
        let index = match self.stamps.sample(stamp) {
            Some(sample) if sample >= step.first_sample => sample - step.first_sample,
            // Of an earlier step, nothing may have been awaited, so that the server reads it now.
            Some(sample) if self.is_newer_than(slot, sample) => return,
            // Everything of it had come, or had been given up.
            Some(_) => {
                self.faults.duplicate += 1;
                return;
            }
            None => {
                self.faults.misdirected += 1;
                return;
            }
        };
        if !kind.is_of(step.audience) || index > u64::from(u32::MAX) {
            self.faults.misdirected += 1;
            return;
        }
        let index = index as u32;
        if topic.is_some_and(|topic| topic != step.room(index)) {
            self.faults.misdirected += 1;
            return;
        }
        if self.is_of_itself(step, kind, index, slot) {
            self.count_returned(kind);
            return;
        }
        let listeners = listeners!(self);
        self.read.is_result = kind.is_result();
        let at = Arrival {
            at_ns,
            earliest_ns: at_ns - self.slack_ns.min(at_ns),
        };
        let received = match kind.is_result() {
            true => self.window.result(step, listeners, index, slot, at),
            false => self.window.deliver(step, listeners, index, slot, at),
        };
        match received {
            Received::Due {
                latency_ns,
                overtaken,
                party_done,
            } => {
                match kind {
                    Kind::Broadcast | Kind::Message if step.is_timed(index) => {
                        self.latencies.delivery.record(latency_ns);
                    }
                    Kind::Result | Kind::Published if step.is_timed(index) => {
                        self.latencies.ack.record(latency_ns);
                    }
                    _ => {}
                }
                self.faults.reordered += u64::from(overtaken && self.keeps_order);
                if self.slack_ns > 0 && step.is_timed(index) {
                    let sent_ns = step.when_sent(index).map_or(0, |sent| sent.at_ns);
                    let is_limited = limits(self.limited, kind);
                    let error_ns = at.error_since(sent_ns);
                    self.latencies
                        .shared
                        .note(error_ns, is_limited.then_some(latency_ns));
                }
                if let Some(last) = party_done {
                    let step = Arc::clone(step);
                    self.settle(&step, index, last);
                }
            }
            Received::Unconfirmed { party_done } => {
                let confirmed = self.window.take_confirmed();
                if party_done.is_some() || confirmed.is_some() {
                    let step = Arc::clone(step);
                    self.count_confirmed(&step, confirmed);
                    if let Some(last) = party_done {
                        self.settle(&step, index, last);
                    }
                }
            }
            Received::Duplicate => self.faults.duplicate += 1,
            Received::NotDue => self.faults.misdirected += 1,
        }
    }

    /// This worker waits for nothing more of a sample.
    fn settle(&mut self, step: &StepLedger, index: u32, last: Arrival) {
        let Some(done) = step.settle(index, last, self.read, &mut self.latencies) else {
            return;
        };
        if step.is_shared() {
            self.done.push(done);
        }
        self.finished += 1;
    }

    fn count_missing(&mut self, missing: Missing) {
        self.faults.lost += missing.deliveries;
        self.faults.unanswered += missing.results;
        self.of_sender.missing += missing.own;
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

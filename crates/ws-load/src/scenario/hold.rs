//! Connections that are held: pinged, and counted when they end.
//!
//! It reads no memory and gives no verdict.

use super::{Clients, Scenario, Setting, Slot, follow_asides};
use crate::message::{Command, HeldPart, Report, StepPart};
use crate::net::{ConnectError, Endpoint};
use crate::plan;
use crate::verify::{Read, Verifier};
use ::plan::{Connect, Dialect};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use ws_proto::{Opcode, encode_frame};

/// Most pings that are sent in one turn of the loop.
const PINGS_AT_ONCE: u32 = 256;

/// A ping that has been sent and not answered.
#[derive(Clone, Copy, Debug)]
struct Ping {
    due_ns: u64,
    payload: u64,
}

/// What a worker knows of the connections that it holds. Memory per idle connection: one entry of
/// `due`.
pub(super) struct Hold {
    terms: Connect,
    /// The server.
    addr: Endpoint,
    /// Seed of the moments of the first pings.
    seed: u64,
    /// When each connection is pinged next, earliest first.
    due: BinaryHeap<Reverse<(u64, Slot)>>,
    /// Pings in flight, by connection. A connection has at most one: it must be answered before the
    /// next is sent.
    under_way: HashMap<Slot, Ping>,
    /// Pings in the order of their sending, each with the time at which it is given up; answered
    /// ones included.
    deadlines: VecDeque<(u64, Slot, u64)>,
    /// No ping is due after this; absent until it is known.
    until_ns: Option<u64>,
    part: HeldPart,
    /// The plan names no dialect: a message of the server may be anything.
    any_dialect: bool,
    /// Checks messages, which no client of a hold asks for.
    verifier: Verifier,
}

impl Hold {
    pub(super) fn new(terms: Connect, setting: &Setting) -> Self {
        Self {
            terms,
            addr: setting.addr.clone(),
            seed: setting.plan.generator.seed ^ u64::from(setting.worker().0),
            due: BinaryHeap::new(),
            under_way: HashMap::new(),
            deadlines: VecDeque::new(),
            until_ns: None,
            part: HeldPart::default(),
            any_dialect: setting.plan.message.dialect == Dialect::default(),
            verifier: setting.verifier(),
        }
    }

    /// Begins a step: pings what is there.
    fn begin(&mut self, clients: &dyn Clients) {
        let now_ns = clients.now_ns();
        self.verifier.begin_feeds(now_ns, 0);
        for slot in (0..clients.slots()).filter(|slot| clients.is_ready(*slot)) {
            self.ping_later(slot, now_ns);
        }
        self.until_ns = None;
    }

    /// Forgets the pings under way as if they had not been sent.
    fn give_up(&mut self) {
        self.part.sent -= self.under_way.len() as u64;
        self.under_way.clear();
        self.until_ns = Some(0);
    }

    /// Somewhere within the interval, so that the pings of connections that were opened together
    /// are spread over it.
    fn ping_later(&mut self, slot: Slot, now_ns: u64) {
        let within = plan::mix(self.seed, slot.into()) % self.terms.ping_interval.ns();
        self.due.push(Reverse((now_ns + 1 + within, slot)));
    }

    /// The next connection to ping, with the moment that was meant for it.
    fn take_due(&mut self, now_ns: u64) -> Option<(u64, Slot)> {
        let Reverse((due_ns, _)) = *self.due.peek()?;
        let over = self.until_ns.is_some_and(|until_ns| due_ns >= until_ns);
        if due_ns > now_ns || over {
            return None;
        }
        self.due.pop().map(|Reverse(next)| next)
    }

    /// A connection whose ping was not answered in time.
    fn take_late(&mut self, now_ns: u64) -> Option<Slot> {
        while let Some(&(deadline_ns, slot, payload)) = self.deadlines.front() {
            let waits = self
                .under_way
                .get(&slot)
                .is_some_and(|ping| ping.payload == payload);
            if waits && deadline_ns > now_ns {
                return None;
            }
            self.deadlines.pop_front();
            if waits {
                return Some(slot);
            }
        }
        None
    }

    fn ping(&mut self, slot: Slot, due_ns: u64, clients: &mut dyn Clients) {
        let payload = clients.draw();
        let now_ns = clients.now_ns();
        let interval_ns = self.terms.ping_interval.ns();
        // A generator that was stopped for long leaves out what it missed.
        let missed = now_ns.saturating_sub(due_ns) / interval_ns;
        let next_ns = due_ns + interval_ns * (missed + 1);
        self.due.push(Reverse((next_ns, slot)));
        if self.under_way.contains_key(&slot) {
            return;
        }
        let deadline_ns = now_ns + self.terms.ping_timeout.ns();
        self.deadlines.push_back((deadline_ns, slot, payload));
        self.under_way.insert(slot, Ping { due_ns, payload });
        self.part.sent += 1;
        self.part.ping_lag.record(now_ns.saturating_sub(due_ns));
        let mask = (clients.draw() as u32).to_ne_bytes();
        let mut frame = Vec::new();
        encode_frame(&mut frame, Opcode::Ping, Some(mask), &payload.to_ne_bytes());
        clients.send(slot, &frame);
    }

    #[cold]
    fn end_unanswered(&mut self, slot: Slot, clients: &mut dyn Clients) {
        self.under_way.remove(&slot);
        self.part.unanswered += 1;
        let seconds = self.terms.ping_timeout.ns() as f64 / 1e9;
        clients.end(
            slot,
            ConnectError::PingUnanswered {
                addr: self.addr.clone(),
                seconds,
            },
        );
    }

    fn note_lost(&mut self, clients: &mut dyn Clients) {
        while let Some((slot, error)) = clients.take_lost() {
            self.part.cut_off += u64::from(self.under_way.remove(&slot).is_some());
            self.part.drops.note(error.drop_cause().0);
            self.verifier.disconnected(&error);
            self.verifier.feed_ends(slot, clients.now_ns());
        }
    }
}

impl Scenario for Hold {
    fn obey(&mut self, command: Command, clients: &mut dyn Clients) {
        match command {
            Command::OpenAndHold(_) => self.begin(clients),
            Command::Hold { until_ns } => self.until_ns = Some(until_ns),
            Command::GiveUp { .. } => self.give_up(),
            _ => {}
        }
    }

    /// Sends the pings that are due, gives up those that are late, and tells the end of the hold.
    fn turn(&mut self, clients: &mut dyn Clients) {
        let now_ns = clients.now_ns();
        while let Some(slot) = self.take_late(now_ns) {
            self.end_unanswered(slot, clients);
        }
        self.note_lost(clients);
        for _ in 0..PINGS_AT_ONCE {
            let Some((due_ns, slot)) = self.take_due(clients.now_ns()) else {
                break;
            };
            if clients.is_ready(slot) {
                self.ping(slot, due_ns, clients);
            }
        }
        self.note_lost(clients);
        let is_empty = clients.ready_count() == 0;
        let over = self
            .until_ns
            .is_some_and(|until_ns| is_empty || clients.now_ns() >= until_ns);
        if over && self.under_way.is_empty() && !clients.is_opening() {
            self.until_ns = None;
            self.due.clear();
            self.deadlines.clear();
            clients.report(Report::Held);
        }
    }

    /// After the end of the hold no ping is due, and only answers are waited for.
    fn next_ns(&self, now_ns: u64) -> u64 {
        let until_ns = self.until_ns.unwrap_or(u64::MAX);
        let due = self.due.peek().map(|Reverse((due_ns, _))| *due_ns);
        let due = due.filter(|due_ns| *due_ns < until_ns);
        let late = self.deadlines.front().map(|late| late.0);
        let end = Some(until_ns).filter(|until_ns| *until_ns > now_ns);
        [due, late, end]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(u64::MAX)
    }

    fn upgraded(&mut self, slot: Slot) {
        self.verifier.forget_begun(slot);
    }

    fn ready(&mut self, slot: Slot, at_ns: u64, _: Option<u32>, _: u32) {
        self.verifier.feed_begins(slot, at_ns);
        self.ping_later(slot, at_ns);
    }

    #[inline]
    fn read(&mut self, read: Read, _: u64) {
        self.verifier.reading.read = read;
    }

    fn message(&mut self, slot: Slot, opcode: Opcode, payload: &[u8], at_ns: u64, _: u64) {
        // RFC 6455, 8.1: text is UTF-8 in any dialect.
        let is_text = opcode == Opcode::Text;
        let breaks_rules = is_text && std::str::from_utf8(payload).is_err();
        if self.any_dialect && !breaks_rules {
            self.verifier.tally.messages += 1;
            self.part.unasked_messages += 1;
        } else {
            self.verifier.message(slot, opcode, payload, at_ns);
        }
    }

    fn pong(&mut self, slot: Slot, payload: &[u8], at_ns: u64) {
        self.verifier.tally.messages += 1;
        let payload = payload.try_into().ok().map(u64::from_ne_bytes);
        match self.under_way.get(&slot) {
            Some(ping) if payload == Some(ping.payload) => {
                let took_ns = at_ns.saturating_sub(ping.due_ns);
                self.part.round_trip.record(took_ns);
                self.part.answered += 1;
                self.under_way.remove(&slot);
            }
            _ => self.part.unasked += 1,
        }
    }

    fn follow_up(&mut self, _: u64, clients: &mut dyn Clients) {
        if let Some(asides) = self.verifier.asides.take() {
            follow_asides(*asides, self.verifier.codec().opcode(), clients);
        }
        self.note_lost(clients);
    }

    fn reset(&mut self) {
        self.verifier.begin_messages();
    }

    fn finish(&mut self, part: &mut StepPart, now_ns: u64) {
        part.feed = self.verifier.finish_feeds(now_ns);
        self.verifier.finish(part);
        part.held.merge(std::mem::take(&mut self.part));
    }
}

//! Messages that are published by the clock while connections end and come back. What came, and when
//! each client had a connection, is kept; what that means is found out when the step is over.

use super::writer::{Way, Writer};
use super::{Clients, Scenario, Setting, Slot, follow_asides};
use crate::dialect::{Begun, Codec, Incoming, Kind, Malformed, Returns, identifier, shown};
use crate::figures::Latencies;
use crate::message::{
    Command, FirstFaults, NEVER, OfSender, Report, SentMessage, Stay, StepPart, WatchPart, Watcher,
};
use crate::verify::{Asides, Envelopes};
use plan::Watch as Terms;
use record::Faults;
use std::collections::VecDeque;
use std::sync::Arc;
use ws_proto::Opcode;

/// Most messages that are published before the loop reads again.
const SENDS_AT_ONCE: u32 = 64;
/// Most times of one client in which it was ready. What comes to it after the last is not followed.
const MOST_STAYS: usize = 10_000;
/// Most requests of one client that wait for their results.
const MOST_UNANSWERED: usize = 1000;

/// What a worker knows of a watched step.
pub(super) struct Watch {
    terms: Terms,
    setting: Setting,
    codec: Arc<dyn Codec>,
    returns: Returns,
    keeps_order: bool,
    envelopes: Envelopes,
    writer: Writer,
    /// Number of this worker among all of the run, and how many there are.
    number: u64,
    workers: u64,
    /// Clients of the run. Each publishes in its turn.
    clients: u64,
    /// How many messages there are.
    messages: u64,
    /// When the first message is due; absent before the step and after it.
    start_ns: Option<u64>,
    /// When a message was sent last.
    last_ns: u64,
    /// When a message last came to a client that had not heard it.
    heard_ns: u64,
    /// The time for all messages is over.
    is_over: bool,
    /// The next message that may be for a client of this worker.
    next: u64,
    part: WatchPart,
    /// What is known of each client besides, by slot.
    sides: Vec<Side>,
    faults: Faults,
    of_sender: OfSender,
    first: FirstFaults,
    latencies: Latencies,
    asides: Option<Box<Asides>>,
    begun: Begun,
    received: u64,
    sent_bytes: u64,
}

#[derive(Debug, Default)]
struct Side {
    /// By publisher: one more than the latest of its messages that came.
    latest: Vec<u32>,
    /// Requests without a result yet, oldest first, each with its sequence.
    unanswered: VecDeque<(u32, Option<u64>)>,
}

impl Watch {
    pub(super) fn new(terms: Terms, setting: Setting) -> Self {
        let (number, workers) = setting.worker();
        let codec = Arc::clone(&setting.codec);
        Self {
            terms,
            returns: codec.returns(),
            keeps_order: codec.keeps_order(),
            envelopes: Envelopes::new(codec.stamp_form()),
            writer: Writer::new(&setting.plan),
            number: number.into(),
            workers: workers.into(),
            clients: setting.plan.clients_at(0),
            messages: terms.messages(),
            codec,
            setting,
            start_ns: None,
            last_ns: 0,
            heard_ns: 0,
            is_over: false,
            next: 0,
            part: WatchPart::default(),
            sides: Vec::new(),
            faults: Faults::default(),
            of_sender: OfSender::default(),
            first: FirstFaults::default(),
            latencies: Latencies::default(),
            asides: None,
            begun: Begun::default(),
            received: 0,
            sent_bytes: 0,
        }
    }

    fn begin(&mut self, start_ns: u64, clients: &dyn Clients) {
        self.start_ns = Some(start_ns);
        self.next = 0;
        // Each publishes more than once where there are more messages than clients.
        let publishers = if self.messages > self.clients {
            self.clients
        } else {
            0
        };
        for slot in 0..clients.slots() {
            let mut watcher = Watcher {
                client: self.client(slot),
                stays: Vec::new(),
                heard: vec![NEVER; self.messages as usize],
            };
            if clients.is_ready(slot) {
                watcher.stays.push(stay(0, clients.node(slot)));
            }
            self.part.watchers.push(watcher);
            self.sides.push(Side {
                latest: vec![0; publishers as usize],
                unanswered: VecDeque::new(),
            });
        }
    }

    const fn client(&self, slot: Slot) -> u64 {
        slot as u64 * self.workers + self.number
    }

    /// Who publishes a message: all clients in turn.
    const fn publisher(&self, message: u64) -> u64 {
        message % self.clients
    }

    /// Microseconds from the first message on.
    fn micros(&self, at_ns: u64) -> u32 {
        let since_ns = at_ns.saturating_sub(self.start_ns.unwrap_or(at_ns));
        u32::try_from(since_ns / 1000)
            .unwrap_or(NEVER - 1)
            .min(NEVER - 1)
    }

    /// When the time for all messages is over, also for those that left late and while a server that is
    /// behind still brings some, until that has been told.
    fn end_ns(&self) -> Option<u64> {
        let start_ns = self.start_ns.filter(|_| !self.is_over)?;
        let all_sent_ns = self.last_ns.max(start_ns + self.terms.duration.ns());
        let waited_ns = all_sent_ns + Terms::MOST_BEHIND.ns();
        let latest_ns = self.heard_ns.min(waited_ns).max(all_sent_ns);
        Some(latest_ns + self.terms.patience.ns())
    }

    /// When the next message of this worker is due, which becomes the next.
    fn next_due_ns(&mut self) -> Option<u64> {
        let start_ns = self.start_ns?;
        while self.next < self.messages {
            if self.publisher(self.next) % self.workers == self.number {
                return Some(start_ns + self.terms.due_ns(self.next));
            }
            self.next += 1;
        }
        None
    }

    fn publish_due(&mut self, clients: &mut dyn Clients) {
        for _ in 0..SENDS_AT_ONCE {
            match self.next_due_ns() {
                Some(due_ns) if due_ns <= clients.now_ns() => {
                    self.publish(self.next as u32, due_ns, clients);
                    self.next += 1;
                }
                _ => return,
            }
        }
    }

    /// Publishes a message, unless its client has no connection that takes it.
    fn publish(&mut self, index: u32, due_ns: u64, clients: &mut dyn Clients) {
        let slot = (self.publisher(index.into()) / self.workers) as Slot;
        if !clients.is_ready(slot) || clients.is_blocked(slot) {
            return;
        }
        let stamp = self.setting.stamps.stamp(index.into());
        let mask = (clients.draw() as u32).to_ne_bytes();
        self.writer
            .write(&*self.codec, (Way::Room(0), stamp), mask, slot, clients);
        let sequence = match self.codec.says_sequence() {
            true => clients.end_message(slot),
            false => None,
        };
        let at_ns = clients.now_ns();
        self.latencies.send_lag.record(at_ns.saturating_sub(due_ns));
        if clients.send(slot, self.writer.frames()).is_none() {
            return;
        }
        self.last_ns = at_ns;
        self.sent_bytes += self.writer.frames().len() as u64;
        let unanswered = &mut self.sides[slot as usize].unanswered;
        if self.returns.result {
            if unanswered.len() == MOST_UNANSWERED {
                unanswered.pop_front();
            }
            unanswered.push_back((index, sequence));
        }
        self.part.sent.push(SentMessage {
            index,
            at_us: self.micros(at_ns),
            node: clients.node(slot),
            is_confirmed: false,
        });
    }

    fn settle_lost(&mut self, clients: &mut dyn Clients) {
        while clients.take_done().is_some() {}
        while let Some((slot, error)) = clients.take_lost() {
            if self.start_ns.is_none() {
                clients.report(Report::OpenFailed(error.into()));
                continue;
            }
            let until_us = self.micros(clients.now_ns());
            self.sides[slot as usize].unanswered.clear();
            if let Some(stay) = self.part.watchers[slot as usize].stays.last_mut() {
                stay.until_us = stay.until_us.min(until_us);
            }
        }
    }

    /// Takes one message of the dialect; false of the beginning of one that goes on.
    fn take(&mut self, slot: Slot, message: &[u8], at_ns: u64) -> bool {
        let known = self.envelopes.recognise(0, message, &*self.codec);
        match known {
            Some((kind, stamp)) => self.account(slot, kind, stamp, at_ns),
            None if self.codec.goes_on(message) => return false,
            None => self.parse(slot, message, at_ns),
        }
        true
    }

    #[cold]
    fn parse(&mut self, slot: Slot, message: &[u8], at_ns: u64) {
        let codec = Arc::clone(&self.codec);
        let told = codec.renewed(message);
        let acknowledgement = codec.acknowledgement(message);
        let tells = !told.is_empty() || acknowledgement.is_some();
        if !told.is_empty() {
            self.asides().renewed.push((slot, told));
        }
        if let Some(answer) = acknowledgement {
            self.asides().ask(slot, answer);
        }
        match codec.parse(message) {
            Ok(Incoming::Message {
                kind,
                stamp,
                intact,
                ..
            }) => {
                if !intact {
                    self.faults.corrupt += 1;
                } else if !tells {
                    self.envelopes.learn(0, message, kind, stamp, &*codec);
                }
                self.account(slot, kind, stamp, at_ns);
            }
            Ok(Incoming::InOrder(_)) => self.answered(slot, at_ns, |_| true),
            Ok(Incoming::Numbered { sequence, .. }) => {
                self.answered(slot, at_ns, |(_, of)| of == Some(sequence));
            }
            Ok(Incoming::Acknowledged(of)) => {
                let stamps = self.setting.stamps;
                self.answered(slot, at_ns, |(index, _)| {
                    identifier(stamps.stamp(index.into())) == of
                });
            }
            Ok(Incoming::Refused) => {
                self.part.refused += 1;
                if self.first.refused.is_none() {
                    self.first.refused = Some(self.silent(slot, &shown(message)));
                }
            }
            Ok(Incoming::KeepAlive(answer)) => self.asides().keep_alive = Some((slot, answer)),
            Ok(Incoming::Question(answer)) => self.asides().ask(slot, answer),
            Ok(Incoming::Heartbeat) => self.asides().heartbeats.push((slot, at_ns)),
            Ok(
                Incoming::Ignored
                | Incoming::Feed(_)
                | Incoming::Progress(_)
                | Incoming::Last(..)
                | Incoming::Subscribed(_)
                | Incoming::Unsubscribed(_)
                | Incoming::SubscribedAs(_)
                | Incoming::UnsubscribedAs(_),
            ) => {}
            Err(why) => {
                let words = self.silent(slot, &why.words(message));
                self.malformed(words);
            }
        }
    }

    fn asides(&mut self) -> &mut Asides {
        self.asides.get_or_insert_default()
    }

    /// Words of the server to the client in `slot`, without its secrets.
    fn silent(&self, slot: Slot, words: &str) -> String {
        self.setting.asks.silent(self.client(slot), [], words)
    }

    fn malformed(&mut self, words: String) {
        self.faults.malformed += 1;
        self.first.malformed.get_or_insert(words);
    }

    fn account(&mut self, slot: Slot, kind: Kind, stamp: u64, at_ns: u64) {
        let index = self.setting.stamps.sample(stamp);
        let index = index.filter(|index| *index < self.messages && self.start_ns.is_some());
        match (kind, index) {
            (Kind::Broadcast, Some(index)) => self.deliver(slot, index as u32, at_ns),
            (Kind::Result, Some(index)) if self.publisher(index) == self.client(slot) => {
                self.answered(slot, at_ns, |(of, _)| u64::from(of) == index);
            }
            _ => self.faults.misdirected += 1,
        }
    }

    /// A result has come for the oldest request of a client that is meant.
    fn answered(&mut self, slot: Slot, at_ns: u64, is_meant: impl Fn((u32, Option<u64>)) -> bool) {
        let Some(side) = self.sides.get_mut(slot as usize) else {
            return;
        };
        let found = side.unanswered.iter().position(|of| is_meant(*of));
        // One that came before, or belongs to a connection that has ended.
        let Some((index, _)) = found.and_then(|place| side.unanswered.remove(place)) else {
            return;
        };
        if let Ok(place) = self.part.sent.binary_search_by_key(&index, |of| of.index) {
            self.part.sent[place].is_confirmed = true;
        }
        let due_ns = self.start_ns.unwrap_or(at_ns) + self.terms.due_ns(index.into());
        self.latencies.ack.record(at_ns.saturating_sub(due_ns));
    }

    fn deliver(&mut self, slot: Slot, index: u32, at_ns: u64) {
        let at_us = self.micros(at_ns);
        let publisher = self.publisher(index.into());
        if !self.returns.copy && publisher == self.client(slot) {
            self.of_sender.copies += 1;
            return;
        }
        let watcher = &mut self.part.watchers[slot as usize];
        let Some(stay) = watcher.stays.last_mut() else {
            return;
        };
        stay.first_us = stay.first_us.min(at_us);
        let heard = &mut watcher.heard[index as usize];
        if *heard != NEVER {
            let is_same = *heard >= stay.from_us;
            self.part.duplicate += u64::from(is_same);
            self.part.repeated += u64::from(!is_same);
            return;
        }
        *heard = at_us;
        self.heard_ns = at_ns;
        if let Some(latest) = self.sides[slot as usize].latest.get_mut(publisher as usize) {
            self.part.reordered += u64::from(self.keeps_order && *latest > index);
            *latest = (*latest).max(index + 1);
        }
    }
}

fn stay(from_us: u32, node: u32) -> Stay {
    Stay {
        from_us,
        until_us: NEVER,
        first_us: NEVER,
        node,
    }
}

impl Scenario for Watch {
    fn obey(&mut self, command: Command, clients: &mut dyn Clients) {
        match command {
            Command::Watch { start_ns } => self.begin(start_ns, clients),
            Command::GiveUp { .. } => self.messages = self.next,
            _ => {}
        }
    }

    /// Publishes what is due, and tells the end.
    fn turn(&mut self, clients: &mut dyn Clients) {
        self.settle_lost(clients);
        self.publish_due(clients);
        if self
            .end_ns()
            .is_some_and(|end_ns| clients.now_ns() >= end_ns)
        {
            self.is_over = true;
            self.next = self.messages;
            clients.report(Report::Held);
        }
    }

    fn next_ns(&self, _: u64) -> u64 {
        let Some(start_ns) = self.start_ns else {
            return u64::MAX;
        };
        let mut rest = self.next..self.messages;
        let ours = rest.find(|message| self.publisher(*message) % self.workers == self.number);
        let due_ns = ours.map_or(u64::MAX, |message| start_ns + self.terms.due_ns(message));
        due_ns.min(self.end_ns().unwrap_or(u64::MAX))
    }

    fn upgraded(&mut self, slot: Slot) {
        self.begun.forget(slot);
    }

    fn ready(&mut self, slot: Slot, at_ns: u64, _: Option<u32>, node: u32) {
        let from_us = self.micros(at_ns);
        let watcher = self.part.watchers.get_mut(slot as usize);
        if let Some(watcher) = watcher.filter(|of| of.stays.len() < MOST_STAYS) {
            watcher.stays.push(stay(from_us, node));
        }
    }

    fn message(&mut self, slot: Slot, opcode: Opcode, payload: &[u8], at_ns: u64, _: u64) {
        self.received += 1;
        if opcode != self.codec.opcode() {
            if !self.codec.ignores_other_opcodes() {
                let due = self.codec.opcode();
                let why = Malformed(format!("a {opcode:?} message where {due:?} was due"));
                self.malformed(why.words(payload));
            }
            return;
        }
        let codec = Arc::clone(&self.codec);
        let joined = self.begun.joined(slot, payload);
        let mut rest = &*joined;
        let count = loop {
            let (message, behind) = codec.cut(rest);
            if !self.take(slot, message, at_ns) {
                break message.len();
            }
            if behind.is_empty() {
                break 0;
            }
            rest = behind;
        };
        self.begun.keep_end(slot, joined, count);
    }

    fn follow_up(&mut self, _: u64, clients: &mut dyn Clients) {
        if let Some(asides) = self.asides.take() {
            follow_asides(*asides, self.codec.opcode(), clients);
        }
        self.settle_lost(clients);
    }

    fn broke_protocol(&mut self, words: String) {
        self.malformed(words);
    }

    fn reset(&mut self) {
        (self.received, self.sent_bytes) = (0, 0);
    }

    fn finish(&mut self, part: &mut StepPart, _: u64) {
        self.start_ns = None;
        part.counts.sent = self.part.sent.len() as u64;
        part.counts.sent_bytes = self.sent_bytes;
        part.counts.received = self.received;
        part.messages = self.received;
        part.latencies.merge(&std::mem::take(&mut self.latencies));
        part.faults.merge(&std::mem::take(&mut self.faults));
        part.of_sender.merge(std::mem::take(&mut self.of_sender));
        part.first = std::mem::take(&mut self.first);
        part.watch = Some(Box::new(std::mem::take(&mut self.part)));
        self.sides.clear();
    }
}

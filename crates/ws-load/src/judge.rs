//! Every message is checked: understood, matched against the books, timed, or named as a fault.
//!
//! The judge of one worker. It sees whole messages and knows neither sockets nor frames.

use crate::dialect::{Codec, Incoming, Kind, Malformed};
use crate::envelope::Envelopes;
use crate::error::ConnectError;
use crate::first_answers::FirstAnswers;
use crate::ledger::{
    Arrival, Completion, Confirmed, Listeners, Missing, Read, Received, Settled, StepLedger, Window,
};
use crate::site::Done;
use crate::stamp::Stamps;
use run_record::{Faults, Measure, Recorder, Workload};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use ws_proto::Opcode;

/// The latencies of one worker's part of a step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Latencies {
    pub(crate) completion: Recorder,
    pub(crate) delivery: Recorder,
    pub(crate) ack: Recorder,
    /// Completion from the real send, where that is not the intended one.
    pub(crate) uncorrected: Recorder,
    /// From the intended moment of a send to the real one.
    pub(crate) send_lag: Recorder,
    /// From when bytes were surely there to their read.
    pub(crate) receive_lag: Recorder,
    pub(crate) shared: SharedStamps,
}

/// What is known of messages that came in one read with a later one, whose stamp stands for theirs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SharedStamps {
    /// How much earlier than its stamp each of them may have arrived.
    pub(crate) error: Recorder,
    /// Of the latencies that the limit applies to, those that rest on such messages: as recorded,
    pub(crate) at_most: Recorder,
    /// and with each such message taken as early as it may have come.
    pub(crate) at_least: Recorder,
}

impl SharedStamps {
    /// Notes a message without a stamp of its own, and its latency where that is limited.
    #[cold]
    fn note(&mut self, error_ns: u64, limited_ns: Option<u64>) {
        self.error.record(error_ns);
        if let Some(latency_ns) = limited_ns {
            self.limited(latency_ns, error_ns);
        }
    }

    /// Notes that a limited latency may be shorter by so much.
    fn limited(&mut self, latency_ns: u64, error_ns: u64) {
        self.at_most.record(latency_ns);
        self.at_least.record(latency_ns.saturating_sub(error_ns));
    }

    fn merge(&mut self, other: &Self) {
        self.error.merge(&other.error);
        self.at_most.merge(&other.at_most);
        self.at_least.merge(&other.at_least);
    }
}

impl Latencies {
    /// Records a timed sample of a step that sends `by_clock`, or not; `limits` where the limit
    /// applies to completion.
    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, by_clock: bool, limits: bool) {
        self.completion.record(completion.from_due_ns);
        if by_clock {
            self.uncorrected.record(completion.from_sent_ns);
        }
        if limits && completion.error_ns > 0 {
            self.shared
                .limited(completion.from_due_ns, completion.error_ns);
        }
    }

    /// Adds all samples of another part.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.completion.merge(&other.completion);
        self.delivery.merge(&other.delivery);
        self.ack.merge(&other.ack);
        self.uncorrected.merge(&other.uncorrected);
        self.send_lag.merge(&other.send_lag);
        self.receive_lag.merge(&other.receive_lag);
        self.shared.merge(&other.shared);
    }
}

pub(crate) struct Judge {
    codec: Box<dyn Codec>,
    opcode: Opcode,
    /// A delivery that was overtaken is a fault.
    keeps_order: bool,
    envelopes: Envelopes,
    stamps: Stamps,
    /// The latency that the limit applies to.
    limited: Measure,
    step: Option<Arc<StepLedger>>,
    /// The step was given up: what still comes of it is neither late nor double.
    given_up: bool,
    window: Window,
    /// The read that the messages being judged came with.
    pub(crate) read: Read,
    /// The message in hand may have arrived so much before its stamp, which is that of a later one;
    /// 0 where the stamp is its own.
    pub(crate) slack_ns: u64,
    /// Clients that the books count on: those that are alive, and those below.
    alive: Vec<u64>,
    /// Clients that are gone, which the books do not know yet.
    gone: Vec<u64>,
    gone_count: u32,
    alive_count: u32,
    worker: u32,
    workers: u32,
    /// What went wrong since it was last taken.
    pub(crate) faults: Faults,
    /// Latencies since they were last taken.
    pub(crate) latencies: Latencies,
    /// Messages since they were last taken.
    pub(crate) messages: u64,
    /// Bytes of their frames, and of control frames, since they were last taken.
    pub(crate) received_bytes: u64,
    /// Samples that this judge settled and that have not been followed up yet.
    pub(crate) finished: u32,
    /// Of a site: samples that are settled here and have not been reported yet.
    pub(crate) done: Vec<Done>,
    /// What the latest keep-alive is to be answered with, until it is.
    pub(crate) keep_alive: Option<Box<[u8]>>,
    /// What the first malformed message was, in words.
    pub(crate) first_malformed: Option<String>,
    /// Whether anything of the run was understood.
    pub(crate) first_answers: FirstAnswers,
    /// How the first connection ended that this side did not close, in words.
    pub(crate) first_disconnect: Option<String>,
}

impl Judge {
    pub(crate) fn new(
        codec: Box<dyn Codec>,
        stamps: Stamps,
        limited: Measure,
        worker: u32,
        workers: u32,
    ) -> Self {
        Self {
            opcode: codec.opcode(),
            keeps_order: codec.keeps_order(),
            envelopes: Envelopes::new(codec.stamp_form()),
            codec,
            stamps,
            limited,
            step: None,
            given_up: false,
            window: Window::default(),
            read: Read::default(),
            slack_ns: 0,
            alive: Vec::new(),
            gone: Vec::new(),
            gone_count: 0,
            alive_count: 0,
            worker,
            workers,
            faults: Faults::default(),
            latencies: Latencies::default(),
            messages: 0,
            received_bytes: 0,
            finished: 0,
            done: Vec::new(),
            keep_alive: None,
            first_malformed: None,
            first_answers: FirstAnswers::default(),
            first_disconnect: None,
        }
    }

    pub(crate) fn codec(&self) -> &dyn Codec {
        &*self.codec
    }

    /// The stamp of a sample of the run.
    pub(crate) const fn stamp(&self, sample: u64) -> u64 {
        self.stamps.of(sample)
    }

    /// Clients that are connected and ready.
    pub(crate) const fn alive_count(&self) -> u32 {
        self.alive_count
    }

    pub(crate) fn is_alive(&self, slot: u32) -> bool {
        let word = slot as usize / 64;
        match (self.alive.get(word), self.gone.get(word)) {
            (Some(alive), Some(gone)) => alive & !gone & (1 << (slot % 64)) != 0,
            _ => false,
        }
    }

    /// A client is ready.
    pub(crate) fn client_ready(&mut self, slot: u32) {
        let word = slot as usize / 64;
        if self.alive.len() <= word {
            self.alive.resize(word + 1, 0);
            self.gone.resize(word + 1, 0);
        }
        self.alive[word] |= 1 << (slot % 64);
        self.alive_count += 1;
    }

    /// A client that was ready is gone: nothing more is sent by it. The books learn it with
    /// [`Judge::settle_lost`].
    pub(crate) fn client_lost(&mut self, slot: u32) {
        self.gone[slot as usize / 64] |= 1 << (slot % 64);
        self.gone_count += 1;
        self.alive_count -= 1;
    }

    /// Counts what was due to the clients that were lost since the last time, all at once: what is
    /// under way is gone through for it. To be called before anything is sent.
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
            let listeners = listeners(
                &self.alive,
                self.alive_count + self.gone_count,
                self.worker,
                self.workers,
            );
            let missing = self
                .window
                .clients_lost(&step, listeners, &self.gone, |index, last| {
                    done.push((index, last));
                });
            self.count_missing(missing);
            for (index, last) in done {
                self.party_done(&step, index, last);
            }
        }
        for (alive, gone) in self.alive.iter_mut().zip(&mut self.gone) {
            *alive &= !std::mem::take(gone);
        }
        self.gone_count = 0;
    }

    /// Begins a step.
    pub(crate) fn open_step(&mut self, step: Arc<StepLedger>) {
        self.settle_lost();
        self.window.reset();
        self.given_up = false;
        self.step = Some(step);
    }

    /// The step under way.
    pub(crate) const fn step(&self) -> Option<&Arc<StepLedger>> {
        self.step.as_ref()
    }

    /// Ends a step whose samples are all complete. Messages of it are recognised as late until the
    /// next one begins.
    pub(crate) fn close_step(&mut self) {
        if !self.given_up {
            let unsent = self.close_window().unsent;
            self.faults.misdirected += unsent;
        }
    }

    /// Ends a step before its time; what has not come is counted as missing when `count` is set.
    pub(crate) fn give_up_step(&mut self, count: bool) {
        let missing = self.close_window();
        if count {
            self.count_missing(missing);
        }
        self.given_up = true;
    }

    fn close_window(&mut self) -> Missing {
        self.settle_lost();
        let Some(step) = self.step.clone() else {
            return Missing::default();
        };
        let listeners = listeners(
            &self.alive,
            self.alive_count + self.gone_count,
            self.worker,
            self.workers,
        );
        let missing = self.window.close(&step, listeners);
        let confirmed = self.window.take_confirmed();
        self.count_confirmed(&step, confirmed);
        missing
    }

    /// Records what had to wait until another site said when it sent.
    fn count_confirmed(&mut self, step: &StepLedger, confirmed: Option<Confirmed>) {
        let Some(confirmed) = confirmed else { return };
        for (index, latency_ns, error_ns) in confirmed.latencies {
            if step.is_timed(index) {
                self.latencies.delivery.record(latency_ns);
                if error_ns > 0 {
                    let is_limited = limits(self.limited, Kind::Broadcast);
                    self.latencies
                        .shared
                        .note(error_ns, is_limited.then_some(latency_ns));
                }
            }
        }
        self.faults.duplicate += confirmed.faults.duplicate;
        self.faults.lost += confirmed.faults.lost;
        if self.keeps_order {
            self.faults.reordered += confirmed.faults.reordered;
        }
    }

    /// Judges one message that reached the client in `slot` at `at_ns`.
    #[inline]
    pub(crate) fn message(&mut self, slot: u32, opcode: Opcode, payload: &[u8], at_ns: u64) {
        self.messages += 1;
        match self.envelopes.recognise(payload) {
            Some((kind, stamp)) if opcode == self.opcode => {
                self.account(slot, kind, stamp, at_ns);
            }
            _ => self.parse(slot, opcode, payload, at_ns),
        }
    }

    #[cold]
    fn parse(&mut self, slot: u32, opcode: Opcode, payload: &[u8], at_ns: u64) {
        if opcode != self.opcode {
            let why = format!("a {opcode:?} message where {:?} was due", self.opcode);
            self.malformed_message(payload, &Malformed(why), at_ns);
            return;
        }
        match self.codec.parse(payload) {
            Ok(Incoming::Message {
                kind,
                stamp,
                intact,
            }) => {
                self.first_answers.understood = true;
                if intact {
                    self.envelopes.learn(payload, kind, stamp);
                } else {
                    self.faults.corrupt += 1;
                }
                self.account(slot, kind, stamp, at_ns);
            }
            Ok(Incoming::Refused) => {
                self.first_answers.understood = true;
                self.faults.refused += 1;
            }
            Ok(Incoming::Ignored) => {}
            Ok(Incoming::KeepAlive(answer)) => self.keep_alive = Some(answer),
            Err(why) => self.malformed_message(payload, &why, at_ns),
        }
    }

    /// Notes a message that is not of the dialect.
    fn malformed_message(&mut self, payload: &[u8], why: &Malformed, at_ns: u64) {
        if self.step.is_some() && !self.given_up {
            self.first_answers.not_understood(at_ns);
        }
        self.faults.malformed += 1;
        if self.first_malformed.is_none() {
            self.first_malformed = Some(why.of(payload));
        }
    }

    /// Notes a connection that ended although nothing here closed it.
    pub(crate) fn disconnected(&mut self, how: &ConnectError) {
        self.faults.disconnected += 1;
        if self.first_disconnect.is_none() {
            self.first_disconnect = Some(how.to_string());
        }
    }

    /// Notes a message or frame that breaks the rules.
    pub(crate) fn malformed(&mut self, words: String) {
        self.faults.malformed += 1;
        self.first_malformed.get_or_insert(words);
    }

    #[inline]
    fn account(&mut self, slot: u32, kind: Kind, stamp: u64, at_ns: u64) {
        let Some(step) = &self.step else {
            self.faults.misdirected += 1;
            return;
        };
        if self.given_up {
            return;
        }
        let index = match self.stamps.sample(stamp) {
            Some(sample) if sample >= step.first_sample => sample - step.first_sample,
            // A sample of an earlier step: everything of it had come, or had been given up.
            Some(_) => {
                self.faults.duplicate += 1;
                return;
            }
            None => {
                self.faults.misdirected += 1;
                return;
            }
        };
        let fits = match kind {
            Kind::Echo => step.workload == Workload::Echo,
            Kind::Broadcast | Kind::Result => step.workload == Workload::Broadcast,
        };
        if !fits || index > u64::from(u32::MAX) {
            self.faults.misdirected += 1;
            return;
        }
        let index = index as u32;
        let listeners = listeners(
            &self.alive,
            self.alive_count + self.gone_count,
            self.worker,
            self.workers,
        );
        self.read.is_result = kind == Kind::Result;
        let at = Arrival {
            at_ns,
            earliest_ns: at_ns - self.slack_ns.min(at_ns),
        };
        let received = match kind {
            Kind::Result => self.window.result(step, listeners, index, slot, at),
            Kind::Echo | Kind::Broadcast => self.window.deliver(step, listeners, index, slot, at),
        };
        match received {
            Received::Due {
                latency_ns,
                overtaken,
                party_done,
            } => {
                match kind {
                    Kind::Broadcast if step.is_timed(index) => {
                        self.latencies.delivery.record(latency_ns);
                    }
                    Kind::Result if step.is_timed(index) => self.latencies.ack.record(latency_ns),
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
                    self.party_done(&step, index, last);
                }
            }
            Received::Unconfirmed { party_done } => {
                let confirmed = self.window.take_confirmed();
                if party_done.is_some() || confirmed.is_some() {
                    let step = Arc::clone(step);
                    self.count_confirmed(&step, confirmed);
                    if let Some(last) = party_done {
                        self.party_done(&step, index, last);
                    }
                }
            }
            Received::Duplicate => self.faults.duplicate += 1,
            Received::NotDue => self.faults.misdirected += 1,
        }
    }

    fn party_done(&mut self, step: &StepLedger, index: u32, last: Arrival) {
        if step.is_shared() {
            self.party_done_here(step, index, last);
            return;
        }
        let Some(settled) = step.party_done(index, last, self.read) else {
            return;
        };
        if let Settled::Complete(completion) = settled
            && step.is_timed(index)
        {
            let limits = self.limited == Measure::Completion;
            self.latencies.complete(completion, step.by_clock, limits);
        }
        self.finished += 1;
    }

    /// Of a site: when a sample is settled here, the coordinator is to know. An echo has both ends
    /// here; when a broadcast is complete everywhere, only the coordinator can say.
    fn party_done_here(&mut self, step: &StepLedger, index: u32, last: Arrival) {
        let Some(done) = step.party_done_here(index, last, self.read) else {
            return;
        };
        if step.workload == Workload::Echo
            && !done.abandoned
            && step.is_timed(index)
            && let Some(sent) = step.when_sent(index)
        {
            let completion = Completion::of(sent, done.last());
            self.latencies.complete(completion, step.by_clock, true);
        }
        self.done.push(done);
        self.finished += 1;
    }

    fn count_missing(&mut self, missing: Missing) {
        self.faults.lost += missing.deliveries;
        self.faults.unanswered += missing.results;
    }
}

/// True when the limit applies to the latency that such a message ends by itself.
const fn limits(limited: Measure, kind: Kind) -> bool {
    matches!(
        (limited, kind),
        (Measure::Delivery, Kind::Broadcast) | (Measure::Ack, Kind::Result)
    )
}

const fn listeners(alive: &[u64], count: u32, worker: u32, workers: u32) -> Listeners<'_> {
    Listeners {
        alive,
        count,
        worker,
        workers,
    }
}

#[cfg(test)]
mod tests;

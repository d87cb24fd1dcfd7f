//! The shared half of the ledger: when each sample was sent, who still waits for it, when the last
//! listener had it.
//!
//! A sample is settled when nothing more of it is awaited: that releases the next one of a closed loop,
//! or ends the step. It is complete when all of it has come. A sample that lost a listener is
//! abandoned: it is settled in the end but never complete, and is in no figure of completions.

mod by_room;
mod sample;
mod site;
mod sync;
mod turns;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::figures::{Arrival, Completion, Latencies};
use crate::message::{Done, SentSample, Share, StepTerms};
use crate::plan::{self, Audience, Hearing as _, Parties, Script};
use ::plan::{Measure, Plan, Population};
use by_room::ByRoom;
pub(crate) use by_room::OfRoom;
use sample::Sample;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sync::{AtomicU32, AtomicU64};

/// All samples of one step.
#[derive(Debug)]
pub(crate) struct StepLedger {
    /// Who is to hear a sample.
    pub(crate) audience: Audience,
    /// Number within the run of this step's first sample.
    pub(crate) first_sample: u64,
    /// Clients of the step.
    pub(crate) clients: u64,
    seed: u64,
    /// Samples are sent by the clock and not when others are complete.
    pub(crate) by_clock: bool,
    /// Samples before this index are sent and checked but not timed.
    warm_up: u32,
    /// What the samples are, where the clients carry out a script.
    script: Option<Arc<Script>>,
    /// Samples that are timed.
    timed: u32,
    keeper: Keeper,
    /// Workers or sites that wait for each sample.
    parties: Parties,
    populations: Vec<Population>,
    /// The samples room by room, where clients leave their rooms.
    by_room: Option<ByRoom>,
    /// The limit applies to completion.
    limits_completion: bool,
    samples: Box<[Sample]>,
    released: AtomicU32,
    settled: AtomicU32,
    completed_timed: AtomicU32,
    /// No sample before this index is open.
    open_from: AtomicU32,
    /// No sample that is open was sent before this moment.
    oldest_ns: AtomicU64,
    /// The area under the number of timed samples in flight over time, in nanoseconds: what was
    /// counted down less what was counted up, each at its moment. Wraps, and is meaningful when
    /// none is in flight.
    area_ns: AtomicU64,
    /// Of the timed samples, the times from their last receipts until they were known to be complete.
    known_after_ns: AtomicU64,
    /// How much of that the generator was late.
    unread_ns: AtomicU64,
}

/// Which part of a run keeps a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeper {
    /// A process that has the run for itself.
    Process,
    /// One site of several: some samples are sent elsewhere, and only the coordinator knows when a
    /// sample is complete everywhere.
    Site {
        /// Which.
        share: Share,
        /// Closed loop: samples in flight at any time, of all sites together.
        in_flight: u32,
    },
    /// The coordinator of several sites, which are the parties here.
    Coordinator,
}

/// What a step's ledger is opened for.
#[derive(Debug)]
pub(crate) struct Terms {
    /// Who is to hear a sample.
    pub(crate) audience: Audience,
    /// The run's seed.
    pub(crate) seed: u64,
    /// The step, as all workers know it.
    pub(crate) step: StepTerms,
    /// Who keeps it.
    pub(crate) keeper: Keeper,
    /// Workers or sites that wait for each sample.
    pub(crate) parties: Parties,
    /// Who the clients are.
    pub(crate) populations: Vec<Population>,
    /// The limit applies to completion.
    pub(crate) limits_completion: bool,
    /// What the clients carry out, if it is a script.
    pub(crate) script: Option<Arc<Script>>,
}

impl Terms {
    /// Of a step of `plan` that these workers or sites take, each with its number and how many have
    /// the run's clients in turn.
    pub(crate) fn new(
        plan: &Plan,
        step: StepTerms,
        keeper: Keeper,
        workers: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        let audience = plan.audience;
        Self {
            audience,
            seed: plan.generator.seed,
            step,
            keeper,
            parties: audience.parties(&plan.populations, step.clients, workers),
            populations: plan.populations.clone(),
            limits_completion: plan.limited() == Measure::Completion,
            script: Script::new(plan),
        }
    }
}

/// What is known of a sample that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// When it was to be sent: what latencies count from.
    pub(crate) due_ns: u64,
    /// When it was written to the socket; in a closed loop the same.
    pub(crate) at_ns: u64,
    /// The client that sent it.
    pub(crate) sender: u32,
}

impl From<SentSample> for Sent {
    fn from(sample: SentSample) -> Self {
        Self {
            due_ns: sample.due_ns,
            at_ns: sample.at_ns,
            sender: sample.sender,
        }
    }
}

impl StepLedger {
    /// What one sample takes at most: its entry, and its places in [`ByRoom`].
    pub(crate) const BYTES_PER_SAMPLE: u64 = (size_of::<Sample>() + 2 * size_of::<u32>()) as u64;

    /// Opens the ledger.
    pub(crate) fn new(terms: Terms) -> Self {
        let step = terms.step;
        let drawn = |index: u32| {
            let sample = step.first_sample + u64::from(index);
            plan::sender_of(terms.seed, sample, step.clients)
        };
        let parties = |index: u32| {
            let drawn = drawn(index);
            let sender = terms
                .parties
                .sender(&terms.populations, drawn, step.clients);
            terms.parties.party(drawn, sender)
        };
        let samples = (0..step.samples).map(|index| Sample::awaited_by(parties(index)));
        let leaves_rooms = matches!(terms.parties, Parties::ByRoom(_))
            && terms.populations.iter().any(Population::leaves);
        let by_room = leaves_rooms.then(|| {
            let rooms = (0..step.samples).map(|index| terms.parties.room(drawn(index)));
            ByRoom::new(&rooms.collect::<Vec<u32>>())
        });
        let script = terms.script.as_ref();
        let timed = (step.warm_up..step.samples).filter(|index| {
            script.is_none_or(|script| script.is_answered(u64::from(*index), step.clients))
        });
        let timed = match script {
            None => step.samples.saturating_sub(step.warm_up),
            Some(_) => timed.count() as u32,
        };
        Self {
            script: terms.script.clone(),
            timed,
            by_room,
            samples: samples.collect(),
            audience: terms.audience,
            first_sample: step.first_sample,
            clients: step.clients,
            seed: terms.seed,
            by_clock: step.by_clock,
            warm_up: step.warm_up,
            keeper: terms.keeper,
            limits_completion: terms.limits_completion,
            parties: terms.parties,
            populations: terms.populations,
            released: AtomicU32::new(0),
            settled: AtomicU32::new(0),
            completed_timed: AtomicU32::new(0),
            open_from: AtomicU32::new(0),
            oldest_ns: AtomicU64::new(0),
            area_ns: AtomicU64::new(0),
            known_after_ns: AtomicU64::new(0),
            unread_ns: AtomicU64::new(0),
        }
    }

    /// Samples of the step.
    pub(crate) const fn len(&self) -> u32 {
        self.samples.len() as u32
    }

    /// Samples that may have been sent: all below this.
    pub(crate) fn released(&self) -> u32 {
        self.released.load(Ordering::Acquire).min(self.len())
    }

    /// Samples of which nothing is awaited any more.
    pub(crate) fn settled(&self) -> u32 {
        self.settled.load(Ordering::Acquire)
    }

    /// True when nothing of the whole step is awaited any more.
    pub(crate) fn is_over(&self) -> bool {
        self.settled() == self.len()
    }

    /// True when a sample's latencies belong into the histograms.
    #[inline]
    pub(crate) fn is_timed(&self, index: u32) -> bool {
        index >= self.warm_up && self.is_answered(index)
    }

    /// Samples that are timed.
    pub(crate) const fn timed(&self) -> u32 {
        self.timed
    }

    /// True when an answer to a sample is awaited.
    #[inline]
    pub(crate) fn is_answered(&self, index: u32) -> bool {
        let script = self.script.as_ref();
        script.is_none_or(|script| script.is_answered(u64::from(index), self.clients))
    }

    /// Of a script: the place of a sample's kind among the kinds of the dialect.
    pub(crate) fn kind(&self, index: u32) -> Option<u32> {
        let script = self.script.as_ref()?;
        Some(script.kind(u64::from(index), self.clients))
    }

    /// Timed samples that are complete.
    pub(crate) fn completed_timed(&self) -> u32 {
        self.completed_timed.load(Ordering::Acquire)
    }

    /// Clients of the step.
    pub(crate) const fn clients(&self) -> u64 {
        self.clients
    }

    /// When the last receipt of a sample was, if it has all come. A site knows that of the coordinator:
    /// what its own clients have is no word on those of the others.
    pub(crate) fn when_complete(&self, index: u32) -> Option<u64> {
        let sample = self.samples.get(index as usize)?;
        match self.is_shared() {
            true => sample.when_complete_everywhere(),
            false => sample.when_complete(),
        }
    }

    /// The client that is drawn for a sample.
    fn drawn(&self, index: u32) -> u64 {
        let sample = self.first_sample + u64::from(index);
        plan::sender_of(self.seed, sample, self.clients)
    }

    /// The client that is to send a sample: of those that leave, another one in its place.
    pub(crate) fn sender(&self, index: u32) -> u64 {
        if self.script.is_some() {
            return u64::from(index) % self.clients;
        }
        let drawn = self.drawn(index);
        self.parties.sender(&self.populations, drawn, self.clients)
    }

    /// The room that a sample goes to, even if its sender is lost and one of another room sends it; 0
    /// without rooms.
    #[inline]
    pub(crate) fn room(&self, index: u32) -> u32 {
        match &self.parties {
            Parties::Same(_) => 0,
            parties @ Parties::ByRoom(_) => parties.room(self.drawn(index)),
        }
    }

    /// The samples of a room, where clients leave theirs; without rooms, all.
    pub(crate) fn of_room(&self, room: u32) -> OfRoom<'_> {
        let all = OfRoom::All(self.len());
        self.by_room
            .as_ref()
            .map_or(all, |by_room| by_room.room(room))
    }

    /// The place of a sample among those of its room, as [`Self::of_room`] has them.
    pub(crate) fn place_in_room(&self, index: u32) -> u32 {
        let by_room = self.by_room.as_ref();
        by_room.map_or(index, |by_room| by_room.place(index))
    }

    /// Takes the next sample to send, and the client that is to send it. `None` in an open loop, and
    /// at a site, where the coordinator releases samples.
    pub(crate) fn release(&self) -> Option<(u32, u64)> {
        if self.by_clock || self.is_shared() {
            return None;
        }
        let index = self
            .released
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| {
                (n < self.len()).then_some(n + 1)
            })
            .ok()?;
        Some((index, self.sender(index)))
    }

    /// Notes that a sample is about to be written to a socket.
    pub(crate) fn sent(&self, index: u32, sent: Sent) {
        let sample = &self.samples[index as usize];
        sample.note_last(sent.at_ns.into());
        sample.sender.store(sent.sender, Ordering::Relaxed);
        sample.due_ns.store(sent.due_ns, Ordering::Relaxed);
        sample.sent_ns.store(sent.at_ns, Ordering::Release);
        if self.is_timed(index) {
            self.area_ns.fetch_sub(sent.at_ns, Ordering::Relaxed);
        }
        if self.by_clock || self.is_shared() {
            self.released.fetch_max(index + 1, Ordering::AcqRel);
        }
    }

    /// The kernel has not taken all of a sample that was noted as sent.
    pub(crate) fn take_back(&self, index: u32) {
        let sample = &self.samples[index as usize];
        let at_ns = sample.sent_ns.swap(0, Ordering::AcqRel);
        if self.is_timed(index) {
            self.area_ns.fetch_add(at_ns, Ordering::Relaxed);
        }
    }

    /// The connection that is to carry a sample takes no bytes. `false` when that is known.
    pub(crate) fn hold_back(&self, index: u32, since_ns: u64) -> bool {
        self.released.fetch_max(index + 1, Ordering::AcqRel);
        self.samples[index as usize].hold_back(since_ns)
    }

    /// Timed samples that the peers had not taken by `end_ns`, although they were to be sent by then.
    pub(crate) fn late_by_backpressure(&self, end_ns: u64) -> u64 {
        self.held_back(|sent_ns| sent_ns == 0 || sent_ns > end_ns)
    }

    /// Timed samples that the peers have not taken.
    pub(crate) fn never_taken(&self) -> u64 {
        self.held_back(|sent_ns| sent_ns == 0)
    }

    /// Timed samples that were held back, by the time of their send.
    fn held_back(&self, is_counted: impl Fn(u64) -> bool) -> u64 {
        let held = self.timed_samples().filter(|sample| sample.was_held_back());
        held.filter(|sample| is_counted(sample.sent_ns.load(Ordering::Acquire)))
            .count() as u64
    }

    /// When and by whom a sample was sent; `None` before that, and beyond the step.
    pub(crate) fn when_sent(&self, index: u32) -> Option<Sent> {
        let sample = self.samples.get(index as usize)?;
        let at_ns = sample.sent_ns.load(Ordering::Acquire);
        (at_ns != 0).then(|| Sent {
            due_ns: sample.due_ns.load(Ordering::Relaxed),
            at_ns,
            sender: sample.sender.load(Ordering::Relaxed),
        })
    }

    /// The place of a sample among those of its sender. Within a process that is the time of the
    /// send. A coordinator releases samples in the order of their indices, and sites keep that order
    /// for each sender, whose clocks cannot be compared as exactly.
    #[inline]
    pub(crate) const fn place(&self, index: u32, sent: Sent) -> u64 {
        match self.is_shared() {
            true => index as u64,
            false => sent.at_ns,
        }
    }

    /// Something of a sample will never come: it is not complete, whatever else comes of it.
    pub(crate) fn abandon(&self, index: u32) {
        self.samples[index as usize].abandon();
    }

    /// Takes the receipt of an echo at the only worker that waits for it. `false` when there was one.
    #[inline]
    pub(crate) fn take_echo(&self, index: u32) -> bool {
        self.samples[index as usize].take_echo()
    }

    /// True of a sample of which something is awaited.
    pub(crate) fn is_open(&self, index: u32) -> bool {
        self.samples[index as usize].is_open()
    }

    /// One party waits for nothing more of a sample, of which it received the `last`; `read` brought
    /// that. When it was the last party, the sample is settled here: says how, and records its
    /// completion in `latencies` where this ledger is the one that knows both of its ends.
    pub(crate) fn settle(
        &self,
        index: u32,
        last: Arrival,
        read: Read,
        latencies: &mut Latencies,
    ) -> Option<Done> {
        let sample = &self.samples[index as usize];
        let (last, abandoned) = sample.party_done(last)?;
        let last_ns = last.at_ns;
        let read_ns = read.at_ns.max(last_ns);
        let done = Done {
            index,
            last_ns,
            earliest_ns: last.earliest_ns,
            read_ns,
            // With several parties the last message to arrive need not be the last to be read.
            unread_ns: read.unread_ns.min(read_ns - last_ns),
            by_result: read.is_result,
            abandoned,
        };
        if !abandoned && self.is_timed(index) {
            self.count_complete(done);
            if self.records_completion() {
                let completion = Completion {
                    from_due_ns: last_ns.saturating_sub(sample.due_ns.load(Ordering::Acquire)),
                    from_sent_ns: last_ns.saturating_sub(sample.sent_ns.load(Ordering::Acquire)),
                    error_ns: last.error_since(sample.sent_ns.load(Ordering::Acquire)),
                };
                latencies.complete(completion, self.by_clock, self.limits_completion);
            }
        }
        self.settled.fetch_add(1, Ordering::AcqRel);
        Some(done)
    }

    fn count_complete(&self, done: Done) {
        // A result may come after the last delivery, which is what completion ends with.
        let known_after_ns = match done.by_result {
            true => done.read_ns - done.last_ns,
            false => done.unread_ns,
        };
        self.area_ns.fetch_add(done.read_ns, Ordering::Relaxed);
        self.known_after_ns
            .fetch_add(known_after_ns, Ordering::Relaxed);
        self.unread_ns.fetch_add(done.unread_ns, Ordering::Relaxed);
        self.completed_timed.fetch_add(1, Ordering::AcqRel);
    }

    /// An echo has both ends at the site of its sender. Those of a broadcast are at several sites, and
    /// only the coordinator gets the reports of all.
    fn records_completion(&self) -> bool {
        match self.keeper {
            Keeper::Process => true,
            Keeper::Site { .. } => !self.audience.reaches_others(),
            Keeper::Coordinator => self.audience.reaches_others(),
        }
    }

    /// The number of timed samples in flight over the step; `None` unless all are complete.
    pub(crate) fn flight(&self) -> Option<Flight> {
        (self.completed_timed() == self.timed()).then(|| Flight {
            area_ns: self.area_ns.load(Ordering::Acquire),
            known_after_ns: self.known_after_ns.load(Ordering::Acquire),
            unread_ns: self.unread_ns.load(Ordering::Acquire),
        })
    }

    /// Timed samples that were sent by `end_ns`.
    pub(crate) fn sent_by(&self, end_ns: u64) -> u64 {
        let is_sent =
            |sample: &&Sample| (1..=end_ns).contains(&sample.sent_ns.load(Ordering::Acquire));
        self.timed_samples().filter(is_sent).count() as u64
    }

    fn timed_samples(&self) -> impl Iterator<Item = &Sample> {
        let all = self.samples.iter().zip(0..);
        all.filter(|(_, index)| self.is_timed(*index))
            .map(|(sample, _)| sample)
    }

    /// True when a sample that was sent more than `patience_ns` before `now_ns`, or was to be sent
    /// then and is held back, is still open.
    ///
    /// Goes through the open samples only when the oldest of the last look would be that old by now:
    /// all others are younger.
    pub(crate) fn is_overdue(&self, now_ns: u64, patience_ns: u64) -> bool {
        let is_late = |sent_ns: u64| now_ns.saturating_sub(sent_ns) > patience_ns;
        if !is_late(self.oldest_ns.load(Ordering::Relaxed)) {
            return false;
        }
        let oldest_ns = self.oldest_open();
        self.oldest_ns
            .store(oldest_ns.unwrap_or(now_ns), Ordering::Relaxed);
        oldest_ns.is_some_and(is_late)
    }

    /// When the oldest sample that is open was sent, or held back.
    fn oldest_open(&self) -> Option<u64> {
        let is_settled = |sample: &Sample| !sample.is_open();
        let released = &self.samples[..self.released() as usize];
        let mut open_from = self.open_from.load(Ordering::Relaxed) as usize;
        while released.get(open_from).is_some_and(is_settled) {
            open_from += 1;
        }
        self.open_from.store(open_from as u32, Ordering::Relaxed);
        released[open_from..]
            .iter()
            .filter(|sample| sample.is_open())
            .filter_map(Sample::since_ns)
            .min()
    }
}

/// A read of a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Read {
    /// When it was made.
    pub(crate) at_ns: u64,
    /// How long its bytes had been waiting, as far as is known.
    pub(crate) unread_ns: u64,
    /// The message in hand is a sender's result.
    pub(crate) is_result: bool,
}

/// The number of timed samples in flight, of a step in which all were completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    /// Integral of the number over time.
    pub(crate) area_ns: u64,
    /// Sum of the times from the last receipts until it was known that they were the last.
    pub(crate) known_after_ns: u64,
    /// How much of that the generator was late.
    pub(crate) unread_ns: u64,
}

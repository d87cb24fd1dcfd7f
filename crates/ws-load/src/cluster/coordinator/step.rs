//! A step over sites: the coordinator's ledger of it, and what is released next.

use crate::clock;
use crate::control::Kept;
use crate::figures::{Counts, Cutter, Interval};
use crate::message::{CompleteSample, Done, Samples, SentSample, StepTerms};
use crate::plan::Hearing as _;
use crate::verify::{Keeper, Read, Sent, StepLedger, Terms};
use plan::{Plan, Population};
use record::SiteUse;
use std::collections::HashMap;
use std::sync::Arc;

pub(super) struct Step {
    terms: StepTerms,
    /// In it, a site is a party.
    ledger: Arc<StepLedger>,
    kept: Kept,
    /// Samples that sites have settled before the sender's site has reported the send.
    early: HashMap<u32, Vec<Done>>,
    /// For samples that some sites have settled: when the last of these sites knew it.
    known_ns: HashMap<u32, u64>,
    /// For samples that were released by a settled one: when that was known.
    released_for: HashMap<u32, u64>,
    /// Samples that are released and not yet commanded, each with its planned sender.
    released: Vec<(u32, u64)>,
    /// Samples that are complete, which the sites have not been told; nothing where none asks for it.
    complete: Option<Vec<CompleteSample>>,
    given_up: bool,
    cutter: Cutter,
    /// What the controller is to be told of intervals that are over.
    interval: Option<Box<Interval>>,
}

impl Step {
    pub(super) fn new(plan: &Plan, terms: StepTerms, sites: u32) -> Self {
        let workers = (0..sites).map(|site| (site, sites));
        let ledger = Terms::new(plan, terms, Keeper::Coordinator, workers);
        Self {
            terms,
            ledger: Arc::new(StepLedger::new(ledger)),
            kept: Kept::default(),
            early: HashMap::new(),
            known_ns: HashMap::new(),
            released_for: HashMap::new(),
            released: Vec::new(),
            complete: hears_of_completion(plan).then(Vec::new),
            given_up: false,
            cutter: Cutter::default(),
            interval: None,
        }
    }

    pub(super) const fn count_from(&mut self, from_ns: u64) {
        self.cutter.begin(from_ns);
    }

    pub(super) const fn ledger(&self) -> &Arc<StepLedger> {
        &self.ledger
    }

    /// Releases the next sample of a closed loop, if there is one, for a sample that was known to be
    /// complete at `known_ns`.
    pub(super) fn release(&mut self, known_ns: Option<u64>) {
        if self.given_up {
            return;
        }
        if let Some((index, client)) = self.ledger.release() {
            if let Some(known_ns) = known_ns {
                self.released_for.insert(index, known_ns);
            }
            self.released.push((index, client));
        }
    }

    pub(super) fn take_released(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.released)
    }

    /// Samples that have become complete since this was asked, of which the sites must know.
    pub(super) fn take_complete(&mut self) -> Vec<CompleteSample> {
        let complete = self.complete.as_mut();
        complete.map(std::mem::take).unwrap_or_default()
    }

    /// Nothing more is released.
    pub(super) const fn give_up(&mut self) {
        self.given_up = true;
    }

    pub(super) fn take_kept(&mut self) -> Kept {
        let mut kept = std::mem::take(&mut self.kept);
        let cutter = std::mem::take(&mut self.cutter);
        kept.rows = cutter.finish(Counts::default(), &kept.latencies.completion);
        kept
    }

    /// What became complete in the intervals that are over since this was asked.
    pub(super) const fn take_interval(&mut self) -> Option<Box<Interval>> {
        self.interval.take()
    }

    /// Enters what a site has sent and settled. `true` when that settles the step.
    pub(super) fn note(&mut self, samples: &Samples) -> bool {
        self.note_held_back(&samples.held_back);
        let before = self.ledger.settled();
        for sample in &samples.sent {
            self.note_sent(*sample);
        }
        for sample in &samples.done {
            // A client that is lost in its dialogue does not send the rest.
            let is_never_sent = sample.abandoned && self.ledger.is_dialogue();
            let is_known = sample.index < self.ledger.len();
            if is_known && (is_never_sent || self.ledger.when_sent(sample.index).is_some()) {
                self.note_done(*sample);
            } else if sample.index < self.ledger.len() {
                self.early.entry(sample.index).or_default().push(*sample);
            }
        }
        self.ledger.settled() > before && self.ledger.is_over()
    }

    /// Enters what connections of a site take no bytes of.
    fn note_held_back(&self, samples: &[u32]) {
        let now_ns = clock::now_ns();
        for index in samples.iter().filter(|index| **index < self.ledger.len()) {
            self.ledger.hold_back(*index, now_ns);
        }
    }

    fn note_sent(&mut self, sample: SentSample) {
        let index = sample.index;
        if index >= self.ledger.len() {
            return;
        }
        self.ledger.sent(index, Sent::from(sample));
        if let Some(known_ns) = self.released_for.remove(&index) {
            let delay_ns = sample.at_ns.saturating_sub(known_ns);
            self.kept.release_delay.record(delay_ns);
        }
        for done in self.early.remove(&index).unwrap_or_default() {
            self.note_done(done);
        }
    }

    fn note_done(&mut self, done: Done) {
        let known = self.known_ns.entry(done.index).or_default();
        *known = (*known).max(done.read_ns);
        let read = Read {
            at_ns: done.read_ns,
            unread_ns: done.unread_ns,
            is_result: done.by_result,
        };
        if done.abandoned {
            self.ledger.abandon(done.index);
        }
        let latencies = &mut self.kept.latencies;
        if done.read_ns >= self.cutter.end_ns {
            let completion = &latencies.completion;
            let interval = self.cutter.cut(done.read_ns, Counts::default(), completion);
            self.interval.get_or_insert_default().merge(&interval);
        }
        let settled = self.ledger.settle(done.index, done.last(), read, latencies);
        let Some(settled) = settled else {
            return;
        };
        if let Some(complete) = self.complete.as_mut().filter(|_| !settled.abandoned) {
            complete.push(CompleteSample {
                index: settled.index,
                last_ns: settled.last_ns,
            });
        }
        let known_ns = self.known_ns.remove(&done.index);
        self.release(known_ns);
    }

    /// Of an open loop: the timed samples that each site was to send, and those that it sent by
    /// `sent_by`, where that can be told.
    pub(super) fn count_sends(&self, sent_by: Option<u64>, rows: &mut [SiteUse]) {
        if !self.ledger.by_clock {
            return;
        }
        let sites = rows.len() as u64;
        let (mut planned, mut sent) = (vec![0; rows.len()], vec![0; rows.len()]);
        for index in (0..self.terms.samples).filter(|index| self.ledger.is_timed(*index)) {
            planned[(self.ledger.sender(index) % sites) as usize] += 1;
            if let Some(when) = self.ledger.when_sent(index)
                && sent_by.is_some_and(|end_ns| when.at_ns <= end_ns)
            {
                sent[(u64::from(when.sender) % sites) as usize] += 1;
            }
        }
        for ((row, planned), sent) in rows.iter_mut().zip(planned).zip(sent) {
            row.samples_planned = Some(planned);
            row.sent = sent_by.map(|_| sent);
        }
    }
}

/// What clients that leave must have heard depends on when others had it, at whichever site these are.
fn hears_of_completion(plan: &Plan) -> bool {
    plan.audience.reaches_others() && plan.populations.iter().any(Population::leaves)
}

//! The shared half of the books: when each sample was sent, who still waits for it, when the last
//! listener had it.

mod shared;

#[cfg(test)]
mod tests;

pub(crate) use shared::Shared;

use crate::plan;
use run_record::Workload;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// All samples of one step.
#[derive(Debug)]
pub(crate) struct StepLedger {
    /// Which request is measured.
    pub(crate) workload: Workload,
    /// Number within the run of this step's first sample.
    pub(crate) first_sample: u64,
    /// Clients of the step.
    clients: u64,
    seed: u64,
    /// Samples are sent by the clock and not when others are complete.
    pub(crate) by_clock: bool,
    /// Samples before this index are sent and checked but not timed.
    warm_up: u32,
    /// Set when other sites have clients of this step, too.
    shared: Option<Shared>,
    samples: Box<[Sample]>,
    released: AtomicU32,
    completed: AtomicU32,
    completed_timed: AtomicU32,
    /// No sample before this index is open.
    settled: AtomicU32,
    /// The area under the number of timed samples in flight over time, in nanoseconds: what was
    /// counted down less what was counted up, each at its moment. Wraps, and is meaningful when
    /// none is in flight.
    area_ns: AtomicU64,
    /// Of the timed samples, the times from their last receipts until they were known to be complete.
    known_after_ns: AtomicU64,
    /// How much of that the generator was late.
    unread_ns: AtomicU64,
}

/// What a step's books are opened for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Which request is measured.
    pub(crate) workload: Workload,
    /// The run's seed.
    pub(crate) seed: u64,
    /// Number within the run of the step's first sample.
    pub(crate) first_sample: u64,
    /// Samples of the step.
    pub(crate) samples: u32,
    /// How many of them come first and are not timed.
    pub(crate) warm_up: u32,
    /// They are sent by the clock.
    pub(crate) by_clock: bool,
    /// Clients of the step.
    pub(crate) clients: u64,
    /// Workers (1 for an echo) that wait for a sample.
    pub(crate) parties: u32,
}

#[derive(Debug, Default)]
struct Sample {
    due_ns: AtomicU64,
    sent_ns: AtomicU64,
    last_ns: AtomicU64,
    sender: AtomicU32,
    waiting: AtomicU32,
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

impl StepLedger {
    /// What the books of one sample take.
    pub(crate) const BYTES_PER_SAMPLE: u64 = size_of::<Sample>() as u64;

    /// Opens the books.
    pub(crate) fn new(terms: Terms) -> Self {
        Self {
            workload: terms.workload,
            first_sample: terms.first_sample,
            clients: terms.clients,
            seed: terms.seed,
            by_clock: terms.by_clock,
            warm_up: terms.warm_up,
            shared: None,
            samples: (0..terms.samples)
                .map(|_| Sample {
                    waiting: AtomicU32::new(terms.parties),
                    ..Sample::default()
                })
                .collect(),
            released: AtomicU32::new(0),
            completed: AtomicU32::new(0),
            completed_timed: AtomicU32::new(0),
            settled: AtomicU32::new(0),
            area_ns: AtomicU64::new(0),
            known_after_ns: AtomicU64::new(0),
            unread_ns: AtomicU64::new(0),
        }
    }

    /// Samples of the step.
    pub(crate) fn len(&self) -> u32 {
        self.samples.len() as u32
    }

    /// Samples that may have been sent: all below this.
    pub(crate) fn released(&self) -> u32 {
        self.released.load(Ordering::Acquire).min(self.len())
    }

    /// Samples that are complete.
    pub(crate) fn completed(&self) -> u32 {
        self.completed.load(Ordering::Acquire)
    }

    /// True when a sample's latencies belong into the histograms.
    #[inline]
    pub(crate) const fn is_timed(&self, index: u32) -> bool {
        index >= self.warm_up
    }

    /// Samples that are timed.
    pub(crate) fn timed(&self) -> u32 {
        self.len() - self.warm_up
    }

    /// Timed samples that are complete.
    pub(crate) fn completed_timed(&self) -> u32 {
        self.completed_timed.load(Ordering::Acquire)
    }

    /// The client that is to send a sample.
    pub(crate) fn sender(&self, index: u32) -> u64 {
        let sample = self.first_sample + u64::from(index);
        plan::sender_of(self.seed, sample, self.clients)
    }

    /// Takes the next sample to send, and the client that is to send it; of samples that are sent
    /// by the clock there is never one, and of those of several sites only the coordinator knows.
    pub(crate) fn release(&self) -> Option<(u32, u64)> {
        if self.by_clock || self.shared.is_some() {
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
        sample.last_ns.fetch_max(sent.at_ns, Ordering::Relaxed);
        sample.sender.store(sent.sender, Ordering::Relaxed);
        sample.due_ns.store(sent.due_ns, Ordering::Relaxed);
        sample.sent_ns.store(sent.at_ns, Ordering::Release);
        if self.is_timed(index) {
            self.area_ns.fetch_sub(sent.at_ns, Ordering::Relaxed);
        }
        if self.by_clock || self.shared.is_some() {
            self.released.fetch_max(index + 1, Ordering::AcqRel);
        }
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

    /// One party has everything of a sample that it waits for, the last at `last_ns`; `read`
    /// brought that. Returns the completion when it was the last party.
    pub(crate) fn party_done(&self, index: u32, last_ns: u64, read: Read) -> Option<Completion> {
        let sample = &self.samples[index as usize];
        sample.last_ns.fetch_max(last_ns, Ordering::AcqRel);
        if sample.waiting.fetch_sub(1, Ordering::AcqRel) > 1 {
            return None;
        }
        let last = sample.last_ns.load(Ordering::Acquire);
        self.completed.fetch_add(1, Ordering::AcqRel);
        let timed = u32::from(self.is_timed(index));
        self.completed_timed.fetch_add(timed, Ordering::AcqRel);
        if self.is_timed(index) {
            let read_ns = read.at_ns.max(last);
            // With several parties the last message to arrive need not be the last to be read.
            let unread_ns = read.unread_ns.min(read_ns - last);
            // A result may come after the last delivery, which is what completion ends with.
            let known_after_ns = match read.is_result {
                true => read_ns - last,
                false => unread_ns,
            };
            self.area_ns.fetch_add(read_ns, Ordering::Relaxed);
            self.known_after_ns
                .fetch_add(known_after_ns, Ordering::Relaxed);
            self.unread_ns.fetch_add(unread_ns, Ordering::Relaxed);
        }
        Some(Completion {
            from_due_ns: last.saturating_sub(sample.due_ns.load(Ordering::Acquire)),
            from_sent_ns: last.saturating_sub(sample.sent_ns.load(Ordering::Acquire)),
        })
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
        let timed = &self.samples[self.warm_up as usize..];
        let is_sent =
            |sample: &&Sample| (1..=end_ns).contains(&sample.sent_ns.load(Ordering::Acquire));
        timed.iter().filter(is_sent).count() as u64
    }

    /// When the oldest sample that is not complete was sent.
    pub(crate) fn oldest_open(&self) -> Option<u64> {
        let is_settled = |sample: &Sample| {
            sample.sent_ns.load(Ordering::Acquire) != 0
                && sample.waiting.load(Ordering::Acquire) == 0
        };
        let released = &self.samples[..self.released() as usize];
        let mut settled = self.settled.load(Ordering::Relaxed) as usize;
        while released.get(settled).is_some_and(is_settled) {
            settled += 1;
        }
        self.settled.store(settled as u32, Ordering::Relaxed);
        released[settled..]
            .iter()
            .filter(|sample| sample.waiting.load(Ordering::Acquire) > 0)
            .map(|sample| sample.sent_ns.load(Ordering::Acquire))
            .filter(|sent| *sent != 0)
            .min()
    }
}

/// A read of a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Read {
    /// When it was made.
    pub(crate) at_ns: u64,
    /// How long what it brought had been there, as far as is known.
    pub(crate) unread_ns: u64,
    /// The message in hand is a sender's result.
    pub(crate) is_result: bool,
    /// The message in hand may have arrived so much before its stamp, which is that of a later one:
    /// 0 where the stamp is its own.
    pub(crate) slack_ns: u64,
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

/// How long a sample took to its last receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// From the moment at which it was to be sent.
    pub(crate) from_due_ns: u64,
    /// From the moment at which it was written to the socket.
    pub(crate) from_sent_ns: u64,
    /// Both may be so much shorter: the last message had a later one's stamp.
    pub(crate) error_ns: u64,
}

impl Completion {
    /// Of a sample whose last receipt was at `last_ns`, or not before `earliest_ns`. Nothing arrives
    /// before its request was written.
    pub(crate) fn of(sent: Sent, last_ns: u64, earliest_ns: u64) -> Self {
        let from_sent_ns = last_ns.saturating_sub(sent.at_ns);
        Self {
            from_due_ns: last_ns.saturating_sub(sent.due_ns),
            from_sent_ns,
            error_ns: last_ns.saturating_sub(earliest_ns).min(from_sent_ns),
        }
    }
}

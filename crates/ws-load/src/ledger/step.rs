//! The shared half of the books: when each sample was sent, who still waits for it, when the last
//! listener had it.

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
    /// Workers that must have received a sample before it is complete.
    parties: u32,
    samples: Box<[Sample]>,
    released: AtomicU32,
    completed: AtomicU32,
}

#[derive(Debug, Default)]
struct Sample {
    sent_ns: AtomicU64,
    last_ns: AtomicU64,
    sender: AtomicU32,
    waiting: AtomicU32,
}

/// What is known of a sample that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) at_ns: u64,
    /// The client that sent it.
    pub(crate) sender: u32,
}

impl StepLedger {
    /// Books for `samples` samples that `parties` workers (1 for an echo) wait for.
    pub(crate) fn new(
        workload: Workload,
        seed: u64,
        first_sample: u64,
        samples: u32,
        clients: u64,
        parties: u32,
    ) -> Self {
        Self {
            workload,
            first_sample,
            clients,
            seed,
            parties,
            samples: (0..samples).map(|_| Sample::default()).collect(),
            released: AtomicU32::new(0),
            completed: AtomicU32::new(0),
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

    /// Takes the next sample to send, and the client that is to send it.
    pub(crate) fn release(&self) -> Option<(u32, u64)> {
        let index = self
            .released
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| {
                (n < self.len()).then_some(n + 1)
            })
            .ok()?;
        let sample = self.first_sample + u64::from(index);
        Some((index, plan::sender_of(self.seed, sample, self.clients)))
    }

    /// Notes that a sample is about to be written to a socket.
    pub(crate) fn sent(&self, index: u32, sent: Sent) {
        let sample = &self.samples[index as usize];
        sample.waiting.store(self.parties, Ordering::Relaxed);
        sample.last_ns.store(sent.at_ns, Ordering::Relaxed);
        sample.sender.store(sent.sender, Ordering::Relaxed);
        sample.sent_ns.store(sent.at_ns, Ordering::Release);
    }

    /// When and by whom a sample was sent; `None` before that, and beyond the step.
    pub(crate) fn when_sent(&self, index: u32) -> Option<Sent> {
        let sample = self.samples.get(index as usize)?;
        let at_ns = sample.sent_ns.load(Ordering::Acquire);
        (at_ns != 0).then(|| Sent {
            at_ns,
            sender: sample.sender.load(Ordering::Relaxed),
        })
    }

    /// One party has everything of a sample that it waits for, the last at `last_ns`. Returns the
    /// completion latency when it was the last party.
    pub(crate) fn party_done(&self, index: u32, last_ns: u64) -> Option<u64> {
        let sample = &self.samples[index as usize];
        sample.last_ns.fetch_max(last_ns, Ordering::AcqRel);
        if sample.waiting.fetch_sub(1, Ordering::AcqRel) > 1 {
            return None;
        }
        let last = sample.last_ns.load(Ordering::Acquire);
        self.completed.fetch_add(1, Ordering::AcqRel);
        Some(last - sample.sent_ns.load(Ordering::Acquire))
    }

    /// When the oldest sample that is not complete was sent.
    pub(crate) fn oldest_open(&self) -> Option<u64> {
        self.samples[..self.released() as usize]
            .iter()
            .filter(|sample| sample.waiting.load(Ordering::Acquire) > 0)
            .map(|sample| sample.sent_ns.load(Ordering::Acquire))
            .filter(|sent| *sent != 0)
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(parties: u32) -> StepLedger {
        StepLedger::new(Workload::Broadcast, 1, 100, 3, 10, parties)
    }

    #[test]
    fn a_sample_completes_with_its_last_party_at_its_latest_receipt() {
        let ledger = ledger(3);
        let (index, sender) = ledger.release().unwrap();
        assert!(sender < 10);
        assert_eq!(ledger.when_sent(index), None);
        let sent = Sent {
            at_ns: 1000,
            sender: 4,
        };
        ledger.sent(index, sent);
        assert_eq!(ledger.when_sent(index), Some(sent));
        assert_eq!(ledger.oldest_open(), Some(1000));
        assert_eq!(ledger.party_done(index, 1500), None);
        assert_eq!(ledger.party_done(index, 1900), None);
        assert_eq!(ledger.party_done(index, 1200), Some(900));
        assert_eq!(ledger.completed(), 1);
        assert_eq!(ledger.oldest_open(), None);
    }

    #[test]
    fn no_more_samples_are_released_than_there_are() {
        let ledger = ledger(1);
        let released: Vec<u32> = std::iter::from_fn(|| ledger.release().map(|(i, _)| i)).collect();
        assert_eq!(released, [0, 1, 2]);
        assert_eq!(ledger.released(), 3);
        assert_eq!(ledger.when_sent(99), None);
    }
}

//! The books of a site: some of a step's samples are sent elsewhere, and when a sample is complete
//! everywhere only the coordinator can say.

use super::sample::Left;
use super::{Read, Sent, StepLedger, Terms};
use crate::ledger::Arrival;
use crate::site::{Done, Share};
use run_record::Workload;
use std::sync::atomic::Ordering;

/// What makes a step's books those of a site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub(crate) share: Share,
    /// Closed loop: samples in flight at any time, of all sites together.
    pub(crate) in_flight: u32,
}

impl StepLedger {
    /// Opens the books of a site. The parties of `terms` are its own workers.
    pub(crate) fn of_site(terms: Terms, shared: Shared) -> Self {
        Self {
            shared: Some(shared),
            ..Self::new(terms)
        }
    }

    /// True when other sites have clients of this step, too.
    #[inline]
    pub(crate) const fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Notes that another site has sent a sample.
    pub(crate) fn sent_elsewhere(&self, index: u32, sent: Sent) {
        let Some(sample) = self.samples.get(index as usize) else {
            return;
        };
        sample.sender.store(sent.sender, Ordering::Relaxed);
        sample.due_ns.store(sent.due_ns, Ordering::Relaxed);
        sample.sent_ns.store(sent.at_ns.max(1), Ordering::Release);
        self.released.fetch_max(index + 1, Ordering::AcqRel);
    }

    /// The planned sender of a sample that another site may have sent without this one having heard
    /// of it; `None` when none can have.
    pub(crate) fn may_be_sent_elsewhere(&self, index: u32) -> Option<u32> {
        let shared = self
            .shared
            .filter(|_| self.workload == Workload::Broadcast)?;
        // A closed loop sends the next sample when one is settled, and none is without this site.
        let is_released = self.by_clock
            || u64::from(index) < u64::from(self.settled()) + u64::from(shared.in_flight);
        let sender = self.sender(index) as u32;
        let elsewhere = sender % shared.share.of != shared.share.number;
        (index < self.len() && is_released && elsewhere).then_some(sender)
    }

    /// As [`StepLedger::party_done`]: what the coordinator is to know when it was the last party of
    /// this site.
    pub(crate) fn party_done_here(&self, index: u32, last: Arrival, read: Read) -> Option<Done> {
        let left = self.samples[index as usize].party_done(last)?;
        self.settled.fetch_add(1, Ordering::AcqRel);
        let (last, abandoned) = match left {
            Left::Complete { last } => (last, false),
            Left::Abandoned { last } => (last, true),
        };
        let last_ns = last.at_ns;
        let read_ns = read.at_ns.max(last_ns);
        Some(Done {
            index,
            last_ns,
            earliest_ns: last.earliest_ns,
            read_ns,
            unread_ns: read.unread_ns.min(read_ns - last_ns),
            by_result: read.is_result,
            abandoned,
        })
    }
}

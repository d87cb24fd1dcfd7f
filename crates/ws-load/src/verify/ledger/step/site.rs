//! The ledger of a site: some of a step's samples are sent elsewhere.

use super::{Keeper, Sent, StepLedger};
use crate::plan::{Audience, Hearing as _};
use std::sync::atomic::Ordering;

impl StepLedger {
    /// True when other sites have clients of this step, too.
    #[inline]
    pub(crate) const fn is_shared(&self) -> bool {
        matches!(self.keeper, Keeper::Site { .. })
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

    /// Notes that all sites have a sample, with its last receipt.
    pub(crate) fn complete_everywhere(&self, index: u32, last_ns: u64) {
        if let Some(sample) = self.samples.get(index as usize) {
            sample.complete_everywhere(last_ns);
        }
    }

    /// The planned sender of a sample that another site may have sent without this one having heard
    /// of it; `None` when none can have.
    pub(crate) fn may_be_sent_elsewhere(&self, index: u32) -> Option<u32> {
        let Keeper::Site { share, in_flight } = self.keeper else {
            return None;
        };
        // A closed loop sends the next sample when one is settled, and none is without this site.
        // With rooms, a site waits for some samples only.
        let is_released = self.by_clock
            || matches!(self.audience, Audience::Room(_))
            || u64::from(index) < u64::from(self.settled()) + u64::from(in_flight);
        let sender = self.sender(index);
        let expected = self.audience.reaches_others() && !share.has(sender);
        (index < self.len() && is_released && expected).then_some(sender as u32)
    }
}

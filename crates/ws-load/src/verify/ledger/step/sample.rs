//! One sample in the shared ledger: when it was sent, and how many still wait for it.

use super::sync::{AtomicU32, AtomicU64};
use crate::figures::Arrival;
use std::sync::atomic::Ordering;

/// Something of the sample will never come.
const ABANDONED: u32 = 1 << 31;
/// The echo has come.
const ECHOED: u32 = 1 << 30;
/// The connection of its sender took no bytes when it was to be sent.
const HELD_BACK: u32 = 1 << 29;
/// Of a site: it is complete at all sites.
const EVERYWHERE: u32 = 1 << 28;
/// The other bits count the parties.
const PARTIES: u32 = EVERYWHERE - 1;

#[derive(Debug, Default)]
pub(super) struct Sample {
    pub(super) due_ns: AtomicU64,
    /// 0 until it is sent.
    pub(super) sent_ns: AtomicU64,
    /// The last receipt; see [`Arrival`].
    last_ns: AtomicU64,
    earliest_ns: AtomicU64,
    pub(super) sender: AtomicU32,
    /// Parties that still wait for it, and the marks above.
    waiting: AtomicU32,
}

impl Sample {
    pub(super) fn awaited_by(parties: u32) -> Self {
        Self {
            waiting: AtomicU32::new(parties),
            ..Self::default()
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        let waiting = self.waiting.load(Ordering::Acquire);
        waiting & PARTIES > 0 && waiting & ECHOED == 0
    }

    pub(super) fn abandon(&self) {
        self.waiting.fetch_or(ABANDONED, Ordering::AcqRel);
    }

    /// `true` when it was not held back before.
    pub(super) fn hold_back(&self, since_ns: u64) -> bool {
        self.due_ns.store(since_ns, Ordering::Relaxed);
        self.waiting.fetch_or(HELD_BACK, Ordering::AcqRel) & HELD_BACK == 0
    }

    pub(super) fn was_held_back(&self) -> bool {
        self.waiting.load(Ordering::Acquire) & HELD_BACK != 0
    }

    /// Since when it is under way: since its send, or since it was to be sent and is held back.
    pub(super) fn since_ns(&self) -> Option<u64> {
        match self.sent_ns.load(Ordering::Acquire) {
            0 if self.was_held_back() => Some(self.due_ns.load(Ordering::Relaxed)),
            0 => None,
            sent_ns => Some(sent_ns),
        }
    }

    /// As [`super::StepLedger::take_echo`]: one thread alone writes what waits for an echo, so that
    /// this needs no exchange.
    #[inline]
    pub(super) fn take_echo(&self) -> bool {
        let is_first = self.is_open();
        if is_first {
            let waiting = self.waiting.load(Ordering::Relaxed);
            self.waiting.store(waiting | ECHOED, Ordering::Release);
        }
        is_first
    }

    /// Nothing of it was received after this, as far as is known yet.
    pub(super) fn note_last(&self, last: Arrival) {
        self.last_ns.fetch_max(last.at_ns, Ordering::AcqRel);
        self.earliest_ns
            .fetch_max(last.earliest_ns, Ordering::AcqRel);
    }

    /// The last receipt, of a sample that was sent and of which all has come here.
    pub(super) fn when_complete(&self) -> Option<u64> {
        let waiting = self.waiting.load(Ordering::Acquire);
        let is_complete = waiting & (PARTIES | ABANDONED) == 0;
        let was_sent = self.sent_ns.load(Ordering::Acquire) != 0;
        (is_complete && was_sent).then(|| self.last_ns.load(Ordering::Acquire))
    }

    /// Notes the last receipt over all sites.
    pub(super) fn complete_everywhere(&self, last_ns: u64) {
        self.last_ns.fetch_max(last_ns, Ordering::AcqRel);
        self.waiting.fetch_or(EVERYWHERE, Ordering::AcqRel);
    }

    /// That receipt, once it is known.
    pub(super) fn when_complete_everywhere(&self) -> Option<u64> {
        let is_known = self.waiting.load(Ordering::Acquire) & EVERYWHERE != 0;
        is_known.then(|| self.last_ns.load(Ordering::Acquire))
    }

    /// One party waits no more. When it was the last: the last receipt of all parties, and whether
    /// the sample was abandoned.
    pub(super) fn party_done(&self, last: Arrival) -> Option<(Arrival, bool)> {
        self.note_last(last);
        let before = self.waiting.fetch_sub(1, Ordering::AcqRel);
        if before & PARTIES != 1 {
            return None;
        }
        let last = Arrival {
            at_ns: self.last_ns.load(Ordering::Acquire),
            earliest_ns: self.earliest_ns.load(Ordering::Acquire),
        };
        Some((last, before & ABANDONED != 0))
    }
}

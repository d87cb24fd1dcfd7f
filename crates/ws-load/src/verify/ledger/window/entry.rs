//! The state of one broadcast in a worker's window, and the clients that are to have it.

use crate::figures::Arrival;
use crate::plan::{Audience, Hearers, Hearing as _};
use crate::verify::ledger::Sent;
use run_record::Faults;

#[derive(Debug)]
pub(super) enum Entry {
    /// To be used again.
    Free,
    Live(Live),
    /// Received here before it is known when it was sent: of another site.
    Unconfirmed(Box<Unconfirmed>),
}

impl Entry {
    /// What is known of a sample that is still waited for.
    pub(super) const fn live(&self) -> Option<&Live> {
        match self {
            Self::Live(live) => Some(live),
            Self::Unconfirmed(unconfirmed) => Some(&unconfirmed.live),
            Self::Free => None,
        }
    }

    /// The same, to be changed.
    pub(super) const fn live_mut(&mut self) -> Option<&mut Live> {
        match self {
            Self::Live(live) => Some(live),
            Self::Unconfirmed(unconfirmed) => Some(&mut unconfirmed.live),
            Self::Free => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Live {
    pub(super) index: u32,
    pub(super) sent: Sent,
    /// Its place among the samples of its sender.
    pub(super) place: u64,
    /// A bit per client of this worker that has received it, or that it was not for.
    pub(super) received: Vec<u64>,
    /// Clients that have not.
    pub(super) missing: u32,
    /// The sender is one of ours and has not had its result.
    pub(super) awaits_result: bool,
    /// A later sample of its sender may have come already.
    pub(super) crowded: bool,
    /// The last receipt.
    pub(super) last: Arrival,
}

impl Live {
    #[inline]
    pub(super) fn has(&self, slot: u32) -> bool {
        let word = self.received.get(slot as usize / 64);
        word.is_none_or(|word| word & (1 << (slot % 64)) != 0)
    }

    /// Notes a receipt; `false` when there was one already.
    #[inline]
    pub(super) fn receive(&mut self, slot: u32) -> bool {
        let first = !self.has(slot);
        if first {
            self.received[slot as usize / 64] |= 1 << (slot % 64);
            self.missing -= 1;
        }
        first
    }

    /// Waits no more for the clients that are set in `lost`; how many of them it waited for.
    pub(super) fn lose(&mut self, lost: &[u64]) -> u32 {
        let mut waited = 0;
        for (received, lost) in self.received.iter_mut().zip(lost) {
            waited += (lost & !*received).count_ones();
            *received |= lost;
        }
        self.missing -= waited;
        waited
    }
}

/// A sample of another site before it is known when it was sent. Its sender is the planned one.
#[derive(Debug)]
pub(super) struct Unconfirmed {
    pub(super) live: Live,
    /// When its deliveries came.
    pub(super) arrivals: Vec<Arrival>,
    /// What was wrong with it, should it have been sent.
    pub(super) faults: Faults,
}

impl Unconfirmed {
    /// Messages that have come of it.
    pub(super) fn receipts(&self) -> u64 {
        self.arrivals.len() as u64 + self.faults.duplicate
    }
}

/// The clients of a worker, as the ledger sees them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listeners<'a> {
    /// A bit per client that is alive.
    pub(crate) alive: &'a [u64],
    /// How many are.
    pub(crate) count: u32,
    /// Number of this worker, and of workers: client `i` belongs to worker `i % workers`.
    pub(crate) worker: u32,
    /// Number of workers.
    pub(crate) workers: u32,
}

impl<'a> Listeners<'a> {
    /// The clients that are to get a sample.
    #[inline]
    pub(super) fn hearers(&self, audience: Audience, index: u32) -> Hearers<'a> {
        audience.hearers(index, self.alive, self.count)
    }

    pub(super) const fn owns(&self, client: u32) -> bool {
        client % self.workers == self.worker
    }

    /// True when the client is this worker's and has that slot.
    #[inline]
    pub(super) const fn is_slot_of(&self, client: u32, slot: u32) -> bool {
        self.owns(client) && client / self.workers == slot
    }

    /// True when the client is this worker's and its slot is set in `slots`.
    pub(super) fn is_in(&self, client: u32, slots: &[u64]) -> bool {
        let slot = client / self.workers;
        let word = slots.get(slot as usize / 64);
        self.owns(client) && word.is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }

    /// True when the client is this worker's and alive.
    pub(super) fn has(&self, client: u32) -> bool {
        self.is_in(client, self.alive)
    }
}

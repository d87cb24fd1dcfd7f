//! The state of one sample in a worker's books, and the clients that are to have it.

use crate::ledger::Sent;
use run_record::Faults;

#[derive(Debug)]
pub(super) enum Entry {
    /// Not known to have been sent.
    Unsent,
    Live(Live),
    /// Received here although nobody has said yet that it was sent: of another site.
    Unconfirmed(Box<Unconfirmed>),
    /// Everything of it has been received.
    Done,
}

impl Entry {
    /// What is known of a sample that somebody may still wait for.
    pub(super) const fn live_mut(&mut self) -> Option<&mut Live> {
        match self {
            Self::Live(live) => Some(live),
            Self::Unconfirmed(unconfirmed) => Some(&mut unconfirmed.live),
            Self::Unsent | Self::Done => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Live {
    pub(super) sent: Sent,
    /// A bit per client of this worker that has received it.
    pub(super) received: Vec<u64>,
    /// Clients that have not.
    pub(super) missing: u32,
    /// The sender is one of ours and has not had its result.
    pub(super) awaits_result: bool,
    pub(super) last_ns: u64,
    /// The sample that the same sender sent next, once it is known.
    pub(super) next_of_sender: Option<u32>,
}

impl Live {
    #[inline]
    pub(super) fn has(&self, slot: u32) -> bool {
        self.received[slot as usize / 64] & (1 << (slot % 64)) != 0
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
}

/// A sample of another site before it is known when it was sent. Its sender is the planned one.
#[derive(Debug)]
pub(super) struct Unconfirmed {
    pub(super) live: Live,
    /// When its deliveries came.
    pub(super) arrivals: Vec<u64>,
    /// What was wrong with it, should it have been sent.
    pub(super) faults: Faults,
}

/// The clients of a worker, as the books see them.
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

impl Listeners<'_> {
    pub(super) const fn owns(&self, client: u32) -> bool {
        client % self.workers == self.worker
    }

    pub(super) const fn slot(&self, client: u32) -> u32 {
        client / self.workers
    }
}

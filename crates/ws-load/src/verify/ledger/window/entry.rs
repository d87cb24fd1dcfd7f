//! The state of one broadcast in a worker's window.

use super::listeners::Lost;
use crate::figures::Arrival;
use crate::verify::ledger::Sent;
use record::Faults;

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
    /// The room that it goes to.
    pub(super) room: u32,
    /// Its place among the samples of its sender.
    pub(super) place: u64,
    /// A bit per place of the room, set of clients that have received it, or that it was not for.
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
    pub(super) fn has(&self, place: u32) -> bool {
        let word = self.received.get(place as usize / 64);
        word.is_none_or(|word| word & (1 << (place % 64)) != 0)
    }

    /// Notes a receipt; `false` when there was one already.
    #[inline]
    pub(super) fn receive(&mut self, place: u32) -> bool {
        let first = !self.has(place);
        if first {
            self.received[place as usize / 64] |= 1 << (place % 64);
            self.missing -= 1;
        }
        first
    }

    /// Waits no more for the lost clients; how many of them it waited for.
    pub(super) fn lose(&mut self, lost: &Lost<'_>) -> u32 {
        let mut waited = 0;
        for (received, lost) in self.received.iter_mut().zip(lost.in_room(self.room)) {
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

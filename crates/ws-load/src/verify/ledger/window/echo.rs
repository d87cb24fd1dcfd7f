//! The window of echoes. Only the sender waits for a sample, so that the shared ledger holds its whole
//! state. Kept here is what each client received last.

use super::{Arrival, Listeners, Lost, Missing, Received, StepLedger};
use crate::verify::ledger::Sent;

#[derive(Debug, Default)]
pub(super) struct Echoes {
    /// Per slot: the place of the latest sample that the client has had back, in the order in which
    /// it sent them.
    latest: Vec<u64>,
    /// No sample before this index is open here.
    open_from: u32,
}

impl Echoes {
    #[inline]
    pub(super) fn receive(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        slot: u32,
        at: Arrival,
    ) -> Received {
        let Some(sent) = ledger.when_sent(index) else {
            return Received::NotDue;
        };
        if !listeners.is_slot_of(sent.sender, slot) {
            return Received::NotDue;
        }
        if !ledger.take_echo(index) {
            return Received::Duplicate;
        }
        Received::Due {
            latency_ns: at.at_ns.saturating_sub(sent.due_ns),
            overtaken: self.is_overtaken(slot, ledger.place(index, sent)),
            party_done: Some(at.later(sent.at_ns.into())),
        }
    }

    #[inline]
    fn is_overtaken(&mut self, slot: u32, place: u64) -> bool {
        let slot = slot as usize;
        if self.latest.len() <= slot {
            self.latest.resize(slot + 1, 0);
        }
        let latest = &mut self.latest[slot];
        let overtaken = place < *latest;
        *latest = place.max(*latest);
        overtaken
    }

    pub(super) fn clients_lost(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        lost: &Lost<'_>,
        mut on_done: impl FnMut(u32, Arrival),
    ) -> Missing {
        let mut missing = Missing::default();
        for (index, sent) in self.open(ledger, listeners) {
            if listeners.is_in(sent.sender, lost) && ledger.take_echo(index) {
                missing.deliveries += 1;
                ledger.abandon(index);
                on_done(index, sent.at_ns.into());
            }
        }
        missing
    }

    pub(super) fn close(&mut self, ledger: &StepLedger, listeners: Listeners<'_>) -> Missing {
        Missing {
            deliveries: self.open(ledger, listeners).count() as u64,
            ..Missing::default()
        }
    }

    pub(super) fn reset(&mut self) {
        self.latest.clear();
        self.open_from = 0;
    }

    /// The samples that clients of this worker still wait for.
    fn open(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
    ) -> impl Iterator<Item = (u32, Sent)> {
        let released = ledger.released();
        while self.open_from < released && !ledger.is_open(self.open_from) {
            self.open_from += 1;
        }
        (self.open_from..released).filter_map(move |index| {
            let sent = ledger.when_sent(index)?;
            (ledger.is_open(index) && listeners.owns(sent.sender)).then_some((index, sent))
        })
    }
}

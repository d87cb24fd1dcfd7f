//! Samples of other sites that arrive before it is known when they were sent.
//!
//! What a delivery says at once (that it came, that it came twice, that it was overtaken) is noted at
//! once; its latency waits for the owner's word. What no site has sent in the end was misdirected.

use super::entry::{Entry, Live, Unconfirmed};
use super::{Confirmed, Listeners, Received, Sent, StepLedger, Window};
use run_record::Faults;

impl Window {
    /// Makes an entry for a sample that another site may have sent; `false` when none can have.
    pub(super) fn admit_unconfirmed(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
    ) -> bool {
        let Some(sender) = ledger.may_be_sent_elsewhere(index) else {
            return false;
        };
        let position = (index - self.first) as usize;
        while self.entries.len() <= position {
            self.entries.push_back(Entry::Unsent);
        }
        let live = Live {
            sent: Sent {
                due_ns: 0,
                at_ns: 0,
                sender,
            },
            received: self.blank_bits(listeners),
            missing: listeners.count,
            awaits_result: false,
            last_ns: 0,
            next_of_sender: None,
        };
        self.entries[position] = Entry::Unconfirmed(Box::new(Unconfirmed {
            live,
            arrivals: Vec::new(),
            faults: Faults::default(),
        }));
        self.link(ledger, index, sender);
        true
    }

    /// True of a sample that has come here and that nobody has said to have sent.
    pub(super) fn is_unconfirmed(&self, index: u32) -> bool {
        let entry = self.entries.get((index - self.first) as usize);
        matches!(entry, Some(Entry::Unconfirmed(_)))
    }

    pub(super) fn deliver_unconfirmed(&mut self, index: u32, slot: u32, at_ns: u64) -> Received {
        let position = (index - self.first) as usize;
        let overtaken = self.is_overtaken(position, slot);
        let Entry::Unconfirmed(entry) = &mut self.entries[position] else {
            return Received::NotDue;
        };
        if !entry.live.receive(slot) {
            entry.faults.duplicate += 1;
            return Received::Unconfirmed { party_done: None };
        }
        entry.arrivals.push(at_ns);
        entry.faults.reordered += u64::from(overtaken);
        entry.live.last_ns = entry.live.last_ns.max(at_ns);
        Received::Unconfirmed {
            party_done: (entry.live.missing == 0).then_some(entry.live.last_ns),
        }
    }

    /// The owner says when it sent a sample that has come here already.
    pub(super) fn confirm(&mut self, ledger: &StepLedger, index: u32, sent: Sent) {
        let position = (index - self.first) as usize;
        let planned = match &self.entries[position] {
            Entry::Unconfirmed(unconfirmed) => unconfirmed.live.sent.sender,
            _ => return,
        };
        if planned != sent.sender {
            self.unlink(index);
            self.link(ledger, index, sent.sender);
        }
        let entry = std::mem::replace(&mut self.entries[position], Entry::Done);
        let Entry::Unconfirmed(unconfirmed) = entry else {
            return;
        };
        let Unconfirmed {
            mut live,
            arrivals,
            faults,
        } = *unconfirmed;
        let latencies = arrivals
            .into_iter()
            .map(|at_ns| (index, at_ns.saturating_sub(sent.due_ns)));
        self.confirmed.latencies.extend(latencies);
        self.confirmed.faults.merge(&faults);
        if live.missing == 0 {
            self.spare_bits.push(live.received);
            return;
        }
        live.sent = sent;
        self.entries[position] = Entry::Live(live);
    }

    /// What was kept of samples that have been confirmed since, if there is any.
    #[inline]
    pub(crate) fn take_confirmed(&mut self) -> Option<Confirmed> {
        let is_empty = self.confirmed.latencies.is_empty() && self.confirmed.faults.is_empty();
        (!is_empty).then(|| std::mem::take(&mut self.confirmed))
    }
}

impl Unconfirmed {
    /// The client in `slot` is gone. The last receipt, if nobody waits any more.
    pub(super) fn lose(&mut self, slot: u32) -> Option<u64> {
        if !self.live.receive(slot) {
            return None;
        }
        self.faults.lost += 1;
        (self.live.missing == 0).then_some(self.live.last_ns)
    }

    /// Messages that have come of it.
    pub(super) fn receipts(&self) -> u64 {
        self.arrivals.len() as u64 + self.faults.duplicate
    }
}

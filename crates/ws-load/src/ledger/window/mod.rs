//! A worker's half of the books: which of its clients has received which sample.
//!
//! Exactly once: one bit per sample and client. In order per sender: a delivery to a client that
//! has a later sample of the same sender already was overtaken. (Not the other way round: an
//! earlier sample that is only missing may be lost, and is counted as that.)

mod entry;
mod order;
mod unconfirmed;

#[cfg(test)]
mod tests;

pub(crate) use entry::Listeners;

use super::step::{Sent, StepLedger};
use entry::{Entry, Live};
use run_record::{Faults, Workload};
use std::collections::VecDeque;

/// The samples that this worker still waits for.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Index of the sample at the front of `entries`.
    first: u32,
    entries: VecDeque<Entry>,
    spare_bits: Vec<Vec<u64>>,
    /// Of samples of other sites: what was kept until it was known when they were sent.
    confirmed: Confirmed,
}

/// What the books had to keep until it was known when another site sent a sample.
#[derive(Debug, Default)]
pub(crate) struct Confirmed {
    /// Samples and latencies of deliveries.
    pub(crate) latencies: Vec<(u32, u64)>,
    /// What was wrong with them.
    pub(crate) faults: Faults,
}

/// What the books say of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// It was due.
    Due {
        /// From the send to this receipt.
        latency_ns: u64,
        /// A later message of the same sender had come before it.
        overtaken: bool,
        /// It was the last that this worker waited for; received at most at this time.
        party_done: Option<u64>,
    },
    /// Another site will say when it was sent; what there is to say of this receipt is kept.
    Unconfirmed {
        /// It was the last that this worker waited for; received at most at this time.
        party_done: Option<u64>,
    },
    /// It had come before.
    Duplicate,
    /// It was never sent, or not for this client.
    NotDue,
}

/// What a worker still waited for when a step was ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Deliveries or echoes.
    pub(crate) deliveries: u64,
    /// Results.
    pub(crate) results: u64,
    /// Not missing but too many: receipts of samples that no site has sent.
    pub(crate) unsent: u64,
}

impl Window {
    /// A delivery of a broadcast, or an echo, has reached the client in `slot`.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        slot: u32,
        at_ns: u64,
    ) -> Received {
        let position = match self.find(ledger, listeners, index) {
            Ok(position) => position,
            Err(Received::Unconfirmed { .. }) => {
                return self.deliver_unconfirmed(index, slot, at_ns);
            }
            Err(verdict) => return verdict,
        };
        let overtaken = self.is_overtaken(position, slot);
        let Entry::Live(live) = &mut self.entries[position] else {
            return Received::Duplicate;
        };
        if ledger.workload == Workload::Echo
            && !(listeners.owns(live.sent.sender) && listeners.slot(live.sent.sender) == slot)
        {
            return Received::NotDue;
        }
        if !live.receive(slot) {
            return Received::Duplicate;
        }
        live.last_ns = live.last_ns.max(at_ns);
        let latency_ns = at_ns.saturating_sub(live.sent.due_ns);
        Received::Due {
            latency_ns,
            overtaken,
            party_done: self.retire_if_done(position),
        }
    }

    /// The result of a broadcast has reached the client in `slot`.
    pub(crate) fn result(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        slot: u32,
        at_ns: u64,
    ) -> Received {
        let position = match self.find(ledger, listeners, index) {
            Ok(position) => position,
            // No sample of another site has its sender here.
            Err(Received::Unconfirmed { .. }) => return Received::NotDue,
            Err(verdict) => return verdict,
        };
        let Entry::Live(live) = &mut self.entries[position] else {
            return Received::Duplicate;
        };
        let ours = listeners.owns(live.sent.sender) && listeners.slot(live.sent.sender) == slot;
        if ledger.workload == Workload::Echo || !ours {
            return Received::NotDue;
        }
        if !live.awaits_result {
            return Received::Duplicate;
        }
        live.awaits_result = false;
        let latency_ns = at_ns.saturating_sub(live.sent.due_ns);
        Received::Due {
            latency_ns,
            overtaken: false,
            party_done: self.retire_if_done(position),
        }
    }

    /// The client in `slot` is gone: what it still waited for will never come. Calls `on_done` for
    /// each sample that nobody of this worker waits for any more, with its last receipt.
    pub(crate) fn client_lost(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        slot: u32,
        mut on_done: impl FnMut(u32, u64),
    ) -> Missing {
        let mut missing = Missing::default();
        self.admit_sent(ledger, listeners);
        for position in 0..self.entries.len() {
            let index = self.first + position as u32;
            if let Entry::Unconfirmed(unconfirmed) = &mut self.entries[position] {
                if let Some(last_ns) = unconfirmed.lose(slot) {
                    on_done(index, last_ns);
                }
                continue;
            }
            let Entry::Live(live) = &mut self.entries[position] else {
                continue;
            };
            let is_sender =
                listeners.owns(live.sent.sender) && listeners.slot(live.sent.sender) == slot;
            let listens = ledger.workload == Workload::Broadcast || is_sender;
            if listens && live.receive(slot) {
                missing.deliveries += 1;
            }
            if is_sender && live.awaits_result {
                live.awaits_result = false;
                missing.results += 1;
            }
            if let Some(last_ns) = self.mark_if_done(position) {
                on_done(index, last_ns);
            }
        }
        self.drop_done();
        missing
    }

    /// Ends the step: counts what is still missing. Whatever comes after that is a duplicate.
    pub(crate) fn close(&mut self, ledger: &StepLedger, listeners: Listeners<'_>) -> Missing {
        self.admit_sent(ledger, listeners);
        let mut missing = Missing::default();
        for entry in &self.entries {
            match entry {
                Entry::Live(live) => {
                    missing.deliveries += u64::from(live.missing);
                    missing.results += u64::from(live.awaits_result);
                }
                Entry::Unconfirmed(unconfirmed) => missing.unsent += unconfirmed.receipts(),
                Entry::Unsent | Entry::Done => {}
            }
        }
        self.forget();
        self.first = ledger.len();
        missing
    }

    /// Forgets everything, for the next step.
    pub(crate) fn reset(&mut self) {
        self.forget();
        self.confirmed = Confirmed::default();
    }

    fn forget(&mut self) {
        self.first = 0;
        self.entries.clear();
        self.spare_bits.clear();
    }

    /// Position of the entry of a sample that was sent.
    #[inline]
    fn find(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
    ) -> Result<usize, Received> {
        let Some(position) = index.checked_sub(self.first) else {
            return Err(Received::Duplicate);
        };
        match self.entries.get(position as usize) {
            Some(Entry::Live(_)) => Ok(position as usize),
            Some(Entry::Done) => Err(Received::Duplicate),
            _ => self.find_new(ledger, listeners, index),
        }
    }

    /// The same for one that has no entry yet, or one that nobody had confirmed.
    #[cold]
    fn find_new(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
    ) -> Result<usize, Received> {
        if ledger.when_sent(index).is_some() {
            self.admit_sent(ledger, listeners);
        } else if self.is_unconfirmed(index) {
            return Err(Received::Unconfirmed { party_done: None });
        } else if !self.admit_unconfirmed(ledger, listeners, index) {
            return Err(Received::NotDue);
        }
        // `admit_sent` may have dropped finished entries from the front, never live ones.
        let Some(position) = index.checked_sub(self.first) else {
            return Err(Received::Duplicate);
        };
        match &self.entries[position as usize] {
            Entry::Live(_) => Ok(position as usize),
            Entry::Unconfirmed(_) => Err(Received::Unconfirmed { party_done: None }),
            Entry::Unsent | Entry::Done => Err(Received::Duplicate),
        }
    }

    /// Makes an entry for every sample that was sent and that this worker waits for.
    #[cold]
    fn admit_sent(&mut self, ledger: &StepLedger, listeners: Listeners<'_>) {
        let released = ledger.released();
        while self.first + (self.entries.len() as u32) < released {
            self.entries.push_back(Entry::Unsent);
        }
        for position in 0..self.entries.len() {
            if matches!(self.entries[position], Entry::Live(_) | Entry::Done) {
                continue;
            }
            let index = self.first + position as u32;
            let Some(sent) = ledger.when_sent(index) else {
                continue;
            };
            if matches!(self.entries[position], Entry::Unconfirmed(_)) {
                self.confirm(ledger, index, sent);
                continue;
            }
            let ours = listeners.owns(sent.sender);
            let missing = match ledger.workload {
                Workload::Broadcast => listeners.count,
                Workload::Echo | Workload::Connect => u32::from(ours),
            };
            if missing == 0 {
                self.entries[position] = Entry::Done;
                continue;
            }
            let received = self.blank_bits(listeners);
            self.entries[position] = Entry::Live(Live {
                sent,
                received,
                missing,
                awaits_result: ours && ledger.workload == Workload::Broadcast,
                last_ns: if ours || !ledger.is_shared() {
                    sent.at_ns
                } else {
                    0
                },
                next_of_sender: None,
            });
            self.link(ledger, index, sent.sender);
        }
        self.drop_done();
    }

    /// A bit per client, set for those who will receive nothing.
    fn blank_bits(&mut self, listeners: Listeners<'_>) -> Vec<u64> {
        let mut bits = self.spare_bits.pop().unwrap_or_default();
        bits.clear();
        bits.extend(listeners.alive.iter().map(|alive| !alive));
        bits
    }

    #[inline]
    fn retire_if_done(&mut self, position: usize) -> Option<u64> {
        let done = self.mark_if_done(position)?;
        self.drop_done();
        Some(done)
    }

    #[inline]
    fn mark_if_done(&mut self, position: usize) -> Option<u64> {
        let Entry::Live(live) = &mut self.entries[position] else {
            return None;
        };
        if live.missing > 0 || live.awaits_result {
            return None;
        }
        let last_ns = live.last_ns;
        self.spare_bits.push(std::mem::take(&mut live.received));
        self.entries[position] = Entry::Done;
        Some(last_ns)
    }

    fn drop_done(&mut self) {
        while matches!(self.entries.front(), Some(Entry::Done)) {
            self.entries.pop_front();
            self.first += 1;
        }
    }
}

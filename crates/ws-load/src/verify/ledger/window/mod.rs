//! A worker's half of the ledger: which of its clients has received which sample.
//!
//! Exactly once, and in order per sender: a delivery was overtaken when its client already has a later
//! sample of the same sender. (An earlier sample that is missing is no such fault: it may be lost, and
//! is counted as lost.)
//!
//! The cost of a message does not depend on how many samples are in flight.

mod broadcast;
mod echo;
mod entry;
mod listeners;
mod lost;
mod order;
mod unconfirmed;

#[cfg(test)]
mod tests;

pub(crate) use listeners::{Listeners, Lost, Seats};

use super::step::{Sent, StepLedger};
use crate::figures::Arrival;
use crate::plan::Audience;
use broadcast::Broadcasts;
use echo::Echoes;
use record::Faults;

/// The samples that this worker still waits for.
#[derive(Debug, Default)]
pub(crate) struct Window {
    echoes: Echoes,
    broadcasts: Broadcasts,
    /// The step has ended: every further message of it is a duplicate.
    closed: bool,
}

/// What the window had to keep until it was known when another site sent a sample.
#[derive(Debug, Default)]
pub(crate) struct Confirmed {
    /// Of deliveries: sample, latency, and by how much it may be shorter.
    pub(crate) latencies: Vec<(u32, u64, u64)>,
    /// What was wrong with them.
    pub(crate) faults: Faults,
}

/// The result for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// It was due.
    Due {
        /// From the send to this receipt.
        latency_ns: u64,
        /// A later message of the same sender had come before it.
        overtaken: bool,
        /// It was the last that this worker waited for; received at most at this time.
        party_done: Option<Arrival>,
    },
    /// Another site will report when it was sent; the receipt is kept until then.
    Unconfirmed {
        /// It was the last that this worker waited for; received at most at this time.
        party_done: Option<Arrival>,
    },
    /// A duplicate.
    Duplicate,
    /// It was never sent, or not for this client.
    NotDue,
}

/// What a worker still waited for when a step was ended, or when a client was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Deliveries or echoes.
    pub(crate) deliveries: u64,
    /// Results.
    pub(crate) results: u64,
    /// Receipts of samples that no site has sent.
    pub(crate) unsent: u64,
    /// Deliveries to the senders, where nothing else is missing of what is to reach this worker.
    pub(crate) own: u64,
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
        at: Arrival,
    ) -> Received {
        if self.closed {
            return after_the_end(ledger, index);
        }
        match ledger.audience {
            Audience::Everyone | Audience::Room(_) => {
                self.broadcasts.deliver(ledger, listeners, index, slot, at)
            }
            Audience::Sender => self.echoes.receive(ledger, listeners, index, slot, at),
        }
    }

    /// The result of a broadcast has reached the client in `slot`.
    pub(crate) fn result(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        slot: u32,
        at: Arrival,
    ) -> Received {
        if self.closed {
            return after_the_end(ledger, index);
        }
        match ledger.audience {
            Audience::Everyone | Audience::Room(_) => {
                self.broadcasts.result(ledger, listeners, index, slot, at)
            }
            Audience::Sender => Received::NotDue,
        }
    }

    /// The `lost` clients are gone, and `listeners` still has them: what they waited for will never come. Calls `on_done` for each sample that this worker waits for no
    /// more, with its last receipt.
    ///
    /// Goes through all samples in flight once, however many clients are lost.
    pub(crate) fn clients_lost(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        lost: &Lost<'_>,
        on_done: impl FnMut(u32, Arrival),
    ) -> Missing {
        if self.closed {
            return Missing::default();
        }
        match ledger.audience {
            Audience::Everyone | Audience::Room(_) => self
                .broadcasts
                .clients_lost(ledger, listeners, lost, on_done),
            Audience::Sender => self.echoes.clients_lost(ledger, listeners, lost, on_done),
        }
    }

    /// The rooms of which `is_empty` says so have no client here any more: what is sent to them from now
    /// on is not waited for, unless its sender is a client of this worker. Calls `on_done` for each
    /// sample that is waited for no more.
    ///
    /// Goes through all samples of the step.
    pub(crate) fn rooms_emptied(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        is_empty: impl Fn(u32) -> bool,
        on_done: impl FnMut(u32),
    ) {
        if !self.closed {
            let broadcasts = &mut self.broadcasts;
            broadcasts.rooms_emptied(ledger, listeners, is_empty, on_done);
        }
    }

    /// Ends the step: counts what is still missing. Whatever comes after that is a duplicate.
    pub(crate) fn close(&mut self, ledger: &StepLedger, listeners: Listeners<'_>) -> Missing {
        if self.closed {
            return Missing::default();
        }
        self.closed = true;
        match ledger.audience {
            Audience::Everyone | Audience::Room(_) => self.broadcasts.close(ledger, listeners),
            Audience::Sender => self.echoes.close(ledger, listeners),
        }
    }

    /// Forgets everything, for the next step.
    pub(crate) fn reset(&mut self) {
        self.echoes.reset();
        self.broadcasts.reset();
        self.closed = false;
    }

    /// What was kept of samples that have been confirmed since, if there is any.
    #[inline]
    pub(crate) fn take_confirmed(&mut self) -> Option<Confirmed> {
        self.broadcasts.take_confirmed()
    }
}

const fn after_the_end(ledger: &StepLedger, index: u32) -> Received {
    if index < ledger.len() {
        Received::Duplicate
    } else {
        Received::NotDue
    }
}

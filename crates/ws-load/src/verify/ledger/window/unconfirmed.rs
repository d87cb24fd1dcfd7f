//! Samples of other sites that arrive before it is known when they were sent.
//!
//! That a delivery came, is a duplicate or was overtaken is noted at once. Its latency waits until the
//! sender's site reports the send. A sample that no site has sent in the end was misdirected.

use super::broadcast::{Broadcasts, State};
use super::entry::{Entry, Live, Unconfirmed};
use super::listeners::Seat;
use super::{Arrival, Listeners, Received, Sent, StepLedger};
use record::Faults;

/// How many waiting samples are looked at for each new one: more than one, so that the queue shrinks.
const LOOKED_AT: usize = 2;

impl Broadcasts {
    /// Makes an entry for a sample that another site may have sent; `None` when none can have.
    pub(super) fn admit_unconfirmed(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
    ) -> Option<u32> {
        let sent = Sent {
            due_ns: 0,
            at_ns: 0,
            sender: ledger.may_be_sent_elsewhere(index)?,
        };
        let room = ledger.room(index);
        let hearers = listeners.hearers(room);
        let live = Live {
            index,
            sent,
            room,
            place: ledger.place(index, sent),
            received: self.blank_bits(hearers),
            missing: hearers.count,
            awaits_result: false,
            crowded: false,
            last: Arrival::default(),
        };
        let unconfirmed = Box::new(Unconfirmed {
            live,
            arrivals: Vec::new(),
            faults: Faults::default(),
        });
        let number = self.admit(Entry::Unconfirmed(unconfirmed), index);
        self.unconfirmed.push_back(index);
        Some(number)
    }

    pub(super) fn deliver_unconfirmed(&mut self, number: u32, seat: Seat, at: Arrival) -> Received {
        let Entry::Unconfirmed(entry) = &mut self.entries[number as usize] else {
            return Received::NotDue;
        };
        if entry.live.room != seat.room {
            return Received::NotDue;
        }
        if !entry.live.receive(seat.place) {
            entry.faults.duplicate += 1;
            return Received::Unconfirmed { party_done: None };
        }
        entry.arrivals.push(at);
        entry.live.last = entry.live.last.later(at);
        let party_done = (entry.live.missing == 0).then_some(entry.live.last);
        if entry.live.crowded
            && self.chains.is_overtaken(&self.entries, number, seat.place)
            && let Entry::Unconfirmed(entry) = &mut self.entries[number as usize]
        {
            entry.faults.reordered += 1;
        }
        Received::Unconfirmed { party_done }
    }

    /// Confirms some of the waiting samples whose sends have been reported.
    pub(super) fn confirm_some(&mut self, ledger: &StepLedger) {
        for _ in 0..LOOKED_AT.min(self.unconfirmed.len()) {
            self.confirm_next(ledger);
        }
    }

    /// The same for all of them.
    pub(super) fn confirm_all(&mut self, ledger: &StepLedger) {
        for _ in 0..self.unconfirmed.len() {
            self.confirm_next(ledger);
        }
    }

    fn confirm_next(&mut self, ledger: &StepLedger) {
        let Some(index) = self.unconfirmed.pop_front() else {
            return;
        };
        let State::Entry(number) = self.state(index) else {
            return;
        };
        if !matches!(self.entries[number as usize], Entry::Unconfirmed(_)) {
            return;
        }
        match ledger.when_sent(index) {
            None => self.unconfirmed.push_back(index),
            Some(sent) => {
                self.confirm(ledger, number, sent);
            }
        }
    }

    /// The sender's site has reported the send of a sample that has come here already. `true` when
    /// more of it is awaited.
    pub(super) fn confirm(&mut self, ledger: &StepLedger, number: u32, sent: Sent) -> bool {
        let Entry::Unconfirmed(unconfirmed) = &mut self.entries[number as usize] else {
            return false;
        };
        let arrivals = std::mem::take(&mut unconfirmed.arrivals);
        let faults = unconfirmed.faults;
        let index = unconfirmed.live.index;
        let latencies = arrivals.into_iter().map(|at| {
            let latency_ns = at.at_ns.saturating_sub(sent.due_ns);
            (index, latency_ns, at.error_since(sent.at_ns))
        });
        self.confirmed.latencies.extend(latencies);
        self.confirmed.faults.merge(&faults);
        if unconfirmed.live.sent.sender != sent.sender {
            self.chains.unlink(&self.entries, number, false);
            if let Some(live) = self.entries[number as usize].live_mut() {
                live.sent.sender = sent.sender;
                live.place = ledger.place(index, sent);
            }
            self.chains.link(&mut self.entries, number);
        }
        let entry = std::mem::replace(&mut self.entries[number as usize], Entry::Free);
        let Entry::Unconfirmed(unconfirmed) = entry else {
            return false;
        };
        let mut live = unconfirmed.live;
        live.sent = sent;
        let is_awaited = live.missing > 0;
        self.entries[number as usize] = Entry::Live(live);
        if !is_awaited {
            self.retire(number);
        }
        is_awaited
    }
}

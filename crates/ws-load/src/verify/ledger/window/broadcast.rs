//! The window of broadcasts: one bit per sample in flight and client of this worker that hears it.
//!
//! A sample has an entry from its first receipt here to its last. Before its first receipt it is in
//! the shared ledger alone.

use super::entry::{Entry, Live};
use super::listeners::Seat;
use super::order::Chains;
use super::{Arrival, Confirmed, Listeners, Missing, Received, Sent, StepLedger};
use crate::plan::Hearers;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct Broadcasts {
    /// All samples before this index are done.
    pub(super) first: u32,
    /// From there on; nothing of those beyond the end has come.
    pub(super) states: VecDeque<State>,
    pub(super) entries: Vec<Entry>,
    free: Vec<u32>,
    spare_bits: Vec<Vec<u64>>,
    pub(super) chains: Chains,
    /// Samples that another site has not yet confirmed, in the order in which they are looked at.
    pub(super) unconfirmed: VecDeque<u32>,
    /// Of samples of other sites: what was kept until it was known when they were sent.
    pub(super) confirmed: Confirmed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing of it has come.
    New,
    /// It has this entry.
    Entry(u32),
    /// Everything of it has been received, or will never be.
    Done,
}

/// Where a message belongs.
#[derive(Clone, Copy, Debug)]
enum Found {
    Live(u32),
    Unconfirmed(u32),
    Not(Received),
}

impl Broadcasts {
    #[inline]
    pub(super) fn deliver(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        slot: u32,
        at: Arrival,
    ) -> Received {
        let seat = listeners.seat(slot);
        let number = match self.find(ledger, listeners, index, seat.room) {
            Found::Live(number) => number,
            Found::Unconfirmed(number) => return self.deliver_unconfirmed(number, seat, at),
            Found::Not(_) if is_stranger(ledger, index, seat) => return Received::NotDue,
            Found::Not(received) => return received,
        };
        let Entry::Live(live) = &mut self.entries[number as usize] else {
            return Received::Duplicate;
        };
        if live.room != seat.room {
            return Received::NotDue;
        }
        if !live.receive(seat.place) {
            return Received::Duplicate;
        }
        live.last = live.last.later(at);
        let latency_ns = at.at_ns.saturating_sub(live.sent.due_ns);
        let overtaken = live.crowded && self.chains.is_overtaken(&self.entries, number, seat.place);
        Received::Due {
            latency_ns,
            overtaken,
            party_done: self.retire_if_done(number),
        }
    }

    pub(super) fn result(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        slot: u32,
        at: Arrival,
    ) -> Received {
        // One that is not for this client makes no entry: the sample need not be awaited here.
        let sent = ledger.when_sent(index);
        let is_sender = sent.is_some_and(|sent| listeners.is_slot_of(sent.sender, slot));
        if !is_sender && self.state(index) == State::New {
            return Received::NotDue;
        }
        // The sender need not be in the room: it may send for a client that is lost.
        let room = if is_sender { ledger.room(index) } else { 0 };
        let number = match self.find(ledger, listeners, index, room) {
            Found::Live(number) => number,
            // No sample of another site has its sender here.
            Found::Unconfirmed(_) => return Received::NotDue,
            Found::Not(received) => return received,
        };
        let Entry::Live(live) = &mut self.entries[number as usize] else {
            return Received::Duplicate;
        };
        if !listeners.is_slot_of(live.sent.sender, slot) {
            return Received::NotDue;
        }
        if !live.awaits_result {
            return Received::Duplicate;
        }
        live.awaits_result = false;
        Received::Due {
            latency_ns: at.at_ns.saturating_sub(live.sent.due_ns),
            overtaken: false,
            party_done: self.retire_if_done(number),
        }
    }

    pub(super) fn close(&mut self, ledger: &StepLedger, listeners: Listeners<'_>) -> Missing {
        self.confirm_all(ledger);
        let mut missing = self.missing_of_new(ledger, listeners);
        for entry in &self.entries {
            match entry {
                Entry::Live(live) => {
                    missing.deliveries += u64::from(live.missing);
                    missing.results += u64::from(live.awaits_result);
                    let place = listeners.place_of(live.sent.sender, live.room);
                    let is_own = live.missing == 1 && place.is_some_and(|place| !live.has(place));
                    missing.own += u64::from(is_own);
                }
                Entry::Unconfirmed(unconfirmed) => missing.unsent += unconfirmed.receipts(),
                Entry::Free => {}
            }
        }
        self.forget();
        missing
    }

    pub(super) fn reset(&mut self) {
        self.forget();
        self.confirmed = Confirmed::default();
    }

    fn forget(&mut self) {
        *self = Self {
            confirmed: std::mem::take(&mut self.confirmed),
            ..Self::default()
        };
    }

    pub(super) fn take_confirmed(&mut self) -> Option<Confirmed> {
        let is_empty = self.confirmed.latencies.is_empty() && self.confirmed.faults.is_empty();
        (!is_empty).then(|| std::mem::take(&mut self.confirmed))
    }

    /// What is known of a sample here.
    #[inline]
    pub(super) fn state(&self, index: u32) -> State {
        let Some(position) = index.checked_sub(self.first) else {
            return State::Done;
        };
        let state = self.states.get(position as usize);
        state.copied().unwrap_or(State::New)
    }

    /// The entry that a message of a sample belongs to.
    #[inline]
    fn find(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        room: u32,
    ) -> Found {
        match self.state(index) {
            State::Entry(number) if matches!(self.entries[number as usize], Entry::Live(_)) => {
                Found::Live(number)
            }
            State::Entry(number) => self.find_unconfirmed(ledger, index, number),
            State::Done => Found::Not(Received::Duplicate),
            State::New => self.find_new(ledger, listeners, index, room),
        }
    }

    /// The same for one that other sites had not confirmed.
    #[cold]
    fn find_unconfirmed(&mut self, ledger: &StepLedger, index: u32, number: u32) -> Found {
        match ledger.when_sent(index) {
            None => Found::Unconfirmed(number),
            Some(sent) => match self.confirm(ledger, number, sent) {
                true => Found::Live(number),
                false => Found::Not(Received::Duplicate),
            },
        }
    }

    /// The same for one that has no entry yet.
    fn find_new(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        room: u32,
    ) -> Found {
        self.confirm_some(ledger);
        if index >= ledger.len() || ledger.room(index) != room {
            return Found::Not(Received::NotDue);
        }
        if listeners.seats.is_some() {
            self.skip_other_rooms(ledger, listeners, index);
        }
        let Some(sent) = ledger.when_sent(index) else {
            return match self.admit_unconfirmed(ledger, listeners, index) {
                Some(number) => Found::Unconfirmed(number),
                None => Found::Not(Received::NotDue),
            };
        };
        let ours = listeners.owns(sent.sender);
        let hearers = listeners.hearers(room);
        let live = Live {
            index,
            sent,
            room,
            place: ledger.place(index, sent),
            received: self.blank_bits(hearers),
            missing: hearers.count,
            // A sender that is lost by now was counted as such.
            awaits_result: listeners.has(sent.sender),
            crowded: false,
            last: match ours || !ledger.is_shared() {
                true => sent.at_ns.into(),
                false => Arrival::default(),
            },
        };
        Found::Live(self.admit(Entry::Live(live), index))
    }

    /// Moves on over samples at the front that are for no client of this worker.
    fn skip_other_rooms(&mut self, ledger: &StepLedger, listeners: Listeners<'_>, to: u32) {
        while self.first < to
            && self.state(self.first) == State::New
            && !listeners.awaits(ledger, self.first)
        {
            self.set_state(self.first, State::Done);
        }
    }

    /// Enters a sample.
    pub(super) fn admit(&mut self, entry: Entry, index: u32) -> u32 {
        let number = match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = entry;
                number
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        self.set_state(index, State::Entry(number));
        self.chains.link(&mut self.entries, number);
        number
    }

    /// A bit per client, set for those who will receive nothing.
    pub(super) fn blank_bits(&mut self, hearers: Hearers<'_>) -> Vec<u64> {
        let mut bits = self.spare_bits.pop().unwrap_or_default();
        bits.clear();
        bits.extend(hearers.places.iter().map(|hears| !hears));
        bits
    }

    #[inline]
    pub(super) fn retire_if_done(&mut self, number: u32) -> Option<Arrival> {
        let Entry::Live(live) = &self.entries[number as usize] else {
            return None;
        };
        if live.missing > 0 || live.awaits_result {
            return None;
        }
        let last = live.last;
        self.retire(number);
        Some(last)
    }

    /// Gives up the entry of a sample of which nothing more is awaited.
    pub(super) fn retire(&mut self, number: u32) {
        self.chains.unlink(&self.entries, number, true);
        let entry = std::mem::replace(&mut self.entries[number as usize], Entry::Free);
        self.free.push(number);
        let live = match entry {
            Entry::Live(live) => live,
            Entry::Unconfirmed(unconfirmed) => unconfirmed.live,
            Entry::Free => return,
        };
        self.spare_bits.push(live.received);
        self.set_state(live.index, State::Done);
    }

    pub(super) fn set_state(&mut self, index: u32, state: State) {
        let position = (index - self.first) as usize;
        if self.states.len() <= position {
            self.states.resize(position + 1, State::New);
        }
        self.states[position] = state;
        while self.states.front() == Some(&State::Done) {
            self.states.pop_front();
            self.first += 1;
        }
    }

    /// What of samples that were sent and that have no entry will be missing.
    fn missing_of_new(&self, ledger: &StepLedger, listeners: Listeners<'_>) -> Missing {
        let mut missing = Missing::default();
        for (index, sent) in self.unheard(ledger) {
            let hearers = listeners.hearers(ledger.room(index));
            missing.deliveries += u64::from(hearers.count);
            missing.results += u64::from(listeners.has(sent.sender));
            let place = listeners.place_of(sent.sender, ledger.room(index));
            missing.own += u64::from(hearers.count == 1 && place.is_some());
        }
        missing
    }

    /// Samples that were sent and of which nothing has come.
    pub(super) fn unheard(&self, ledger: &StepLedger) -> impl Iterator<Item = (u32, Sent)> {
        (self.first..ledger.released())
            .filter(|index| self.state(*index) == State::New)
            .filter_map(|index| Some((index, ledger.when_sent(index)?)))
    }
}

/// True when a message went to a client that is not in its room.
#[cold]
fn is_stranger(ledger: &StepLedger, index: u32, seat: Seat) -> bool {
    index < ledger.len() && ledger.room(index) != seat.room
}

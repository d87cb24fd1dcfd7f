//! What clients hear that leave and come back: no message twice, and none missed that they must have
//! heard. A visit lasts from when such a client is ready until it leaves or the step ends.
//!
//! A visit keeps a bit per message of the part of the step that it is in. Messages that all came are
//! dropped from its front, so that a visit without a loss has a few words, and none has more than
//! [`WORDS`].

use super::ledger::StepLedger;
use crate::plan::{Heard, Hearing as _, Sent, must_hear};
use std::collections::VecDeque;

/// Most words of a visit: 8,192 messages between the oldest that did not come and the latest.
const WORDS: usize = 128;
/// Messages that are looked up at the end of the visits of a step, and no more: what a server that
/// told nothing to a great many clients has lost is then counted in part.
const LOOKS: u64 = 20_000_000;

/// The clients of a worker that leave and come back.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    /// By slot; absent of other clients, and of those that are away.
    of: Vec<Option<Box<Visit>>>,
    /// How many began.
    begun: u64,
    looks: u64,
}

/// A client that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Visit {
    /// Messages of this room are for it; 0 without rooms.
    room: u32,
    ready_ns: u64,
    first_ns: Option<u64>,
    latest_sent_ns: u64,
    /// Index of the first message that has a bit, a multiple of 64.
    from: u32,
    /// From here to `from` each message came.
    whole_from: u32,
    bits: VecDeque<u64>,
    /// Messages behind `from` that must have come and did not.
    lost: u64,
}

impl Visit {
    fn new(room: u32, ready_ns: u64, released: u32) -> Self {
        let from = released & !63;
        Self {
            room,
            ready_ns,
            from,
            whole_from: from,
            ..Self::default()
        }
    }

    const fn heard(&self, left_ns: u64) -> Heard {
        Heard {
            ready_ns: self.ready_ns,
            first_ns: self.first_ns,
            latest_sent_ns: self.latest_sent_ns,
            left_ns,
        }
    }

    /// Notes a message. `false` when it had come before.
    fn note(&mut self, index: u32, now_ns: u64, step: &StepLedger) -> bool {
        if let Some(sent) = step.when_sent(index) {
            self.latest_sent_ns = self.latest_sent_ns.max(sent.at_ns);
        }
        self.first_ns.get_or_insert(now_ns);
        let Some(beyond) = index.checked_sub(self.from) else {
            return index < self.whole_from;
        };
        let word = beyond as usize / 64;
        self.make_room(word, now_ns, step);
        let word = (index - self.from) as usize / 64;
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let bit = 1 << (index % 64);
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        while self.bits.front() == Some(&u64::MAX) {
            self.bits.pop_front();
            self.from += 64;
        }
        is_new
    }

    /// Drops words from the front until the one that stood at `word` is within the bound.
    #[cold]
    fn drop_front(&mut self, word: usize, now_ns: u64, step: &StepLedger) {
        for _ in 0..=word - WORDS {
            let came = self.bits.pop_front().unwrap_or(0);
            self.lost += self.lost_of(self.from, came, now_ns, step);
            self.from += 64;
        }
        self.whole_from = self.from;
    }

    #[inline]
    fn make_room(&mut self, word: usize, now_ns: u64, step: &StepLedger) {
        if word >= WORDS {
            self.drop_front(word, now_ns, step);
        }
    }

    /// Of the 64 messages from `from` on that are not set in `came`: how many must have come.
    fn lost_of(&self, from: u32, came: u64, left_ns: u64, step: &StepLedger) -> u64 {
        let missed = (0..64).filter(|bit| came & (1 << bit) == 0);
        let is_lost = |bit: &u32| {
            let index = from + bit;
            if step.room(index) != self.room {
                return false;
            }
            let message = step.when_sent(index).zip(step.when_complete(index));
            message.is_some_and(|(sent, completed_ns)| {
                let message = Sent {
                    sent_ns: sent.at_ns,
                    completed_ns,
                };
                must_hear(self.heard(left_ns), message)
            })
        };
        missed.filter(is_lost).count() as u64
    }
}

impl Visits {
    /// A client is ready, in a room if there are any.
    pub(crate) fn begin(&mut self, slot: u32, room: u32, now_ns: u64, released: u32) {
        let slot = slot as usize;
        if self.of.len() <= slot {
            self.of.resize_with(slot + 1, || None);
        }
        self.of[slot] = Some(Box::new(Visit::new(room, now_ns, released)));
        self.begun += 1;
    }

    /// A step begins: so do the visits of those that are there.
    pub(crate) fn begin_step(&mut self, now_ns: u64) {
        self.begun = 0;
        self.looks = 0;
        for visit in self.of.iter_mut().flatten() {
            **visit = Visit::new(visit.room, now_ns, 0);
            self.begun += 1;
        }
    }

    /// True of a client whose visit is under way.
    #[inline]
    pub(crate) fn has(&self, slot: u32) -> bool {
        self.of.get(slot as usize).is_some_and(Option::is_some)
    }

    /// False of a message that cannot have been sent yet: at a site, what others send is known a little
    /// later than it comes, and a server must not have its bits passed over.
    #[inline]
    pub(crate) fn is_near(index: u64, step: &StepLedger) -> bool {
        let near = u64::from(step.released()) + WORDS as u64 * 64;
        index < near.min(step.len().into())
    }

    /// A message has come. `false` when its client had it before.
    pub(crate) fn note(&mut self, slot: u32, index: u32, now_ns: u64, step: &StepLedger) -> bool {
        let visit = self.of.get_mut(slot as usize).and_then(Option::as_mut);
        visit.is_none_or(|visit| visit.note(index, now_ns, step))
    }

    /// A client has left. Returns how many messages it must have had and had not.
    pub(crate) fn end(&mut self, slot: u32, left_ns: u64, step: Option<&StepLedger>) -> u64 {
        let visit = self.of.get_mut(slot as usize).and_then(Option::take);
        match (visit, step) {
            (Some(visit), Some(step)) => self.lost(&visit, left_ns, step),
            _ => 0,
        }
    }

    /// The same of all that are there: the step ends, and they stay for the next.
    pub(crate) fn end_step(&mut self, now_ns: u64, step: &StepLedger) -> u64 {
        let all = std::mem::take(&mut self.of);
        let visits = all.iter().flatten();
        let lost = visits.map(|visit| self.lost(visit, now_ns, step)).sum();
        self.of = all;
        lost
    }

    /// How many visits of the step there were.
    pub(crate) const fn count(&self) -> u64 {
        self.begun
    }

    fn lost(&mut self, visit: &Visit, left_ns: u64, step: &StepLedger) -> u64 {
        // An echo is for its sender, and no client that leaves sends.
        if !step.audience.reaches_others() {
            return 0;
        }
        let mut lost = visit.lost;
        let words = (step.released().saturating_sub(visit.from)).div_ceil(64);
        for word in 0..words {
            let came = visit.bits.get(word as usize).copied().unwrap_or(0);
            if came == u64::MAX {
                continue;
            }
            if self.looks >= LOOKS {
                break;
            }
            self.looks += u64::from(came.count_zeros());
            lost += visit.lost_of(visit.from + word * 64, came, left_ns, step);
        }
        lost
    }
}

#[cfg(test)]
mod tests;

//! Clients of which nothing says that they are ready: they are so after a time.

use super::clients::ClientTable;
use crate::clock;
use crate::io::Token;
use crate::net::Phase;
use std::collections::VecDeque;

/// Clients that only wait for a time.
#[derive(Debug, Default)]
pub(super) struct Settling {
    /// Until when, in the order in which it comes: all wait equally long.
    until: VecDeque<(u64, Token)>,
    /// First attempts among them.
    attempts: u32,
}

impl Settling {
    /// When the next of them is ready; far in the future when there is none.
    pub(super) fn next_ns(&self) -> u64 {
        self.until
            .front()
            .map_or(u64::MAX, |(until_ns, _)| *until_ns)
    }

    /// How many of the first attempts do nothing else.
    pub(super) const fn attempts(&self) -> u32 {
        self.attempts
    }
}

impl ClientTable {
    /// A client whose time is over that it only waited for.
    pub(super) fn take_settled(&mut self, now_ns: u64) -> Option<Token> {
        while self.opening.settling.next_ns() <= now_ns {
            let (due_ns, slot) = self.opening.settling.until.pop_front()?;
            // It may be lost by now, or have begun anew.
            let phase = &self.get(slot).phase;
            if matches!(phase, Phase::Settling { until_ns } if *until_ns == due_ns) {
                return Some(slot);
            }
        }
        None
    }

    /// A client begins to wait for nothing but a time.
    pub(super) fn note_settling(&mut self, slot: Token) {
        let until_ns = clock::now_ns() + self.codec.ready_after_ns();
        self.get(slot).phase = Phase::Settling { until_ns };
        self.opening.settling.until.push_back((until_ns, slot));
        self.opening.settling.attempts += u32::from(self.is_first_attempt(slot));
    }

    /// It waits no more.
    pub(super) fn note_settled(&mut self, slot: Token) {
        self.opening.settling.attempts -= u32::from(self.is_first_attempt(slot));
    }

    fn is_first_attempt(&self, slot: Token) -> bool {
        let mut lives = self.lives.iter();
        !lives.any(|lives| lives.is_trying(slot))
    }
}

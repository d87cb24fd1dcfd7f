//! How many messages that say `{sequence}` each connection has had.

use crate::io::Token;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Sequences {
    by_client: RefCell<HashMap<Token, u64>>,
    /// The message that is being written says its own.
    is_said: Cell<bool>,
}

impl Sequences {
    /// A client begins anew.
    pub(super) fn forget(&mut self, slot: Token) {
        self.by_client.get_mut().remove(&slot);
    }

    /// That of the message which is being written.
    pub(super) fn say(&self, slot: Token) -> u64 {
        self.is_said.set(true);
        let before = self.by_client.borrow().get(&slot).copied();
        before.unwrap_or(0) + 1
    }

    /// A message is written whole. Returns its sequence, if it says one.
    pub(super) fn end(&self, slot: Token) -> Option<u64> {
        if !self.is_said.replace(false) {
            return None;
        }
        let mut all = self.by_client.borrow_mut();
        let count = all.entry(slot).or_default();
        *count += 1;
        Some(*count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_say_it_are_counted_from_1_on_each_connection() {
        let mut sequences = Sequences::default();
        assert_eq!((sequences.say(7), sequences.say(7)), (1, 1));
        assert_eq!(sequences.end(7), Some(1));
        assert_eq!(sequences.end(7), None);
        assert_eq!((sequences.say(7), sequences.end(7)), (2, Some(2)));
        assert_eq!((sequences.say(8), sequences.end(8)), (1, Some(1)));
        sequences.forget(7);
        assert_eq!((sequences.say(7), sequences.end(7)), (1, Some(1)));
        assert_eq!((sequences.say(8), sequences.end(8)), (2, Some(2)));
    }
}

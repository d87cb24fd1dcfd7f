//! The library's command queue, seen from its own event loop. Does not know the protocol.
//!
//! A handler can only send by a command in a queue of fixed size, which the event loop empties
//! between two polls. A full queue blocks the sender; and when that is the event loop, for ever. So
//! the event loop counts what it has sent, and how much of that has come out again: every now and
//! then it adds a mark, a time-out whose handler is told when the command is taken.

use std::cell::Cell;
use ws::util::Token;
use ws::{Result, Sender};

/// Commands between two marks.
const MARK_EVERY: usize = 256;

/// Counts the commands that the event loop has sent to itself.
pub(crate) struct Commands {
    limit: usize,
    sent: Cell<usize>,
    taken: Cell<usize>,
    marked: Cell<usize>,
}

impl Commands {
    /// `limit` is what may wait in the queue before `full` says so.
    pub(crate) fn new(limit: usize) -> Self {
        Commands {
            limit,
            sent: Cell::new(0),
            taken: Cell::new(0),
            marked: Cell::new(0),
        }
    }

    /// Whether as much waits as may. Too much is counted while the marks of connections that have
    /// gone are missing, until the next mark is taken.
    pub(crate) fn full(&self) -> bool {
        self.sent.get() - self.taken.get() >= self.limit
    }

    /// Whether so many more may wait.
    pub(crate) fn fit(&self, commands: usize) -> bool {
        self.sent.get() - self.taken.get() + commands < self.limit
    }

    /// Counts one more command.
    pub(crate) fn count(&self) {
        self.sent.set(self.sent.get() + 1);
    }

    pub(crate) fn mark_is_due(&self) -> bool {
        self.sent.get() - self.marked.get() >= MARK_EVERY
    }

    pub(crate) fn mark(&self, out: &Sender) -> Result<()> {
        self.count();
        self.marked.set(self.sent.get());
        out.timeout(0, Token(self.sent.get()))
    }

    /// The mark has been taken out of the queue, and all before it.
    pub(crate) fn take(&self, mark: Token) {
        self.taken.set(self.taken.get().max(mark.0));
    }
}

//! What a worker sends by the clock.

use crate::plan::Schedule;
use crate::verify::StepLedger;
use std::sync::Arc;

/// A worker's part of a schedule: the samples whose senders are its clients. Empty in a closed
/// loop.
pub(super) struct SendQueue {
    /// When `next` is due; far in the future when there is none.
    due_ns: u64,
    next: Option<Send>,
    rest: Box<dyn Iterator<Item = Send> + std::marker::Send>,
}

/// A sample that is to be sent at a moment of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Send {
    pub(super) index: u32,
    pub(super) client: u64,
    pub(super) due_ns: u64,
}

impl Default for SendQueue {
    fn default() -> Self {
        Self {
            due_ns: u64::MAX,
            next: None,
            rest: Box::new(std::iter::empty()),
        }
    }
}

impl SendQueue {
    /// The part of `schedule`, begun at `start_ns`, whose senders are `ours`.
    pub(super) fn new(
        schedule: Schedule,
        start_ns: u64,
        ledger: Arc<StepLedger>,
        ours: impl Fn(u64) -> bool + std::marker::Send + 'static,
    ) -> Self {
        // The schedule may come from another process, and the ledger has no room beyond its length. The
        // numbers of a recording do not rise with its times.
        let len = ledger.len();
        let within = schedule
            .take(len as usize)
            .filter(move |due| due.index < u64::from(len));
        let sends = within.filter_map(move |due| {
            let index = due.index as u32;
            let client = ledger.sender(index);
            ours(client).then_some(Send {
                index,
                client,
                due_ns: start_ns + due.offset_ns,
            })
        });
        let mut queue = Self {
            rest: Box::new(sends),
            ..Self::default()
        };
        queue.advance();
        queue
    }

    /// True when something is to be sent at `now_ns`.
    #[inline]
    pub(super) const fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.due_ns
    }

    /// The next sample, if it is due.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<Send> {
        if !self.is_due(now_ns) {
            return None;
        }
        let due = self.next.take();
        self.advance();
        due
    }

    /// When the next sample is due; far in the future when there is none.
    pub(super) const fn next_ns(&self) -> u64 {
        self.due_ns
    }

    /// True when no sample is left.
    pub(super) const fn is_empty(&self) -> bool {
        self.next.is_none()
    }

    fn advance(&mut self) {
        self.next = self.rest.next();
        self.due_ns = self.next.map_or(u64::MAX, |send| send.due_ns);
    }
}

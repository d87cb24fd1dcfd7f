//! What a worker sends by the clock, and how long it may sleep until then.

use crate::clock;
use crate::ledger::StepLedger;
use crate::plan::Schedule;
use std::sync::Arc;
use std::time::Duration;

/// A worker's part of a schedule: the samples whose senders are its clients. Empty in a closed
/// loop.
pub(super) struct Agenda {
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

impl Default for Agenda {
    fn default() -> Self {
        Self {
            due_ns: u64::MAX,
            next: None,
            rest: Box::new(std::iter::empty()),
        }
    }
}

impl Agenda {
    /// The part of `schedule`, begun at `start_ns`, whose senders are `ours`.
    pub(super) fn new(
        schedule: Schedule,
        start_ns: u64,
        ledger: Arc<StepLedger>,
        ours: impl Fn(u64) -> bool + std::marker::Send + 'static,
    ) -> Self {
        // The schedule may come from another process, and the ledger has no room beyond its length.
        let within = schedule.take(ledger.len() as usize);
        let sends = within.filter_map(move |due| {
            let index = due.index as u32;
            let client = ledger.sender(index);
            ours(client).then_some(Send {
                index,
                client,
                due_ns: start_ns + due.offset_ns,
            })
        });
        let mut agenda = Self {
            rest: Box::new(sends),
            ..Self::default()
        };
        agenda.advance();
        agenda
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

    /// How long a loop that has nothing else to do may wait, at most `idle`.
    pub(super) fn patience(&self, idle: Duration) -> Duration {
        if self.due_ns == u64::MAX {
            return idle;
        }
        idle.min(Duration::from_nanos(
            self.due_ns.saturating_sub(clock::now_ns()),
        ))
    }

    fn advance(&mut self) {
        self.next = self.rest.next();
        self.due_ns = self.next.map_or(u64::MAX, |send| send.due_ns);
    }
}

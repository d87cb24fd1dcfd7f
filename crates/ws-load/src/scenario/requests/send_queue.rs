//! What a worker sends by the clock.

use crate::plan::Schedule;
use crate::verify::StepLedger;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A worker's part of a schedule: the samples whose senders are its clients. Empty in a closed
/// loop.
pub(super) struct SendQueue {
    /// When the earliest is due; far in the future when there is none.
    due_ns: u64,
    next: Option<Send>,
    rest: Box<dyn Iterator<Item = Send> + std::marker::Send>,
    /// What follows from answers: when it is due, its sample and its client.
    later: BinaryHeap<Reverse<(u64, u32, u64)>>,
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
            later: BinaryHeap::new(),
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
        let Some(Reverse((due_ns, index, client))) = self.earlier() else {
            let due = self.next.take();
            self.advance();
            return due;
        };
        self.later.pop();
        self.wait();
        Some(Send {
            index,
            client,
            due_ns,
        })
    }

    /// The first of what follows from answers, if it is due before what is next by the clock.
    fn earlier(&self) -> Option<Reverse<(u64, u32, u64)>> {
        let first = self.later.peek().copied();
        first.filter(|Reverse(of)| self.next.is_none_or(|next| of.0 < next.due_ns))
    }

    /// Sends one more.
    pub(super) fn push(&mut self, send: Send) {
        self.later
            .push(Reverse((send.due_ns, send.index, send.client)));
        self.due_ns = self.due_ns.min(send.due_ns);
    }

    /// When the next sample is due; far in the future when there is none.
    pub(super) const fn next_ns(&self) -> u64 {
        self.due_ns
    }

    /// True when no sample is left.
    pub(super) const fn is_empty(&self) -> bool {
        self.due_ns == u64::MAX
    }

    fn advance(&mut self) {
        self.next = self.rest.next();
        self.wait();
    }

    fn wait(&mut self) {
        let next_ns = self.next.map_or(u64::MAX, |send| send.due_ns);
        let later_ns = self.later.peek().map_or(u64::MAX, |Reverse(of)| of.0);
        self.due_ns = next_ns.min(later_ns);
    }
}

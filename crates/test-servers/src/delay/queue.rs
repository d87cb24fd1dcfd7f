//! What is still to be written, by the moment at which it is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A frame for one or more connections, due at one moment.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Job {
    pub(super) due_ns: u64,
    /// Breaks ties in the order of the requests.
    pub(super) number: u64,
    pub(super) to: To,
    pub(super) frame: Arc<[u8]>,
    /// The request that this belongs to.
    pub(super) asked: Asked,
    /// This is the sender's result, and no answer or copy.
    pub(super) result: bool,
    /// This is the last answer or copy of the request.
    pub(super) completes: bool,
}

/// A request, as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    pub(super) arrival_ns: u64,
    pub(super) stamp: Option<u64>,
    /// Its request came in one read with a later one.
    pub(super) shared: bool,
}

/// Who gets a frame, by the number of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum To {
    One(u64),
    /// All listeners of that moment, save one.
    AllBut(Option<u64>),
}

/// The jobs in the order of their moments.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<Job>>,
    pushed: u64,
}

impl Queue {
    pub(super) fn push(&mut self, job: Job) {
        let number = self.pushed;
        self.pushed += 1;
        self.heap.push(Reverse(Job { number, ..job }));
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(job)| job.due_ns)
    }

    /// The next job, if its moment has come.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<Job> {
        if self.next_due()? > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(job)| job)
    }
}

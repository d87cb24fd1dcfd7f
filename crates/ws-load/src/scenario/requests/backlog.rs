//! Samples whose connection takes no bytes: the peer does not read, and the socket's send buffer is
//! full. They wait as numbers and are encoded when the socket takes bytes again, so that at most one
//! frame per connection is kept here.

use crate::scenario::Slot;
use std::collections::{HashMap, VecDeque};

/// A sample that is to be sent by a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) index: u32,
    /// The planned sender; if it is lost, another client sends the sample.
    pub(super) client: u64,
    /// In an open loop.
    pub(super) due_ns: Option<u64>,
    /// No attempt was made to send it.
    pub(super) is_new: bool,
}

/// Memory of a sample that waits for its connection, in bytes: queues grow by doubling.
pub(crate) const BYTES_PER_WAITING_SAMPLE: u64 = 2 * size_of::<Request>() as u64;

impl Request {
    /// One of a closed loop, due when it is sent.
    pub(super) const fn now(index: u32, client: u64) -> Self {
        Self {
            index,
            client,
            due_ns: None,
            is_new: true,
        }
    }

    /// One of an open loop.
    pub(super) const fn due(index: u32, client: u64, due_ns: u64) -> Self {
        Self {
            due_ns: Some(due_ns),
            ..Self::now(index, client)
        }
    }
}

/// What waits for the connections of a worker.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    by_slot: HashMap<Slot, OfSlot>,
    /// Connections that may take more than they were given in one go.
    ready: VecDeque<Slot>,
}

#[derive(Debug, Default)]
struct OfSlot {
    /// The sample whose frame the kernel has not taken whole.
    cut: Option<Request>,
    rest: VecDeque<Request>,
}

impl Backlog {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_slot.is_empty()
    }

    /// True when samples wait for a connection.
    #[inline]
    pub(super) fn holds(&self, slot: Slot) -> bool {
        !self.is_empty() && self.by_slot.contains_key(&slot)
    }

    /// True when a connection is to be given more although nothing happens on it.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Has a sample wait behind the others of its connection.
    pub(super) fn push(&mut self, slot: Slot, request: Request) {
        self.by_slot
            .entry(slot)
            .or_default()
            .rest
            .push_back(request);
    }

    /// The transport keeps the frame of a sample.
    pub(super) fn set_cut(&mut self, slot: Slot, request: Request) {
        self.by_slot.entry(slot).or_default().cut = Some(request);
    }

    /// The sample whose frame the transport keeps.
    pub(super) fn cut(&self, slot: Slot) -> Option<Request> {
        self.by_slot.get(&slot)?.cut
    }

    /// The kernel has the whole frame now.
    pub(super) fn take_cut(&mut self, slot: Slot) -> Option<Request> {
        self.by_slot.get_mut(&slot)?.cut.take()
    }

    /// The next sample for a connection that takes bytes.
    pub(super) fn next(&mut self, slot: Slot) -> Option<Request> {
        self.by_slot.get_mut(&slot)?.rest.pop_front()
    }

    /// Forgets a connection that nothing waits for. `false` when something does.
    pub(super) fn drop_empty(&mut self, slot: Slot) -> bool {
        let of = self.by_slot.get(&slot);
        let is_empty = of.is_none_or(|of| of.cut.is_none() && of.rest.is_empty());
        if is_empty {
            self.by_slot.remove(&slot);
        }
        is_empty
    }

    /// Gives a connection more at the next turn.
    pub(super) fn set_ready(&mut self, slot: Slot) {
        self.ready.push_back(slot);
    }

    /// The connections that are to be given more.
    pub(super) fn take_ready(&mut self) -> VecDeque<Slot> {
        std::mem::take(&mut self.ready)
    }

    /// What waits for a connection that is gone, in the order of sending.
    pub(super) fn remove(&mut self, slot: Slot) -> impl Iterator<Item = Request> {
        let of = self.by_slot.remove(&slot).unwrap_or_default();
        of.cut.into_iter().chain(of.rest)
    }

    /// Forgets everything: the step is over.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_a_lost_connection_comes_out_in_order() {
        let mut backlog = Backlog::default();
        assert!(!backlog.holds(7));
        backlog.push(7, Request::now(1, 70));
        backlog.push(7, Request::now(2, 70));
        backlog.push(8, Request::now(9, 80));
        backlog.set_cut(7, Request::now(0, 70));
        assert!(backlog.holds(7) && !backlog.drop_empty(7));
        let order: Vec<u32> = backlog.remove(7).map(|request| request.index).collect();
        assert_eq!(order, [0, 1, 2]);
        assert!(!backlog.holds(7) && backlog.holds(8));
        assert_eq!(backlog.next(8).map(|request| request.index), Some(9));
        assert!(backlog.drop_empty(8) && backlog.is_empty());
    }
}

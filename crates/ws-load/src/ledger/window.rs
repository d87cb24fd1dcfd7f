//! A worker's half of the books: which of its clients has received which sample.
//!
//! Exactly once: one bit per sample and client. In order per sender: a delivery to a client that
//! has a later sample of the same sender already was overtaken. (Not the other way round: an
//! earlier sample that is only missing may be lost, and is counted as that.)

use super::step::{Sent, StepLedger};
use run_record::Workload;
use std::collections::VecDeque;

/// The samples that this worker still waits for.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Index of the sample at the front of `entries`.
    first: u32,
    entries: VecDeque<Entry>,
    spare_bits: Vec<Vec<u64>>,
}

#[derive(Debug)]
enum Entry {
    /// Not known to have been sent.
    Unsent,
    Live(Live),
    /// Everything of it has been received.
    Done,
}

#[derive(Debug)]
struct Live {
    sent: Sent,
    /// A bit per client of this worker that has received it.
    received: Vec<u64>,
    /// Clients that have not.
    missing: u32,
    /// The sender is one of ours and has not had its result.
    awaits_result: bool,
    last_ns: u64,
    /// The sample that the same sender sent next, once it is known.
    next_of_sender: Option<u32>,
}

impl Live {
    #[inline]
    fn has(&self, slot: u32) -> bool {
        self.received[slot as usize / 64] & (1 << (slot % 64)) != 0
    }

    /// Notes a receipt; `false` when there was one already.
    #[inline]
    fn receive(&mut self, slot: u32) -> bool {
        let first = !self.has(slot);
        if first {
            self.received[slot as usize / 64] |= 1 << (slot % 64);
            self.missing -= 1;
        }
        first
    }
}

/// What the books say of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// It was due.
    Due {
        /// From the send to this receipt.
        latency_ns: u64,
        /// A later message of the same sender had come before it.
        overtaken: bool,
        /// It was the last that this worker waited for; received at most at this time.
        party_done: Option<u64>,
    },
    /// It had come before.
    Duplicate,
    /// It was never sent, or not for this client.
    NotDue,
}

/// What a worker still waited for when a step was ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Deliveries or echoes.
    pub(crate) deliveries: u64,
    /// Results.
    pub(crate) results: u64,
}

/// The clients of a worker, as the books see them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listeners<'a> {
    /// A bit per client that is alive.
    pub(crate) alive: &'a [u64],
    /// How many are.
    pub(crate) count: u32,
    /// Number of this worker, and of workers: client `i` belongs to worker `i % workers`.
    pub(crate) worker: u32,
    /// Number of workers.
    pub(crate) workers: u32,
}

impl Listeners<'_> {
    const fn owns(&self, client: u32) -> bool {
        client % self.workers == self.worker
    }

    const fn slot(&self, client: u32) -> u32 {
        client / self.workers
    }
}

impl Window {
    /// A delivery of a broadcast, or an echo, has reached the client in `slot`.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        slot: u32,
        at_ns: u64,
    ) -> Received {
        let position = match self.find(ledger, listeners, index) {
            Ok(position) => position,
            Err(verdict) => return verdict,
        };
        let overtaken = self.is_overtaken(position, slot);
        let Entry::Live(live) = &mut self.entries[position] else {
            return Received::Duplicate;
        };
        if ledger.workload == Workload::Echo
            && !(listeners.owns(live.sent.sender) && listeners.slot(live.sent.sender) == slot)
        {
            return Received::NotDue;
        }
        if !live.receive(slot) {
            return Received::Duplicate;
        }
        live.last_ns = live.last_ns.max(at_ns);
        let latency_ns = at_ns.saturating_sub(live.sent.due_ns);
        Received::Due {
            latency_ns,
            overtaken,
            party_done: self.retire_if_done(position),
        }
    }

    /// The result of a broadcast has reached the client in `slot`.
    pub(crate) fn result(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
        slot: u32,
        at_ns: u64,
    ) -> Received {
        let position = match self.find(ledger, listeners, index) {
            Ok(position) => position,
            Err(verdict) => return verdict,
        };
        let Entry::Live(live) = &mut self.entries[position] else {
            return Received::Duplicate;
        };
        let ours = listeners.owns(live.sent.sender) && listeners.slot(live.sent.sender) == slot;
        if ledger.workload == Workload::Echo || !ours {
            return Received::NotDue;
        }
        if !live.awaits_result {
            return Received::Duplicate;
        }
        live.awaits_result = false;
        let latency_ns = at_ns.saturating_sub(live.sent.due_ns);
        Received::Due {
            latency_ns,
            overtaken: false,
            party_done: self.retire_if_done(position),
        }
    }

    /// The client in `slot` is gone: what it still waited for will never come. Calls `on_done` for
    /// each sample that nobody of this worker waits for any more, with its last receipt.
    pub(crate) fn client_lost(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        slot: u32,
        mut on_done: impl FnMut(u32, u64),
    ) -> Missing {
        let mut missing = Missing::default();
        self.admit_sent(ledger, listeners);
        for position in 0..self.entries.len() {
            let index = self.first + position as u32;
            let Entry::Live(live) = &mut self.entries[position] else {
                continue;
            };
            let is_sender =
                listeners.owns(live.sent.sender) && listeners.slot(live.sent.sender) == slot;
            let listens = ledger.workload == Workload::Broadcast || is_sender;
            if listens && live.receive(slot) {
                missing.deliveries += 1;
            }
            if is_sender && live.awaits_result {
                live.awaits_result = false;
                missing.results += 1;
            }
            if let Some(last_ns) = self.mark_if_done(position) {
                on_done(index, last_ns);
            }
        }
        self.drop_done();
        missing
    }

    /// Ends the step: counts what is still missing. Whatever comes after that is a duplicate.
    pub(crate) fn close(&mut self, ledger: &StepLedger, listeners: Listeners<'_>) -> Missing {
        self.admit_sent(ledger, listeners);
        let mut missing = Missing::default();
        for entry in &self.entries {
            if let Entry::Live(live) = entry {
                missing.deliveries += u64::from(live.missing);
                missing.results += u64::from(live.awaits_result);
            }
        }
        self.reset();
        self.first = ledger.len();
        missing
    }

    /// Forgets everything, for the next step.
    pub(crate) fn reset(&mut self) {
        self.first = 0;
        self.entries.clear();
        self.spare_bits.clear();
    }

    /// Position of a sample's entry, made on its first sight.
    #[inline]
    fn find(
        &mut self,
        ledger: &StepLedger,
        listeners: Listeners<'_>,
        index: u32,
    ) -> Result<usize, Received> {
        let Some(position) = index.checked_sub(self.first) else {
            return Err(Received::Duplicate);
        };
        let position = position as usize;
        if matches!(self.entries.get(position), None | Some(Entry::Unsent)) {
            if ledger.when_sent(index).is_none() {
                return Err(Received::NotDue);
            }
            self.admit_sent(ledger, listeners);
        }
        // `admit_sent` may have dropped finished entries from the front, never live ones.
        match index.checked_sub(self.first) {
            Some(position) if matches!(self.entries[position as usize], Entry::Live(_)) => {
                Ok(position as usize)
            }
            _ => Err(Received::Duplicate),
        }
    }

    /// Makes an entry for every sample that was sent and that this worker waits for.
    #[cold]
    fn admit_sent(&mut self, ledger: &StepLedger, listeners: Listeners<'_>) {
        let released = ledger.released();
        while self.first + (self.entries.len() as u32) < released {
            self.entries.push_back(Entry::Unsent);
        }
        for position in 0..self.entries.len() {
            if !matches!(self.entries[position], Entry::Unsent) {
                continue;
            }
            let index = self.first + position as u32;
            let Some(sent) = ledger.when_sent(index) else {
                continue;
            };
            let ours = listeners.owns(sent.sender);
            let missing = match ledger.workload {
                Workload::Broadcast => listeners.count,
                Workload::Echo | Workload::Connect => u32::from(ours),
            };
            if missing == 0 {
                self.entries[position] = Entry::Done;
                continue;
            }
            let mut received = self.spare_bits.pop().unwrap_or_default();
            received.clear();
            received.extend(listeners.alive.iter().map(|alive| !alive));
            self.entries[position] = Entry::Live(Live {
                sent,
                received,
                missing,
                awaits_result: ours && ledger.workload == Workload::Broadcast,
                last_ns: sent.at_ns,
                next_of_sender: None,
            });
            self.link(ledger, index, sent);
        }
        self.drop_done();
    }

    /// Puts a sample into its sender's chain: after the one sent before it, before the next.
    fn link(&mut self, ledger: &StepLedger, index: u32, sent: Sent) {
        let end = self.first + self.entries.len() as u32;
        let of_sender = (self.first..end).filter_map(|other| {
            let when = ledger.when_sent(other)?;
            (when.sender == sent.sender).then_some((when.at_ns, other))
        });
        let (before, after): (Vec<_>, Vec<_>) = of_sender
            .filter(|(_, other)| *other != index)
            .partition(|(at_ns, _)| *at_ns < sent.at_ns);
        if let Some((_, previous)) = before.into_iter().max() {
            self.set_next(previous, Some(index));
        }
        self.set_next(index, after.into_iter().min().map(|(_, next)| next));
    }

    fn set_next(&mut self, index: u32, next: Option<u32>) {
        if let Entry::Live(live) = &mut self.entries[(index - self.first) as usize] {
            live.next_of_sender = next;
        }
    }

    /// Whether the client in `slot` has any later sample of the same sender.
    #[inline]
    fn is_overtaken(&self, position: usize, slot: u32) -> bool {
        let mut entry = &self.entries[position];
        loop {
            let Entry::Live(Live {
                next_of_sender: Some(next),
                ..
            }) = entry
            else {
                return false;
            };
            // The sample sent next may have a lower index, when two workers handed over to a third,
            // and all of it may be behind us already.
            let Some(position) = next.checked_sub(self.first) else {
                return true;
            };
            entry = &self.entries[position as usize];
            match entry {
                Entry::Unsent => return false,
                Entry::Done => return true,
                Entry::Live(live) if live.has(slot) => return true,
                Entry::Live(_) => {}
            }
        }
    }

    #[inline]
    fn retire_if_done(&mut self, position: usize) -> Option<u64> {
        let done = self.mark_if_done(position)?;
        self.drop_done();
        Some(done)
    }

    #[inline]
    fn mark_if_done(&mut self, position: usize) -> Option<u64> {
        let Entry::Live(live) = &mut self.entries[position] else {
            return None;
        };
        if live.missing > 0 || live.awaits_result {
            return None;
        }
        let last_ns = live.last_ns;
        self.spare_bits.push(std::mem::take(&mut live.received));
        self.entries[position] = Entry::Done;
        Some(last_ns)
    }

    fn drop_done(&mut self) {
        while matches!(self.entries.front(), Some(Entry::Done)) {
            self.entries.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Terms;
    use super::*;

    const ALIVE: [u64; 1] = [0b111];

    const LISTENERS: Listeners<'static> = Listeners {
        alive: &ALIVE,
        count: 3,
        worker: 0,
        workers: 1,
    };

    fn step(workload: Workload, senders: &[u32]) -> StepLedger {
        let ledger = StepLedger::new(Terms {
            workload,
            seed: 1,
            first_sample: 0,
            samples: senders.len() as u32,
            warm_up: 0,
            by_clock: false,
            clients: 3,
            parties: 1,
        });
        for (index, sender) in senders.iter().enumerate() {
            ledger.release();
            ledger.sent(
                index as u32,
                Sent {
                    due_ns: 100 + index as u64,
                    at_ns: 100 + index as u64,
                    sender: *sender,
                },
            );
        }
        ledger
    }

    fn due(received: Received) -> (u64, bool, Option<u64>) {
        match received {
            Received::Due {
                latency_ns,
                overtaken,
                party_done,
            } => (latency_ns, overtaken, party_done),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_broadcast_is_done_with_its_last_delivery_and_result() {
        let ledger = step(Workload::Broadcast, &[1]);
        let mut window = Window::default();
        let mut deliver = |slot, at| window.deliver(&ledger, LISTENERS, 0, slot, at);
        assert_eq!(due(deliver(0, 110)), (10, false, None));
        assert_eq!(deliver(0, 111), Received::Duplicate);
        assert_eq!(due(deliver(2, 150)), (50, false, None));
        assert_eq!(due(deliver(1, 130)), (30, false, None));
        assert_eq!(
            window.result(&ledger, LISTENERS, 0, 0, 160),
            Received::NotDue
        );
        assert_eq!(
            due(window.result(&ledger, LISTENERS, 0, 1, 160)),
            (60, false, Some(150))
        );
        assert_eq!(
            window.result(&ledger, LISTENERS, 0, 1, 161),
            Received::Duplicate
        );
        assert_eq!(
            window.deliver(&ledger, LISTENERS, 0, 2, 162),
            Received::Duplicate
        );
    }

    #[test]
    fn an_echo_is_due_to_its_sender_alone() {
        let ledger = step(Workload::Echo, &[1]);
        let mut window = Window::default();
        assert_eq!(
            window.deliver(&ledger, LISTENERS, 0, 2, 110),
            Received::NotDue
        );
        assert_eq!(
            due(window.deliver(&ledger, LISTENERS, 0, 1, 120)),
            (20, false, Some(120))
        );
        assert_eq!(
            window.deliver(&ledger, LISTENERS, 0, 1, 121),
            Received::Duplicate
        );
    }

    #[test]
    fn what_was_never_sent_is_not_due() {
        let ledger = step(Workload::Broadcast, &[]);
        let mut window = Window::default();
        assert_eq!(
            window.deliver(&ledger, LISTENERS, 0, 0, 1),
            Received::NotDue
        );
        assert_eq!(
            window.deliver(&ledger, LISTENERS, 7, 0, 1),
            Received::NotDue
        );
    }

    #[test]
    fn a_delivery_after_a_later_one_of_its_sender_was_overtaken() {
        let ledger = step(Workload::Broadcast, &[1, 2, 1, 1]);
        let mut window = Window::default();
        let mut deliver = |index, slot| due(window.deliver(&ledger, LISTENERS, index, slot, 200)).1;
        assert!(!deliver(1, 0), "another sender's may come first");
        assert!(!deliver(3, 0), "nothing later has come yet");
        assert!(deliver(0, 0), "the last of the chain was faster");
        assert!(deliver(2, 0));
        assert!(!deliver(0, 1));
        assert!(!deliver(2, 1));
        assert!(!deliver(3, 1));
    }

    #[test]
    fn a_sample_sent_later_under_a_lower_index_overtakes_even_when_all_of_it_has_come() {
        let ledger = step(Workload::Broadcast, &[1, 1]);
        for (index, at_ns) in [(0, 101), (1, 100)] {
            ledger.sent(
                index,
                Sent {
                    due_ns: at_ns,
                    at_ns,
                    sender: 1,
                },
            );
        }
        let mut window = Window::default();
        for slot in 0..3 {
            due(window.deliver(&ledger, LISTENERS, 0, slot, 200));
        }
        due(window.result(&ledger, LISTENERS, 0, 1, 210));
        assert!(due(window.deliver(&ledger, LISTENERS, 1, 0, 220)).1);
    }

    #[test]
    fn a_lost_delivery_makes_no_later_one_out_of_order() {
        let ledger = step(Workload::Broadcast, &[1, 1]);
        let mut window = Window::default();
        assert!(!due(window.deliver(&ledger, LISTENERS, 1, 0, 200)).1);
        assert_eq!(window.close(&ledger, LISTENERS).deliveries, 5);
    }

    #[test]
    fn a_lost_client_is_counted_once_and_waited_for_no_more() {
        let ledger = step(Workload::Broadcast, &[1, 0]);
        let mut window = Window::default();
        window.deliver(&ledger, LISTENERS, 0, 0, 110);
        window.deliver(&ledger, LISTENERS, 0, 2, 120);
        let mut done = Vec::new();
        let missing = window.client_lost(&ledger, LISTENERS, 1, |i, at| done.push((i, at)));
        assert_eq!(
            missing,
            Missing {
                deliveries: 2,
                results: 1
            }
        );
        assert_eq!(done, [(0, 120)]);
        assert_eq!(
            window.close(&ledger, LISTENERS),
            Missing {
                deliveries: 2,
                results: 1
            }
        );
    }

    #[test]
    fn closing_counts_all_that_is_missing() {
        let ledger = step(Workload::Broadcast, &[1, 2]);
        let mut window = Window::default();
        window.deliver(&ledger, LISTENERS, 0, 0, 110);
        assert_eq!(
            window.close(&ledger, LISTENERS),
            Missing {
                deliveries: 5,
                results: 2
            }
        );
    }
}

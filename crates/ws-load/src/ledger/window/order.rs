//! Order per sender: the samples of one sender as a chain in the order in which they were sent.

use super::entry::Entry;
use super::{StepLedger, Window};

impl Window {
    /// Puts a sample into its sender's chain: after the one sent before it, before the next.
    pub(super) fn link(&mut self, ledger: &StepLedger, index: u32, sender: u32) {
        let Some(own) = self.place(ledger, index).map(|(_, place)| place) else {
            return;
        };
        let end = self.first + self.entries.len() as u32;
        let of_sender = (self.first..end).filter_map(|other| {
            let (of, place) = self.place(ledger, other)?;
            (of == sender && other != index).then_some((place, other))
        });
        let (before, after): (Vec<_>, Vec<_>) = of_sender.partition(|(place, _)| *place < own);
        let (previous, next) = (before.into_iter().max(), after.into_iter().min());
        if let Some((_, previous)) = previous {
            self.set_next(previous, Some(index));
        }
        self.set_next(index, next.map(|(_, next)| next));
    }

    /// Takes a sample out of its chain.
    pub(super) fn unlink(&mut self, index: u32) {
        let position = (index - self.first) as usize;
        let next = match self.entries[position].live_mut() {
            Some(live) => live.next_of_sender.take(),
            None => return,
        };
        for entry in &mut self.entries {
            if let Some(live) = entry.live_mut()
                && live.next_of_sender == Some(index)
            {
                live.next_of_sender = next;
            }
        }
    }

    /// A sample's sender and its place among the samples of that sender. Within a process that is
    /// the time of the send. A coordinator releases samples in the order of their indices, and sites
    /// keep that order for each sender, whose clocks cannot be compared as exactly.
    fn place(&self, ledger: &StepLedger, index: u32) -> Option<(u32, u64)> {
        let sent = ledger.when_sent(index);
        if !ledger.is_shared() {
            return sent.map(|sent| (sent.sender, sent.at_ns));
        }
        let sender = match (sent, &self.entries[(index - self.first) as usize]) {
            (Some(sent), _) => sent.sender,
            (None, Entry::Unconfirmed(unconfirmed)) => unconfirmed.live.sent.sender,
            _ => return None,
        };
        Some((sender, u64::from(index)))
    }

    fn set_next(&mut self, index: u32, next: Option<u32>) {
        if let Some(live) = self.entries[(index - self.first) as usize].live_mut() {
            live.next_of_sender = next;
        }
    }

    /// Whether the client in `slot` has any later sample of the same sender.
    #[inline]
    pub(super) fn is_overtaken(&self, position: usize, slot: u32) -> bool {
        let mut live = match &self.entries[position] {
            Entry::Live(live) => live,
            Entry::Unconfirmed(unconfirmed) => &unconfirmed.live,
            Entry::Unsent | Entry::Done => return false,
        };
        loop {
            let Some(next) = live.next_of_sender else {
                return false;
            };
            // The sample sent next may have a lower index, when two workers handed over to a third,
            // and all of it may be behind us already.
            let Some(position) = next.checked_sub(self.first) else {
                return true;
            };
            live = match &self.entries[position as usize] {
                Entry::Unsent => return false,
                Entry::Done => return true,
                Entry::Live(live) => live,
                Entry::Unconfirmed(unconfirmed) => &unconfirmed.live,
            };
            if live.has(slot) {
                return true;
            }
        }
    }
}

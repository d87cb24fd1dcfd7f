//! Order per sender: which clients already have a later sample of a sender.
//!
//! The samples in flight form a chain per sender and room, in the order in which they were sent. The last of a
//! chain, as nearly every sample is, was not overtaken. For any other, the later samples of a chain
//! of up to [`WALK`] are asked. For a longer chain, the place of the latest sample that each client
//! has is kept, which takes no more memory than the bits of that many samples.

use super::entry::Entry;
use std::collections::{BTreeMap, HashMap};

/// Longest chain whose samples are asked one after the other.
const WALK: usize = 64;

/// Room and sender.
type Chain = (u32, u32);
/// Chain, place and index.
type Key = (Chain, u64, u32);

#[derive(Debug, Default)]
pub(super) struct Chains {
    /// Chain, place, and index to the number of the entry.
    links: BTreeMap<Key, u32>,
    senders: HashMap<Chain, OfSender>,
}

#[derive(Debug, Default)]
struct OfSender {
    /// Samples in its chain.
    count: usize,
    /// One past the greatest place of a sample that all clients of this worker have.
    done_to: u64,
    /// Per slot: one past the greatest place that the client has. Empty of a short chain.
    latest: Vec<u64>,
}

impl Chains {
    /// Puts a sample into its sender's chain.
    pub(super) fn link(&mut self, entries: &mut [Entry], number: u32) {
        let Some((key, slots)) = key(entries, number) else {
            return;
        };
        let (sender, place, _) = key;
        self.links.insert(key, number);
        let before = self.links.range((sender, 0, 0)..key).next_back();
        if let Some((_, before)) = before
            && let Some(live) = entries[*before as usize].live_mut()
        {
            live.crowded = true;
        }
        let is_last = self.after(sender, place).next().is_none();
        let of = self.senders.entry(sender).or_default();
        of.count += 1;
        let crowded = !is_last || place < of.done_to || !of.latest.is_empty();
        if let Some(live) = entries[number as usize].live_mut() {
            live.crowded = crowded;
        }
        if of.count >= WALK && of.latest.is_empty() {
            self.note_latest(entries, sender, slots);
        }
    }

    /// Takes a sample out of its chain; `done` when all clients of this worker have it.
    pub(super) fn unlink(&mut self, entries: &[Entry], number: u32, done: bool) {
        let Some((key, _)) = key(entries, number) else {
            return;
        };
        let (sender, place, _) = key;
        self.links.remove(&key);
        let Some(of) = self.senders.get_mut(&sender) else {
            return;
        };
        of.count -= 1;
        if done {
            of.done_to = of.done_to.max(place + 1);
        }
        // What clients have of a sample that turns out to be another sender's must not stay.
        if of.count < WALK / 2 || !done {
            of.latest = Vec::new();
        }
    }

    /// Whether the client in `slot`, which has just received a sample, has a later one of its sender.
    #[cold]
    pub(super) fn is_overtaken(&mut self, entries: &[Entry], number: u32, slot: u32) -> bool {
        let Some(((sender, place, _), _)) = key(entries, number) else {
            return false;
        };
        let Some(of) = self.senders.get_mut(&sender) else {
            return false;
        };
        let mut overtaken = place + 1 < of.done_to;
        if let Some(latest) = of.latest.get_mut(slot as usize) {
            overtaken |= place + 1 < *latest;
            *latest = (*latest).max(place + 1);
            return overtaken;
        }
        overtaken
            || self.after(sender, place).any(|(_, later)| {
                let live = entries[*later as usize].live();
                live.is_some_and(|live| live.has(slot))
            })
    }

    /// The samples of a sender that were sent after `place`.
    fn after(&self, sender: Chain, place: u64) -> impl Iterator<Item = (&Key, &u32)> {
        self.links
            .range((sender, place + 1, 0)..=(sender, u64::MAX, u32::MAX))
    }

    /// Notes for each slot the latest sample of a sender's chain that it has.
    fn note_latest(&mut self, entries: &mut [Entry], sender: Chain, slots: usize) {
        let mut latest = vec![0; slots];
        let chain = self
            .links
            .range((sender, 0, 0)..=(sender, u64::MAX, u32::MAX));
        for ((_, place, _), number) in chain {
            let Some(live) = entries[*number as usize].live_mut() else {
                continue;
            };
            live.crowded = true;
            for (word, bits) in live.received.iter().enumerate() {
                let mut bits = *bits;
                while bits != 0 {
                    let slot = word * 64 + bits.trailing_zeros() as usize;
                    latest[slot] = latest[slot].max(place + 1);
                    bits &= bits - 1;
                }
            }
        }
        if let Some(of) = self.senders.get_mut(&sender) {
            of.latest = latest;
        }
    }
}

/// Where a sample stands in the chains, and how many slots its bits are of.
fn key(entries: &[Entry], number: u32) -> Option<(Key, usize)> {
    let live = entries[number as usize].live()?;
    let key = ((live.room, live.sent.sender), live.place, live.index);
    Some((key, live.received.len() * 64))
}

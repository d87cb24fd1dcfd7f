//! The clients of a worker: who is alive, who is gone, and who is in which room.

use crate::verify::ledger::{Listeners, Seats};

/// The clients of a worker, by slot.
#[derive(Debug)]
pub(super) struct Crowd {
    worker: u32,
    workers: u32,
    /// Clients that the ledger counts on: those that are alive, and those in `gone`.
    pub(super) alive: Bits,
    /// Clients that are gone, which the ledger does not know yet.
    pub(super) gone: Bits,
    /// Clients that no sample waits for.
    unawaited: Bits,
    /// Who is in which room, if there are rooms.
    pub(super) seats: Option<Seats>,
}

/// A set of slots.
#[derive(Debug)]
pub(super) struct Bits {
    pub(super) words: Vec<u64>,
    /// How many are set.
    pub(super) count: u32,
}

impl Bits {
    const EMPTY: Self = Self {
        words: Vec::new(),
        count: 0,
    };

    fn add(&mut self, slot: u32) {
        let word = slot as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (slot % 64);
        self.count += u32::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    #[inline]
    pub(super) fn has(&self, slot: u32) -> bool {
        let word = self.words.get(slot as usize / 64);
        word.is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }
}

impl Crowd {
    /// Worker number `worker` of so many has no clients yet.
    pub(super) const fn new(worker: u32, workers: u32) -> Self {
        Self {
            worker,
            workers,
            alive: Bits::EMPTY,
            gone: Bits::EMPTY,
            unawaited: Bits::EMPTY,
            seats: None,
        }
    }

    #[inline]
    pub(super) fn listeners(&self) -> Listeners<'_> {
        Listeners {
            alive: &self.alive.words,
            count: self.alive.count,
            worker: self.worker,
            workers: self.workers,
            seats: self.seats.as_ref(),
        }
    }

    /// The number of a client among those of all workers.
    pub(super) fn number(&self, slot: u32) -> u64 {
        u64::from(slot) * u64::from(self.workers) + u64::from(self.worker)
    }

    /// The room of a client; 0 without rooms.
    #[inline]
    pub(super) fn room(&self, slot: u32) -> u32 {
        self.seats.as_ref().map_or(0, |seats| seats.seat(slot).room)
    }

    /// How many clients samples wait for.
    pub(super) const fn awaited(&self) -> u32 {
        self.alive.count - self.gone.count
    }

    /// True of a client that no sample waits for.
    #[inline]
    pub(super) fn is_unawaited(&self, slot: u32) -> bool {
        self.unawaited.has(slot)
    }

    /// A client is ready. Samples wait for it from now on.
    pub(super) fn ready(&mut self, slot: u32) {
        self.alive.add(slot);
    }

    /// A client is ready that no sample waits for.
    pub(super) fn ready_unawaited(&mut self, slot: u32) {
        self.unawaited.add(slot);
    }

    /// A client that was ready is gone.
    pub(super) fn lose(&mut self, slot: u32) {
        self.gone.add(slot);
    }

    /// The ledger knows of the clients that are gone.
    pub(super) fn forget_gone(&mut self) {
        for (alive, gone) in self.alive.words.iter_mut().zip(&mut self.gone.words) {
            *alive &= !std::mem::take(gone);
        }
        self.alive.count -= std::mem::take(&mut self.gone.count);
    }
}

//! The clients of a worker, as the ledger sees them: who is alive, and who is in which room.

use super::StepLedger;
use crate::plan::Hearers;
use std::collections::BTreeMap;

/// The clients of a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listeners<'a> {
    /// A bit per client that is alive, by slot.
    pub(crate) alive: &'a [u64],
    /// How many are.
    pub(crate) count: u32,
    /// Number of this worker, and of workers: client `i` belongs to worker `i % workers`.
    pub(crate) worker: u32,
    /// Number of workers.
    pub(crate) workers: u32,
    /// Where each client is, if there are rooms. Without them all are in room 0, where the place of a
    /// client is its slot.
    pub(crate) seats: Option<&'a Seats>,
}

/// Where a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// Its room.
    pub(crate) room: u32,
    /// Its place among those clients of this worker that are in the room.
    pub(crate) place: u32,
}

impl Seat {
    /// Of a client without a place, which no sample waits for.
    const NOWHERE: Self = Self {
        room: u32::MAX,
        place: u32::MAX,
    };
}

/// The seats of a worker's clients.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    /// By slot.
    seats: Vec<Seat>,
    /// By number.
    rooms: Vec<Room>,
}

/// The clients of this worker in one room.
#[derive(Debug, Default)]
struct Room {
    /// A bit per place whose client is alive.
    alive: Vec<u64>,
    /// How many are.
    count: u32,
    /// Places so far.
    places: u32,
}

/// Clients that were lost at once.
#[derive(Debug)]
pub(crate) struct Lost<'a> {
    /// A bit per slot.
    slots: &'a [u64],
    /// With rooms: of each room, a bit per place.
    rooms: Option<BTreeMap<u32, Vec<u64>>>,
}

impl<'a> Listeners<'a> {
    /// Where a client is.
    #[inline]
    pub(super) fn seat(&self, slot: u32) -> Seat {
        match self.seats {
            None => Seat {
                room: 0,
                place: slot,
            },
            Some(seats) => seats.seat(slot),
        }
    }

    /// The clients of a room.
    #[inline]
    pub(super) fn hearers(&self, room: u32) -> Hearers<'a> {
        match self.seats {
            None => Hearers {
                places: self.alive,
                count: self.count,
            },
            Some(seats) => seats.hearers(room),
        }
    }

    pub(super) const fn owns(&self, client: u32) -> bool {
        client % self.workers == self.worker
    }

    /// True when the client is this worker's and has that slot.
    #[inline]
    pub(crate) const fn is_slot_of(&self, client: u32, slot: u32) -> bool {
        self.owns(client) && client / self.workers == slot
    }

    /// True when the client in `slot` is the one that sent a sample.
    pub(crate) fn sent(&self, ledger: &StepLedger, index: u32, slot: u32) -> bool {
        let sent = ledger.when_sent(index);
        sent.is_some_and(|sent| self.is_slot_of(sent.sender, slot))
    }

    /// The place in a room of a client of this worker that is alive and that samples wait for.
    pub(super) fn place_of(&self, client: u32, room: u32) -> Option<u32> {
        let seat = self.has(client).then(|| self.seat(client / self.workers))?;
        (seat.room == room && seat.place != u32::MAX).then_some(seat.place)
    }

    /// True when the client is this worker's and its slot is set in `slots`.
    fn is_set(&self, client: u32, slots: &[u64]) -> bool {
        let slot = client / self.workers;
        let word = slots.get(slot as usize / 64);
        self.owns(client) && word.is_some_and(|word| word & (1 << (slot % 64)) != 0)
    }

    /// True when the client is this worker's and is among the lost.
    pub(super) fn is_in(&self, client: u32, lost: &Lost<'_>) -> bool {
        self.is_set(client, lost.slots)
    }

    /// True when this worker waits for something of a sample that has not come to it yet.
    pub(super) fn awaits(&self, ledger: &StepLedger, index: u32) -> bool {
        self.hearers(ledger.room(index)).count > 0 || self.owns(ledger.sender(index) as u32)
    }

    /// True when the client is this worker's and alive.
    pub(super) fn has(&self, client: u32) -> bool {
        self.is_set(client, self.alive)
    }
}

impl Seats {
    /// Where a client is.
    #[inline]
    pub(crate) fn seat(&self, slot: u32) -> Seat {
        let seat = self.seats.get(slot as usize);
        seat.copied().unwrap_or(Seat::NOWHERE)
    }

    /// A client enters its room, with a place there if samples wait for it.
    pub(crate) fn enter(&mut self, slot: u32, room: u32, is_awaited: bool) {
        let slot = slot as usize;
        if self.seats.len() <= slot {
            self.seats.resize(slot + 1, Seat::NOWHERE);
        }
        self.seats[slot] = Seat {
            room,
            ..Seat::NOWHERE
        };
        if !is_awaited {
            return;
        }
        if self.rooms.len() <= room as usize {
            self.rooms.resize_with(room as usize + 1, Room::default);
        }
        let of = &mut self.rooms[room as usize];
        let place = of.places;
        of.places += 1;
        of.count += 1;
        of.alive.resize(place as usize / 64 + 1, 0);
        of.alive[place as usize / 64] |= 1 << (place % 64);
        self.seats[slot].place = place;
    }

    /// A client that no sample waits for is in no room any more.
    pub(crate) fn leave_room(&mut self, slot: u32) {
        if let Some(seat) = self.seats.get_mut(slot as usize) {
            *seat = Seat::NOWHERE;
        }
    }

    /// The clients are gone. Calls `on_empty` for each room that has none left.
    pub(crate) fn leave(&mut self, lost: &Lost<'_>, mut on_empty: impl FnMut(u32)) {
        for (room, places) in lost.rooms.iter().flatten() {
            let Some(of) = self.rooms.get_mut(*room as usize) else {
                continue;
            };
            for (alive, lost) in of.alive.iter_mut().zip(places) {
                of.count -= (*alive & lost).count_ones();
                *alive &= !lost;
            }
            if of.count == 0 {
                on_empty(*room);
            }
        }
    }

    /// The rooms that had clients and have none left.
    pub(crate) fn empty(&self) -> impl Iterator<Item = u32> {
        let rooms = self.rooms.iter().enumerate();
        let empty = rooms.filter(|(_, of)| of.places > 0 && of.count == 0);
        empty.map(|(room, _)| room as u32)
    }

    fn hearers(&self, room: u32) -> Hearers<'_> {
        match self.rooms.get(room as usize) {
            None => Hearers {
                places: &[],
                count: 0,
            },
            Some(of) => Hearers {
                places: &of.alive,
                count: of.count,
            },
        }
    }
}

impl<'a> Lost<'a> {
    /// The clients whose slots are set.
    pub(crate) fn new(slots: &'a [u64], seats: Option<&Seats>) -> Self {
        let rooms = seats.map(|seats| {
            let mut rooms: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            for slot in set(slots) {
                let Seat { room, place } = seats.seat(slot);
                if place != u32::MAX {
                    let places = rooms.entry(room).or_default();
                    let word = place as usize / 64;
                    if places.len() <= word {
                        places.resize(word + 1, 0);
                    }
                    places[word] |= 1 << (place % 64);
                }
            }
            rooms
        });
        Self { slots, rooms }
    }

    /// A bit per place of a room.
    pub(super) fn in_room(&self, room: u32) -> &[u64] {
        match &self.rooms {
            None => self.slots,
            Some(rooms) => rooms.get(&room).map_or(&[], Vec::as_slice),
        }
    }
}

/// The numbers of the bits that are set.
fn set(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().enumerate().flat_map(|(word, bits)| {
        let mut bits = *bits;
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros())?;
            bits &= bits - 1;
            Some(word as u32 * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_within_a_room() {
        let mut seats = Seats::default();
        for (slot, room) in [(0, 7), (1, 2), (5, 7), (130, 7)] {
            seats.enter(slot, room, true);
        }
        seats.enter(6, 7, false);
        let seat = |room, place| Seat { room, place };
        assert_eq!(seats.seat(5), seat(7, 1));
        assert_eq!(seats.seat(130), seat(7, 2));
        assert_eq!(seats.seat(6), seat(7, u32::MAX));
        assert_eq!(seats.seat(3), Seat::NOWHERE);
        assert_eq!(seats.hearers(7).places, [0b111]);
        assert_eq!(seats.hearers(2).count, 1);
        assert_eq!(seats.hearers(99).count, 0);
    }

    #[test]
    fn a_room_is_empty_when_its_last_client_is_lost() {
        let mut seats = Seats::default();
        for slot in 0..70 {
            seats.enter(slot, slot % 2, true);
        }
        let mut slots = [u64::MAX / 3, 0b1];
        let mut empty = Vec::new();
        let lost = Lost::new(&slots, Some(&seats));
        assert_eq!(
            lost.in_room(0)
                .iter()
                .map(|word| word.count_ones())
                .sum::<u32>(),
            33
        );
        assert!(lost.in_room(1).is_empty());
        seats.leave(&lost, |room| empty.push(room));
        assert_eq!(seats.hearers(0).count, 2);
        slots = [0, 0b1_0100];
        let lost = Lost::new(&slots, Some(&seats));
        seats.leave(&lost, |room| empty.push(room));
        assert_eq!(empty, [0]);
        assert_eq!(seats.empty().collect::<Vec<_>>(), [0]);
        assert_eq!(seats.hearers(1).count, 35);
    }

    #[test]
    fn only_a_room_that_had_clients_is_empty() {
        let mut seats = Seats::default();
        seats.enter(0, 2, true);
        seats.enter(1, 5, false);
        let empty = |seats: &Seats| seats.empty().collect::<Vec<_>>();
        assert!(empty(&seats).is_empty());
        let lost = Lost::new(&[0b11], Some(&seats));
        seats.leave(&lost, drop);
        assert_eq!(empty(&seats), [2]);
    }
}

//! Who is to hear a sample. That everyone listens stands here and nowhere else.

pub(crate) use run_record::Audience;

use super::RoomTable;
use run_record::Population;

/// Those of a worker's clients that are to hear a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hearers<'a> {
    /// A bit per place.
    pub(crate) places: &'a [u64],
    /// How many are set.
    pub(crate) count: u32,
}

/// What an audience means for those who wait for a sample.
pub(crate) trait Hearing: Copy {
    /// True when clients other than the sender hear a sample, and the sender gets a result.
    fn reaches_others(self) -> bool;

    /// How many of `workers` wait for a sample of a step with so many clients. Each has every n-th
    /// client from its number on.
    fn parties(
        self,
        populations: &[Population],
        clients: u64,
        workers: impl Iterator<Item = (u32, u32)>,
    ) -> Parties;
}

/// How many workers wait for a sample.
#[derive(Debug)]
pub(crate) enum Parties {
    /// As many for each.
    Same(u32),
    /// It depends on the room that it goes to.
    ByRoom(RoomTable),
}

impl Parties {
    /// The room that messages drawn for a client go to: one and the same without rooms.
    #[inline]
    pub(crate) fn room(&self, drawn: u64) -> u32 {
        match self {
            Self::Same(_) => 0,
            Self::ByRoom(table) => table.room(drawn),
        }
    }

    /// The client that sends what `drawn` was drawn for: where clients leave, one of its room, if one of
    /// that stays.
    pub(crate) fn sender(&self, populations: &[Population], drawn: u64, clients: u64) -> u64 {
        let of_room = match self {
            Self::ByRoom(table) if populations.iter().any(Population::leaves) => {
                table.stand_in(drawn)
            }
            _ => None,
        };
        of_room.unwrap_or_else(|| super::sender_from(populations, drawn, clients))
    }

    /// How many workers wait for a sample that is drawn for one client and sent by another, or by
    /// the same.
    pub(crate) fn of(&self, drawn: u64, sender: u64) -> u32 {
        match self {
            Self::Same(count) => *count,
            Self::ByRoom(table) => table.parties(table.room(drawn), sender),
        }
    }
}

impl Hearing for Audience {
    #[inline]
    fn reaches_others(self) -> bool {
        match self {
            Self::Sender => false,
            Self::Everyone | Self::Room(_) => true,
        }
    }

    fn parties(
        self,
        populations: &[Population],
        clients: u64,
        workers: impl Iterator<Item = (u32, u32)>,
    ) -> Parties {
        match self {
            Self::Sender => Parties::Same(1),
            Self::Everyone => Parties::Same(super::listening(populations, clients, workers)),
            Self::Room(rooms) => {
                let is_awaited = |client| super::population_of(populations, client).is_awaited();
                Parties::ByRoom(RoomTable::new(rooms, clients, is_awaited, workers))
            }
        }
    }
}

impl Hearers<'_> {
    /// How many of them are set in `places`.
    pub(crate) fn among(self, places: &[u64]) -> u32 {
        let words = self.places.iter().zip(places);
        words.map(|(hears, set)| (hears & set).count_ones()).sum()
    }
}

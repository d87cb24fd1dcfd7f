//! Who is to hear a sample. That everyone listens stands here and nowhere else.

pub(crate) use plan::Audience;

use super::RoomTable;
use plan::{Load, Plan, Population, Rooms, Zipf};

/// Those of a worker's clients that are to hear a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hearers<'a> {
    /// A bit per place.
    pub(crate) places: &'a [u64],
    /// How many are set.
    pub(crate) count: u32,
}

/// How many messages a closed loop has under way to one of `workers` workers at most, in rooms of the
/// mean size; without a bound where requests are sent by the clock.
pub(crate) fn most_under_way(plan: &Plan, clients: u64, workers: u32) -> u64 {
    let Load::Closed(closed) = &plan.load else {
        return u64::MAX;
    };
    let hearers = match plan.audience {
        Audience::Sender => 1,
        Audience::Everyone => clients,
        Audience::Room(Rooms::Members(members)) => members.into(),
        Audience::Room(Rooms::Equal(rooms) | Rooms::Zipf(Zipf { rooms, .. })) => {
            clients.div_ceil(u64::from(rooms.max(1)))
        }
    };
    let of_all = u64::from(closed.in_flight).saturating_mul(hearers);
    of_all.div_ceil(u64::from(workers.max(1)))
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
    /// The room that what is drawn for a client goes to: one and the same without rooms.
    #[inline]
    pub(crate) fn room(&self, drawn: u64) -> u32 {
        match self {
            Self::Same(_) => 0,
            Self::ByRoom(table) => table.room(drawn),
        }
    }

    /// The client that sends what `drawn` was drawn for: one that samples wait for, of the room that it
    /// goes to.
    pub(crate) fn sender(&self, populations: &[Population], drawn: u64, clients: u64) -> u64 {
        match self {
            Self::Same(_) => super::sender_from(populations, drawn, clients),
            Self::ByRoom(table) => table.sender(drawn),
        }
    }

    /// How many workers wait for a sample that is drawn for one client and sent by another, or by
    /// the same.
    pub(crate) fn party(&self, drawn: u64, sender: u64) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_is_bounded_by_those_who_hear_it() {
        let mut plan = crate::test_plan("ws://127.0.0.1:1/ws");
        plan.load = Load::closed(4, 100);
        let most = |plan: &Plan| most_under_way(plan, 1000, 2);
        for (audience, due) in [
            (Audience::Sender, 2),
            (Audience::Everyone, 2000),
            (Audience::Room(Rooms::Members(10)), 20),
            (Audience::Room(Rooms::Equal(300)), 8),
        ] {
            plan.audience = audience;
            assert_eq!(most(&plan), due, "{audience:?}");
        }
        let open = serde_json::json!({ "rate": 5.0 });
        plan.load = Load::Open(serde_json::from_value(open).unwrap());
        assert_eq!(most(&plan), u64::MAX);
    }
}

//! The samples of a step room by room: what clients of one room are held against.

/// The samples of each room, in the order of their numbers.
#[derive(Debug)]
pub(super) struct ByRoom {
    /// Where each room begins in `samples`; behind the last room the end.
    begins: Box<[u32]>,
    samples: Box<[u32]>,
    /// By sample: its place in its room.
    places: Box<[u32]>,
}

/// The samples of one room. Each has a place there: its number among them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OfRoom<'a> {
    /// So many, each in the place of its number.
    All(u32),
    /// Some of them.
    Some {
        samples: &'a [u32],
        /// Where its words begin among those of all rooms.
        first_word: usize,
    },
}

impl ByRoom {
    /// Of samples of which each goes to the room that stands in its place.
    pub(super) fn new(rooms: &[u32]) -> Self {
        let count = rooms.iter().max().map_or(0, |last| *last as usize + 1);
        let mut begins = vec![0; count + 1];
        let places = rooms.iter().map(|room| {
            let of_room: &mut u32 = &mut begins[*room as usize + 1];
            *of_room += 1;
            *of_room - 1
        });
        let places: Box<[u32]> = places.collect();
        for room in 0..count {
            begins[room + 1] += begins[room];
        }
        let mut samples = vec![0; rooms.len()];
        for ((sample, room), place) in (0..).zip(rooms).zip(&places) {
            samples[(begins[*room as usize] + place) as usize] = sample;
        }
        Self {
            begins: begins.into(),
            samples: samples.into(),
            places,
        }
    }

    /// The place of a sample in its room.
    pub(super) fn place(&self, sample: u32) -> u32 {
        self.places[sample as usize]
    }

    /// The samples of a room.
    pub(super) fn room(&self, room: u32) -> OfRoom<'_> {
        let room = room as usize;
        let Some([begins, ends]) = self.begins.get(room..).and_then(<[u32]>::first_chunk) else {
            return OfRoom::All(0);
        };
        OfRoom::Some {
            samples: &self.samples[*begins as usize..*ends as usize],
            // A room of n samples has n / 64 words and one more at most.
            first_word: *begins as usize / 64 + room,
        }
    }
}

impl OfRoom<'_> {
    /// The sample in a place.
    pub(crate) fn sample(self, place: u32) -> Option<u32> {
        match self {
            Self::All(count) => (place < count).then_some(place),
            Self::Some { samples, .. } => samples.get(place as usize).copied(),
        }
    }

    /// How many of them come before a sample, which may be of another room.
    pub(crate) fn before(self, sample: u32) -> u32 {
        match self {
            Self::All(count) => sample.min(count),
            Self::Some { samples, .. } => samples.partition_point(|of| *of < sample) as u32,
        }
    }

    /// A number for each 64 places from `place` on, which no others have, of this room or another.
    pub(crate) fn word(self, place: u32) -> usize {
        let word = place as usize / 64;
        match self {
            Self::All(_) => word,
            Self::Some { first_word, .. } => first_word + word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn each_sample_has_one_place_and_each_64_places_a_word(
            rooms in prop::collection::vec(0u32..7, 0..1_000),
        ) {
            let by_room = ByRoom::new(&rooms);
            let mut words = HashSet::new();
            for room in 0..8 {
                let of = by_room.room(room);
                let own = (0..).zip(&rooms).filter(|(_, other)| **other == room);
                let own: Vec<u32> = own.map(|(sample, _)| sample).collect();
                for (place, sample) in (0..).zip(&own) {
                    prop_assert_eq!(of.sample(place), Some(*sample));
                    prop_assert_eq!(by_room.place(*sample), place);
                    prop_assert!(place % 64 != 0 || words.insert(of.word(place)));
                    prop_assert_eq!(of.word(place), of.word(place & !63));
                }
                let count = own.len() as u32;
                prop_assert_eq!(of.sample(count), None);
                for sample in 0..=rooms.len() as u32 {
                    let before = own.iter().filter(|of| **of < sample);
                    prop_assert_eq!(of.before(sample) as usize, before.count());
                }
            }
        }
    }
}

//! Who is to hear a sample. That everyone listens stands here and nowhere else.

pub(crate) use run_record::Audience;

/// Those of a worker's clients that are to hear a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hearers<'a> {
    /// A bit per slot.
    pub(crate) slots: &'a [u64],
    /// How many are set.
    pub(crate) count: u32,
}

/// What an audience means for those who wait for a sample.
pub(crate) trait Hearing: Copy {
    /// True when clients other than the sender hear a sample, and the sender gets a result.
    fn reaches_others(self) -> bool;

    /// How many workers wait for a sample, of `listening` that have clients which hear what others
    /// send.
    fn parties(self, listening: u32) -> u32;

    /// Of the `count` clients of a worker that are set in `alive`: those that are to hear the sample
    /// `index`. The sender alone is found by the ledger, which knows it.
    fn hearers(self, index: u32, alive: &[u64], count: u32) -> Hearers<'_>;
}

impl Hearing for Audience {
    #[inline]
    fn reaches_others(self) -> bool {
        match self {
            Self::Sender => false,
            Self::Everyone => true,
        }
    }

    fn parties(self, listening: u32) -> u32 {
        match self {
            Self::Sender => 1,
            Self::Everyone => listening,
        }
    }

    #[inline]
    fn hearers(self, _index: u32, alive: &[u64], count: u32) -> Hearers<'_> {
        match self {
            Self::Sender => Hearers {
                slots: &[],
                count: 0,
            },
            Self::Everyone => Hearers {
                slots: alive,
                count,
            },
        }
    }
}

impl Hearers<'_> {
    /// How many of them are set in `slots`.
    pub(crate) fn among(self, slots: &[u64]) -> u32 {
        let words = self.slots.iter().zip(slots);
        words.map(|(hears, set)| (hears & set).count_ones()).sum()
    }
}

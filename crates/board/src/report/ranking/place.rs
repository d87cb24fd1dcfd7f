//! Places, shared where the repetitions do not tell rows apart.
//!
//! One row is before another when it stands above it in the order and the two are apart. Rows of
//! so few repetitions that no test can separate them are apart when their figures differ. Others
//! are apart when the rank test of `shootout compare` says so, and says it of the one that stands
//! above: at five percent for each pair and not corrected for the number of pairs, over the figures
//! whose median is the one by which it stands there: clients carried, or the one that tells equal
//! rows apart ([`super::Score`]).
//!
//! Of a row that the generator ended the clients are a lower bound: it is before the rows that are
//! apart from that bound, and behind those alone that are apart from the most that it may have
//! carried.

use super::{Row, Score, score, spread};
use crate::stats::{ALPHA, Median, enough, rank_test};
use std::fmt;

/// The places that a row may have, from 1. The best is behind every row that is certainly before
/// it, the worst before every row that is certainly after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The best of them.
    pub best: usize,
    /// The worst of them; larger where it shares them.
    pub worst: usize,
}

impl Place {
    /// Whether another row may have the same place.
    pub(crate) fn shares_with(self, other: Self) -> bool {
        self.best <= other.worst && other.best <= self.worst
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.best == self.worst {
            true => write!(f, "{}", self.best),
            false => write!(f, "{}–{}", self.best, self.worst),
        }
    }
}

/// Of clients.
const MORE_IS_BETTER: bool = true;

/// What decides where a row stands.
pub(super) struct Standing {
    ranked: bool,
    is_lower_bound: bool,
    median: Option<u64>,
    by: Score,
    figure: Option<f64>,
    /// One figure for each repetition.
    clients: Vec<f64>,
    /// The most that it may be.
    most: Vec<f64>,
    figures: Vec<f64>,
}

impl Standing {
    pub(super) fn new(
        row: &Row<'_>,
        ranked: bool,
        by: Score,
        common: Option<u64>,
        figure: Option<f64>,
    ) -> Self {
        Self {
            ranked,
            is_lower_bound: row.is_lower_bound(),
            median: row.carried.map(|carried| carried.median),
            by,
            figure,
            clients: spread::clients(row),
            most: spread::most_clients(row),
            figures: score::figures(row, by, common),
        }
    }

    /// Whether a row that stands above another is before it.
    fn is_apart(&self, other: &Self) -> bool {
        if other.is_lower_bound {
            let [least, most] = [&self.clients, &other.most].map(|of| Median::Measured.of(of));
            return least > most && separated(&self.clients, &other.most, MORE_IS_BETTER);
        }
        if self.median != other.median {
            return separated(&self.clients, &other.clients, MORE_IS_BETTER);
        }
        if self.is_lower_bound || self.figure == other.figure {
            return false;
        }
        separated(&self.figures, &other.figures, self.by.is_higher_better())
    }
}

/// Whether the repetitions put a row above another with a worse figure, as far as their number allows
/// a test.
fn separated(above: &[f64], below: &[f64], is_higher_better: bool) -> bool {
    if !enough(above.len(), below.len()) {
        return true;
    }
    let test = rank_test(above, below);
    let even = (above.len() * below.len()) as f64 / 2.0;
    let is_in_favour = match is_higher_better {
        true => test.u < even,
        false => test.u > even,
    };
    is_in_favour && test.p <= ALPHA
}

/// Gives the rows of one workload and dialect, in order, their places.
pub(super) fn placed<'a>(ordered: Vec<(Row<'a>, Standing)>) -> Vec<Row<'a>> {
    let standings: Vec<&Standing> = ordered.iter().map(|(_, standing)| standing).collect();
    let ranked = standings.iter().filter(|standing| standing.ranked).count();
    let place = |index: usize| {
        let this = standings[index];
        let before = standings[..index].iter();
        let before = before.filter(|above| above.is_apart(this)).count();
        let after = standings[index + 1..ranked].iter();
        let after = after.filter(|below| this.is_apart(below)).count();
        Place {
            best: before + 1,
            worst: ranked - after,
        }
    };
    let places: Vec<Option<Place>> = (0..ordered.len())
        .map(|index| (index < ranked).then(|| place(index)))
        .collect();
    let rows = ordered.into_iter().zip(places);
    rows.map(|((row, _), place)| Row { place, ..row }).collect()
}

//! Places, shared where the repetitions do not tell rows apart.
//!
//! One row is before another when it stands above it in the order and the two are apart. Rows of
//! so few repetitions that no test can separate them are apart when their figures differ. Others
//! are apart when the rank test of `shootout compare` says so, and says it of the one that stands
//! above, over the figures whose median is the one by which it stands there: clients carried, or the
//! one that tells equal rows apart ([`super::Score`]). Of the pairs of one workload and dialect
//! that are called apart, at most five percent are expected to be wrong ([`benjamini_hochberg`]).
//!
//! A row that missed the limit in half of its repetitions or more is behind every row that kept it in
//! all of them, whatever the test says.
//!
//! Of a row that the generator ended the clients are a lower bound: it is before the rows that are
//! apart from that bound, and behind those alone that are apart from the most that it may have
//! carried.

use super::{Row, Score, score, spread};
use crate::stats::{ALPHA, Median, benjamini_hochberg, enough, rank_test};
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

    /// What puts a row before another that stands below it.
    fn over(&self, other: &Self) -> Evidence {
        if other.is_lower_bound {
            let [least, most] = [&self.clients, &other.most].map(|of| Median::Measured.of(of));
            return match least > most {
                true => tested(&self.clients, &other.most, MORE_IS_BETTER),
                false => Evidence::None,
            };
        }
        if other.median == Some(0) && self.clients.iter().all(|clients| *clients > 0.0) {
            return Evidence::Certain;
        }
        if self.median != other.median {
            return tested(&self.clients, &other.clients, MORE_IS_BETTER);
        }
        if self.is_lower_bound || self.figure == other.figure {
            return Evidence::None;
        }
        tested(&self.figures, &other.figures, self.by.is_higher_better())
    }
}

/// That one row is before another.
#[derive(Clone, Copy)]
enum Evidence {
    /// There is none.
    None,
    /// A rule says so.
    Certain,
    /// The p value of a test; 1 where it speaks for the other row.
    Test(f64),
}

/// What the repetitions say of a row above another with a worse figure. Where they are too few for a
/// test, the figures decide.
fn tested(above: &[f64], below: &[f64], is_higher_better: bool) -> Evidence {
    if !enough(above.len(), below.len()) {
        return Evidence::Certain;
    }
    let test = rank_test(above, below);
    let even = (above.len() * below.len()) as f64 / 2.0;
    let is_in_favour = match is_higher_better {
        true => test.u < even,
        false => test.u > even,
    };
    Evidence::Test(if is_in_favour { test.p } else { 1.0 })
}

/// Of all pairs of rows, in order, whether the upper is before the lower.
fn apart(standings: &[&Standing]) -> Vec<Vec<bool>> {
    let below = |upper: usize| standings[upper + 1..].iter();
    let evidence: Vec<Vec<Evidence>> = standings
        .iter()
        .enumerate()
        .map(|(upper, this)| below(upper).map(|other| this.over(other)).collect())
        .collect();
    let p = evidence.iter().flatten().filter_map(|of| match of {
        Evidence::Test(p) => Some(*p),
        Evidence::None | Evidence::Certain => None,
    });
    let mut corrected = benjamini_hochberg(&p.collect::<Vec<f64>>()).into_iter();
    let mut is_apart = |of: Evidence| match of {
        Evidence::None => false,
        Evidence::Certain => true,
        Evidence::Test(_) => corrected.next().is_some_and(|p| p <= ALPHA),
    };
    let mut row = |of: Vec<Evidence>| of.into_iter().map(&mut is_apart).collect();
    evidence.into_iter().map(&mut row).collect()
}

/// The places of the ranked rows of one workload and dialect, in order.
fn places(standings: &[&Standing]) -> Vec<Place> {
    let apart = apart(standings);
    let place = |index: usize| {
        let before = (0..index).filter(|above| apart[*above][index - above - 1]);
        let after = apart[index].iter().filter(|is_apart| **is_apart);
        Place {
            best: before.count() + 1,
            worst: standings.len() - after.count(),
        }
    };
    (0..standings.len()).map(place).collect()
}

/// Gives the rows of one workload and dialect, in order, their places.
pub(super) fn placed<'a>(ordered: Vec<(Row<'a>, Standing)>) -> Vec<Row<'a>> {
    let ranked = ordered.iter().filter(|(_, standing)| standing.ranked);
    let standings: Vec<&Standing> = ranked.map(|(_, standing)| standing).collect();
    let places = places(&standings).into_iter().map(Some);
    let rows = ordered
        .into_iter()
        .zip(places.chain(std::iter::repeat(None)));
    rows.map(|((row, _), place)| Row { place, ..row }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row with these clients and latencies in its repetitions.
    fn row(clients: &[f64], figures: &[f64]) -> Standing {
        Standing {
            ranked: true,
            is_lower_bound: false,
            median: Median::Measured.of(clients).map(|median| median as u64),
            by: Score::Latency,
            figure: Median::Usual.of(figures),
            clients: clients.to_vec(),
            most: clients.to_vec(),
            figures: figures.to_vec(),
        }
    }

    fn placed(rows: &[Standing]) -> Vec<String> {
        let places = places(&rows.iter().collect::<Vec<_>>());
        places.iter().map(ToString::to_string).collect()
    }

    /// Rows that kept the limit with a hundred clients. The first is quicker than all others, which
    /// nothing tells apart.
    fn one_quick_row_of(rows: u64, repetitions: u64) -> Vec<Standing> {
        let row = |row: u64| {
            let base = if row == 0 { 100 } else { 1000 };
            let figures = (0..repetitions).map(|n| (base + rows * n + row) as f64);
            self::row(
                &vec![100.0; repetitions as usize],
                &figures.collect::<Vec<_>>(),
            )
        };
        (0..rows).map(row).collect()
    }

    /// Four repetitions give no p below 0.029. That is too much where 3 of 6 pairs, or 38 of 741, have
    /// it: 0.057 and 0.56 of them would be wrong by chance.
    #[test]
    fn among_many_pairs_a_few_that_chance_explains_give_no_place() {
        assert_eq!(placed(&one_quick_row_of(3, 4)), ["1", "2–3", "2–3"]);
        assert_eq!(placed(&one_quick_row_of(4, 4)), ["1–4"; 4]);
        assert_eq!(placed(&one_quick_row_of(4, 5))[..2], ["1", "2–4"]);
        assert_eq!(placed(&one_quick_row_of(39, 4)), ["1–39"; 39]);
        assert_eq!(placed(&one_quick_row_of(39, 6))[..2], ["1", "2–39"]);
    }

    #[test]
    fn a_row_that_missed_the_limit_is_behind_those_that_kept_it() {
        let kept = || row(&[100.0; 4], &[1.0, 2.0, 3.0, 4.0]);
        let once = row(&[100.0, 0.0, 100.0, 100.0], &[5.0, 6.0, 7.0, 9.0]);
        let half = row(&[0.0, 100.0, 100.0, 0.0], &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(placed(&[kept(), half]), ["1", "2"]);
        let half = row(&[0.0, 100.0, 100.0, 0.0], &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(placed(&[once, half]), ["1–2", "1–2"]);
    }
}

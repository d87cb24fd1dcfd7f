//! Intervals by resampling.
//!
//! The percentile bootstrap (Efron 1979), each side resampled on its own. Not BCa: its
//! acceleration is estimated by leaving out one figure at a time, which for a median takes two or
//! three values only and says nothing about its distribution. The simulation beside this file
//! shows how often the interval holds the truth.
//!
//! Up to eight figures have at most 6,435 different resamples. There every one is counted with its
//! probability, which is exact and cheaper than to draw.

use super::Median;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::Serialize;

/// Most figures of which every resample is looked at: 8 to the 8th are 16.8 million, and 6,435 differ.
const FEW: usize = 8;

/// How an interval is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resampling {
    /// Samples drawn.
    pub resamples: u32,
    /// Seed of the draws: the same figures give the same interval.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            resamples: 10_000,
            seed: 1,
        }
    }
}

/// An interval that is to hold the true value in 95 of 100 cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end; infinite where the ratio is to nothing.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in it, its ends included.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    fn new(mut statistics: Vec<f64>) -> Self {
        statistics.sort_by(f64::total_cmp);
        let tail = statistics.len() / 40;
        Self {
            low: statistics[tail],
            high: statistics[statistics.len() - 1 - tail],
        }
    }

    /// The same of statistics that came up so many times each.
    fn of_counted(mut statistics: Vec<(f64, u64)>) -> Self {
        statistics.sort_by(|a, b| a.0.total_cmp(&b.0));
        let tail = statistics.iter().map(|(_, times)| times).sum::<u64>() / 40;
        Self {
            low: behind(tail, statistics.iter()),
            high: behind(tail, statistics.iter().rev()),
        }
    }
}

/// The first statistic behind so many.
fn behind<'s>(so_many: u64, mut statistics: impl Iterator<Item = &'s (f64, u64)>) -> f64 {
    let mut seen = 0;
    let found = statistics.find(|(_, times)| {
        seen += times;
        seen > so_many
    });
    found.map_or(f64::NAN, |(statistic, _)| *statistic)
}

/// `b` as a multiple of `a`: 1 when both are 0, infinite when only `a` is.
pub(crate) fn ratio(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { b / a }
}

/// Interval of the median of `b` as a multiple of that of `a`; `None` when a side is empty.
pub(crate) fn ratio_interval(
    a: &[f64],
    b: &[f64],
    which: Median,
    how: Resampling,
) -> Option<Interval> {
    resampled([a, b], how, |[a, b]| {
        Some(ratio(which.of_mut(a)?, which.of_mut(b)?))
    })
}

/// Interval of the median; `None` without values.
pub(crate) fn median_interval(values: &[f64], which: Median, how: Resampling) -> Option<Interval> {
    match values.len() {
        1..=FEW => Some(Interval::of_counted(all_medians(values, which))),
        _ => resampled([values], how, |[values]| which.of_mut(values)),
    }
}

/// The median of each different resample, and in how many of all ordered ones it comes up.
fn all_medians(values: &[f64], which: Median) -> Vec<(f64, u64)> {
    let factorial = |n: usize| (1..=n as u64).product::<u64>();
    let size = values.len();
    let mut medians = Vec::new();
    // Which value is drawn, in ascending order: each resample once.
    let mut drawn = vec![0; size];
    loop {
        let mut sample: Vec<f64> = drawn.iter().map(|&at| values[at]).collect();
        let repeats = drawn.chunk_by(|a, b| a == b).map(<[usize]>::len);
        let orders = factorial(size) / repeats.map(factorial).product::<u64>();
        medians.extend(which.of_mut(&mut sample).map(|median| (median, orders)));
        let Some(last) = drawn.iter().rposition(|&at| at + 1 < size) else {
            return medians;
        };
        let next = drawn[last] + 1;
        drawn[last..].fill(next);
    }
}

/// `None` where a side is empty, or the statistic is `None` of a sample.
fn resampled<const N: usize>(
    sides: [&[f64]; N],
    how: Resampling,
    statistic: impl Fn([&mut [f64]; N]) -> Option<f64>,
) -> Option<Interval> {
    if sides.iter().any(|side| side.is_empty()) {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(how.seed);
    let mut drawn = sides.map(<[f64]>::to_vec);
    let draws = (0..how.resamples.max(1)).map(|_| {
        for (side, drawn) in sides.iter().zip(&mut drawn) {
            drawn.fill_with(|| side[random.random_range(0..side.len())]);
        }
        statistic(drawn.each_mut().map(Vec::as_mut_slice))
    });
    Some(Interval::new(draws.collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOW: Resampling = Resampling {
        resamples: 10_000,
        seed: 7,
    };

    #[test]
    fn the_seed_decides_and_figures_without_spread_have_a_point() {
        let a = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0];
        let b = a.map(|value| value * 1.1 + 0.3);
        let one = ratio_interval(&a, &b, Median::Usual, HOW).unwrap();
        assert_eq!(ratio_interval(&a, &b, Median::Usual, HOW), Some(one));
        assert_ne!(
            ratio_interval(&a, &b, Median::Usual, Resampling { seed: 8, ..HOW }),
            Some(one)
        );
        assert!(one.low < 1.1 && one.high > 1.1 && one.holds(1.12));
        let point = ratio_interval(&[4.0; 5], &[5.0; 5], Median::Usual, HOW).unwrap();
        assert_eq!((point.low, point.high), (1.25, 1.25));
        assert_eq!(ratio_interval(&[], &[1.0], Median::Usual, HOW), None);
    }

    /// Of 5 figures a resample has the largest as its median when it was drawn three times or
    /// more: with probability 0.0579, more than the 0.025 of a tail. Of 10 the lower middle of a
    /// resample is the first with probability 0.0016, one of the first two with 0.0328, and above
    /// the 8th with 0.0064.
    #[test]
    fn the_tails_are_those_that_counting_gives() {
        let of = |largest: u32, which| {
            let values: Vec<f64> = (1..=largest).map(f64::from).collect();
            let interval = median_interval(&values, which, HOW).unwrap();
            (interval.low, interval.high)
        };
        assert_eq!(of(5, Median::Measured), (1.0, 5.0));
        assert_eq!(of(5, Median::Usual), (1.0, 5.0));
        assert_eq!(of(10, Median::Measured), (2.0, 8.0));
    }

    #[test]
    fn every_resample_is_counted_as_often_as_it_is_drawn() {
        let medians = all_medians(&[1.0, 2.0, 4.0], Median::Usual);
        let times = |median: f64| -> u64 {
            let of_it = medians.iter().filter(|(value, _)| *value == median);
            of_it.map(|(_, times)| times).sum()
        };
        // Of 27 orders, 7 have the first twice or more, 7 the last.
        assert_eq!([1.0, 2.0, 4.0].map(times), [7, 13, 7]);
        assert_eq!(medians.len(), 10);
        for (size, different) in [(1, 1), (2, 3), (4, 35), (8, 6_435)] {
            let medians = all_medians(&vec![1.0; size], Median::Usual);
            assert_eq!(medians.len(), different);
            let all: u64 = medians.iter().map(|(_, times)| times).sum();
            assert_eq!(all, (size as u64).pow(size as u32));
        }
    }

    /// In 20,000 draws, the share of a tail is within 0.005 of its probability, save by a chance of one in
    /// 100,000; the seed decides it.
    #[test]
    fn counted_and_drawn_intervals_have_the_same_tails() {
        let figures = [3.1, 9.0, 4.4, 4.4, 7.2, 5.9, 1.0, 8.5];
        let how = Resampling {
            resamples: 20_000,
            ..HOW
        };
        for size in 2..=figures.len() {
            for which in [Median::Usual, Median::Measured] {
                let values = &figures[..size];
                let medians = all_medians(values, which);
                let all: u64 = medians.iter().map(|(_, times)| times).sum();
                let share = |is_in: &dyn Fn(f64) -> bool| {
                    let inside = medians.iter().filter(|(value, _)| is_in(*value));
                    inside.map(|(_, times)| *times).sum::<u64>() as f64 / all as f64
                };
                let drawn = resampled([values], how, |[values]| which.of_mut(values)).unwrap();
                let beyond = [
                    share(&|value| value < drawn.low),
                    share(&|value| value > drawn.high),
                ];
                let with_end = [
                    share(&|value| value <= drawn.low),
                    share(&|value| value >= drawn.high),
                ];
                let holds =
                    beyond.iter().all(|of| *of <= 0.03) && with_end.iter().all(|of| *of >= 0.02);
                assert!(holds, "{size} {which:?}: {beyond:?} {with_end:?}");
            }
        }
    }

    proptest! {
        /// A resample is below it, or above it, far less often than 39 times in 40.
        #[test]
        fn a_median_lies_within_its_interval(
            values in prop::collection::vec(0u8..20, 4..20), is_measured: bool,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let which = if is_measured { Median::Measured } else { Median::Usual };
            let how = Resampling { resamples: 1_000, ..HOW };
            let interval = median_interval(&values, which, how).unwrap();
            prop_assert!(interval.holds(which.of(&values).unwrap()));
        }
    }

    #[test]
    fn nothing_to_nothing_is_equal() {
        assert_eq!(ratio(0.0, 0.0), 1.0);
        assert_eq!(ratio(0.0, 3.0), f64::INFINITY);
        let interval =
            ratio_interval(&[0.0, 0.0, 0.0], &[2.0, 2.0, 2.0], Median::Usual, HOW).unwrap();
        assert_eq!(interval.low, f64::INFINITY);
    }
}

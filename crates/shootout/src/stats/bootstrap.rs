//! Intervals by resampling.
//!
//! The percentile bootstrap (Efron 1979), each side resampled on its own. Not BCa: its
//! acceleration is estimated by leaving out one figure at a time, which for a median takes two or
//! three values only and says nothing about its distribution. The simulation beside this file
//! shows how often the interval holds the truth.

use super::median_of;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::Serialize;

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

    fn of(mut statistics: Vec<f64>) -> Self {
        statistics.sort_by(f64::total_cmp);
        let tail = statistics.len() / 40;
        Self {
            low: statistics[tail],
            high: statistics[statistics.len() - 1 - tail],
        }
    }
}

/// `b` as a multiple of `a`: 1 when both are 0, infinite when only `a` is.
pub fn ratio(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { b / a }
}

/// Interval of the median of `b` as a multiple of that of `a`; `None` when a side is empty.
pub fn ratio_interval(a: &[f64], b: &[f64], how: Resampling) -> Option<Interval> {
    resampled(&[a, b], how, |medians| ratio(medians[0], medians[1]))
}

/// Interval of the median; `None` without values.
pub fn median_interval(values: &[f64], how: Resampling) -> Option<Interval> {
    resampled(&[values], how, |medians| medians[0])
}

fn resampled<const N: usize>(
    sides: &[&[f64]; N],
    how: Resampling,
    statistic: impl Fn([f64; N]) -> f64,
) -> Option<Interval> {
    if sides.iter().any(|side| side.is_empty()) {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(how.seed);
    let mut drawn = Vec::new();
    let draws = (0..how.resamples.max(1)).map(|_| {
        statistic(sides.map(|side| {
            drawn.clear();
            drawn.extend((0..side.len()).map(|_| side[random.random_range(0..side.len())]));
            median_of(&mut drawn)
        }))
    });
    Some(Interval::of(draws.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOW: Resampling = Resampling {
        resamples: 10_000,
        seed: 7,
    };

    #[test]
    fn the_seed_decides_and_figures_without_spread_have_a_point() {
        let a = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0];
        let b = a.map(|value| value * 1.1 + 0.3);
        let one = ratio_interval(&a, &b, HOW).unwrap();
        assert_eq!(ratio_interval(&a, &b, HOW), Some(one));
        assert_ne!(
            ratio_interval(&a, &b, Resampling { seed: 8, ..HOW }),
            Some(one)
        );
        assert!(one.low < 1.1 && one.high > 1.1 && one.holds(1.12));
        let point = ratio_interval(&[4.0; 5], &[5.0; 5], HOW).unwrap();
        assert_eq!((point.low, point.high), (1.25, 1.25));
        assert_eq!(ratio_interval(&[], &[1.0], HOW), None);
    }

    /// Of 5 figures a resample has the largest as its median when it was drawn three times or
    /// more: with probability 0.0579, more than the 0.025 of a tail. Of 10 the median of a
    /// resample passes the 9th with probability 0.0008 and the 8th with 0.0109.
    #[test]
    fn the_tails_are_those_that_counting_gives() {
        let five = median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], HOW).unwrap();
        assert_eq!((five.low, five.high), (1.0, 5.0));
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let ten = median_interval(&ten, HOW).unwrap();
        assert!(
            (2.0..=3.5).contains(&ten.low) && (7.5..=9.0).contains(&ten.high),
            "{ten:?}"
        );
    }

    #[test]
    fn nothing_to_nothing_is_equal() {
        assert_eq!(ratio(0.0, 0.0), 1.0);
        assert_eq!(ratio(0.0, 3.0), f64::INFINITY);
        let interval = ratio_interval(&[0.0, 0.0, 0.0], &[2.0, 2.0, 2.0], HOW).unwrap();
        assert_eq!(interval.low, f64::INFINITY);
    }
}

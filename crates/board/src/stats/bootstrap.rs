//! Intervals by resampling.
//!
//! The percentile bootstrap (Efron 1979), each side resampled on its own. Not BCa: its
//! acceleration is estimated by leaving out one figure at a time, which for a median takes two or
//! three values only and says nothing about its distribution. The simulation beside this file
//! shows how often the interval holds the truth.

use super::Median;
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

    fn new(mut statistics: Vec<f64>) -> Self {
        statistics.sort_by(f64::total_cmp);
        let tail = statistics.len() / 40;
        Self {
            low: statistics[tail],
            high: statistics[statistics.len() - 1 - tail],
        }
    }
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
    resampled([values], how, |[values]| which.of_mut(values))
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

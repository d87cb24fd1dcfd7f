//! The interval of a median from the order of its figures.

use super::{ALPHA, Interval};
use statrs::distribution::{Binomial, DiscreteCDF as _};

/// Fewest figures with an interval of 95 percent: the smallest and the largest of 6 have the median of all
/// that there could be between them in 96.9 of 100 cases, of 5 in 93.8, of 4 in 87.5.
pub(crate) const FEWEST_FOR_INTERVAL: usize = 6;

/// The interval that has the median of all figures that there could be in at least 95 of 100 cases, however
/// they are distributed: from one of the figures to another (the sign test turned about; Conover, Practical
/// Nonparametric Statistics, 3rd edition, 3.2). Of fewer than [`FEWEST_FOR_INTERVAL`] it is their range, which
/// has it less often. `None` of fewer than two.
pub(crate) fn interval_or_range(figures: &[f64]) -> Option<Interval> {
    let last = figures.len().checked_sub(1).filter(|last| *last > 0)?;
    let mut ordered = figures.to_vec();
    ordered.sort_by(f64::total_cmp);
    let outside = outside(figures.len());
    Some(Interval {
        low: ordered[outside],
        high: ordered[last - outside],
    })
}

/// How many figures are below the interval, and as many above it.
fn outside(figures: usize) -> usize {
    let below = Binomial::new(0.5, figures as u64).expect("a probability");
    (0..figures as u64)
        .take_while(|&outside| 2.0 * below.cdf(outside) <= ALPHA)
        .last()
        .map_or(0, |outside| outside as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    /// Of 512 ways in which 9 figures can lie on both sides of the median, 2 (1 + 9) have fewer than two of
    /// them on a side: 3.9 of 100. Of the 256 ways of 8 figures, 2 (1 + 8) do, 7.0 of 100.
    #[test]
    fn the_ends_are_those_that_counting_gives() {
        let known = [4, 5, 6, 8, 9, 11, 12, 15, 20].map(outside);
        assert_eq!(known, [0, 0, 0, 0, 1, 1, 2, 3, 5]);
        let all: Vec<f64> = (1..=9).rev().map(f64::from).collect();
        let ends = |of: &[f64]| interval_or_range(of).map(|Interval { low, high }| (low, high));
        assert_eq!(ends(&all), Some((2.0, 8.0)));
        assert_eq!(ends(&all[..4]), Some((6.0, 9.0)));
        assert_eq!(ends(&all[..1]), None);
        assert_eq!(ends(&[]), None);
    }

    /// Seeded. A share of 4,000 tries strays by less than 0.02 from its probability.
    #[test]
    fn six_figures_are_the_fewest_that_hold_the_median_in_95_of_100() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut held = |size: usize| {
            let tries = 4_000;
            let hits = (0..tries).filter(|_| {
                // Its median is 1; half of it is far above.
                let draw = || random.random_range(0.0..2.0_f64).powi(5);
                let figures: Vec<f64> = std::iter::repeat_with(draw).take(size).collect();
                interval_or_range(&figures).is_some_and(|of| of.holds(1.0))
            });
            hits.count() as f64 / f64::from(tries)
        };
        for (size, expected) in [(2, 0.5), (4, 0.875), (5, 0.9375), (6, 0.969), (9, 0.961)] {
            let share = held(size);
            assert!((share - expected).abs() < 0.02, "{size}: {share}");
        }
        assert!(held(FEWEST_FOR_INTERVAL) > 0.95 && held(FEWEST_FOR_INTERVAL - 1) < 0.95);
    }
}

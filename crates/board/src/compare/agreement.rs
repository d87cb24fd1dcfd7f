//! Whether two instruments that measured the same thing in turn agree.
//!
//! Figures come in pairs, one of each instrument from the same minute, so that both have what the
//! machine did meanwhile. The ratios of the pairs are resampled. This module compares numbers and
//! knows no instrument.

use crate::stats::{Interval, Median, Resampling, median_interval, ratio};

/// What the pairs say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The interval of the ratio holds 1 and ends within the tolerance.
    WithinNoise,
    /// A difference is shown, and all of its interval is within the tolerance.
    WithinTolerance,
    /// The interval holds 1 but reaches beyond the tolerance: a difference could hide in the noise.
    Undecided,
    /// A difference is shown that may be larger than the tolerance.
    Differ,
}

/// Two instruments over some rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Median of the second's figure as a multiple of the first's.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
    /// The conclusion.
    pub agreement: Agreement,
}

/// Compares `b` with `a`, pair by pair. A `tolerance` of 0.1 takes ratios from 1/1.1 to 1.1 for
/// the same. `None` without pairs, or when the sides are not equally long.
pub fn paired(a: &[f64], b: &[f64], tolerance: f64, how: Resampling) -> Option<Paired> {
    if a.len() != b.len() {
        return None;
    }
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| ratio(*a, *b)).collect();
    let interval = median_interval(&ratios, Median::Usual, how)?;
    let small = interval.low >= 1.0 / (1.0 + tolerance) && interval.high <= 1.0 + tolerance;
    Some(Paired {
        ratio: Median::Usual.of(&ratios)?,
        interval,
        agreement: match (interval.holds(1.0), small) {
            (true, true) => Agreement::WithinNoise,
            (false, true) => Agreement::WithinTolerance,
            (true, false) => Agreement::Undecided,
            (false, false) => Agreement::Differ,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOW: Resampling = Resampling {
        resamples: 2_000,
        seed: 3,
    };

    /// Figures of a machine that slows down by a factor of six over the rounds.
    const DRIFT: [f64; 9] = [10.0, 20.0, 15.0, 30.0, 40.0, 25.0, 50.0, 60.0, 45.0];

    fn against(factors: [f64; 9], tolerance: f64) -> Paired {
        let other: Vec<f64> = DRIFT.iter().zip(factors).map(|(a, f)| a * f).collect();
        paired(&DRIFT, &other, tolerance, HOW).unwrap()
    }

    #[test]
    fn pairs_agree_through_a_drift_that_is_in_both() {
        let found = against([0.99, 1.0, 1.02, 0.98, 1.01, 1.0, 0.99, 1.03, 0.97], 0.1);
        assert_eq!(found.agreement, Agreement::WithinNoise);
        assert!((found.ratio - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_small_difference_is_shown_and_within_the_tolerance_or_not() {
        let factors = [1.05, 1.06, 1.04, 1.05, 1.06, 1.05, 1.04, 1.05, 1.06];
        assert_eq!(against(factors, 0.1).agreement, Agreement::WithinTolerance);
        assert_eq!(against(factors, 0.01).agreement, Agreement::Differ);
        let less = factors.map(|factor| 1.0 / factor);
        assert_eq!(against(less, 0.1).agreement, Agreement::WithinTolerance);
        assert_eq!(against(less, 0.01).agreement, Agreement::Differ);
    }

    #[test]
    fn noise_that_could_hide_a_difference_is_no_agreement() {
        let found = against([0.5, 2.0, 0.7, 1.5, 1.0, 0.6, 1.8, 0.9, 1.2], 0.1);
        assert_eq!(found.agreement, Agreement::Undecided);
    }

    #[test]
    fn what_is_not_in_pairs_is_not_compared() {
        assert_eq!(paired(&[1.0], &[1.0, 1.0], 0.1, HOW), None);
        assert_eq!(paired(&[], &[], 0.1, HOW), None);
    }
}

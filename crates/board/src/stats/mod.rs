//! Statistics of few, expensive samples: medians, resampling, ranks.
//!
//! Purpose: what a few figures of each side show, each of which is one start of a server. Pure
//! functions of numbers, and of a seed where chance is needed; this module knows no record.

mod bootstrap;
mod change;
mod holm;
mod prediction;
mod rank;
#[cfg(test)]
mod simulation;

pub use bootstrap::{Interval, Resampling};
pub(crate) use bootstrap::{median_interval, middle_interval, ratio, ratio_interval};
pub(crate) use change::change_point;
pub(crate) use holm::holm;
pub(crate) use prediction::Prediction;
pub(crate) use rank::{rank_test, smallest_p};

/// Probability with which a test may see a difference where there is none.
pub(crate) const ALPHA: f64 = 0.05;

/// The median; of an even number of values the mean of the two in the middle. Not a number
/// without values.
pub fn median(values: &[f64]) -> f64 {
    median_of(&mut values.to_vec())
}

fn median_of(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return f64::NAN;
    }
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if !even {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}

/// Which of the two in the middle of an even number of values is their middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Middle {
    /// The smaller.
    Lower,
    /// The larger.
    Upper,
}

/// The median that is one of the values; `None` without values.
pub(crate) fn middle(values: &[f64], which: Middle) -> Option<f64> {
    middle_of(&mut values.to_vec(), which)
}

fn middle_of(values: &mut [f64], which: Middle) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let middle = match which {
        Middle::Lower => last / 2,
        Middle::Upper => last.div_ceil(2),
    };
    let (_, value, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*value)
}

/// Fewest figures of a side: one or two do not show how much they vary, however many the other side
/// has.
const FEWEST: usize = 3;

/// Whether so many figures a side can show a difference at all. With fewer, chance alone explains
/// even sides of which all figures of one are above all of the other.
pub(crate) fn enough(a: usize, b: usize) -> bool {
    a.min(b) >= FEWEST && smallest_p(a, b) <= ALPHA
}

/// The repetitions a side with which `comparisons` tests at once could show one difference.
pub(crate) fn repetitions_for(comparisons: usize) -> usize {
    (2..)
        .find(|&n| smallest_p(n, n) * comparisons.max(1) as f64 <= ALPHA)
        .expect("the smallest p goes to zero")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert!(median(&[]).is_nan());
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&[9.0, 1.0, 5.0, 6.0]), 5.5);
    }

    #[test]
    fn a_middle_is_one_of_the_values() {
        let of = |values: &[f64]| [Middle::Lower, Middle::Upper].map(|which| middle(values, which));
        assert_eq!(of(&[]), [None, None]);
        assert_eq!(of(&[7.0]), [Some(7.0); 2]);
        assert_eq!(of(&[9.0, 1.0, 5.0]), [Some(5.0); 2]);
        assert_eq!(of(&[9.0, 1.0, 5.0, f64::INFINITY]), [Some(5.0), Some(9.0)]);
    }

    #[test]
    fn four_repetitions_a_side_are_the_fewest_and_more_comparisons_need_more() {
        assert!(!enough(2, 50) && !enough(3, 3) && enough(4, 4) && enough(3, 5));
        assert_eq!([1, 2, 5, 6, 7, 80].map(repetitions_for), [4, 5, 5, 5, 6, 7]);
    }
}

//! Statistics of few, expensive samples: medians, resampling, ranks.
//!
//! Purpose: what a few figures of each side show, each of which is one start of a server. Pure
//! functions of numbers, and of a seed where chance is needed; this module knows no record.

mod bootstrap;
mod change;
mod correction;
mod median;
mod order;
mod prediction;
mod rank;
#[cfg(test)]
mod simulation;

pub use bootstrap::{Interval, Resampling};
pub(crate) use bootstrap::{median_interval, ratio, ratio_interval};
pub(crate) use change::change_point;
pub(crate) use correction::{benjamini_hochberg, holm};
pub(crate) use median::Median;
pub use median::median;
pub(crate) use order::{FEWEST_FOR_INTERVAL, interval_or_range};
pub(crate) use prediction::Prediction;
pub(crate) use rank::{rank_test, smallest_p};

/// Probability with which a test may see a difference where there is none.
pub(crate) const ALPHA: f64 = 0.05;

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
    fn four_repetitions_a_side_are_the_fewest_and_more_comparisons_need_more() {
        assert!(!enough(2, 50) && !enough(3, 3) && enough(4, 4) && enough(3, 5));
        assert_eq!([1, 2, 5, 6, 7, 80].map(repetitions_for), [4, 5, 5, 5, 6, 7]);
    }
}

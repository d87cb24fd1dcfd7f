//! Where a series changes.
//!
//! Pettitt's statistic (A. N. Pettitt, "A non-parametric approach to the change-point problem",
//! Applied Statistics 28, 1979): at each point of the series, by how much the figures behind it rank
//! above those before it. The point where that is largest is where the series changed, if it did.
//! Here a series has groups, the repetitions of one round each, and changes between groups only.
//!
//! The probability is that of a statistic at least as large, over all points, among random orders of
//! the same figures: the approximation of the paper is for series longer than these, and this one
//! needs no correction for the number of points. It takes the figures as independent. What all
//! repetitions of a round have in common, like the state of the machine on that day, is a change too.

use super::{ALPHA, Resampling};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// The point at which a series most likely changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    /// How many groups are before it.
    pub before: usize,
    /// Probability of a series that looks as uneven, in figures that come in no order.
    pub p: f64,
}

impl Change {
    /// Whether chance alone is no explanation.
    pub(crate) fn is_shown(&self) -> bool {
        self.p <= ALPHA
    }
}

/// The change of a series of groups in the order of time; `None` where fewer than two have figures,
/// or all figures are the same. No figure may be "not a number".
pub(crate) fn change_point(groups: &[Vec<f64>]) -> Option<Change> {
    let figures: Vec<f64> = groups.iter().flatten().copied().collect();
    let mut ranks = doubled_ranks(&figures);
    let mut points = Vec::new();
    let mut before = 0;
    for (index, group) in groups.iter().enumerate() {
        if before > 0 && !group.is_empty() {
            points.push((index, before));
        }
        before += group.len();
    }
    let is_flat = ranks.windows(2).all(|pair| pair[0] == pair[1]);
    if points.is_empty() || is_flat {
        return None;
    }
    let ends: Vec<usize> = points.iter().map(|(_, end)| *end).collect();
    let (at, largest) = statistic(&ranks, &ends);
    let Resampling { resamples, seed } = Resampling::default();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut as_large = 0;
    for _ in 0..resamples {
        ranks.shuffle(&mut random);
        as_large += u32::from(statistic(&ranks, &ends).1 >= largest);
    }
    Some(Change {
        before: points[at].0,
        // The series itself is one of the orders.
        p: f64::from(as_large + 1) / f64::from(resamples + 1),
    })
}

/// At which of the points the statistic is largest, and how large: how far the sum of the ranks
/// before it is from what it is on average, of ranks times two.
fn statistic(ranks: &[u64], ends: &[usize]) -> (usize, u64) {
    let (mut sum, mut from) = (0, 0);
    let mut largest = (0, 0);
    for (at, &end) in ends.iter().enumerate() {
        sum += ranks[from..end].iter().sum::<u64>();
        from = end;
        let expected = (end * (ranks.len() + 1)) as u64;
        if sum.abs_diff(expected) > largest.1 {
            largest = (at, sum.abs_diff(expected));
        }
    }
    largest
}

/// The rank of each figure, equal ones sharing the mean of theirs, times two.
fn doubled_ranks(figures: &[f64]) -> Vec<u64> {
    let rank = |figure: &f64| {
        let below = figures.iter().filter(|other| *other < figure).count();
        let equal = figures.iter().filter(|other| *other == figure).count();
        (2 * below + equal + 1) as u64
    };
    figures.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rank_test;

    #[test]
    fn a_step_is_found_where_it_is() {
        let series = [
            vec![10.0, 11.0, 12.0, 10.5],
            vec![10.2, 11.1, 12.3, 10.4],
            vec![20.0, 21.0, 22.0, 20.5],
            vec![20.1, 21.2, 22.3, 20.4],
        ];
        let change = change_point(&series).unwrap();
        assert_eq!(change.before, 2);
        assert!(change.is_shown() && change.p < 0.01, "{change:?}");
        let backwards: Vec<Vec<f64>> = series.iter().rev().cloned().collect();
        let backwards = change_point(&backwards).unwrap();
        assert_eq!((backwards.before, backwards.is_shown()), (2, true));
    }

    #[test]
    fn of_two_groups_it_is_the_rank_test() {
        let sides = [vec![1.0, 2.0, 3.0, 7.0], vec![4.0, 5.0, 6.0, 8.0]];
        let change = change_point(&sides).unwrap();
        let exact = rank_test(&sides[0], &sides[1]).p;
        assert!((change.p - exact).abs() < 0.01, "{change:?} {exact}");
        assert!(!change.is_shown());
        let apart = [vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0]];
        assert!(change_point(&apart).unwrap().is_shown());
    }

    #[test]
    fn without_two_groups_or_a_difference_there_is_none() {
        assert_eq!(change_point(&[]), None);
        assert_eq!(change_point(&[vec![1.0, 2.0]]), None);
        assert_eq!(change_point(&[vec![1.0, 2.0], vec![]]), None);
        assert_eq!(change_point(&[vec![3.0; 4], vec![3.0; 4]]), None);
        let with_a_gap = [vec![1.0; 4], vec![], vec![2.0; 4]];
        assert_eq!(change_point(&with_a_gap).unwrap().before, 2);
    }

    #[test]
    fn figures_in_no_order_are_called_a_change_about_as_often_as_it_says() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut figures: Vec<f64> = (0..20).map(f64::from).collect();
        let mut shown = 0;
        for _ in 0..200 {
            figures.shuffle(&mut random);
            let groups: Vec<Vec<f64>> = figures.chunks(4).map(<[f64]>::to_vec).collect();
            shown += u32::from(change_point(&groups).unwrap().is_shown());
        }
        // 10 are expected; more than 22 or none have a probability below 1 in 1,000.
        assert!((1..=22).contains(&shown), "{shown} of 200");
    }
}

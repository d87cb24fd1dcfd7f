//! The rank test of Mann, Whitney and Wilcoxon.
//!
//! Exact, ties included, up to [`EXACT`] figures: the distribution of the rank sum over all ways to
//! divide these figures into two sides is counted, not approximated. Above that the usual normal
//! approximation is used.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// Most figures of both sides together that are tested exactly: 50 a side take about a tenth of a
/// second, and there the approximation agrees to the third digit.
const EXACT: usize = 100;

/// What the ranks say about two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankTest {
    /// Pairs of one figure of each side in which that of the second is larger; equal ones count
    /// half.
    pub u: f64,
    /// Two-sided probability of ranks at least as uneven, if the figures had been given to the
    /// sides by chance.
    pub p: f64,
    /// The smallest probability that these figures could have, divided in the most uneven way: 1
    /// when all are equal.
    pub(crate) smallest_p: f64,
    /// Whether the distribution was counted.
    pub exact: bool,
}

/// Tests whether the figures of one side tend to be larger than those of the other. None of them
/// may be "not a number"; with an empty side p is 1.
pub(crate) fn rank_test(a: &[f64], b: &[f64]) -> RankTest {
    let u = b
        .iter()
        .flat_map(|b| a.iter().map(move |a| a.total_cmp(b)))
        .map(|order| match order {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 0.0,
        })
        .sum();
    let (ranks, of_b) = doubled_ranks(a, b);
    let equal = ranks.windows(2).all(|pair| pair[0] == pair[1]);
    if a.is_empty() || b.is_empty() || equal {
        return RankTest {
            u,
            p: 1.0,
            smallest_p: 1.0,
            exact: true,
        };
    }
    if ranks.len() > EXACT {
        return RankTest {
            u,
            p: approximate(u, &ranks, a.len(), b.len()),
            smallest_p: 0.0,
            exact: false,
        };
    }
    let counts = ways(&ranks, b.len());
    let all: f64 = counts.iter().sum();
    let expected = b.len() * (ranks.len() + 1);
    let beyond = |distance: usize| {
        let far = counts
            .iter()
            .enumerate()
            .filter(|(sum, _)| sum.abs_diff(expected) >= distance);
        far.map(|(_, ways)| ways).sum::<f64>() / all
    };
    let widest = counts
        .iter()
        .enumerate()
        .filter(|(_, ways)| **ways > 0.0)
        .map(|(sum, _)| sum.abs_diff(expected))
        .max()
        .unwrap_or_default();
    RankTest {
        u,
        p: beyond(of_b.abs_diff(expected)),
        smallest_p: beyond(widest),
        exact: true,
    }
}

/// The smallest two-sided p that so many figures a side can have, all different.
pub(crate) fn smallest_p(a: usize, b: usize) -> f64 {
    let ways = (1..=b).fold(1.0, |ways, i| ways * (a + i) as f64 / i as f64);
    (2.0 / ways).min(1.0)
}

/// Ranks of all figures, equal ones sharing the mean of theirs, and their sum over `b`; all times
/// two, to be whole numbers.
fn doubled_ranks(a: &[f64], b: &[f64]) -> (Vec<usize>, usize) {
    let mut all: Vec<(f64, bool)> = a.iter().map(|value| (*value, false)).collect();
    all.extend(b.iter().map(|value| (*value, true)));
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut ranks = Vec::with_capacity(all.len());
    let mut of_b = 0;
    for equal in all.chunk_by(|one, other| one.0 == other.0) {
        let rank = 2 * ranks.len() + equal.len() + 1;
        of_b += rank * equal.iter().filter(|(_, is_b)| *is_b).count();
        ranks.extend(std::iter::repeat_n(rank, equal.len()));
    }
    (ranks, of_b)
}

/// In how many ways `chosen` of the ranks have each sum.
fn ways(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let largest: usize = ranks.iter().rev().take(chosen).sum();
    let mut of_size = vec![vec![0.0; largest + 1]; chosen + 1];
    of_size[0][0] = 1.0;
    for &rank in ranks {
        for size in (1..=chosen).rev() {
            let (smaller, this) = of_size.split_at_mut(size);
            for (from, to) in smaller[size - 1].iter().zip(&mut this[0][rank..]) {
                *to += from;
            }
        }
    }
    of_size.swap_remove(chosen)
}

/// By the normal distribution, corrected for ties and for the steps of U.
fn approximate(u: f64, ranks: &[usize], a: usize, b: usize) -> f64 {
    let (pairs, all) = ((a * b) as f64, ranks.len() as f64);
    let ties: f64 = ranks
        .chunk_by(|one, other| one == other)
        .map(|equal| (equal.len() as f64).powi(3) - equal.len() as f64)
        .sum();
    let deviation = (pairs / 12.0 * ((all + 1.0) - ties / (all * (all - 1.0)))).sqrt();
    let distance = ((u - pairs / 2.0).abs() - 0.5).max(0.0);
    2.0 * Normal::standard().sf(distance / deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two sides of different figures with this U: `b` starts as the smallest and climbs.
    fn sides(n: usize, m: usize, u: usize) -> (Vec<f64>, Vec<f64>) {
        let above: Vec<usize> = (0..m).map(|i| (u.saturating_sub(i * n)).min(n)).collect();
        let mut b: Vec<f64> = above
            .iter()
            .enumerate()
            .map(|(i, above)| *above as f64 + 0.5 - 0.01 * (i as f64 + 1.0))
            .collect();
        b.sort_by(f64::total_cmp);
        ((1..=n).map(|i| i as f64).collect(), b)
    }

    /// Critical values of U at 5 percent, two-sided: Mann and Whitney's table as reprinted in
    /// Siegel and Castellan, Nonparametric Statistics for the Behavioral Sciences.
    #[test]
    fn critical_values_are_those_of_the_published_table() {
        for (n, m, critical) in [
            (4, 4, 0),
            (5, 4, 1),
            (5, 5, 2),
            (6, 5, 3),
            (6, 6, 5),
            (7, 7, 8),
            (8, 8, 13),
            (9, 9, 17),
            (10, 5, 8),
            (10, 10, 23),
            (15, 10, 39),
            (20, 20, 127),
        ] {
            let p = |u: usize| {
                let (a, b) = sides(n, m, u);
                let test = rank_test(&a, &b);
                assert_eq!(test.u, u as f64);
                assert!(test.exact);
                test.p
            };
            assert!(p(critical) <= 0.05, "{n} {m}: {}", p(critical));
            assert!(p(critical + 1) > 0.05, "{n} {m}: {}", p(critical + 1));
        }
    }

    /// Permeability of membranes, Hollander and Wolfe (1973), 69f: R's `wilcox.test` gives W = 35,
    /// one-sided p = 0.1272.
    #[test]
    fn a_textbook_example_has_its_published_p() {
        let at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let test = rank_test(&early, &at_term);
        assert_eq!(test.u, 35.0);
        assert!((test.p - 2.0 * 0.1272).abs() < 1e-4, "{}", test.p);
    }

    #[test]
    fn separated_sides_have_the_smallest_p_and_equal_ones_have_one() {
        let test = rank_test(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((test.p - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(test.p, test.smallest_p);
        assert!((smallest_p(5, 5) - test.p).abs() < 1e-12);
        let same = rank_test(&[4.0; 5], &[4.0; 5]);
        assert_eq!((same.u, same.p, same.smallest_p), (12.5, 1.0, 1.0));
        assert_eq!(rank_test(&[], &[1.0]).p, 1.0);
    }

    #[test]
    fn the_approximation_takes_over_where_it_agrees() {
        let side = |n: usize, by: f64| -> Vec<f64> {
            (0..n).map(|i| ((i * 37) % 101) as f64 + by).collect()
        };
        let (a, b) = (side(50, 0.0), side(50, 9.3));
        let exact = rank_test(&a, &b);
        let approximate = approximate(exact.u, &doubled_ranks(&a, &b).0, 50, 50);
        assert!(exact.exact && exact.p > 0.01 && exact.p < 0.3);
        assert!((exact.p - approximate).abs() < 1e-3);
        assert!(!rank_test(&side(51, 0.0), &side(50, 9.3)).exact);
    }

    proptest! {
        /// Against every way to deal the figures, one by one.
        #[test]
        fn counting_is_dealing(
            all in proptest::collection::vec(0u8..6, 2..10),
            cut in 1usize..9,
        ) {
            let all: Vec<f64> = all.into_iter().map(f64::from).collect();
            let cut = cut.min(all.len() - 1);
            let (a, b) = all.split_at(cut);
            let test = rank_test(a, b);
            let distance = |u: f64| (u - (a.len() * b.len()) as f64 / 2.0).abs();
            let u_of = |mask: u32| {
                let (mut one, mut other) = (Vec::new(), Vec::new());
                for (i, value) in all.iter().enumerate() {
                    if mask >> i & 1 == 1 { other.push(*value) } else { one.push(*value) }
                }
                (other.len() == b.len()).then(|| rank_test_u(&one, &other))
            };
            let dealt: Vec<f64> = (0..1u32 << all.len()).filter_map(u_of).collect();
            let far = dealt.iter().filter(|u| distance(**u) >= distance(test.u)).count();
            prop_assert!((test.p - far as f64 / dealt.len() as f64).abs() < 1e-9);
            prop_assert!(test.smallest_p <= test.p + 1e-12);
            let turned = rank_test(b, a);
            prop_assert!((turned.p - test.p).abs() < 1e-9);
        }
    }

    fn rank_test_u(a: &[f64], b: &[f64]) -> f64 {
        let pair =
            |a: &f64, b: &f64| f64::from(u8::from(b > a)) + f64::from(u8::from(a == b)) / 2.0;
        b.iter()
            .map(|b| a.iter().map(|a| pair(a, b)).sum::<f64>())
            .sum()
    }
}

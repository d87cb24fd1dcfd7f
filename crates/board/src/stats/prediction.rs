//! How far a figure moves when it is measured again.
//!
//! Split conformal prediction (Papadopoulos, Proedrou, Vovk and Gammerman, "Inductive confidence
//! machines for regression", ECML 2002): of n figures that were measured twice, the distance with the
//! rank ⌈(n + 1)(1 − α)⌉ holds for the next one with a probability of at least 1 − α. It assumes
//! nothing of how distances are spread, but that the next figure is drawn as these were: the same
//! kind of machine, the same kind of figure. A distance is a factor, since what disturbs a
//! measurement makes it so many times slower.

use super::{ALPHA, Interval};

/// What figures that were measured twice say of one that is measured again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prediction {
    /// The new figure is between the old one divided by this and multiplied by it. Infinite where too
    /// many of the figures became nothing, or never came, in one of the two: then it may be any.
    pub factor: f64,
    /// Figures that were measured twice.
    pub pairs: usize,
}

impl Prediction {
    /// From figures that were measured twice, each as exactly as it is known; `None` when they are too
    /// few, which is fewer than 19. A pair in which neither is a figure, above 0 and with an end, is
    /// none. One in which one of them is has moved without a bound, and so farther than all others.
    pub(crate) fn new(pairs: impl IntoIterator<Item = (Interval, Interval)>) -> Option<Self> {
        let is_figure = |figure: Interval| figure.low.is_finite() && figure.high > 0.0;
        let mut factors: Vec<f64> = pairs
            .into_iter()
            .filter(|(first, second)| is_figure(*first) || is_figure(*second))
            .map(|(first, second)| factor_between(first, second))
            .collect();
        factors.sort_by(f64::total_cmp);
        let pairs = factors.len();
        let rank = ((pairs + 1) as f64 * (1.0 - ALPHA)).ceil() as usize;
        let factor = *factors.get(rank.checked_sub(1)?)?;
        Some(Self { factor, pairs })
    }

    /// Whether it says anything of a figure that is measured again.
    pub(crate) fn is_bounded(&self) -> bool {
        self.factor.is_finite()
    }

    /// Where a figure is to lie that is measured again.
    pub(crate) fn interval(&self, figure: Interval) -> Interval {
        Interval {
            low: figure.low / self.factor,
            high: figure.high * self.factor,
        }
    }
}

/// The least factor that explains both: 1 where they meet, infinite where one is nothing or never came.
fn factor_between(first: Interval, second: Interval) -> f64 {
    let (lower, upper) = match first.low <= second.low {
        true => (first, second),
        false => (second, first),
    };
    match (lower.high >= upper.low, lower.high > 0.0) {
        (true, _) => 1.0,
        (false, true) => upper.low / lower.high,
        (false, false) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    const fn exactly(figure: f64) -> Interval {
        Interval {
            low: figure,
            high: figure,
        }
    }

    fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Prediction> {
        let exact = |(first, second)| (exactly(first), exactly(second));
        Prediction::new(pairs.into_iter().map(exact))
    }

    #[test]
    fn nineteen_pairs_are_the_fewest_and_their_largest_distance_counts() {
        let pairs = |n: u32| (1..=n).map(|k| (1.0, 1.0 + f64::from(k) / 100.0));
        assert_eq!(of(pairs(18)), None);
        assert_eq!(of([]), None);
        let nineteen = of(pairs(19)).unwrap();
        assert_eq!((nineteen.factor, nineteen.pairs), (1.19, 19));
        // Of 39 one may be farther.
        assert_eq!(of(pairs(39)).unwrap().factor, 1.38);
        assert_eq!(of(pairs(38)).unwrap().factor, 1.38);
    }

    #[test]
    fn slower_and_faster_are_as_far_and_what_is_never_a_figure_does_not_count() {
        let both = (0..20).map(|k| if k % 2 == 0 { (2.0, 4.0) } else { (4.0, 2.0) });
        let none = [(0.0, 0.0), (f64::INFINITY, f64::INFINITY), (-1.0, 0.0)];
        let found = of(both.chain(none)).unwrap();
        assert_eq!((found.factor, found.pairs), (2.0, 20));
        assert!(found.is_bounded());
        let interval = found.interval(exactly(10.0));
        assert_eq!((interval.low, interval.high), (5.0, 20.0));
    }

    /// Of 39 pairs one may be farther than the factor, of 38 none.
    #[test]
    fn a_figure_that_becomes_nothing_or_never_comes_has_moved_farthest() {
        for lost in [(3.0, 0.0), (0.0, 3.0), (3.0, f64::INFINITY), (3.0, -2.0)] {
            let pairs = |n: usize| std::iter::repeat_n((2.0, 3.0), n).chain([lost]);
            let found = of(pairs(37)).unwrap();
            assert_eq!((found.factor, found.pairs), (f64::INFINITY, 38));
            assert!(!found.is_bounded());
            assert_eq!(of(pairs(38)).unwrap().factor, 1.5);
        }
    }

    #[test]
    fn what_is_known_to_a_step_is_as_near_as_the_steps_allow() {
        let step = |low: f64| Interval {
            low,
            high: low + 400.0,
        };
        let all = |first, second| Prediction::new([(step(first), step(second)); 20]).unwrap();
        assert_eq!(all(200.0, 600.0).factor, 1.0);
        assert_eq!(all(600.0, 200.0).factor, 1.0);
        assert_eq!(all(3000.0, 600.0).factor, 3.0);
        // Fewer than the first step carries is at least nothing and at most that.
        let below = Interval {
            low: 0.0,
            high: 200.0,
        };
        let lost = Prediction::new([(step(600.0), below); 20]).unwrap();
        assert_eq!(lost.factor, 3.0);
        assert_eq!(lost.interval(below).low, 0.0);
    }

    /// The promise of the method, on figures whose spread has a long tail.
    #[test]
    fn the_next_figure_is_in_it_about_as_often_as_it_says() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut factor = || 1.0 + 0.1 / random.random_range(0.01..1.0_f64);
        let mut held = 0;
        for _ in 0..2_000 {
            let pairs: Vec<(f64, f64)> = (0..24).map(|_| (1.0, factor())).collect();
            let next = factor();
            let interval = of(pairs).unwrap().interval(exactly(1.0));
            held += u32::from(interval.holds(next));
        }
        // 24 of 25, which is 1,920; its standard deviation is 8.8.
        assert!((1_890..=1_950).contains(&held), "{held}");
    }
}

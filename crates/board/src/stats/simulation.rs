//! The statistics against figures whose truth is known: made up, seeded, as noisy as restarts of
//! a server are.
//!
//! One figure is a run's percentile. It has noise of its own (a normal factor), and sometimes a
//! slow minute of the machine (an exponential one), as seen between restarts on shared machines.

use super::*;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF as _, Exp, Normal};

const TRIES: u64 = 1_000;

/// `n` figures around `level`.
fn figures(random: &mut ChaCha8Rng, n: usize, level: f64, noise: f64) -> Vec<f64> {
    let normal = Normal::new(1.0, noise).unwrap();
    let slow = Exp::new(1.0 / noise).unwrap();
    (0..n)
        .map(|_| {
            let usual = normal.inverse_cdf(random.random_range(1e-6..1.0));
            let minute = if random.random_range(0.0..1.0) < 0.2 {
                slow.inverse_cdf(random.random_range(0.0..1.0))
            } else {
                0.0
            };
            level * (usual + minute)
        })
        .collect()
}

/// Share of tries in which a difference is shown by test and interval, and in which the interval
/// holds the true ratio.
fn shares(n: usize, slower: f64, noise: f64, comparisons: usize) -> (f64, f64) {
    let how = Resampling {
        resamples: 1_000,
        seed: 3,
    };
    let mut random = ChaCha8Rng::seed_from_u64(n as u64 * 1_000 + comparisons as u64);
    let (mut shown, mut held) = (0, 0);
    for _ in 0..TRIES {
        let a = figures(&mut random, n, 10.0, noise);
        let b = figures(&mut random, n, 10.0 * slower, noise);
        let interval = ratio_interval(&a, &b, Median::Usual, how).unwrap();
        let p = rank_test(&a, &b).p * comparisons as f64;
        shown += u64::from(p <= ALPHA && !interval.holds(1.0));
        held += u64::from(interval.holds(slower));
    }
    (shown as f64 / TRIES as f64, held as f64 / TRIES as f64)
}

#[test]
fn a_server_against_itself_shows_no_difference_in_19_of_20() {
    for n in [4, 5, 10] {
        let (shown, _) = shares(n, 1.0, 0.02, 1);
        assert!(shown <= 0.05, "n = {n}: {shown}");
    }
}

#[test]
fn a_slow_down_of_10_percent_is_found() {
    for (n, comparisons, least) in [(5, 1, 0.95), (5, 4, 0.90), (10, 4, 0.99), (10, 20, 0.97)] {
        let (shown, _) = shares(n, 1.1, 0.02, comparisons);
        assert!(
            shown >= least,
            "n = {n}, {comparisons} comparisons: {shown}"
        );
    }
}

#[test]
fn the_interval_holds_the_truth_about_as_often_as_it_says() {
    for n in [5, 10, 20] {
        for slower in [1.0, 1.1] {
            let (_, held) = shares(n, slower, 0.05, 1);
            assert!((0.93..=0.995).contains(&held), "n = {n}: {held}");
        }
    }
}

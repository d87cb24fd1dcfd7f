//! The delays, as draws and as distributions. Reads no clock.

use rand::seq::index;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::time::Duration;

/// A distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Always the same.
    Constant(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// One of two delays. Exactly so many of each thousand requests get the rare one; the seed
    /// decides which. If their number were random, a percentile near their share would be a usual
    /// delay in one run and a rare one in the next.
    Bimodal {
        /// The usual delay.
        usual: Duration,
        /// The rare one.
        rare: Duration,
        /// Of each thousand requests, at most all.
        per_thousand: u16,
    },
}

/// Requests among which the rare delays are counted out.
const BLOCK: usize = 1000;

impl Delay {
    /// One of the two is 100 ms and comes to 12 requests in a thousand: a little more than one in a
    /// hundred, so that neither p95, p99 nor p99.9 is the slowest of the usual ones.
    pub const fn bimodal(usual: Duration) -> Self {
        Self::Bimodal {
            usual,
            rare: Duration::from_millis(100),
            per_thousand: 12,
        }
    }

    /// The share of delays of at most `ns` nanoseconds.
    pub fn cdf(&self, ns: f64) -> f64 {
        let reached = |delay: Duration| f64::from(u8::from(ns >= delay.as_nanos() as f64));
        match *self {
            Self::Constant(delay) => reached(delay),
            Self::Exponential(mean) => 1.0 - (-ns.max(0.0) / mean.as_nanos() as f64).exp(),
            Self::Bimodal {
                usual,
                rare,
                per_thousand,
            } => {
                let share = f64::from(per_thousand) / BLOCK as f64;
                (1.0 - share) * reached(usual) + share * reached(rare)
            }
        }
    }
}

/// A single queue: a request occupies the server for a fixed time, and the next begins after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Time that every request takes.
    pub per_request: Duration,
    /// Time that each copy of a broadcast takes on top.
    pub per_delivery: Duration,
}

impl Pace {
    /// A server of at most `rate` requests per second, whatever they are.
    pub fn requests_per_second(rate: f64) -> Self {
        Self {
            per_request: Duration::from_secs_f64(1.0 / rate),
            per_delivery: Duration::ZERO,
        }
    }

    /// A server of at most `rate` copies of broadcasts per second.
    pub fn deliveries_per_second(rate: f64) -> Self {
        Self {
            per_request: Duration::ZERO,
            per_delivery: Duration::from_secs_f64(1.0 / rate),
        }
    }
}

/// Gives each request the moment at which its answer is due.
#[derive(Debug)]
pub(super) struct Schedule {
    delay: Delay,
    pace: Option<Pace>,
    random: ChaCha8Rng,
    drawn: usize,
    /// The requests of the current thousand that get the rare delay.
    rare: Vec<usize>,
    /// When the last request in the queue is served.
    free_ns: u64,
}

impl Schedule {
    pub(super) fn new(delay: Delay, pace: Option<Pace>, seed: u64) -> Self {
        Self {
            delay,
            pace,
            random: ChaCha8Rng::seed_from_u64(seed),
            drawn: 0,
            rare: Vec::new(),
            free_ns: 0,
        }
    }

    /// When the answer to a request is due that arrived at `arrival_ns` and means so many copies.
    pub(super) fn due(&mut self, arrival_ns: u64, copies: usize) -> u64 {
        let mut served_ns = arrival_ns;
        if let Some(pace) = self.pace {
            let takes = pace.per_request.as_nanos() + pace.per_delivery.as_nanos() * copies as u128;
            served_ns = self.free_ns.max(arrival_ns) + takes as u64;
            self.free_ns = served_ns;
        }
        served_ns + self.draw()
    }

    fn draw(&mut self) -> u64 {
        let delay = match self.delay {
            Delay::Constant(delay) => delay,
            // In (0, 1], so that the logarithm is of a number above zero.
            Delay::Exponential(mean) => mean.mul_f64(-(1.0 - self.random.random::<f64>()).ln()),
            Delay::Bimodal {
                usual,
                rare,
                per_thousand,
            } => {
                let place = self.drawn % BLOCK;
                self.drawn += 1;
                if place == 0 {
                    let rare = index::sample(&mut self.random, BLOCK, per_thousand.into());
                    self.rare = rare.into_vec();
                }
                if self.rare.contains(&place) {
                    rare
                } else {
                    usual
                }
            }
        };
        delay.as_nanos() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn draws_follow_their_distribution_and_their_seed() {
        for delay in [
            Delay::Constant(MS),
            Delay::Exponential(10 * MS),
            Delay::bimodal(2 * MS),
        ] {
            let draws = |seed| {
                let mut schedule = Schedule::new(delay, None, seed);
                (0..10_000)
                    .map(|_| schedule.due(0, 1))
                    .collect::<Vec<u64>>()
            };
            assert_eq!(draws(3), draws(3));
            for at_ms in [1.0, 5.0, 20.0, 99.0, 100.0] {
                let at = at_ms * 1e6;
                let below = draws(3).iter().filter(|ns| **ns as f64 <= at).count() as f64 / 1e4;
                // Four standard deviations of a share of 10,000 are at most 0.02.
                assert!(
                    (below - delay.cdf(at)).abs() < 0.02,
                    "{delay:?} {at_ms}: {below}"
                );
            }
        }
    }

    #[test]
    fn the_rare_delay_comes_to_exactly_so_many_of_each_thousand() {
        let mut schedule = Schedule::new(Delay::bimodal(2 * MS), None, 1);
        let draws: Vec<u64> = (0..3000).map(|_| schedule.due(0, 1)).collect();
        let places = |block: &[u64]| -> Vec<usize> {
            let rare = block
                .iter()
                .enumerate()
                .filter(|(_, ns)| **ns == 100_000_000);
            rare.map(|(place, _)| place).collect()
        };
        let blocks: Vec<Vec<usize>> = draws.chunks(1000).map(places).collect();
        assert_eq!([12; 3], [0, 1, 2].map(|n: usize| blocks[n].len()));
        assert_ne!(blocks[0], blocks[1]);
    }

    #[test]
    fn a_paced_server_serves_one_after_the_other() {
        let at_once = Delay::Constant(Duration::ZERO);
        let mut requests = Schedule::new(at_once, Some(Pace::requests_per_second(1000.0)), 1);
        let due: Vec<u64> = [0, 0, 100, 9_000_000].map(|at| requests.due(at, 7)).into();
        assert_eq!(due, [1_000_000, 2_000_000, 3_000_000, 10_000_000]);
        let mut copies = Schedule::new(at_once, Some(Pace::deliveries_per_second(1000.0)), 1);
        assert_eq!(copies.due(0, 5), 5_000_000);
        assert_eq!(copies.due(0, 5), 10_000_000);
    }
}

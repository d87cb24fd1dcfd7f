//! When connections are started by the clock.

use crate::message::{OpenTerms, StartByClock};
use crate::plan::{Schedule, share_of};
use plan::{Nanos, OpenLoop};

/// The moments at which connections are started, in the order of their slots.
pub(super) type Starts = Box<dyn Iterator<Item = u64> + Send>;

impl OpenTerms {
    /// How many connections a worker is to have.
    pub(super) const fn share(&self, worker: u64, workers: u64) -> u64 {
        share_of(self.wanted, worker, workers)
    }

    /// When the connections of a worker are to be started, in the order of their slots; and when
    /// the last of all is.
    pub(super) fn starts(&self, worker: u64, workers: u64) -> Option<(Starts, u64)> {
        let by_clock = self.by_clock?;
        let have = self.have;
        let all = self.moments(by_clock);
        let last_ns = self.moments(by_clock).last().map_or(0, |(_, at_ns)| at_ns);
        let ours = all.filter(move |(index, _)| (have + index) % workers == worker);
        Some((Box::new(ours.map(|(_, at_ns)| at_ns)), last_ns))
    }

    fn moments(&self, by_clock: StartByClock) -> impl Iterator<Item = (u64, u64)> + Send + use<> {
        let load = OpenLoop {
            rate: by_clock.rate,
            ramp: None,
            arrivals: by_clock.arrivals,
            // The number of connections ends it, and not the time.
            duration: Nanos(u64::MAX / 4),
            warm_up: Nanos(0),
        };
        Schedule::new(load, by_clock.seed, self.have)
            .take((self.wanted - self.have) as usize)
            .map(move |due| (due.index, by_clock.start_ns + due.offset_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Arrivals;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_connection_is_started_once_by_the_worker_that_will_have_it(
            have in 0u64..50, more in 0u64..200, workers in 1u64..5, poisson: bool, rate in 1.0f64..1e6,
        ) {
            let terms = OpenTerms {
                have,
                wanted: have + more,
                by_clock: Some(StartByClock {
                    rate,
                    arrivals: if poisson { Arrivals::Poisson } else { Arrivals::Constant },
                    seed: 7,
                    start_ns: 1_000,
                }),
            };
            let mut all = Vec::new();
            for worker in 0..workers {
                let (starts, last_ns) = terms.starts(worker, workers).unwrap();
                let starts: Vec<u64> = starts.collect();
                let had = share_of(have, worker, workers);
                prop_assert_eq!(had + starts.len() as u64, terms.share(worker, workers));
                prop_assert!(starts.is_sorted());
                prop_assert!(starts.iter().all(|at_ns| *at_ns <= last_ns));
                all.extend(starts);
            }
            all.sort_unstable();
            let alone: Vec<u64> = terms.starts(0, 1).unwrap().0.collect();
            prop_assert_eq!(all, alone);
        }
    }
}

//! The terms of a step, of connections to open and of a site's share of a run.

use crate::plan::{attempts_at_once, opens_by_clock};
use plan::{Arrivals, Plan};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Which site this is, and of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of this site, from 0.
    pub number: u32,
    /// Number of sites, at least 1.
    pub of: u32,
}

impl Share {
    /// A process that has the run for itself.
    pub(crate) const WHOLE: Self = Self { number: 0, of: 1 };

    /// Number of the `thread`-th of `threads` workers of this site among all workers of the run, and
    /// how many there are. Client `i` belongs to site `i % of` and, as within one process, to worker
    /// `i % workers`.
    pub(crate) const fn worker(self, thread: u32, threads: u32) -> (u32, u32) {
        (thread * self.of + self.number, threads * self.of)
    }

    /// How many worker threads this site has: with more than it may have attempts to connect under way,
    /// the clients of one could not be opened.
    pub(crate) fn threads(self, plan: &Plan) -> u32 {
        let wanted = plan.generator.threads;
        match opens_by_clock(plan) {
            true => wanted,
            false => wanted.min(attempts_at_once(plan, self.number, self.of)),
        }
    }

    /// Whether a client of the run belongs to this site.
    pub(crate) const fn has(self, client: u64) -> bool {
        client % self.of as u64 == self.number as u64
    }

    /// The source addresses of this site: every `of`-th of those of the run, so that no two sites use
    /// ports of one address. Where the addresses cannot be divided evenly, all sites use all of them
    /// in turn.
    pub fn addresses(self, all: &[IpAddr]) -> Vec<IpAddr> {
        if !all.len().is_multiple_of(self.of as usize) {
            return all.to_vec();
        }
        let own = all.iter().skip(self.number as usize);
        own.step_by(self.of as usize).copied().collect()
    }
}

/// A step, as all workers have to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTerms {
    /// Number within the run of the step's first sample.
    pub(crate) first_sample: u64,
    pub(crate) samples: u32,
    /// How many samples at the start are not timed.
    pub(crate) warm_up: u32,
    /// Open loop: samples are sent by the clock.
    pub(crate) by_clock: bool,
    /// Clients of all workers together.
    pub(crate) clients: u64,
}

/// To have `wanted` connections where there were `have`, of all workers together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenTerms {
    pub(crate) have: u64,
    pub(crate) wanted: u64,
    /// When they start. Absent when each start waits for the end of an earlier handshake.
    pub(crate) by_clock: Option<StartByClock>,
}

/// A schedule of starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartByClock {
    /// Starts per second.
    pub(crate) rate: f64,
    pub(crate) arrivals: Arrivals,
    pub(crate) seed: u64,
    pub(crate) start_ns: u64,
}

/// To send packs of frames until a moment, and then to the end of the iteration under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawTerms {
    pub(crate) payload_bytes: u64,
    /// Frames of one pack.
    pub(crate) frames: u32,
    pub(crate) until_ns: u64,
    pub(crate) seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::share_of;
    use plan::{Connect, Load};
    use proptest::prelude::*;

    #[test]
    fn addresses_are_dealt_out_when_they_come_out_even() {
        let all: Vec<IpAddr> = (1..=4).map(|n| IpAddr::from([127, 0, 0, n])).collect();
        let of = |number, of, count: usize| Share { number, of }.addresses(&all[..count]);
        assert_eq!(of(0, 2, 4), [all[0], all[2]]);
        assert_eq!(of(1, 2, 4), [all[1], all[3]]);
        assert_eq!(of(2, 4, 4), [all[2]]);
        for shared in [of(1, 3, 4), of(0, 5, 4)] {
            assert_eq!(shared, all);
        }
        assert_eq!(of(1, 2, 0), [] as [IpAddr; 0]);
        assert_eq!(Share::WHOLE.addresses(&all), all);
    }

    #[test]
    fn a_schedule_of_starts_has_as_many_threads_as_the_plan() {
        let by_clock = crate::test_plan("ws://127.0.0.1:1/").with(|plan| {
            (plan.connection.at_once, plan.generator.threads) = (2, 8);
            plan.load = Load::Connect(Connect {
                rate: Some(10.0),
                ..Connect::default()
            });
        });
        assert_eq!(Share::WHOLE.threads(&by_clock), 8);
    }

    proptest! {
        /// Sites may have different numbers of threads.
        #[test]
        fn all_workers_together_have_as_many_attempts_under_way_as_the_plan_permits(
            threads in prop::collection::vec(1u32..=64, 1..6), more in 0u32..300,
        ) {
            let sites = threads.len() as u32;
            let mut all = 0;
            for (number, threads) in (0..).zip(threads) {
                let share = Share { number, of: sites };
                let plan = crate::test_plan("ws://127.0.0.1:1/").with(|plan| {
                    plan.connection.at_once = sites + more;
                    plan.generator.threads = threads;
                });
                let threads = share.threads(&plan);
                for thread in 0..threads {
                    let (worker, workers) = share.worker(thread, threads);
                    let own = attempts_at_once(&plan, worker, workers);
                    prop_assert!(own > 0, "worker {worker} of {workers} opens no client");
                    all += own;
                }
            }
            prop_assert_eq!(all, sites + more);
        }

        #[test]
        fn every_client_belongs_to_one_worker_of_its_site(
            clients in 0u64..500, of in 1u32..6, threads in 1u32..6,
        ) {
            let mut owned = 0;
            for number in 0..of {
                let share = Share { number, of };
                let own = share_of(clients, number.into(), of.into());
                for thread in 0..threads {
                    let (worker, workers) = share.worker(thread, threads);
                    let of_worker = (0..clients).filter(|c| c % u64::from(workers) == u64::from(worker));
                    prop_assert!(of_worker.clone().all(|c| c % u64::from(of) == u64::from(number)));
                    let count = of_worker.count() as u64;
                    prop_assert_eq!(count, share_of(own, thread.into(), threads.into()));
                    owned += count;
                }
            }
            prop_assert_eq!(owned, clients);
        }
    }
}

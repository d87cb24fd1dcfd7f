//! Sites: one run over several processes, on one machine or on many.
//!
//! A site is a process with worker threads, connections and books of its own. One coordinator
//! controls the steps of all sites and opens no connection itself. This module says what they tell
//! each other ([`Order`]s and [`Word`]s) and what a way between them must be able to do ([`Link`]);
//! it knows no network. Whoever carries orders and words keeps their order in each direction.

mod check;
mod order;
mod reporter;
mod serve;

pub use crate::engine::run_on;
pub use check::{OrderError, Permits};
pub use order::{Connect, Done, Order, SitePart, Started, StepTerms, Unable, Word};
pub use serve::{serve, serve_at, serve_from_here};

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

    /// Whether a client of the run belongs to this site.
    pub(crate) const fn has(self, client: u64) -> bool {
        client % self.of as u64 == self.number as u64
    }

    /// The source addresses of this site, of those that were given for the run: every `of`-th, so
    /// that each machine can be given its own and no two sites draw ports from one address. Where
    /// that would give some sites more than others, and so fewer clients to each of their addresses,
    /// all sites use all addresses in turn.
    pub fn addresses(self, all: &[IpAddr]) -> Vec<IpAddr> {
        if !all.len().is_multiple_of(self.of as usize) {
            return all.to_vec();
        }
        let own = all.iter().skip(self.number as usize);
        own.step_by(self.of as usize).copied().collect()
    }
}

/// The way to a site. What comes back arrives as [`Heard`], in the order in which the site said it.
pub trait Link: Send {
    /// Sends an order. Orders arrive in the order in which they are told; where the site can no
    /// longer be reached they are dropped, and [`Heard::Lost`] says so.
    fn tell(&self, order: Order);

    /// What is known of the site's clock now; may improve or be measured again while a run lasts.
    fn clock(&self) -> ClockRelation;
}

/// `site clock - coordinator clock`, both `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockRelation {
    /// The difference in nanoseconds.
    pub offset_ns: i64,
    /// How far off that may be, either way, in nanoseconds. 0: one kernel, and so one clock.
    pub bound_ns: u64,
}

/// A site as the coordinator sees it.
pub struct Site {
    /// What the user knows it by.
    pub name: String,
    /// The way to it.
    pub link: Box<dyn Link>,
}

/// What a coordinator hears of a site.
#[derive(Debug)]
pub enum Heard {
    /// What the site says.
    Word(Word),
    /// The site is lost: why, in words for the user.
    Lost(String),
}

/// Nanoseconds of the clock that sites and coordinator compare: `CLOCK_MONOTONIC`.
pub fn clock_now_ns() -> u64 {
    crate::clock::now_ns()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::share_of;
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

    proptest! {
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

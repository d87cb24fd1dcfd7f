//! The offset of another process's clock from this one's, from exchanged time stamps.
//!
//! An exchange is that of NTP (RFC 5905, section 8): asked here, received and answered there, and
//! received here. It gives the offset to within half of the round trip, however the round trip divides
//! between the two directions. This module computes; it sends nothing.

use std::collections::VecDeque;
use ws_load::cluster::ClockRelation;

/// How fast two clocks may drift apart: PHI, the frequency tolerance of RFC 5905, section 7.1.
const DRIFT_PER_SECOND: f64 = 15e-6;
/// Exchanges that are kept: one minute. After that the drift outweighs a shorter round trip.
const KEPT: usize = 64;

/// Four time stamps in nanoseconds of `CLOCK_MONOTONIC` of the side that took them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) asked_ns: u64,
    pub(crate) received_ns: u64,
    pub(crate) answered_ns: u64,
    pub(crate) heard_ns: u64,
}

impl Exchange {
    /// The other clock's lead and its error; `None` for stamps that run backwards.
    fn relation(&self) -> Option<ClockRelation> {
        let whole = self.heard_ns.checked_sub(self.asked_ns)?;
        let there = self.answered_ns.checked_sub(self.received_ns)?;
        let round_trip = whole.checked_sub(there)?;
        let out = i128::from(self.received_ns) - i128::from(self.asked_ns);
        let back = i128::from(self.answered_ns) - i128::from(self.heard_ns);
        Some(ClockRelation {
            offset_ns: i64::try_from((out + back).div_euclid(2)).ok()?,
            bound_ns: round_trip.div_ceil(2),
        })
    }
}

/// What is known of another clock.
#[derive(Debug)]
pub(crate) struct Estimate {
    /// Both sides say that they have one kernel and one time namespace, and so one clock.
    same_kernel: bool,
    /// With the moment here at which each was known.
    known: VecDeque<(u64, ClockRelation)>,
}

impl Estimate {
    pub(crate) fn new(same_kernel: bool) -> Self {
        Self {
            same_kernel,
            known: VecDeque::new(),
        }
    }

    /// Takes an exchange in.
    pub(crate) fn learn(&mut self, exchange: Exchange) {
        let Some(relation) = exchange.relation() else {
            return;
        };
        // Machines that were resumed from one snapshot have the same boot id and different clocks.
        if relation.offset_ns.unsigned_abs() > relation.bound_ns {
            self.same_kernel = false;
        }
        if self.known.len() == KEPT {
            self.known.pop_front();
        }
        self.known.push_back((exchange.heard_ns, relation));
    }

    /// The best that is known at `now_ns`: of the exchanges kept the one with the smallest bound,
    /// its age considered.
    pub(crate) fn at(&self, now_ns: u64) -> ClockRelation {
        if self.same_kernel {
            return ClockRelation {
                offset_ns: 0,
                bound_ns: 0,
            };
        }
        self.known
            .iter()
            .map(|(heard_ns, relation)| {
                let age_ns = now_ns.saturating_sub(*heard_ns);
                ClockRelation {
                    offset_ns: relation.offset_ns,
                    bound_ns: relation.bound_ns + (age_ns as f64 * DRIFT_PER_SECOND) as u64,
                }
            })
            .min_by_key(|relation| relation.bound_ns)
            .unwrap_or(ClockRelation {
                offset_ns: 0,
                bound_ns: u64::MAX,
            })
    }
}

/// Names this kernel and time namespace: where two processes read the same, they read one clock.
/// Empty where this machine does not tell.
pub(crate) fn kernel() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let namespace = std::fs::read_link("/proc/self/ns/time");
    match (boot, namespace) {
        (Ok(boot), Ok(namespace)) => format!("{} {}", boot.trim(), namespace.display()),
        // A kernel without time namespaces has one clock.
        (Ok(boot), Err(_)) => boot.trim().to_owned(),
        (Err(_), _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exchange(asked: u64, out: u64, there: u64, back: u64, lead: i64) -> Exchange {
        Exchange {
            asked_ns: asked,
            received_ns: (asked + out).checked_add_signed(lead).unwrap(),
            answered_ns: (asked + out + there).checked_add_signed(lead).unwrap(),
            heard_ns: asked + out + there + back,
        }
    }

    const HOUR: u64 = 3_600_000_000_000;

    proptest! {
        #[test]
        fn the_lead_is_within_the_bound_however_the_ways_differ(
            out in 0u64..1_000_000_000,
            there in 0u64..1_000_000_000,
            back in 0u64..1_000_000_000,
            lead in -(HOUR as i64)..HOUR as i64,
        ) {
            let relation = exchange(HOUR, out, there, back, lead).relation().unwrap();
            prop_assert!(relation.offset_ns.abs_diff(lead) <= relation.bound_ns);
            prop_assert!(relation.bound_ns <= (out + back).div_ceil(2));
        }

        #[test]
        fn no_stamps_make_it_panic(asked: u64, received: u64, answered: u64, heard: u64) {
            let mut estimate = Estimate::new(true);
            estimate.learn(Exchange {
                asked_ns: asked,
                received_ns: received,
                answered_ns: answered,
                heard_ns: heard,
            });
            estimate.at(heard);
        }
    }

    #[test]
    fn the_shortest_round_trip_counts_until_it_is_old() {
        let mut estimate = Estimate::new(false);
        estimate.learn(exchange(HOUR, 50_000, 10, 50_000, 7_000_000));
        estimate.learn(exchange(HOUR + 1_000_000_000, 400_000, 10, 0, 7_000_000));
        let soon = estimate.at(HOUR + 2_000_000_000);
        assert_eq!(soon.offset_ns, 7_000_000);
        assert!((50_000..=81_000).contains(&soon.bound_ns), "{soon:?}");
        let later = estimate.at(HOUR + 60_000_000_000);
        assert!(later.bound_ns > 900_000, "{later:?}");
    }

    #[test]
    fn one_kernel_is_one_clock_unless_the_stamps_say_otherwise() {
        let mut estimate = Estimate::new(true);
        estimate.learn(exchange(HOUR, 100, 10, 20_000, 0));
        assert_eq!(estimate.at(2 * HOUR).bound_ns, 0);
        estimate.learn(exchange(HOUR, 100, 10, 100, 5_000_000));
        assert_eq!(estimate.at(HOUR + 210).offset_ns, 5_000_000);
    }

    #[test]
    fn nothing_is_known_before_the_first_exchange() {
        assert_eq!(Estimate::new(false).at(HOUR).bound_ns, u64::MAX);
    }

    #[test]
    fn this_kernel_has_a_name() {
        assert_eq!(kernel(), kernel());
        assert!(kernel().len() >= 36, "{}", kernel());
    }
}

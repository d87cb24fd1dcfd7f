//! How many completions a wait is to bring: interrupt moderation, as network cards do it.
//!
//! At a high rate, a loop that the first message wakes goes to sleep and wakes again for nearly every
//! message, and a wake-up costs more than a receive. So a wait asks for as much as recently came
//! within [`HORIZON_US`], and ends with less when that time is over. A closed loop stands still when
//! it waits for answers that only its next requests can bring: a wait asks for a quarter of what is
//! under way at most. The kernel's stamps keep the delay out of every latency; without them nothing is
//! moderated. This module reads no clock.

use std::time::Duration;

/// Longest time by which a read is delayed.
const HORIZON_US: u32 = 100;
/// Time over which the rate is counted before it is determined anew.
const WINDOW_NS: u64 = 500_000;
/// Below this a wait asks for one: little would be saved.
const WORTH_IT: u64 = 8;
/// A wait asks for one of so many messages that are under way.
const OF_UNDER_WAY: u64 = 4;
const MOST: u64 = 64;

/// What is known of the recent rate.
#[derive(Debug)]
pub(super) struct Moderation {
    enabled: bool,
    since_ns: u64,
    completions: u64,
    /// How many came lately within the horizon.
    comes: u64,
}

/// What a wait is to bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Want {
    pub(super) completions: u32,
    /// After this time, in microseconds, one is enough; zero for no such time.
    pub(super) patience_us: u32,
}

impl Moderation {
    pub(super) const fn new(enabled: bool) -> Self {
        Self {
            enabled,
            since_ns: 0,
            completions: 0,
            comes: 0,
        }
    }

    /// Notes what a wait that ended at `now_ns` has brought.
    #[inline]
    pub(super) const fn note(&mut self, now_ns: u64, completions: usize) {
        self.completions += completions as u64;
        let elapsed_ns = now_ns.saturating_sub(self.since_ns);
        if elapsed_ns < WINDOW_NS {
            return;
        }
        let comes = self.completions * (HORIZON_US as u64 * 1000) / elapsed_ns;
        self.comes = if comes > MOST { MOST } else { comes };
        self.since_ns = now_ns;
        self.completions = 0;
    }

    /// What a wait of at most `timeout` is to bring, where so many messages are under way at most. The
    /// kernel looks at the whole time-out only after the moderated one, so a shorter one is not
    /// moderated.
    #[inline]
    pub(super) fn want(&self, timeout: Duration, under_way: u64) -> Want {
        let want = self.comes.min(under_way / OF_UNDER_WAY);
        if !self.enabled || want < WORTH_IT || timeout.as_micros() <= u128::from(HORIZON_US) {
            return Want {
                completions: 1,
                patience_us: 0,
            };
        }
        Want {
            completions: want as u32,
            patience_us: HORIZON_US,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_millis(50);

    fn after(rate_per_ms: u64) -> Moderation {
        let mut moderation = Moderation::new(true);
        moderation.note(1_000_000_000, 1);
        for ms in 1..=4 {
            moderation.note(1_000_000_000 + ms * 1_000_000, rate_per_ms as usize);
        }
        moderation
    }

    #[test]
    fn what_comes_within_the_horizon_is_waited_for() {
        let want = |rate_per_ms, under_way| after(rate_per_ms).want(LONG, under_way);
        assert_eq!(want(400, u64::MAX).completions, 40);
        assert_eq!(want(400, u64::MAX).patience_us, HORIZON_US);
        assert_eq!(want(100_000, u64::MAX).completions, 64);
    }

    #[test]
    fn a_closed_loop_is_not_made_to_wait_for_its_own_requests() {
        assert_eq!(after(400).want(LONG, 100).completions, 25);
        assert_eq!(after(400).want(LONG, 32).completions, 8);
        assert_eq!(after(400).want(LONG, 31).completions, 1);
        assert_eq!(after(400).want(LONG, 4).completions, 1);
    }

    #[test]
    fn sparse_traffic_short_waits_and_other_stamps_are_not_moderated() {
        let one = Want {
            completions: 1,
            patience_us: 0,
        };
        assert_eq!(after(70).want(LONG, u64::MAX), one);
        assert_eq!(after(400).want(Duration::from_micros(100), u64::MAX), one);
        let mut off = after(400);
        off.enabled = false;
        assert_eq!(off.want(LONG, u64::MAX), one);
    }

    #[test]
    fn a_pause_ends_it() {
        let mut moderation = after(400);
        moderation.note(2_000_000_000, 1);
        assert_eq!(moderation.want(LONG, u64::MAX).completions, 1);
    }
}

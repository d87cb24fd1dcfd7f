//! How often a reading may be made, from what it costs.

use std::time::{Duration, Instant};

/// Share of one core that one kind of reading may use. There are five kinds (the clocks and
/// resident memory, the search for new processes, their threads, proportional memory, sockets),
/// which makes 2.5 percent together.
const SHARE: f64 = 0.005;

/// Says when a reading may be made again.
#[derive(Debug)]
pub(super) struct Budget {
    interval: Duration,
    next: Option<Instant>,
}

impl Budget {
    /// A reading that is wanted at every `interval`.
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            next: None,
        }
    }

    pub(super) fn due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    /// Makes the reading and charges the CPU time that this thread used for it.
    pub(super) fn charge<T>(&mut self, reading: impl FnOnce() -> T) -> T {
        let before = thread_cpu();
        let read = reading();
        self.spent(Instant::now(), thread_cpu().saturating_sub(before));
        read
    }

    fn spent(&mut self, now: Instant, cost: Duration) {
        self.next = Some(now + self.interval.max(cost.div_f64(SHARE)));
    }
}

/// CPU time of the calling thread.
fn thread_cpu() -> Duration {
    host_facts::process::clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    // timed: an origin for times that are made up; nothing is measured.
    #[test]
    fn a_cheap_reading_keeps_its_interval_and_a_dear_one_its_share() {
        let start = Instant::now();
        let mut budget = Budget::new(Duration::from_millis(100));
        assert!(budget.due(start));
        budget.spent(start, Duration::from_micros(50));
        assert!(!budget.due(start + Duration::from_millis(99)));
        assert!(budget.due(start + Duration::from_millis(100)));
        budget.spent(start, Duration::from_millis(10));
        assert!(!budget.due(start + Duration::from_millis(1_999)));
        assert!(budget.due(start + Duration::from_millis(2_000)));
    }

    // timed: the first bound counts from before the reading, and the second is a time after which it is due:
    // a pause only makes either easier to keep.
    #[test]
    fn a_reading_is_charged_by_the_processor_time_that_it_used() {
        let mut budget = Budget::new(Duration::ZERO);
        let before = Instant::now();
        budget.charge(|| {
            let begin = thread_cpu();
            while thread_cpu() - begin < Duration::from_millis(5) {}
        });
        assert!(!budget.due(before + Duration::from_millis(500)));
        budget.charge(|| std::thread::sleep(Duration::from_millis(20)));
        assert!(budget.due(Instant::now() + Duration::from_millis(500)));
    }
}

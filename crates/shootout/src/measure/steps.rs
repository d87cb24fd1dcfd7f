//! What the server used in each step, from samples at the events of the generator.
//!
//! CPU time is counted from the event that says a step is being measured to the event that
//! ends it, while the clients are still connected. Events may arrive late, or all at once when the
//! step was short: then it is counted from an earlier sample, so that it covers the whole
//! measurement and a little of the connecting.

use crate::sample::{Sampler, Snapshot};
use record::{Event, ServerStep, Switches};
use std::time::{Duration, Instant};

/// A window that covers this share of the measurement is taken for the measurement.
const COVERED: f64 = 0.9;

pub(super) struct Steps<'a> {
    sampler: &'a Sampler,
    /// When the series of the server begins.
    origin: Instant,
    /// Samples that a step may have begun at, in order; never empty.
    begins: Vec<Snapshot>,
    measuring: bool,
    done: Vec<ServerStep>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(sampler: &'a Sampler, origin: Instant) -> Self {
        Self {
            sampler,
            origin,
            begins: vec![sampler.snapshot()],
            measuring: false,
            done: Vec::new(),
        }
    }

    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Connecting {
                connected, wanted, ..
            } if connected >= wanted => self.begins.push(self.sampler.snapshot()),
            Event::Measuring { .. } | Event::Watching { .. } if !self.measuring => {
                self.measuring = true;
                self.begins.push(self.sampler.snapshot());
            }
            Event::WarmedUp { .. } => self.begins = vec![self.sampler.snapshot()],
            Event::Step { record, .. } => {
                let end = self.sampler.snapshot();
                let begin = begin(&self.begins, &end, Duration::from_nanos(record.elapsed_ns));
                self.done.push(ServerStep {
                    clients: record.clients,
                    cpu_ns: nanoseconds(end.cpu.saturating_sub(begin.cpu)),
                    elapsed_ns: nanoseconds(end.at.saturating_duration_since(begin.at)),
                    from_ns: Some(nanoseconds(begin.at.saturating_duration_since(self.origin))),
                    user_ns: Some(nanoseconds(end.user.saturating_sub(begin.user))),
                    kernel_ns: Some(nanoseconds(end.kernel.saturating_sub(begin.kernel))),
                    switches: switches(begin, &end),
                    memory: self.sampler.window(begin.at, end.at),
                });
                self.begins = vec![end];
                self.measuring = false;
            }
            _ => {}
        }
    }

    pub(super) fn into_vec(self) -> Vec<ServerStep> {
        self.done
    }
}

/// The latest sample that is early enough; the first, when none is.
fn begin<'s>(begins: &'s [Snapshot], end: &Snapshot, measured: Duration) -> &'s Snapshot {
    begins
        .iter()
        .rev()
        .find(|begin| end.at.saturating_duration_since(begin.at) >= measured.mul_f64(COVERED))
        .unwrap_or(&begins[0])
}

fn switches(begin: &Snapshot, end: &Snapshot) -> Option<Switches> {
    let (begin, end) = (begin.threads?, end.threads?);
    Some(Switches {
        voluntary: end.voluntary.saturating_sub(begin.voluntary),
        involuntary: end.involuntary.saturating_sub(begin.involuntary),
        threads: end.alive,
        ended_threads: end.ended.saturating_sub(begin.ended),
    })
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Memory;

    // timed: an origin for times that are made up; nothing is measured.
    #[test]
    fn late_events_do_not_shorten_the_window() {
        let start = Instant::now();
        let at = |ms| Snapshot {
            at: start + Duration::from_millis(ms),
            cpu: Duration::ZERO,
            user: Duration::ZERO,
            kernel: Duration::ZERO,
            threads: None,
            memory: Memory::default(),
        };
        let begins = [at(0), at(100), at(200)];
        let chosen =
            |end, measured| begin(&begins, &at(end), Duration::from_millis(measured)).at - start;
        assert_eq!(chosen(1200, 1000), Duration::from_millis(200));
        assert_eq!(chosen(1200, 1050), Duration::from_millis(200));
        assert_eq!(chosen(210, 50), Duration::from_millis(100));
        assert_eq!(chosen(210, 500), Duration::ZERO);
    }
}

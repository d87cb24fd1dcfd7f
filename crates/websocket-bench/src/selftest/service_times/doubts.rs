//! Messages whose times nobody knows well enough, counted. Pure.
//!
//! Between a clock and the write after it, and between two messages that come in one read, lies time
//! that is in neither side's books. It changes the figures of those messages and of no others, so
//! that it moves a percentile by as many ranks as there are of them.

use super::books::SinceIntended;
use super::{DIGITS, MARGIN_NS};
use crate::selftest::bench::recorder;
use crate::selftest::fit::{above, cdf, distance};
use run_record::{Recorder, StepRecord};
use test_servers::Truth;

/// Which send a latency counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Real,
    Intended,
}

impl From {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Intended => "intended",
        }
    }
}

/// How many messages there are of each kind.
#[derive(Debug)]
pub(super) struct Doubts {
    /// Came in one read with a later one, whose stamp stands for theirs: here ...
    read_together: u64,
    /// ... and at the server.
    asked_together: u64,
    /// Answers that may have left later than the server's clock said before the write.
    slow_writes: u64,
    /// Requests that reached the server later than the generator says that it sent them.
    late_sends: u64,
}

impl Doubts {
    pub(super) fn of(step: &StepRecord, truth: &Truth, known: &SinceIntended) -> Self {
        let used = &step.generator;
        let said = recorder(step.send_lag.as_ref());
        // Without a word about lateness there is nothing that could be excused by it.
        let apart = if said.count() == 0 {
            0.0
        } else {
            distance(&known.lateness, MARGIN_NS, cdf(&said))
        };
        Self {
            read_together: used.messages.saturating_sub(used.reads),
            asked_together: truth.shared_reads,
            slow_writes: above(&truth.writing, MARGIN_NS).count(),
            late_sends: (apart * known.lateness.count() as f64).round() as u64,
        }
    }

    /// Why a percentile may be another than in `books`, by more than `margin_ns`.
    pub(super) fn excuse(
        &self,
        from: From,
        books: &Recorder,
        p: f64,
        reported: f64,
        margin_ns: f64,
    ) -> Option<String> {
        let all = self.messages(from);
        let ranks = 100.0 * all as f64 / books.count().max(1) as f64;
        let least = books.percentile((p - ranks).max(0.0)) as f64 * (1.0 - DIGITS) - margin_ns;
        // The slowest may be one of them, and then nobody knows how slow.
        let most = if p + ranks < 100.0 {
            books.percentile(p + ranks) as f64 * (1.0 + DIGITS) + margin_ns
        } else {
            f64::INFINITY
        };
        (all > 0 && (least..=most).contains(&reported)).then(|| self.words())
    }

    /// Why a distance from a distribution, of `count` samples, may be larger than the server's own by
    /// so much: each message adds its share at most.
    pub(super) fn excuse_distance(&self, larger: f64, count: u64) -> Option<String> {
        let most = self.messages(From::Real) as f64 / count.max(1) as f64;
        (larger > 0.0 && larger <= most).then(|| self.words())
    }

    const fn messages(&self, from: From) -> u64 {
        let either = self.read_together + self.slow_writes;
        match from {
            From::Real => either + self.asked_together + self.late_sends,
            // The server's books count from the plan as well, whenever a request left and came.
            From::Intended => either,
        }
    }

    fn words(&self) -> String {
        let Self {
            read_together,
            asked_together,
            slow_writes,
            late_sends,
        } = *self;
        format!(
            "too little CPU: {} messages came in one read with another, {slow_writes} writes of the \
             server and {late_sends} of the generator may have been late after their clock",
            read_together + asked_together
        )
    }
}

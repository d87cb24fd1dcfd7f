//! Answers that came in parts.

use super::{Faults, Latency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Answers to echoes that came in parts, in a step. The last message of an answer is no part. Figures are
/// of timed requests; faults are of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Streams {
    /// Requests of whose answers a part came.
    pub answers: u64,
    /// Parts of these.
    pub parts: u64,
    /// Those of the answers that had not ended when the step was given up.
    pub unfinished: u64,
    /// Those that ended with their connection.
    pub cut: u64,
    /// Parts of an answer, over answers that came to their end. Absent without any.
    pub per_answer: Option<PartCounts>,
    /// From the request to the first part, as the latencies of the step count: in an open loop from the
    /// intended moment. A last part that shares a stamp may have come earlier.
    pub first: Option<Latency>,
    /// From one part of an answer to the next. Parts that were read together may be 0 apart.
    pub between: Option<Latency>,
    /// Parts per second of an answer, from its first part to its last. Absent where no answer that came
    /// to its end had parts at two times.
    pub per_second: Option<PartRates>,
    /// What is wrong with the parts.
    pub numbers: PartNumbers,
}

/// Parts of an answer, over answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartCounts {
    /// Of the answer with the fewest.
    pub min: u64,
    /// Of the answer in the middle, within a thousandth.
    pub median: u64,
    /// Of the answer with the most.
    pub max: u64,
}

/// Parts per second, over answers, within a thousandth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartRates {
    /// Five percent of the answers are slower.
    pub p5: f64,
    /// Of the answer in the middle.
    pub median: f64,
}

/// What the numbers of parts show, and the counts in last messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartNumbers {
    /// Parts that had not come when their answer ended. Among `faults.lost`.
    pub missing: u64,
    /// Parts that came once more, and those above the count that a last message says. Among
    /// `faults.duplicate`.
    pub repeats: u64,
    /// Parts that came for the first time, and after a higher one. None of them is missing. Among
    /// `faults.reordered`, unless the dialect has `keeps_order = false`.
    pub steps_back: u64,
    /// Parts without a number that can be read, and last messages without a count. Among
    /// `faults.malformed`.
    pub unreadable: u64,
    /// Parts for a client that awaits no such answer. Among `faults.duplicate` if the request has its
    /// answer, else among `faults.misdirected`.
    pub unawaited: u64,
}

impl PartNumbers {
    /// Adds those of another worker.
    pub const fn merge(&mut self, other: Self) {
        self.missing = self.missing.saturating_add(other.missing);
        self.repeats = self.repeats.saturating_add(other.repeats);
        self.steps_back += other.steps_back;
        self.unreadable += other.unreadable;
        self.unawaited += other.unawaited;
    }

    /// What of it are faults, where the dialect keeps the order.
    pub fn faults(&self) -> Faults {
        Faults {
            lost: self.missing,
            duplicate: self.repeats,
            reordered: self.steps_back,
            malformed: self.unreadable,
            ..Faults::default()
        }
    }
}

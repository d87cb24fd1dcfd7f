//! What clients got of the messages that a server sends by itself.

use super::{Faults, Latency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Messages of feeds in a step. Clients that read slowly are in none of its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Feed {
    /// Clients that were ready at some time of the step.
    pub clients: u64,
    /// Those of them that got no message of a feed in the step.
    pub silent_clients: u64,
    /// Messages in the step.
    pub messages: u64,
    /// The time in which they came, in nanoseconds: from the beginning of the step until its figures were
    /// taken.
    pub elapsed_ns: u64,
    /// Messages per second of all clients together.
    pub per_second: f64,
    /// Messages per second of each client, while it was ready. Absent where none was ready for a second,
    /// or for half of the step.
    pub per_client: Option<FeedRates>,
    /// What the numbers of the messages show; absent where no rule says where they are.
    pub numbers: Option<FeedNumbers>,
    /// How old messages were when they came; absent where no rule says where the time of sending is.
    pub age: Option<FeedAge>,
}

/// Messages per second, over clients. Only those count that were ready for a second, or for half of the
/// step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedRates {
    /// Of the client with the fewest.
    pub min: f64,
    /// Of the client in the middle, within a thousandth.
    pub median: f64,
    /// Of the client with the most.
    pub max: f64,
}

/// What the numbers of the messages show, since the step before, or since the run began. On each
/// connection, and for each key, a number is expected to be one more than the number before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeedNumbers {
    /// How often a number came that was too high.
    pub gaps: u64,
    /// Numbers between two that came, which had not come by the end of the step. Among `faults.lost`.
    pub missing: u64,
    /// Numbers that came once more. Among `faults.duplicate`.
    pub repeats: u64,
    /// Numbers that came for the first time, and after a higher one. None of them is missing. Among
    /// `faults.reordered`, unless the dialect has `keeps_order = false`.
    pub steps_back: u64,
    /// Numbers that came after the end of the step in which they were missing. They are no fault of this
    /// step.
    pub after_step: u64,
    /// Messages without a number, or without a key, that can be read. Among `faults.malformed`.
    pub unreadable: u64,
    /// Messages of more keys than are followed on one connection. Their numbers were not looked at.
    pub unfollowed: u64,
}

impl FeedNumbers {
    /// Adds those of another worker.
    pub const fn merge(&mut self, other: Self) {
        self.gaps = self.gaps.saturating_add(other.gaps);
        self.missing = self.missing.saturating_add(other.missing);
        self.repeats += other.repeats;
        self.steps_back += other.steps_back;
        self.after_step += other.after_step;
        self.unreadable += other.unreadable;
        self.unfollowed += other.unfollowed;
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

/// How old messages were when they came: the realtime clock here, less the time of sending that they
/// say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedAge {
    /// Whose clock the time of sending is of.
    pub clock: FeedClock,
    /// The ages, but for those below 0 and, in an open loop, those within its warm-up. A message that
    /// shares a stamp may be younger.
    pub age: Option<Latency>,
    /// Messages that say a time of sending later than that of their receipt. They are not among the ages.
    pub negative: u64,
    /// By how much at most, in nanoseconds.
    pub most_negative_ns: u64,
    /// Messages without a time of sending that can be read.
    pub unreadable: u64,
}

/// What is known of the clock of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeedClock {
    /// The server's address is on loopback, or is a Unix socket: it is that of the generator.
    Shared,
    /// It is another one, and how far they are apart is in each age.
    Unknown,
}

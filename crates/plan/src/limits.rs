//! What passes.

use super::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which latency the limit applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// From the send to the receipt by the last listener.
    #[default]
    Completion,
    /// From the send to the receipt by each listener.
    Delivery,
    /// From the send to the sender's result: the figure of 2016.
    Ack,
}

/// When a step is too slow, and when it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Percentile that is compared, above 0 and at most 100.
    pub percentile: f64,
    /// Which latency is compared.
    pub of: Measure,
    /// Longest allowed latency at that percentile.
    pub time: Nanos,
    /// A step is given up when one sample takes longer than this, from the send to its last receipt.
    pub sample_timeout: Nanos,
    /// Most bytes that server and kernel may have kept, when a step is over, for a client that reads
    /// slowly and has not been cut off. Absent where that decides nothing.
    pub kept_bytes: Option<u64>,
    /// By when clients must be back that were cut off (`populations.life.cut`). Absent: all of them when
    /// the step ends.
    pub back: Option<BackLimit>,
}

/// By when clients must be back that were cut off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackLimit {
    /// How many percent of those that were cut off, above 0 and at most 100.
    #[serde(default = "all")]
    pub percentile: f64,
    /// Longest time from the planned moment of the cut until they are ready again.
    pub time: Nanos,
}

const fn all() -> f64 {
    100.0
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            percentile: 95.0,
            of: Measure::Completion,
            time: Nanos::millis(500),
            sample_timeout: Nanos::secs(30),
            kept_bytes: None,
            back: None,
        }
    }
}

//! The words of a verdict, and the law that a step is held against.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a step says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The server kept the limit, without faults.
    #[default]
    Pass,
    /// The server did not.
    Fail,
    /// The generator could not put the load on the server, or could not see what the server did:
    /// neither a success of the server nor a failure.
    GeneratorLimited,
    /// The figures contradict themselves or lack what they need: neither a success nor a failure.
    Noisy,
    /// The user ended it before its time: neither a success nor a failure.
    Interrupted,
}

impl Verdict {
    /// The word of records and outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::GeneratorLimited => "generator-limited",
            Self::Noisy => "noisy",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Little's law: the mean number of requests in flight is their throughput times their mean time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InFlight {
    /// Mean number of requests in flight over the step. The number goes up with each send, and down
    /// when the generator knows that the request is complete.
    pub seen: f64,
    /// The same by Little's law: throughput times the sum of the mean completion (from the real
    /// send, by the histogram) and `known_after_ns`.
    pub expected: f64,
    /// Their difference, as a share of `expected`.
    pub deviation: f64,
    /// Mean time in nanoseconds from the last receipt of a request until the generator knew that it
    /// was complete: until it had read that receipt and had the sender's result. A closed loop
    /// sends the next request that much later.
    pub known_after_ns: f64,
    /// The part of `known_after_ns` by which the generator read late, in nanoseconds: from the
    /// kernel's stamp of the message that completed the request to its read. 0 without kernel
    /// stamps.
    pub unread_ns: f64,
}

impl InFlight {
    /// The law for `throughput` requests per nanosecond that took `mean_ns` each, and were known to
    /// be complete so much later, by a generator that was never late.
    pub fn new(seen: f64, throughput: f64, mean_ns: f64, known_after_ns: f64) -> Self {
        let expected = throughput * (mean_ns + known_after_ns);
        Self {
            seen,
            expected,
            deviation: if expected > 0.0 {
                (seen - expected).abs() / expected
            } else {
                0.0
            },
            known_after_ns,
            unread_ns: 0.0,
        }
    }
}

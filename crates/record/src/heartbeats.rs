//! What clients sent so that the server knew that they lived.

use super::Latency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Heartbeats of the clients since the step before, or since the run began. They are no requests. What
/// was under way at the end, or when a connection ended, is in neither count of answers; nor is what
/// clients sent that read slowly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Heartbeats {
    /// Heartbeats that were sent.
    pub sent: u64,
    /// Those that the server answered in time. 0 where the dialect says of no answer.
    pub answered: u64,
    /// Those that it did not answer in time.
    pub unanswered: u64,
    /// Time from writing a heartbeat to receiving its answer, for those that the server answered in time.
    pub round_trip: Option<Latency>,
}

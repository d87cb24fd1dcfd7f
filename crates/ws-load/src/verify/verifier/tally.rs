//! What a verifier counted and recorded since it was last taken.

use crate::figures::Latencies;
use crate::message::{FirstFaults, OfSender, SlowPart, VisitsPart};
use record::Faults;

/// What went wrong, how long messages took, and how many came.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) faults: Faults,
    pub(crate) first: FirstFaults,
    /// How the dialect and what senders get disagree.
    pub(super) of_sender: OfSender,
    pub(crate) latencies: Latencies,
    pub(crate) messages: u64,
    /// What clients did that read slowly.
    pub(super) slow: SlowPart,
    /// What clients heard that leave and come back.
    pub(super) visited: VisitsPart,
}

//! Requests over HTTP beside the WebSocket connections.

use super::{Latency, Told};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The requests over HTTP since the step before, or since the run began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HttpUse {
    /// Those before a connection, for each `[[open.http]]` of the dialect file. Their time is in no other
    /// figure.
    pub steps: Vec<HttpRequests>,
    /// Publications; absent where there were none.
    pub publications: Option<HttpRequests>,
}

/// Requests over HTTP of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HttpRequests {
    /// Requests that are over.
    pub requests: u64,
    /// Those that had no answer, or not the one that is due.
    pub failed: u64,
    /// How many answers had each status.
    pub statuses: BTreeMap<String, u64>,
    /// What became of the first that failed.
    pub first_failure: Option<Told>,
    /// Time from the request to the end of its answer, without those that failed. It includes making a new
    /// connection for a step, and the wait for a free connection for a publication.
    pub took: Option<Latency>,
}

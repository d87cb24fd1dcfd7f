//! Scripts whose clients think between an answer and their next request.

use super::Latency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Dialogues of a step: each client carries out the script once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dialogues {
    /// Whose first request was sent.
    pub begun: u64,
    /// Whose last request has its answer, or was sent where none is awaited.
    pub finished: u64,
    /// Those of the begun that did not come so far: a connection ended, or the step was given up.
    pub unfinished: u64,
    /// Of those that finished: from the intended moment of the first request to the end. Absent without
    /// any.
    pub time: Option<Latency>,
    /// Answers by the kind of their requests, in the order of the dialect file: of its first 64 kinds,
    /// those that are answered.
    pub kinds: Vec<KindTimes>,
}

/// Answers to the requests of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindTimes {
    /// Its name in the dialect file.
    pub kind: String,
    /// How many came.
    pub answers: u64,
    /// From the moment at which a request was due to its answer. Absent without any.
    pub time: Option<Latency>,
}

//! A worker's part of the requests over HTTP.

use record::{HttpRequests, HttpUse, Recorder, Told};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Requests over HTTP beside the WebSocket connections.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HttpPart {
    /// Those of each step before a connection.
    pub(crate) steps: Vec<RequestsPart>,
    pub(crate) publications: RequestsPart,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RequestsPart {
    requests: u64,
    failed: u64,
    statuses: BTreeMap<u16, u64>,
    first_failure: Option<String>,
    took: Recorder,
}

impl RequestsPart {
    /// A request is over.
    pub(crate) fn note(&mut self, status: Option<u16>, took_ns: u64, failure: Option<String>) {
        self.requests += 1;
        if let Some(status) = status {
            *self.statuses.entry(status).or_default() += 1;
        }
        match failure {
            Some(words) => {
                self.failed += 1;
                self.first_failure.get_or_insert(words);
            }
            None => self.took.record(took_ns),
        }
    }

    fn merge(&mut self, other: Self) {
        self.requests += other.requests;
        self.failed += other.failed;
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.first_failure = self.first_failure.take().or(other.first_failure);
        self.took.merge(&other.took);
    }

    fn into_record(self) -> HttpRequests {
        let statuses = self.statuses.into_iter();
        HttpRequests {
            requests: self.requests,
            failed: self.failed,
            statuses: statuses
                .map(|(of, count)| (of.to_string(), count))
                .collect(),
            first_failure: self.first_failure.map(Told::from),
            took: self.took.latency(),
        }
    }
}

impl HttpPart {
    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.steps.len() < other.steps.len() {
            self.steps
                .resize_with(other.steps.len(), RequestsPart::default);
        }
        for (own, of) in self.steps.iter_mut().zip(other.steps) {
            own.merge(of);
        }
        self.publications.merge(other.publications);
    }

    /// The same for people.
    pub(crate) fn into_record(self) -> HttpUse {
        let steps = self.steps.into_iter().map(RequestsPart::into_record);
        let has_published = self.publications.requests > 0;
        HttpUse {
            steps: steps.collect(),
            publications: has_published.then(|| self.publications.into_record()),
        }
    }
}

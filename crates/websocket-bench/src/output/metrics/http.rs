//! What came of requests over HTTP, in steps that have ended.

use super::family::{Family, Labelled, Unit, Value, figures};
use record::{HttpRequests, HttpUse, StepRecord};
use std::collections::BTreeMap;

/// Sums over the steps, by what the requests were for.
#[derive(Clone, Debug, Default)]
pub(super) struct HttpTotals {
    /// By status as well; `none` where no answer came.
    requests: BTreeMap<(String, String), u64>,
    failed: BTreeMap<String, u64>,
}

impl HttpTotals {
    /// Adds a step.
    pub(super) fn add(&mut self, step: &StepRecord) {
        for (name, of) in step.http.iter().flat_map(|http| kinds(http)) {
            *self.failed.entry(name.clone()).or_default() += of.failed;
            let answered: u64 = of.statuses.values().sum();
            let unanswered = ("none", of.requests.saturating_sub(answered));
            let statuses = of.statuses.iter();
            let statuses = statuses.map(|(status, count)| (status.as_str(), *count));
            for (status, count) in statuses.chain(Some(unanswered).filter(|(_, of)| *of > 0)) {
                let key = (name.clone(), status.to_owned());
                *self.requests.entry(key).or_default() += count;
            }
        }
    }

    /// The metrics; without a value where no step had requests over HTTP.
    pub(super) fn families(&self, last: Option<&StepRecord>) -> [Family; 3] {
        let requests = self.requests.iter().map(|((of, status), count)| {
            let labels = vec![("of", of.clone()), ("status", status.clone())];
            (labels, *count as f64)
        });
        let failed = self.failed.iter();
        let failed = failed.map(|(of, count)| (vec![("of", of.clone())], *count as f64));
        let last = last.and_then(|step| step.http.as_deref());
        let took = last.into_iter().flat_map(kinds).flat_map(quantiles);
        [
            Family {
                name: "step_http_requests",
                help: "Requests over HTTP by the status of their answers, of steps that have ended",
                unit: Unit::None,
                value: Value::Counter(requests.collect()),
            },
            Family {
                name: "step_http_requests_failed",
                help: "Requests over HTTP without the answer that is due, of steps that have ended",
                unit: Unit::None,
                value: Value::Counter(failed.collect()),
            },
            Family {
                name: "step_http",
                help: "Percentiles of the time of a request over HTTP, in the last step that has ended",
                unit: Unit::Seconds,
                value: Value::Gauge(took.collect()),
            },
        ]
    }
}

/// The requests of a step by what they were for: `open[1]` is the first `[[open.http]]`.
fn kinds(http: &HttpUse) -> impl Iterator<Item = (String, &HttpRequests)> {
    let steps = http.steps.iter().enumerate();
    let steps = steps.map(|(index, of)| (format!("open[{}]", index + 1), of));
    let publications = http.publications.iter();
    steps.chain(publications.map(|of| ("publication".to_owned(), of)))
}

fn quantiles((name, of): (String, &HttpRequests)) -> impl Iterator<Item = Labelled> + use<> {
    let figures = of.took.iter().flat_map(figures).collect::<Vec<_>>();
    figures.into_iter().map(move |(quantile, ns)| {
        let labels = vec![("of", name.clone()), ("quantile", quantile.to_owned())];
        (labels, ns as f64 / 1e9)
    })
}

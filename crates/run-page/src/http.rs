//! The table of requests over HTTP.

use crate::figures;
use record::{HttpRequests, StepRecord};

pub(crate) const COLUMNS: [&str; 7] =
    ["clients", "requests", "made", "failed", "p50", "p95", "p99"];

/// A row for each kind of requests of a step.
pub(crate) fn rows(step: &StepRecord) -> Vec<[String; COLUMNS.len()]> {
    let Some(of) = step.http.as_deref() else {
        return Vec::new();
    };
    let steps = of.steps.iter().enumerate();
    let steps = steps.map(|(at, of)| (format!("step {}", at + 1), of));
    let publications = of
        .publications
        .iter()
        .map(|of| ("publications".to_owned(), of));
    let made = steps.chain(publications).filter(|(_, of)| of.requests > 0);
    made.map(|(what, of)| row(step.clients, what, of)).collect()
}

fn row(clients: u64, what: String, of: &HttpRequests) -> [String; COLUMNS.len()] {
    let took = of.took.as_ref();
    let time = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), |ns| figures::time(ns as f64));
    [
        figures::count(clients),
        what,
        figures::count(of.requests),
        figures::count(of.failed),
        time(took.map(|of| of.p50_ns)),
        time(took.map(|of| of.p95_ns)),
        time(took.map(|of| of.p99_ns)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HttpUse;

    #[test]
    fn each_kind_of_requests_that_were_made_has_a_row() {
        let mut step = StepRecord {
            clients: 500,
            ..StepRecord::default()
        };
        assert!(rows(&step).is_empty());
        let made = HttpRequests {
            requests: 500,
            failed: 2,
            ..HttpRequests::default()
        };
        step.http = Some(Box::new(HttpUse {
            steps: vec![made.clone(), HttpRequests::default()],
            publications: Some(made),
        }));
        let rows = rows(&step);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0][..4], ["500", "step 1", "500", "2"]);
        assert_eq!(rows[1][1..], ["publications", "500", "2", "–", "–", "–"]);
    }
}

//! How every measurement ended.

use super::super::{figures, words};
use super::Entry;
use record::Status;

/// One measurement.
pub(super) struct Ended {
    pub(super) run: String,
    pub(super) contestant: String,
    pub(super) category: String,
    pub(super) repetition: u32,
    pub(super) ok: bool,
    pub(super) status: &'static str,
    pub(super) reason: Option<String>,
    /// How the generator's run ended.
    pub(super) end: Option<&'static str>,
    pub(super) detail: Option<String>,
    pub(super) carried: Option<(u64, String)>,
    pub(super) faults: Option<String>,
    /// The generator's busiest thread, largest of all steps.
    pub(super) generator: Option<(f64, String)>,
    /// The generator's largest lag of all steps.
    pub(super) lag: Option<(u64, String)>,
    pub(super) log_tail: Option<String>,
}

pub(super) fn ended(entries: &[Entry<'_>]) -> Vec<Ended> {
    // What a workload does not apply to is told at its ranking.
    let applies = |entry: &&Entry<'_>| entry.row.status != Status::NotApplicable;
    entries.iter().filter(applies).flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Ended> {
    let row = &entry.row;
    row.repetitions
        .iter()
        .map(|measurement| {
            let run = measurement.run.as_ref();
            let steps = run.map(|run| run.steps.as_slice()).unwrap_or_default();
            let busiest = steps
                .iter()
                .map(|step| step.generator.busiest_thread)
                .reduce(f64::max);
            let lag = steps.iter().map(|step| step.generator.largest_lag_ns).max();
            let carried = run.and_then(|run| run.outcome.carried_clients);
            Ended {
                run: entry.run.to_owned(),
                contestant: words::contestant(row),
                category: format!(
                    "{}, {}{}",
                    row.workload_name(),
                    words::dialect(row.dialect()),
                    words::network(row)
                ),
                repetition: measurement.repetition,
                ok: measurement.status == Status::Ok,
                status: measurement.status.name(),
                reason: measurement.reason.clone(),
                end: run.map(|run| words::end(run.outcome.end)),
                detail: run.map(|run| run.outcome.detail.to_string()),
                carried: carried.map(|clients| (clients, figures::count(clients))),
                faults: run
                    .map(|run| run.faults())
                    .filter(|faults| !faults.is_empty())
                    .map(|faults| faults.to_string()),
                generator: busiest.map(|share| (share, figures::share(share))),
                lag: lag.map(|ns| (ns, figures::time(ns as f64))),
                log_tail: measurement.log_tail.clone(),
            }
        })
        .collect()
}

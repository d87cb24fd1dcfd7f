//! The figures of each repetition of a row, and how much they vary.

use super::carried::found;
use super::steps::says_of_the_server;
use super::{Row, Score, score};
use crate::stats::{Interval, Resampling, enough, median_interval};
use run_record::{Measure, Measurement, Recorder, Status};

/// Clients carried by each repetition that was not cut short by the user.
pub(super) fn clients(row: &Row<'_>) -> Vec<f64> {
    row.repetitions
        .iter()
        .filter(|measurement| measurement.status != Status::Interrupted)
        .filter_map(|measurement| found(measurement))
        .map(|(clients, _)| clients as f64)
        .collect()
}

/// The most clients that each of these repetitions may have carried: of one that the generator ended
/// in a step that may have kept the limit, so many as that step would have in the time of the limit if
/// the time grows with the clients. Without such a step nothing is known of it.
pub(super) fn most_clients(row: &Row<'_>) -> Vec<f64> {
    row.repetitions
        .iter()
        .filter(|measurement| measurement.status != Status::Interrupted)
        .filter_map(|measurement| {
            let (clients, at_least) = found(measurement)?;
            let known = clients as f64;
            Some(if at_least {
                undecided(measurement).unwrap_or(f64::INFINITY)
            } else {
                known
            })
        })
        .collect()
}

fn undecided(measurement: &Measurement) -> Option<f64> {
    let run = measurement.run.as_ref()?;
    let last = run.steps.last().filter(|step| step.over_limit)?;
    let earliest = last.limited_at_least_ns.filter(|ns| *ns > 0)? as f64;
    Some((last.clients as f64 * run.plan.limits.time.ns() as f64 / earliest).floor())
}

/// The percentile of the limited latency in each repetition that has this number of clients and
/// says something of the server there.
pub(super) fn latencies(row: &Row<'_>, clients: u64, percentile: f64) -> Vec<f64> {
    let Some(limit) = row.limit() else {
        return Vec::new();
    };
    each(row, clients, limit.of, percentile)
}

fn each(row: &Row<'_>, clients: u64, measure: Measure, percentile: f64) -> Vec<f64> {
    row.runs()
        .filter_map(|run| {
            let steps = run.steps.iter().filter(|step| step.clients == clients);
            let steps = steps.filter(|step| says_of_the_server(step));
            let mut all = Recorder::default();
            for latency in steps.filter_map(|step| step.measured(measure)) {
                all.merge(&latency.recorder().ok()?);
            }
            (all.count() > 0).then(|| all.percentile(percentile) as f64)
        })
        .collect()
}

/// Interval of the median over the repetitions, 95 percent; `None` where they are too few for one.
fn interval(figures: &[f64]) -> Option<Interval> {
    enough(figures.len(), figures.len())
        .then(|| median_interval(figures, Resampling::default()))
        .flatten()
}

impl Row<'_> {
    /// Clients carried by each repetition that was not cut short by the user.
    pub(crate) fn clients_of_each(&self) -> Vec<f64> {
        clients(self)
    }

    /// Interval of the clients carried over the repetitions.
    pub fn clients_interval(&self) -> Option<Interval> {
        interval(&clients(self))
    }

    /// Interval of the figure that tells equal rows apart, over the repetitions.
    pub fn figure_interval(&self, by: Score, common: Option<u64>) -> Option<Interval> {
        let told = interval(&score::figures(self, by, common));
        told.map(|Interval { low, high }| Interval {
            low: score::shown(low, by),
            high: score::shown(high, by),
        })
    }

    /// The same figure of each repetition that has one.
    pub fn figures(&self, by: Score, common: Option<u64>) -> Vec<f64> {
        let figures = score::figures(self, by, common);
        figures
            .into_iter()
            .map(|figure| score::shown(figure, by))
            .collect()
    }

    /// Interval of a percentile of completion over the repetitions, in nanoseconds, at the clients
    /// that the row carried.
    pub fn completion_interval(&self, percentile: f64) -> Option<Interval> {
        let clients = self.carried?.clients()?;
        interval(&each(self, clients, Measure::Completion, percentile))
    }
}

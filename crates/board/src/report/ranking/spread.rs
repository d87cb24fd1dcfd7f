//! The figures of each repetition of a row, and how much they vary.

use super::carried::found;
use super::steps::says_of_the_server;
use super::{Row, Score, score};
use crate::stats::{Interval, Median, enough, interval_or_range};
use plan::Measure;
use record::{Measurement, Recorder, Status, StepRecord};
use std::collections::BTreeSet;

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

/// The percentile of a latency in each repetition that has this number of clients and says something
/// of the server there. Where the server ended a repetition before, it is infinite.
pub(super) fn latencies(
    row: &Row<'_>,
    clients: u64,
    measure: Measure,
    percentile: f64,
) -> Vec<f64> {
    each(row, clients, measure, percentile, says_of_the_server)
}

/// The same of all repetitions, where the generator caused them all.
pub(super) fn any_latencies(
    row: &Row<'_>,
    clients: u64,
    measure: Measure,
    percentile: f64,
) -> Vec<f64> {
    let sound = latencies(row, clients, measure, percentile);
    match sound.is_empty() {
        true => each(row, clients, measure, percentile, |_| true),
        false => sound,
    }
}

fn each(
    row: &Row<'_>,
    clients: u64,
    measure: Measure,
    percentile: f64,
    is_taken: impl Fn(&StepRecord) -> bool,
) -> Vec<f64> {
    row.counted()
        .into_iter()
        .filter_map(|measurement| {
            let steps = &measurement.run.as_ref()?.steps;
            let steps = steps.iter().filter(|step| step.clients == clients);
            let mut all = Recorder::default();
            for latency in steps
                .filter(|step| is_taken(step))
                .filter_map(|step| step.measured(measure))
            {
                all.merge(&latency.recorder().ok()?);
            }
            let measured = (all.count() > 0).then(|| all.percentile(percentile) as f64);
            measured.or_else(|| ended_before(measurement, clients).then_some(f64::INFINITY))
        })
        .collect()
}

/// Whether the server ended a repetition before it came to so many clients.
fn ended_before(measurement: &Measurement, clients: u64) -> bool {
    let steps = measurement.run.iter().flat_map(|run| &run.steps);
    let came_so_far = steps.map(|step| step.clients).any(|came| came >= clients);
    !came_so_far && found(measurement).is_some_and(|(_, at_least)| !at_least)
}

/// The numbers of clients that every repetition was measured with and says something of the server
/// at: a repetition that did not come so far must not be left out of what the others show there.
pub(super) fn loads(row: &Row<'_>) -> BTreeSet<u64> {
    let Some(limit) = row.limit() else {
        return BTreeSet::new();
    };
    let of_one = |measurement: &Measurement| -> BTreeSet<u64> {
        let steps = measurement.run.iter().flat_map(|run| &run.steps);
        steps
            .filter(|step| says_of_the_server(step) && step.measured(limit.of).is_some())
            .map(|step| step.clients)
            .collect()
    };
    let all = row.counted().into_iter().map(of_one);
    all.reduce(|all, one| &all & &one).unwrap_or_default()
}

impl Row<'_> {
    /// Clients carried by each repetition that was not cut short by the user.
    pub(crate) fn clients_of_each(&self) -> Vec<f64> {
        clients(self)
    }

    /// Whether a test could tell it from another row of as many repetitions.
    pub(crate) fn is_tested(&self) -> bool {
        let repetitions = clients(self).len();
        enough(repetitions, repetitions)
    }

    /// Interval of the clients carried over the repetitions, or their range where they are too few.
    pub(crate) fn clients_interval(&self) -> Option<Interval> {
        interval_or_range(&clients(self))
    }

    /// Interval of the figure that tells equal rows apart, over the repetitions, or their range.
    pub(crate) fn figure_interval(&self, by: Score, common: Option<u64>) -> Option<Interval> {
        let told = interval_or_range(&score::figures(self, by, common));
        told.map(|Interval { low, high }| Interval {
            low: score::shown(low, by),
            high: score::shown(high, by),
        })
    }

    /// The same figure of each repetition that has one.
    pub(crate) fn figures(&self, by: Score, common: Option<u64>) -> Vec<f64> {
        let figures = score::figures(self, by, common);
        figures
            .into_iter()
            .map(|figure| score::shown(figure, by))
            .collect()
    }

    /// A percentile of a latency in nanoseconds, at the step whose figures are shown: the median of
    /// the repetitions.
    pub(crate) fn latency(&self, measure: Measure, percentile: f64) -> Option<f64> {
        let clients = self.shown_step()?.clients;
        let each = any_latencies(self, clients, measure, percentile);
        Median::Usual.of(&each)
    }

    /// Interval of a percentile of completion over the repetitions, or their range, in nanoseconds, at
    /// the clients that the row carried.
    pub(crate) fn completion_interval(&self, percentile: f64) -> Option<Interval> {
        let clients = self.carried?.clients()?;
        let each = latencies(self, clients, Measure::Completion, percentile);
        interval_or_range(&each)
    }
}

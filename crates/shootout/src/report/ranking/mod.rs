//! How many clients each server carried: repetitions put together, rows put in order.
//!
//! The rules:
//! - The repetitions of one server, variant, workload and dialect are one [`Row`]. Its clients are
//!   the median over the repetitions ([`Carried`]); percentiles come from the merged histograms of
//!   one step, never from an average of percentiles.
//! - Rows of one workload and dialect are ranked by clients carried. Equal rows are ranked by the
//!   limited latency at the largest number of clients that all of them were measured with; rows
//!   that are equal in that too share their places.
//! - Rows of enough repetitions share their places, too, where a rank test over the repetitions
//!   does not separate them ([`Place`]).
//! - A row has a place only when every repetition is `ok`; one that the user interrupted does not
//!   count against it. The others stand at the end with status and reason, and keep the figures
//!   that they have.
//!
//! This module reads records and nothing else: it opens no file and formats nothing.

mod carried;
mod place;
mod spread;
mod steps;
mod usage;

pub use carried::Carried;
pub(crate) use carried::carried_by;
pub use place::Place;
pub use steps::Step;
pub use usage::{MemoryKind, PerConnection};

use run_record::{
    CheckOutcome, Conformance, Dialect, Limits, Measurement, RunRecord, ServerIdentity, Status,
    Workload,
};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// One server and variant under one workload and dialect.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Its place among the rows of its workload and dialect; `None` when it has none.
    pub place: Option<Place>,
    /// Clients carried; `None` when no repetition found a figure.
    pub carried: Option<Carried>,
    /// The status that counts for the row: that of the first repetition that is not `ok`.
    pub status: Status,
    /// The status in words.
    pub reason: Option<&'a str>,
    /// What was measured, by number of clients.
    pub steps: Vec<Step>,
    /// Every repetition, in order.
    pub repetitions: Vec<&'a Measurement>,
}

impl<'a> Row<'a> {
    fn new(mut repetitions: Vec<&'a Measurement>) -> Self {
        repetitions.sort_by_key(|measurement| (measurement.repetition, &measurement.started));
        let told = deciding(&repetitions);
        Self {
            place: None,
            carried: Carried::of(&repetitions),
            status: told.status,
            reason: told.reason.as_deref(),
            steps: steps::merge(&repetitions),
            repetitions,
        }
    }

    /// The server; its version is the first that a repetition knows.
    pub fn server(&self) -> &'a ServerIdentity {
        self.repetitions
            .iter()
            .find(|measurement| measurement.server.library_version.is_some())
            .map_or(&self.repetitions[0].server, |measurement| {
                &measurement.server
            })
    }

    /// Which request.
    pub fn workload(&self) -> Workload {
        self.repetitions[0].workload
    }

    /// Name of the workload.
    pub fn workload_name(&self) -> &'a str {
        self.repetitions[0].workload_name()
    }

    /// In which message format.
    pub fn dialect(&self) -> Dialect {
        self.repetitions[0].dialect
    }

    /// The records of the generator.
    pub fn runs(&self) -> impl Iterator<Item = &'a RunRecord> {
        self.repetitions
            .iter()
            .filter_map(|measurement| measurement.run.as_ref())
    }

    /// When a step was too slow.
    pub fn limit(&self) -> Option<&'a Limits> {
        self.runs().next().map(|run| &run.plan.limits)
    }

    /// The step with as many clients as the row carried: the one that its figures are from.
    pub fn at_carried(&self) -> Option<&Step> {
        let clients = self.carried?.clients()?;
        self.steps.iter().find(|step| step.clients == clients)
    }

    /// The conformance pass, of the first repetition that has one.
    pub fn conformance(&self) -> Option<&'a Conformance> {
        self.repetitions
            .iter()
            .find_map(|measurement| measurement.conformance.as_ref())
    }

    /// The checks with this verdict.
    pub fn checks(&self, verdict: run_record::CheckVerdict) -> Vec<&'a CheckOutcome> {
        self.conformance()
            .into_iter()
            .flat_map(|conformance| &conformance.checks)
            .filter(|check| check.verdict == verdict)
            .collect()
    }
}

/// Puts the repetitions together and the rows in order: by workload and dialect, within them by
/// place, and those without a place last.
pub fn rank(measurements: &[Measurement]) -> Vec<Row<'_>> {
    let mut grouped: Vec<Vec<&Measurement>> = Vec::new();
    for measurement in measurements {
        match grouped
            .iter_mut()
            .find(|group| same_row(group[0], measurement))
        {
            Some(group) => group.push(measurement),
            None => grouped.push(vec![measurement]),
        }
    }
    let mut rows: Vec<Row<'_>> = grouped.into_iter().map(Row::new).collect();
    rows.sort_by_key(|row| (in_order(row), by_clients(row)));
    let mut ranked = Vec::with_capacity(rows.len());
    for category in rows.chunk_by(|a, b| in_order(a) == in_order(b)) {
        let mut ordered = Vec::with_capacity(category.len());
        for equal in category.chunk_by(|a, b| by_clients(a).0 == by_clients(b).0) {
            ordered.extend(order_equal(equal.to_vec()));
        }
        ranked.extend(place::placed(ordered));
    }
    ranked
}

fn same_row(a: &Measurement, b: &Measurement) -> bool {
    a.server.name == b.server.name
        && a.server.variant == b.server.variant
        && (a.workload, a.workload_name()) == (b.workload, b.workload_name())
        && a.dialect == b.dialect
}

/// The repetition whose status is that of the row.
fn deciding<'a>(repetitions: &[&'a Measurement]) -> &'a Measurement {
    let bad = |status| !matches!(status, Status::Ok | Status::Interrupted);
    let of = |wanted: &dyn Fn(Status) -> bool| {
        repetitions
            .iter()
            .copied()
            .find(|measurement| wanted(measurement.status))
    };
    of(&bad)
        .or_else(|| of(&|status| status == Status::Ok))
        .unwrap_or(repetitions[0])
}

/// Requests in order; of each the workload that has its name before the others.
fn in_order<'a>(row: &Row<'a>) -> (u8, Option<&'a str>, u8) {
    let workload = match row.workload() {
        Workload::Broadcast => 0,
        Workload::Echo => 1,
        Workload::Connect => 2,
    };
    let dialect = match row.dialect() {
        Dialect::Text => 0,
        Dialect::Binary => 1,
        Dialect::Phoenix => 2,
        Dialect::ActionCable => 3,
        Dialect::File => 4,
    };
    let name = row.workload_name();
    let other = (name != row.workload().name()).then_some(name);
    (workload, other, dialect)
}

type ByClients<'a> = ((bool, Reverse<u64>), (&'a str, &'a str));

/// Ranked rows first, those that carried most at the top; equal rows in the order of names.
fn by_clients<'a>(row: &Row<'a>) -> ByClients<'a> {
    let ranked = row.carried.filter(|_| row.status == Status::Ok);
    let server = row.server();
    (
        (
            ranked.is_none(),
            Reverse(ranked.map_or(0, |carried| carried.median)),
        ),
        (&server.name, &server.variant),
    )
}

/// Orders rows that carried equally many, and notes the latency that they are ordered by.
fn order_equal(mut rows: Vec<Row<'_>>) -> Vec<(Row<'_>, place::Standing)> {
    let common = common_clients(&rows);
    let latency = |row: &Row<'_>| {
        let step = row.steps.iter().find(|step| Some(step.clients) == common);
        step.and_then(|step| step.limited_ns)
    };
    let ranked = !by_clients(&rows[0]).0.0;
    if ranked {
        rows.sort_by_key(latency);
    }
    rows.into_iter()
        .map(|row| {
            let standing = place::Standing::of(&row, ranked, common, latency(&row));
            (row, standing)
        })
        .collect()
}

/// The largest number of clients that all rows have a limited latency for.
pub(super) fn common_clients<'r, 'a: 'r>(
    rows: impl IntoIterator<Item = &'r Row<'a>>,
) -> Option<u64> {
    rows.into_iter()
        .map(|row| {
            let measured = row.steps.iter().filter(|step| step.limited_ns.is_some());
            measured.map(|step| step.clients).collect::<BTreeSet<_>>()
        })
        .reduce(|common, clients| &common & &clients)?
        .last()
        .copied()
}

#[cfg(test)]
mod tests;

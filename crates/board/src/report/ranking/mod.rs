//! How many clients each server carried: repetitions put together, rows put in order.
//!
//! The rules:
//! - The repetitions of one server, variant, workload and dialect are one [`Row`]. Its clients are
//!   the median over the repetitions ([`Carried`]), and so are the figures that it is ranked by: a
//!   percentile is one of the whole histogram of each repetition. Order, interval and test are of
//!   the same figures. Curves, and latencies that rank
//!   nothing, come from the merged histograms of one step.
//! - Rows over different networks are never ranked together, as if they were of different workloads.
//! - Rows of one workload and dialect are ranked by clients carried. Equal rows, which are all that
//!   kept the limit where the number of clients is fixed, are ranked by the figure that the workload
//!   is about ([`Score`]): the limited latency at the largest number of clients that every repetition
//!   of all of them was measured with, unless its plan says otherwise. Rows that are equal in that too share their
//!   places.
//! - Where rows are ranked by cost, one that had its cores too busy has no place ([`Row::too_busy`]).
//! - Rows of enough repetitions share their places, too, where a rank test over the repetitions
//!   does not separate them ([`Place`]).
//! - A row has a place only when every repetition is `ok`; one that the user interrupted does not
//!   count against it. Where the number of clients goes up, a repetition that ended at the limit of
//!   the generator does not either: the row stands where the clients that it certainly carried put
//!   it, and may have the places before that ([`Row::is_lower_bound`]). The others stand at the end
//!   with status and reason, and keep the figures that they have.
//!
//! This module reads records and nothing else: it opens no file and formats nothing.

mod carried;
mod costs;
mod extra;
mod lost;
mod place;
mod score;
mod spread;
mod steps;
mod usage;

pub(crate) use carried::{Carried, carried_by};
pub(crate) use costs::Costs;
pub(crate) use extra::{CutOff, Leaving};
pub(crate) use lost::Lost;
pub(crate) use place::Place;
pub use score::cost;
pub(crate) use score::{Score, grows};
pub(crate) use steps::Step;
pub(crate) use usage::MemoryKind;

use crate::stats::Median;
use plan::{Dialect, Limits, Plan, Workload};
use record::{
    CheckOutcome, Conformance, CutRecord, Latency, Measurement, Network, RunRecord, ServerIdentity,
    ServerSeries, Status,
};
use std::cmp::Reverse;

/// The share of its cores above which what a message costs a server is not compared: it is asked under a load
/// that a server carries with time to spare.
pub(crate) const MOST_BUSY: f64 = 0.85;

/// One server and variant under one workload and dialect.
#[derive(Clone, Debug)]
pub(crate) struct Row<'a> {
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
            carried: Carried::new(&repetitions),
            status: told.status,
            reason: told.reason.as_deref(),
            steps: steps::merge(&repetitions),
            repetitions,
        }
    }

    /// The server; its version is the first that a repetition knows.
    pub(crate) fn server(&self) -> &'a ServerIdentity {
        self.repetitions
            .iter()
            .find(|measurement| measurement.server.library_version.is_some())
            .map_or(&self.repetitions[0].server, |measurement| {
                &measurement.server
            })
    }

    /// The year of its library's version, where that was old when it was measured.
    pub(crate) fn old_version_of(&self) -> Option<u32> {
        self.server().old_in(&self.repetitions[0].started)
    }

    /// The proxy that its clients came through.
    pub(crate) fn proxy(&self) -> Option<&'a str> {
        let mut used = self.repetitions.iter().map(|one| one.proxy.as_ref());
        used.find_map(|used| used.map(|of| of.name.as_str()))
    }

    /// Whether its clients came through a proxy.
    pub(crate) fn is_behind_proxy(&self) -> bool {
        self.proxy().is_some()
    }

    /// Which request.
    pub(crate) fn workload(&self) -> Workload {
        self.repetitions[0].workload
    }

    /// Name of the workload.
    pub(crate) fn workload_name(&self) -> &'a str {
        self.repetitions[0].workload_name()
    }

    /// In which message format.
    pub(crate) fn dialect(&self) -> Dialect {
        self.repetitions[0].dialect
    }

    /// Over which network; `None` over loopback.
    pub(crate) fn network(&self) -> Option<&'a Network> {
        asked(self.repetitions[0])
    }

    /// The records of the generator.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &'a RunRecord> {
        self.repetitions
            .iter()
            .filter_map(|measurement| measurement.run.as_ref())
    }

    /// The repetitions that the user did not cut short; all, where that is none.
    fn counted(&self) -> Vec<&'a Measurement> {
        let all = || self.repetitions.iter().copied();
        let whole = all().filter(|measurement| measurement.status != Status::Interrupted);
        let whole: Vec<&Measurement> = whole.collect();
        match whole.is_empty() {
            true => all().collect(),
            false => whole,
        }
    }

    /// When a step was too slow.
    pub(crate) fn limit(&self) -> Option<&'a Limits> {
        self.runs().next().map(|run| &run.plan.limits)
    }

    /// True where its messages are watched while something fails.
    pub(crate) fn is_watched(&self) -> bool {
        self.plan().is_some_and(|plan| plan.watch().is_some())
    }

    /// The plan of the first repetition that has one.
    pub(crate) fn plan(&self) -> Option<&'a Plan> {
        self.runs().next().map(|run| &run.plan)
    }

    /// Completion in the first step of the warm-up: the server just after its start.
    pub(crate) fn cold(&self) -> Option<Latency> {
        let runs: Vec<&RunRecord> = self.runs().collect();
        extra::merged(&runs, |run| run.warm_up.as_ref()?.cold.completion.as_ref())
    }

    /// The figure that ranks it among rows that carried as many clients: in nanoseconds, bytes or
    /// requests a second, and infinite where clients never came back. Latencies are those at
    /// `common` clients.
    pub(crate) fn figure(&self, by: Score, common: Option<u64>) -> Option<f64> {
        score::figure(self, by, common).map(|figure| score::shown(figure, by))
    }

    /// The time until a share of the clients that were cut off are back, in nanoseconds: the median of
    /// the repetitions, infinite where they never were.
    pub(crate) fn returned(&self, share: fn(&CutRecord) -> Option<u64>) -> Option<f64> {
        Median::Usual.of(&score::returns(self, share))
    }

    /// Whether the clients carried are the least that it carries: the generator ended most of its
    /// repetitions.
    pub(crate) fn is_lower_bound(&self) -> bool {
        self.status == Status::GeneratorLimited
            && self.carried.is_some_and(|carried| carried.at_least)
    }

    /// The share of its cores that it used in the last step, from 0 to 1: the median over the repetitions,
    /// where that is above [`MOST_BUSY`].
    pub(crate) fn too_busy(&self) -> Option<f64> {
        let counted = self.counted();
        let each = counted.iter().filter_map(|one| usage::share_of_cores(one));
        let share = Median::Usual.of(&each.collect::<Vec<f64>>())?;
        (share > MOST_BUSY).then_some(share)
    }

    /// Whether it may have a place.
    fn is_ranked(&self) -> bool {
        let is_by_cost = self.plan().map(Score::new) == Some(Score::Cost);
        if is_by_cost && self.too_busy().is_some() {
            return false;
        }
        let has_carried = self
            .carried
            .is_some_and(|carried| carried.clients().is_some());
        let is_bounded = || {
            let ended = [Status::Ok, Status::GeneratorLimited, Status::Interrupted];
            let mut all = self.repetitions.iter();
            all.all(|measurement| ended.contains(&measurement.status))
        };
        match self.status {
            Status::Ok => self.carried.is_some(),
            Status::GeneratorLimited => {
                has_carried && self.plan().is_some_and(grows) && is_bounded()
            }
            _ => false,
        }
    }

    /// The step with as many clients as the row carried: the one that its figures are from.
    pub(crate) fn at_carried(&self) -> Option<&Step> {
        let clients = self.carried?.clients()?;
        self.steps.iter().find(|step| step.clients == clients)
    }

    /// The step whose figures are shown: the one that it carried, or, where the number of clients is
    /// fixed, the last, whether it kept the limit or not.
    pub(crate) fn shown_step(&self) -> Option<&Step> {
        let is_fixed = self.plan().is_some_and(|plan| !grows(plan));
        let last = self.steps.last().filter(|_| is_fixed);
        self.at_carried().or(last)
    }

    /// What a delivered message costs at this number of clients, over all repetitions.
    pub(crate) fn costs(&self, clients: u64) -> Costs {
        costs::costs(&self.repetitions, clients)
    }

    /// What the server used over time, of the first repetition that has it.
    pub(crate) fn series(&self) -> Option<&'a ServerSeries> {
        let series = self.repetitions.iter();
        series
            .filter_map(|measurement| measurement.server_series.as_ref())
            .find(|series| !series.rows.is_empty())
    }

    /// The conformance pass, of the first repetition that has one.
    pub(crate) fn conformance(&self) -> Option<&'a Conformance> {
        self.repetitions
            .iter()
            .find_map(|measurement| measurement.conformance.as_ref())
    }

    /// The checks with this verdict.
    pub(crate) fn checks(&self, verdict: record::CheckVerdict) -> Vec<&'a CheckOutcome> {
        self.conformance()
            .into_iter()
            .flat_map(|conformance| &conformance.checks)
            .filter(|check| check.verdict == verdict)
            .collect()
    }
}

/// Puts the repetitions together and the rows in order: by workload and dialect, within them by
/// place, and those without a place last.
pub(crate) fn rank(measurements: &[Measurement]) -> Vec<Row<'_>> {
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
        let by = score(category);
        let mut ordered = Vec::with_capacity(category.len());
        for equal in category.chunk_by(|a, b| by_clients(a).0 == by_clients(b).0) {
            ordered.extend(order_equal(equal.to_vec(), by));
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
        && is_over_the_same(asked(a), asked(b))
}

fn asked(of: &Measurement) -> Option<&Network> {
    of.network.as_ref().map(|of| &of.asked)
}

/// Whether both lie over the same network, or both over loopback.
pub(crate) fn is_over_the_same(a: Option<&Network>, b: Option<&Network>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.is_like(b),
        _ => false,
    }
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
fn in_order<'a>(row: &Row<'a>) -> (u8, Option<&'a str>, u8, Option<String>) {
    let workload = match row.workload() {
        Workload::Broadcast => 0,
        Workload::Echo => 1,
        Workload::Rooms => 2,
        Workload::Connect => 3,
    };
    let dialect = match row.dialect() {
        Dialect::Text => 0,
        Dialect::Binary => 1,
        Dialect::Phoenix => 2,
        Dialect::ActionCable => 3,
        Dialect::SocketIo => 4,
        Dialect::File => 5,
        Dialect::Mqtt => 6,
        Dialect::Mqtt5 => 7,
    };
    let name = row.workload_name();
    let other = (name != row.workload().name()).then_some(name);
    (workload, other, dialect, row.network().map(Network::values))
}

type ByClients<'a> = ((bool, Reverse<u64>), (&'a str, &'a str));

/// Ranked rows first, those that carried most at the top; equal rows in the order of names.
fn by_clients<'a>(row: &Row<'a>) -> ByClients<'a> {
    let ranked = row.carried.filter(|_| row.is_ranked());
    let server = row.server();
    (
        (
            ranked.is_none(),
            Reverse(ranked.map_or(0, |carried| carried.median)),
        ),
        (&server.name, &server.variant),
    )
}

/// The figure that tells rows of one workload apart that carried equally many clients.
pub(crate) fn score(rows: &[Row<'_>]) -> Score {
    let plan = rows.iter().find_map(Row::plan);
    plan.map_or(Score::Latency, Score::new)
}

/// Orders rows that carried equally many, and notes the figure that they are ordered by.
fn order_equal(rows: Vec<Row<'_>>, by: Score) -> Vec<(Row<'_>, place::Standing)> {
    let common = common_clients(&rows);
    let ranked = !by_clients(&rows[0]).0.0;
    let with_figure = |row| {
        let figure = score::figure(&row, by, common);
        (row, figure)
    };
    let mut rows: Vec<(Row<'_>, Option<f64>)> = rows.into_iter().map(with_figure).collect();
    if ranked {
        rows.sort_by(|(_, a), (_, b)| match (a, b) {
            (Some(a), Some(b)) if by.is_higher_better() => b.total_cmp(a),
            (Some(a), Some(b)) => a.total_cmp(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
    }
    rows.into_iter()
        .map(|(row, figure)| {
            let standing = place::Standing::new(&row, ranked, by, common, figure);
            (row, standing)
        })
        .collect()
}

/// The largest number of clients at which every repetition of all rows has a limited latency.
pub(crate) fn common_clients<'r, 'a: 'r>(
    rows: impl IntoIterator<Item = &'r Row<'a>>,
) -> Option<u64> {
    rows.into_iter()
        .map(spread::loads)
        .reduce(|common, loads| &common & &loads)?
        .last()
        .copied()
}

#[cfg(test)]
mod tests;

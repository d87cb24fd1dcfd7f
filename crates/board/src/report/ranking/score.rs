//! By which figure rows are ranked that carried equally many clients.
//!
//! It follows from the plan, and not from the workload's name: a new file in workloads/ has a
//! ranking without a word here.

use super::usage::{self, MemoryKind, User};
use super::{Row, spread};
use crate::failover::Failover;
use crate::stats::Median;
use plan::{Clients, Life, Load, Measure, Plan, RankedBy, SearchOf};
use record::{CutRecord, Measurement};

/// The figure that tells rows apart that carried equally many clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Score {
    /// The limited latency at the largest number of clients that all of them have. The lower is
    /// better.
    Latency,
    /// Time until all clients that were cut off are back. The lower is better.
    Return,
    /// Memory of the server for one connection, that of its sockets included. The lower is better.
    Memory,
    /// The highest rate of requests within the limit. The higher is better.
    Rate,
    /// CPU time of the server for each message delivered. The lower is better.
    Cost,
    /// The share of the deliveries of confirmed messages that did not come. The lower is better. Each
    /// counts the same, however it was lost: the client does not have the message, and a weight for
    /// losses that it cannot notice would be a number without a source. The columns and
    /// the claim tell them apart. A message that was not confirmed is one that its publisher knows of.
    Loss,
}

/// Whether the number of clients of a plan grows until it is too much: then clients carried are
/// what a row is about.
pub(crate) fn grows(plan: &Plan) -> bool {
    match &plan.clients {
        Clients::Steps(steps) => steps.add > 0 && steps.count != Some(1),
        Clients::Search(search) => search.of == SearchOf::Clients,
    }
}

impl Score {
    /// That of a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let is_cut = |population: &plan::Population| matches!(population.life, Life::Cut(_));
        if let Some(RankedBy::Cost) = plan.ranked_by {
            return Self::Cost;
        }
        match (&plan.clients, &plan.load) {
            (Clients::Search(search), _) if search.of == SearchOf::Rate => Self::Rate,
            (_, Load::Connect(_)) => Self::Memory,
            (_, Load::Watch(_)) => Self::Loss,
            _ if plan.populations.iter().any(is_cut) => Self::Return,
            _ => Self::Latency,
        }
    }

    /// Whether more of it is better.
    pub(crate) const fn is_higher_better(self) -> bool {
        matches!(self, Self::Rate)
    }
}

/// Longer than any step takes, in nanoseconds.
const NEVER_NS: f64 = 1e18;

/// The figure of a row, in nanoseconds, bytes, requests a second, or as a share. Where clients never came back it is
/// longer than any time, and the longer the more of them; see [`shown`]. `common` is the number of
/// clients at which latencies are compared.
pub(super) fn figure(row: &Row<'_>, score: Score, common: Option<u64>) -> Option<f64> {
    let figures = match score {
        Score::Latency => limited(row, common, spread::any_latencies),
        Score::Return | Score::Memory | Score::Rate | Score::Cost | Score::Loss => {
            figures(row, score, common)
        }
    };
    Median::Usual.of(&figures)
}

/// CPU time of the server for each message that was delivered in the last step, in nanoseconds, and
/// of the proxy before it.
pub fn cost(measurement: &Measurement) -> Option<f64> {
    let step = measurement.run.as_ref()?.steps.last()?;
    let of = |user| usage::cpu_per_message(user, &[(measurement, step)]);
    let server = of(User::Server)?;
    match measurement.proxy {
        None => Some(server),
        Some(_) => Some(server + of(User::Proxy)?),
    }
}

/// A figure as it is told: infinite where clients never came back, and so is the mean with such a one.
pub(super) fn shown(figure: f64, score: Score) -> f64 {
    match score {
        Score::Return if figure >= NEVER_NS / 2.0 => f64::INFINITY,
        _ => figure,
    }
}

/// The same of each repetition: of a row that may have a place, of all of them or of none. What a
/// repetition lacks its server may be to blame for.
pub(super) fn figures(row: &Row<'_>, score: Score, common: Option<u64>) -> Vec<f64> {
    let counted = row.counted();
    let each = |of: &dyn Fn(&Measurement) -> Option<f64>| -> Vec<f64> {
        counted.iter().filter_map(|m| of(m)).collect()
    };
    let figures = match score {
        Score::Latency => limited(row, common, spread::latencies),
        Score::Return => whole_returns(row),
        Score::Memory => {
            let Some(clients) = row.carried.and_then(|carried| carried.clients()) else {
                return Vec::new();
            };
            let kind = row.at_carried().and_then(|step| step.memory);
            let kind = kind.map_or(MemoryKind::Resident, |memory| memory.kind);
            each(&|measurement| usage::whole_memory(measurement, clients, kind))
        }
        Score::Cost => each(&cost),
        Score::Loss => each(&|measurement| Failover::new(measurement)?.loss()),
        Score::Rate => each(&|measurement| {
            let edge = measurement.run.as_ref()?.outcome.edge?;
            Some(edge.passed.unwrap_or(0.0))
        }),
    };
    match row.is_ranked() && figures.len() < counted.len() {
        true => Vec::new(),
        false => figures,
    }
}

type Latencies = fn(&Row<'_>, u64, Measure, f64) -> Vec<f64>;

/// The limited latency of repetitions at `common` clients.
fn limited(row: &Row<'_>, common: Option<u64>, latencies: Latencies) -> Vec<f64> {
    let known = common.zip(row.limit());
    known.map_or_else(Vec::new, |(clients, limit)| {
        latencies(row, clients, limit.of, limit.percentile)
    })
}

/// How long a share of the clients that were cut off took to be back in each repetition, in its last
/// step that has a cut: infinite where they never were.
pub(super) fn returns(row: &Row<'_>, share: fn(&CutRecord) -> Option<u64>) -> Vec<f64> {
    let of_one = |cut: &CutRecord| share(cut).map_or(f64::INFINITY, |ns| ns as f64);
    cuts(row).into_iter().map(of_one).collect()
}

/// The same of all of them, so that the share that came back goes before the time.
fn whole_returns(row: &Row<'_>) -> Vec<f64> {
    let of_one = |cut: &CutRecord| {
        let missing = 1.0 - cut.back as f64 / cut.clients.max(1) as f64;
        let never = NEVER_NS * (1.0 + missing);
        cut.back_100_ns.map_or(never, |ns| ns as f64)
    };
    cuts(row).into_iter().map(of_one).collect()
}

/// The last cut of each repetition that has one.
fn cuts<'a>(row: &Row<'a>) -> Vec<&'a CutRecord> {
    let of_one = |measurement: &'a Measurement| {
        let steps = measurement.run.iter().flat_map(|run| &run.steps);
        let mut cuts = steps.filter_map(|step| step.churn.as_ref()?.cut.as_ref());
        cuts.next_back()
    };
    row.counted().into_iter().filter_map(of_one).collect()
}

//! By which figure rows are ranked that carried equally many clients.
//!
//! It follows from the plan, and not from the workload's name: a new file in workloads/ has a
//! ranking without a word here.

use super::usage::{self, MemoryKind};
use super::{Row, spread};
use run_record::{Clients, Life, Load, Measurement, Plan, SearchOf};

/// The figure that tells rows apart that carried equally many clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// The limited latency at the largest number of clients that all of them have. The lower is
    /// better.
    Latency,
    /// Time until all clients that were cut off are back. The lower is better.
    Return,
    /// Memory of the server for one connection, that of its sockets included. The lower is better.
    Memory,
    /// The highest rate of requests within the limit. The higher is better.
    Rate,
}

/// Whether the number of clients of a plan grows until it is too much: then clients carried are
/// what a row is about.
pub fn grows(plan: &Plan) -> bool {
    match &plan.clients {
        Clients::Steps(steps) => steps.add > 0 && steps.count != Some(1),
        Clients::Search(search) => search.of == SearchOf::Clients,
    }
}

impl Score {
    /// That of a plan.
    pub fn of(plan: &Plan) -> Self {
        let is_cut = |population: &run_record::Population| matches!(population.life, Life::Cut(_));
        match (&plan.clients, &plan.load) {
            (Clients::Search(search), _) if search.of == SearchOf::Rate => Self::Rate,
            (_, Load::Connect(_)) => Self::Memory,
            _ if plan.populations.iter().any(is_cut) => Self::Return,
            _ => Self::Latency,
        }
    }

    /// Whether more of it is better.
    pub const fn is_higher_better(self) -> bool {
        matches!(self, Self::Rate)
    }
}

/// Longer than any step takes, in nanoseconds.
const NEVER_NS: f64 = 1e18;

/// The figure of a row, in nanoseconds, bytes or requests a second. Where clients never came back it is
/// longer than any time, and the longer the more of them; see [`shown`]. `common` is the number of clients at which latencies are compared.
pub(super) fn figure(row: &Row<'_>, score: Score, common: Option<u64>) -> Option<f64> {
    if score == Score::Latency {
        let step = row.steps.iter().find(|step| Some(step.clients) == common)?;
        return step.limited_ns.map(|ns| ns as f64);
    }
    let mut figures = figures(row, score, common);
    figures.sort_by(f64::total_cmp);
    // Of two in the middle the worse one: at least half of the repetitions are as good.
    let middle = match score.is_higher_better() {
        true => figures.len().checked_sub(1)? / 2,
        false => figures.len() / 2,
    };
    figures.get(middle).copied()
}

/// A figure as it is told: infinite where clients never came back.
pub(super) fn shown(figure: f64, score: Score) -> f64 {
    match score {
        Score::Return if figure >= NEVER_NS => f64::INFINITY,
        _ => figure,
    }
}

/// The same of each repetition that has one.
pub(super) fn figures(row: &Row<'_>, score: Score, common: Option<u64>) -> Vec<f64> {
    let each = |of: &dyn Fn(&Measurement) -> Option<f64>| -> Vec<f64> {
        row.repetitions.iter().filter_map(|m| of(m)).collect()
    };
    match score {
        Score::Latency => {
            let percentile = row.limit().map(|limit| limit.percentile);
            let known = common.zip(percentile);
            known.map_or_else(Vec::new, |(clients, percentile)| {
                spread::latencies(row, clients, percentile)
            })
        }
        Score::Return => each(&time_to_return),
        Score::Memory => {
            let Some(clients) = row.carried.and_then(|carried| carried.clients()) else {
                return Vec::new();
            };
            let kind = row.at_carried().and_then(|step| step.memory);
            let kind = kind.map_or(MemoryKind::Resident, |memory| memory.kind);
            each(&|measurement| usage::whole_memory(measurement, clients, kind))
        }
        Score::Rate => each(&|measurement| {
            let edge = measurement.run.as_ref()?.outcome.edge?;
            edge.passed
        }),
    }
}

/// Time until all clients that were cut off were back, in the last step that has a cut. The share that
/// came back goes before the time.
fn time_to_return(measurement: &Measurement) -> Option<f64> {
    let steps = measurement.run.iter().flat_map(|run| &run.steps);
    let mut cuts = steps.filter_map(|step| step.churn.as_ref()?.cut.as_ref());
    let cut = cuts.next_back()?;
    let missing = 1.0 - cut.back as f64 / cut.clients.max(1) as f64;
    Some(match cut.back_100_ns {
        Some(ns) => ns as f64,
        None => NEVER_NS * (1.0 + missing),
    })
}

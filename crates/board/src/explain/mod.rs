//! Why a row costs what it costs: what a delivered message takes, beside the other rows of its run.
//!
//! The rules:
//! - A figure is for one message delivered and verified, at the clients that the row is shown with, over
//!   all repetitions that hold it. Of a repetition it is the last step that passed, else the last.
//! - It is compared with the median of the other rows that have a place under the same load, at the same
//!   number of clients.
//! - It *differs* from the median where it is a quarter more or a fifth less, and the kernel's share
//!   where it is 5 percentage points away. That is a threshold for what is worth a line, and no test:
//!   [`crate::compare`] has the test.
//! - What a record does not hold is said and never passes for nothing.
//!
//! This module reads records and returns figures; it measures nothing and prints nothing.

mod finding;
pub mod text;

pub use finding::{
    EXPLANATION_FORMAT, ExplainedFigure, ExplainedLoad, Explanation, LeastOf, PartOfCost,
    explanation_schema,
};

use crate::records;
use crate::report::load::{self, Run};
use crate::report::ranking::{Costs, Row, rank};
use crate::report::words;
use crate::stats::Median;
use project::Refusal;
use std::path::Path;

/// A figure differs where it is more than so many times the median, or the median so many times it.
const RATIO: f64 = 1.25;
/// Counts that are both less than this a message are alike.
const SMALL: f64 = 0.05;
/// A share differs where it is so far away, from 0 to 1.
const APART: f64 = 0.05;

/// What the messages of a row cost: of a server, named `server` or `server:variant`, under each load
/// that a result directory has of it.
///
/// # Errors
/// When the directory cannot be read or has no measurement, or no such row, or several variants.
pub fn explain(dir: &Path, wanted: &str) -> Result<Explanation, Refusal> {
    let run = read(dir)?;
    let rows = rank(&run.measurements);
    let chosen = select(&rows, wanted, dir)?;
    Ok(Explanation {
        format: EXPLANATION_FORMAT,
        version: record::VERSION,
        row: words::contestant(chosen[0]),
        results: dir.display().to_string(),
        loads: chosen.into_iter().map(|row| load(row, &rows)).collect(),
        left_out: run.warnings,
    })
}

fn read(dir: &Path) -> Result<Run, Refusal> {
    let run = load::run(dir).map_err(|error| Refusal::new(error.to_string()))?;
    if !run.measurements.is_empty() {
        return Ok(run);
    }
    let runs = records::runs(dir).unwrap_or_default();
    let names: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    Err(Refusal::new(match names.as_slice() {
        [] => run.warnings.join("\n"),
        names => format!(
            "{}: no run but a round; name one of its runs: {}",
            dir.display(),
            names.join(", ")
        ),
    }))
}

fn select<'r, 'a>(
    rows: &'r [Row<'a>],
    wanted: &str,
    dir: &Path,
) -> Result<Vec<&'r Row<'a>>, Refusal> {
    let full = |row: &Row<'_>| {
        let server = row.server();
        format!("{}:{}", server.name, server.variant)
    };
    let is_wanted = |row: &&Row<'_>| full(row) == wanted || row.server().name == wanted;
    let listed = |rows: &mut dyn Iterator<Item = &Row<'_>>, between: &str| {
        let mut names: Vec<String> = rows.map(full).collect();
        names.sort();
        names.dedup();
        (names.len(), names.join(between))
    };
    let chosen: Vec<&Row<'_>> = rows.iter().filter(is_wanted).collect();
    let (variants, names) = listed(&mut chosen.iter().copied(), " or ");
    match variants {
        1 => Ok(chosen),
        0 => Err(Refusal::new(format!(
            "no row of {wanted} in {}; there are {}",
            dir.display(),
            listed(&mut rows.iter(), ", ").1
        ))),
        _ => Err(Refusal::new(format!(
            "{wanted} has several variants here: name one, {names}"
        ))),
    }
}

fn load(row: &Row<'_>, all: &[Row<'_>]) -> ExplainedLoad {
    let step = row.shown_step().or(row.steps.last());
    let clients = step.map(|step| step.clients);
    let costs = clients
        .map(|clients| row.costs(clients))
        .unwrap_or_default();
    let is_other = |other: &&Row<'_>| {
        !std::ptr::eq(*other, row)
            && other.place.is_some()
            && (other.workload(), other.workload_name()) == (row.workload(), row.workload_name())
            && other.dialect() == row.dialect()
            && words::network(other) == words::network(row)
    };
    let others = all.iter().filter(is_other).filter_map(|other| {
        let costs = other.costs(clients?);
        (costs.repetitions > 0).then(|| (words::contestant(other), costs))
    });
    let others: Vec<(String, Costs)> = others.collect();
    let has_messages = costs.repetitions > 0;
    let figures = PartOfCost::ALL.into_iter();
    let figures = figures.filter_map(|part| figure(part, &costs, &others));
    let figures: Vec<ExplainedFigure> = figures.collect();
    let is_held = |part: &PartOfCost| figures.iter().any(|figure| figure.part == *part);
    let missing = PartOfCost::ALL.into_iter().filter(|part| !is_held(part));
    ExplainedLoad {
        workload: row.workload(),
        workload_name: row.workload_name().to_owned(),
        dialect: row.dialect(),
        network: row.network().map(ToString::to_string),
        status: row.status,
        reason: row.reason.map(str::to_owned),
        clients: clients.filter(|_| has_messages),
        repetitions: costs.repetitions,
        others: others.len(),
        threads: costs.threads,
        ended_threads: costs.ended_threads,
        missing: missing.filter(|_| has_messages).collect(),
        figures,
    }
}

fn figure(part: PartOfCost, own: &Costs, others: &[(String, Costs)]) -> Option<ExplainedFigure> {
    let value = part.of(own)?;
    let held = others
        .iter()
        .filter_map(|(name, costs)| Some((name, part.of(costs)?)));
    let held: Vec<(&String, f64)> = held.collect();
    let values: Vec<f64> = held.iter().map(|(_, value)| *value).collect();
    let median = Median::Usual.of(&values);
    let least = held.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
    Some(ExplainedFigure {
        part,
        value,
        median,
        least: least.map(|(name, value)| LeastOf {
            row: name.clone(),
            value,
        }),
        differs: median.is_some_and(|median| differs(part, value, median)),
    })
}

fn differs(part: PartOfCost, value: f64, median: f64) -> bool {
    match part {
        PartOfCost::KernelShare => (value - median).abs() >= APART,
        _ => value.max(median) >= SMALL && value.max(median) > RATIO * value.min(median),
    }
}

#[cfg(test)]
mod tests;

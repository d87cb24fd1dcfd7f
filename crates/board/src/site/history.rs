//! The figures of every round, for the history of each server, and where they change.
//!
//! Figures of two rounds stand in one line only where machine, kernel, cores of the server and plan
//! are the same.

use super::again;
use super::board::{self, Kind, Known, Ranking};
use super::origin::Origin;
use super::rounds::{Board, Machine, Round};
use crate::stats::{Interval, change_point, enough};
use record::Status;

const NOTHING: Interval = Interval {
    low: 0.0,
    high: 0.0,
};

/// The figure of one row in one round.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Server and variant.
    pub(super) key: String,
    pub(super) server: String,
    pub(super) name: String,
    pub(super) workload: String,
    pub(super) dialect: &'static str,
    /// What its figure is.
    pub(super) kind: Kind,
    pub(super) round: String,
    pub(super) origin: Origin,
    /// The day on which the round began.
    pub(super) day: String,
    pub(super) version: String,
    pub(super) place: String,
    /// The figure in words.
    pub(super) figure: String,
    pub(super) value: Option<f64>,
    /// The figure as exactly as it is known: nothing, where the server failed.
    pub(super) bounds: Option<Interval>,
    /// The figure of each repetition.
    pub(super) each: Vec<f64>,
    pub(super) interval: String,
    pub(super) status: Status,
    pub(super) like: Like,
}

/// What must be the same for two figures to stand in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Like {
    machine: Option<Machine>,
    server_cpus: Vec<usize>,
    plan: String,
}

impl Like {
    /// Whether the other was measured as this was, on whatever machine.
    pub(super) fn is_measured_as(&self, other: &Self) -> bool {
        self.server_cpus == other.server_cpus && self.plan == other.plan
    }

    /// Whether the facts of both machines are the same.
    pub(super) fn is_on_hardware_of(&self, other: &Self) -> bool {
        self.is_of_hardware(other.machine.as_ref())
    }

    /// Whether it is of a machine like this one.
    pub(super) fn is_of_hardware(&self, machine: Option<&Machine>) -> bool {
        let both = self.machine.as_ref().zip(machine);
        both.is_some_and(|(one, other)| one.is_same_hardware(other))
    }

    /// The machine in words.
    pub(super) fn words(&self) -> String {
        let machine = self.machine.as_ref().map(Machine::words);
        machine.unwrap_or_else(|| "nothing was measured".to_owned())
    }
}

/// The points of all rankings of a round.
pub(super) fn of_round(round: &Round, known: &Known<'_>) -> Vec<Point> {
    let mut all = Vec::new();
    for board in &round.boards {
        for ranking in board.rankings(known) {
            all.extend(points(round, board, &ranking));
        }
    }
    all
}

/// The points of a ranking of a round.
pub(super) fn points<'r>(
    round: &'r Round,
    board: &'r Board,
    ranking: &'r Ranking<'_>,
) -> impl Iterator<Item = Point> + 'r {
    let subject = ranking.subject();
    let rows = ranking
        .lines
        .iter()
        .chain(&ranking.ceilings)
        .zip(&ranking.rows);
    rows.map(move |(line, row)| {
        let pinning = row.repetitions.iter().find_map(|m| m.pinning.as_ref());
        Point {
            key: line.key.clone(),
            server: line.server.clone(),
            name: line.name.clone(),
            workload: ranking.workload.clone(),
            dialect: ranking.dialect,
            kind: ranking.kind,
            round: round.name.clone(),
            origin: ranking.origin.clone(),
            day: round.started.chars().take(10).collect(),
            version: line.version.clone(),
            place: line.place.text.clone(),
            figure: line.figure.text.clone(),
            value: board::figure(row, &subject),
            bounds: board::bounds(row, &subject)
                .or_else(|| board::has_failed(row).then_some(NOTHING)),
            each: board::figures_of_each(row, &subject),
            interval: line.interval.clone(),
            status: row.status,
            like: Like {
                machine: board.machine.clone(),
                server_cpus: pinning.map(|p| p.server_cpus.clone()).unwrap_or_default(),
                plan: row.runs().next().map(again::plan_key).unwrap_or_default(),
            },
        }
    })
}

/// What the rounds show together, the newest first, in a sentence.
pub(super) fn change(points: &[&Point]) -> String {
    let measured: Vec<&&Point> = points.iter().rev().filter(|p| !p.each.is_empty()).collect();
    let each: Vec<Vec<f64>> = measured.iter().map(|point| point.each.clone()).collect();
    let fewest = each.iter().map(Vec::len).min().unwrap_or_default();
    if measured.len() < 2 {
        return "One round on this machine under this plan: no change can be seen.".to_owned();
    }
    if !enough(fewest, fewest) {
        return "A round of too few repetitions is among these: whether they differ is not tested."
            .to_owned();
    }
    match change_point(&each) {
        Some(change) if change.is_shown() => format!(
            "The figures change between round {} and round {} (Pettitt's test, p = {:.4}).",
            measured[change.before - 1].round,
            measured[change.before].round,
            change.p
        ),
        Some(change) => format!(
            "No change is shown over these {} rounds (Pettitt's test, p = {:.2}).",
            measured.len(),
            change.p
        ),
        None => format!(
            "All repetitions of these {} rounds have the same figure.",
            measured.len()
        ),
    }
}

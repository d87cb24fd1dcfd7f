//! The figures of the front page: one row for each server, and of each column the ranking that has
//! it.
//!
//! Which ranking a column is from follows from the plans, and not from the names of workloads.

mod cost;
mod pick;
mod unit;

pub(super) use cost::{Bar, Yardstick};
pub(super) use unit::digits;

use super::board::{Ranked, Ranking};
use super::rounds::Machine;
use crate::report::ranking::Row;
use project::folder_of;
use record::Status;
use std::collections::BTreeMap;

/// What a column is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    /// CPU time for one delivery of a broadcast that is sent at a fixed rate.
    Cost,
    /// Memory for one connection that is idle.
    Memory,
    /// Time until a message is with the members of its room.
    Rooms,
    /// Time until all clients that were cut off at one moment are back.
    Storm,
    /// Memory while some clients do not read, and what becomes of these.
    Slow,
    /// CPU time for one answer.
    Echo,
}

impl Column {
    /// All of them, in the order of the table.
    pub(super) const ALL: [Self; 6] = [
        Self::Cost,
        Self::Memory,
        Self::Rooms,
        Self::Storm,
        Self::Slow,
        Self::Echo,
    ];

    /// What it shows, without its unit.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Cost => "CPU per message",
            Self::Memory => "memory per connection",
            Self::Rooms => "p99 in rooms",
            Self::Storm => "all back",
            Self::Slow => "slow readers",
            Self::Echo => "CPU per answer",
        }
    }
}

/// A ranking that a column is from, and its machine.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub(super) machine: Option<&'s Machine>,
    pub(super) ranking: &'s Ranking<'s>,
}

/// The figures of a round.
pub(super) struct Field<'s> {
    sources: BTreeMap<Column, Source<'s>>,
    pub(super) yardstick: Option<Yardstick>,
    /// One for each server: those with a bar first, the cheapest at the top.
    pub(super) lines: Vec<Line>,
}

/// A server by one of its variants.
pub(super) struct Line {
    pub(super) key: String,
    pub(super) server: String,
    pub(super) name: String,
    pub(super) language: String,
    pub(super) class: String,
    /// Why there is no bar, if the row has a status that says it.
    pub(super) status: Option<&'static str>,
    pub(super) bar: Option<Bar>,
    cells: BTreeMap<Column, Cell>,
}

/// A figure with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    /// In the unit of its column; `None` where it is not a number.
    pub(super) value: Option<f64>,
    pub(super) text: String,
    /// What became of clients that do not read.
    pub(super) fate: Option<&'static str>,
    /// The variant, where it is not that of the line.
    pub(super) variant: Option<String>,
}

impl Line {
    /// The figure of a column; `None` where there is none.
    pub(super) fn cell(&self, column: Column) -> Option<&Cell> {
        self.cells.get(&column)
    }
}

impl<'s> Field<'s> {
    /// Of all rankings of a round.
    pub(super) fn new(
        rankings: impl Iterator<Item = (Option<&'s Machine>, &'s Ranking<'s>)>,
    ) -> Self {
        let all: Vec<Source<'s>> = rankings
            .map(|(machine, ranking)| Source { machine, ranking })
            .collect();
        let sources: BTreeMap<Column, Source<'s>> = Column::ALL
            .into_iter()
            .filter_map(|column| Some((column, pick::source(column, &all)?)))
            .collect();
        let costs = sources.get(&Column::Cost);
        let costs = costs.map(|source| cost::Costs::new(source.ranking));
        let mut chosen: BTreeMap<&str, &Ranked> = BTreeMap::new();
        let best = costs.iter().flat_map(|costs| costs.best.iter().copied());
        let others = all.iter().flat_map(|source| &source.ranking.lines);
        // The second row of a server is measured to see what chance alone does.
        for line in best
            .chain(others)
            .filter(|line| folder_of(&line.server) == line.server)
        {
            chosen.entry(&line.server).or_insert(line);
        }
        let mut lines: Vec<Line> = chosen
            .into_values()
            .map(|ranked| line(ranked, &sources, costs.as_ref()))
            .collect();
        lines.sort_by(|a, b| {
            let by_bar = |line: &Line| {
                line.bar
                    .as_ref()
                    .map_or((2, f64::MAX), |bar| (u8::from(!bar.kept_up), bar.ns))
            };
            let (a, b) = (by_bar(a), by_bar(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        Self {
            yardstick: costs.and_then(|costs| costs.yardstick),
            sources,
            lines,
        }
    }

    /// Where a column is from; `None` where the round has nothing for it.
    pub(super) fn source(&self, column: Column) -> Option<Source<'s>> {
        self.sources.get(&column).copied()
    }
}

fn line(
    ranked: &Ranked,
    sources: &BTreeMap<Column, Source<'_>>,
    costs: Option<&cost::Costs<'_>>,
) -> Line {
    let cells = sources.iter().filter_map(|(column, source)| {
        let cell = of_server(*column, source.ranking, ranked)?;
        Some((*column, cell))
    });
    let has_no_result = |status: Status| !matches!(status, Status::Ok | Status::GeneratorLimited);
    let bar = costs.and_then(|costs| costs.bar(&ranked.key));
    Line {
        key: ranked.key.clone(),
        server: ranked.server.clone(),
        name: ranked.name.clone(),
        language: ranked.language.clone(),
        class: ranked.class.clone(),
        status: (bar.is_none() && has_no_result(ranked.status)).then(|| ranked.status.name()),
        bar,
        cells: cells.collect(),
    }
}

/// The figure of the variant of a line, else that of another variant of its server; none that a proxy had a
/// part in.
fn of_server(column: Column, ranking: &Ranking<'_>, ranked: &Ranked) -> Option<Cell> {
    let rows =
        rows(ranking).filter(|(line, row)| line.server == ranked.server && !row.is_behind_proxy());
    let cells = rows.filter_map(|(line, row)| Some((line, unit::cell(column, row)?)));
    let mut cells: Vec<(&Ranked, Cell)> = cells.collect();
    let number = |cell: &Cell| cell.value.unwrap_or(f64::MAX);
    cells.sort_by(|(a, one), (b, other)| {
        let is_another = |line: &Ranked| line.key != ranked.key;
        let order = is_another(a).cmp(&is_another(b));
        order.then(number(one).total_cmp(&number(other)))
    });
    let (line, cell) = cells.into_iter().next()?;
    Some(Cell {
        variant: (line.key != ranked.key).then(|| line.name.clone()),
        ..cell
    })
}

/// The rows of a ranking, those that others are held against at the end.
fn rows<'r, 'a>(ranking: &'r Ranking<'a>) -> impl Iterator<Item = (&'r Ranked, &'r Row<'a>)> {
    let lines = ranking.lines.iter().chain(&ranking.ceilings);
    lines.zip(&ranking.rows)
}

#[cfg(test)]
mod tests;

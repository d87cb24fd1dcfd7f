//! The ranking as a table, before it becomes text, Markdown or HTML.

use super::columns::{self, Column};
use super::figures;
use super::notes::{Note, Notes};
use super::ranking::Row;
use super::subject::Subject;
use super::words;
use plan::{Clients, Steps, Target};
use record::{Latency, Status};

/// Shown where there is no figure.
pub(crate) const NOTHING: &str = "–";
const DIFFERENT_PLANS: &str = "These rows were measured under different plans: their figures \
                               cannot be compared.";

/// The rows of one workload and dialect.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: Vec<Line>,
    pub(crate) notes: Vec<Note>,
    /// What keeps its rows from being compared.
    pub(crate) remark: Option<&'static str>,
    /// The rule of the places; absent when nothing was measured.
    pub(crate) ranked_by: Option<String>,
    /// Rows that the workload does not apply to, a sentence for each reason.
    pub(crate) absent: Vec<String>,
}

/// A row of cells.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) cells: Vec<Cell>,
    pub(crate) status: Status,
    /// Numbers of the notes that belong to it.
    pub(crate) notes: Vec<usize>,
    /// Page of the library.
    pub(crate) homepage: String,
    pub(crate) summary: Option<String>,
}

/// A figure or a word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// The exact figure; absent for words and where there is none.
    pub(crate) value: Option<String>,
    /// Smallest and largest of several figures that differ.
    pub(crate) range: Option<(u64, u64)>,
}

impl Cell {
    pub(crate) fn word(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    pub(crate) fn figure<T: std::fmt::Display>(
        value: Option<T>,
        show: impl Fn(&T) -> String,
    ) -> Self {
        match value {
            Some(value) => Self {
                text: show(&value),
                value: Some(value.to_string()),
                range: None,
            },
            None => Self::word(NOTHING),
        }
    }

    pub(crate) fn latency(latency: Option<&Latency>, of: impl Fn(&Latency) -> u64) -> Self {
        Self::figure(latency.map(of), |ns| figures::time(*ns as f64))
    }
}

impl Table {
    /// The table of rows of one workload and dialect, in ranked order.
    pub(crate) fn new(rows: &[Row<'_>]) -> Self {
        let subject = Subject::new(rows);
        let filled = columns::filled(rows, &subject);
        let (absent, rows): (Vec<&Row<'_>>, Vec<&Row<'_>>) = rows
            .iter()
            .partition(|row| row.status == Status::NotApplicable);
        let mut notes = Notes::new(&rows);
        let lines = rows
            .iter()
            .map(|row| Line {
                cells: filled.iter().map(|column| (column.cell)(row)).collect(),
                status: row.status,
                notes: notes.of_row(row),
                homepage: row.server().homepage.clone(),
                summary: row.server().variant_summary.clone(),
            })
            .collect();
        Self {
            columns: filled.into_iter().map(|filled| filled.column).collect(),
            lines,
            notes: notes.all(),
            remark: (!same_plan(&rows)).then_some(DIFFERENT_PLANS),
            ranked_by: subject.ranked_by(),
            absent: not_applicable(&absent),
        }
    }
}

/// Rows that the workload does not apply to, put together by their reasons.
fn not_applicable(rows: &[&Row<'_>]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        let reason = row.reason.unwrap_or("no reason given");
        let name = words::contestant(row);
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => groups.push((reason, vec![name])),
        }
    }
    let words = |(reason, names): (&str, Vec<String>)| {
        format!("Not applicable, {reason}: {}", names.join(", "))
    };
    groups.into_iter().map(words).collect()
}

/// Whether all rows were measured in the same way. Addresses, the check of certificates and random
/// choices do not matter. Neither do the steps, which only decide how finely clients are counted; a
/// note says where they differ.
fn same_plan(rows: &[&Row<'_>]) -> bool {
    let mut plans = rows.iter().flat_map(|row| row.runs()).map(|run| {
        run.plan.clone().with(|plan| {
            plan.target = Target {
                local_addrs: std::mem::take(&mut plan.target.local_addrs),
                ..Target::default()
            };
            plan.generator.seed = 0;
            if let Clients::Steps(steps) = &mut plan.clients {
                *steps = Steps::default();
            }
        })
    });
    let first = plans.next();
    plans.all(|plan| Some(plan) == first)
}

//! The ranking as a table, before it becomes text, Markdown or HTML.

use super::figures;
use super::notes::{Note, Notes};
use super::ranking::{MemoryKind, Row};
use super::words;
use run_record::{Clients, Latency, Status, Steps, Target, Workload};

/// Shown where there is no figure.
pub(super) const NOTHING: &str = "–";
const DIFFERENT_PLANS: &str = "These rows were measured under different plans: their figures \
                               cannot be compared.";

/// The rows of one workload and dialect.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) lines: Vec<Line>,
    pub(super) notes: Vec<Note>,
    /// What keeps its rows from being compared.
    pub(super) remark: Option<&'static str>,
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) title: &'static str,
    /// What it is, in a sentence.
    pub(super) meaning: &'static str,
    pub(super) numeric: bool,
}

/// A row of cells.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) cells: Vec<Cell>,
    pub(super) status: Status,
    /// Numbers of the notes that belong to it.
    pub(super) notes: Vec<usize>,
    /// Page of the library.
    pub(super) homepage: String,
    pub(super) summary: Option<String>,
}

/// A figure or a word.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    /// The exact figure; absent for words and where there is none.
    pub(super) value: Option<String>,
    /// Smallest and largest of several figures that differ.
    pub(super) range: Option<(u64, u64)>,
}

impl Cell {
    fn word(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    fn figure<T: std::fmt::Display>(value: Option<T>, show: impl Fn(&T) -> String) -> Self {
        match value {
            Some(value) => Self {
                text: show(&value),
                value: Some(value.to_string()),
                range: None,
            },
            None => Self::word(NOTHING),
        }
    }

    fn latency(latency: Option<&Latency>, of: impl Fn(&Latency) -> u64) -> Self {
        Self::figure(latency.map(of), |ns| figures::time(*ns as f64))
    }
}

impl Table {
    /// The table of rows of one workload and dialect, in ranked order.
    pub(super) fn new(rows: &[Row<'_>]) -> Self {
        let delivers = rows.iter().any(|row| row.workload() == Workload::Broadcast);
        let mut notes = Notes::of(rows);
        let lines = rows
            .iter()
            .map(|row| line(row, delivers, &mut notes))
            .collect();
        Self {
            columns: columns(rows, delivers),
            lines,
            notes: notes.all(),
            remark: (!same_plan(rows)).then_some(DIFFERENT_PLANS),
        }
    }
}

fn columns(rows: &[Row<'_>], delivers: bool) -> Vec<Column> {
    let column = |title, meaning| Column {
        title,
        meaning,
        numeric: true,
    };
    let word = |title, meaning| Column {
        title,
        meaning,
        numeric: false,
    };
    let kinds: Vec<MemoryKind> = rows
        .iter()
        .filter_map(|row| Some(row.at_carried()?.memory?.kind))
        .collect();
    let memory = if kinds.contains(&MemoryKind::Resident) {
        "Memory of the process tree above idle, divided by the clients. At least one row knows \
         only resident memory, in which shared pages count once per process."
    } else {
        "Proportional memory (shared pages count once) of the process tree above idle, divided \
         by the clients."
    };
    let mut columns = vec![
        column(
            "#",
            "Place among the rows that have a result; a range where the repetitions do not tell \
             rows apart.",
        ),
        word("server", "Folder of the server."),
        word("variant", "Variant of the server."),
        word(
            "version",
            "Version of the library, as the built server prints it.",
        ),
        column(
            "clients",
            "Clients of the last step within the limit: median over repetitions, and where they \
             differ its 95 % interval (of fewer than 4 repetitions the range). ≥: something other \
             than the server ended the run.",
        ),
        column(
            "p50",
            "Median completion at that step. Of connections: from the intended start to the upgrade.",
        ),
        column(
            "p95",
            "95th percentile of completion at that step; of 4 repetitions or more also the 95 % \
             interval of their median.",
        ),
        column("p99", "99th percentile of completion at that step."),
    ];
    if delivers {
        columns.push(column(
            "delivery p95",
            "95th percentile over all listeners at that step.",
        ));
    }
    columns.extend([
        column("mem/conn", memory),
        column(
            "sock/conn",
            "Kernel memory of the server's sockets above idle, divided by the clients.",
        ),
        column(
            "cpu/msg",
            "Processor time of the server for one message delivered.",
        ),
        word("status", "Whether there is a result, and if not, why."),
    ]);
    columns
}

fn line(row: &Row<'_>, delivers: bool, notes: &mut Notes) -> Line {
    let server = row.server();
    let step = row.at_carried();
    let completion = step.and_then(|step| step.completion.as_ref());
    let mut cells = vec![
        place(row),
        Cell::word(&server.name),
        Cell::word(&server.variant),
        Cell::word(server.library_version.as_deref().unwrap_or(NOTHING)),
        clients(row),
        Cell::latency(completion, |latency| latency.p50_ns),
        p95(row, completion),
        Cell::latency(completion, |latency| latency.p99_ns),
    ];
    if delivers {
        let delivery = step.and_then(|step| step.delivery.as_ref());
        cells.push(Cell::latency(delivery, |latency| latency.p95_ns));
    }
    let memory = step.and_then(|step| step.memory).map(|memory| memory.bytes);
    cells.extend([
        Cell::figure(memory, |bytes| figures::bytes(*bytes)),
        Cell::figure(step.and_then(|step| step.sockets), |bytes| {
            figures::bytes(*bytes)
        }),
        Cell::figure(step.and_then(|step| step.cpu_per_message_ns), |ns| {
            figures::time(*ns)
        }),
        Cell::word(row.status.name()),
    ]);
    Line {
        cells,
        status: row.status,
        notes: notes.of_row(row),
        homepage: server.homepage.clone(),
        summary: server.variant_summary.clone(),
    }
}

fn place(row: &Row<'_>) -> Cell {
    let Some(place) = row.place else {
        return Cell::word(NOTHING);
    };
    Cell {
        value: Some(place.best.to_string()),
        range: None,
        text: place.to_string(),
    }
}

fn p95(row: &Row<'_>, completion: Option<&Latency>) -> Cell {
    let mut cell = Cell::latency(completion, |latency| latency.p95_ns);
    if let Some(interval) = row.completion_interval(95.0) {
        let (low, high) = (figures::time(interval.low), figures::time(interval.high));
        cell.text.push_str(&format!(" ({low}–{high})"));
    }
    cell
}

fn clients(row: &Row<'_>) -> Cell {
    let Some(carried) = &row.carried else {
        return Cell::word(NOTHING);
    };
    let shown = words::carried(carried);
    let spread = words::spread(carried);
    let shown_spread = match row.clients_interval() {
        Some(interval) => spread.is_some().then(|| words::interval(interval)),
        None => spread.clone(),
    };
    Cell {
        value: Some(carried.median.to_string()),
        range: spread
            .is_some()
            .then_some((carried.smallest, carried.largest)),
        text: match shown_spread {
            Some(spread) => format!("{shown} ({spread})"),
            None => shown,
        },
    }
}

/// Whether all rows were measured in the same way. Addresses, the check of certificates and random
/// choices do not matter. Neither do the steps, which only decide how finely clients are counted; a
/// note says where they differ.
fn same_plan(rows: &[Row<'_>]) -> bool {
    let mut plans = rows.iter().flat_map(Row::runs).map(|run| {
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

//! What is built with a server, and which figures count for it: a sorting for each, and its first rows.

use super::Site;
use crate::site::field::{Column, Field, Line};

/// Rows that are shown.
const SHOWN: usize = 3;

/// What is built.
pub(super) struct Build {
    pub(super) title: &'static str,
    pub(super) reason: &'static str,
    /// What the rows are sorted by: the head of a column of the table, where it has one.
    pub(super) sorted_by: Option<String>,
    pub(super) rows: Vec<Best>,
    /// Name and page of the workload.
    pub(super) workloads: Vec<(String, String)>,
}

/// One of the first rows.
pub(super) struct Best {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) figures: String,
}

struct Wanted {
    title: &'static str,
    reason: &'static str,
    /// Sorts the rows, the lowest first.
    by: Column,
    /// Is told beside it.
    beside: Option<Column>,
}

const WANTED: [Wanted; 5] = [
    Wanted {
        title: "Chat in rooms",
        reason: "A message must be with everyone in its room soon, and the slowest deliveries are the ones \
                 that people notice: sorted by the 99th percentile.",
        by: Column::Rooms,
        beside: Some(Column::Memory),
    },
    Wanted {
        title: "A feed or ticker to everyone",
        reason: "Every message is written once for each client, so CPU per message decides how many \
                 clients a core serves.",
        by: Column::Cost,
        beside: None,
    },
    Wanted {
        title: "Notifications to mostly idle clients",
        reason: "Most connections do nothing most of the time, so memory decides how many fit.",
        by: Column::Memory,
        beside: None,
    },
    Wanted {
        title: "Request and answer",
        reason: "Each request has one answer, so CPU per answer decides how many a core gives.",
        by: Column::Echo,
        beside: None,
    },
    Wanted {
        title: "A public service with bad networks",
        reason: "A client that stops reading must not fill the memory, and after a network failure everyone \
                 comes back at once: of the servers that cut slow readers off, those that used least \
                 memory meanwhile.",
        by: Column::Slow,
        beside: Some(Column::Storm),
    },
];

/// A sorting for each thing that is built.
pub(super) fn builds(site: &Site<'_>, field: &Field<'_>) -> Vec<Build> {
    WANTED
        .iter()
        .map(|wanted| build(site, field, wanted))
        .collect()
}

fn build(site: &Site<'_>, field: &Field<'_>, wanted: &Wanted) -> Build {
    let columns = || std::iter::once(wanted.by).chain(wanted.beside);
    let mut fitting: Vec<(f64, &Line)> = field
        .lines
        .iter()
        .filter(|line| {
            wanted.by != Column::Cost || line.bar.as_ref().is_some_and(|bar| bar.kept_up)
        })
        .filter(|line| wanted.by != Column::Slow || is_protected(line))
        .filter_map(|line| Some((line.cell(wanted.by)?.value?, line)))
        .collect();
    fitting.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let rows = fitting.into_iter().take(SHOWN).map(|(_, line)| Best {
        name: line.name.clone(),
        href: site.server_href(&line.server, ""),
        figures: columns()
            .filter_map(|column| told(line, column))
            .collect::<Vec<_>>()
            .join(", "),
    });
    let rows: Vec<Best> = rows.collect();
    let workloads = columns().filter_map(|column| {
        let name = &field.source(column)?.ranking.workload;
        Some((name.clone(), site.workload_href(name, "")))
    });
    Build {
        title: wanted.title,
        reason: wanted.reason,
        sorted_by: (wanted.by != Column::Echo && !rows.is_empty()).then(|| head(wanted.by)),
        rows,
        workloads: workloads.collect(),
    }
}

/// The head of a column in the table.
pub(super) fn head(column: Column) -> String {
    format!("{}, {}", column.words(), column.unit())
}

fn is_protected(line: &Line) -> bool {
    let fate = line.cell(Column::Slow).and_then(|cell| cell.fate);
    fate == Some("cut off")
}

/// A figure with its unit and what it is.
fn told(line: &Line, column: Column) -> Option<String> {
    let cell = line.cell(column)?;
    let figure = match cell.value {
        Some(_) => format!("{} {}", cell.text, column.unit()),
        None => cell.text.clone(),
    };
    let words = match (column, line.bar.as_ref()) {
        (Column::Cost, Some(bar)) => format!("{figure} a message, {:.2}×", bar.times),
        (Column::Cost, None) => format!("{figure} a message"),
        (Column::Echo, _) => format!("{figure} an answer"),
        (Column::Memory, _) => format!("{figure} a connection"),
        (Column::Rooms, _) => format!("p99 {figure}"),
        (Column::Storm, _) => format!("all back after {figure}"),
        (Column::Slow, _) => format!(
            "slow readers {}, {figure} in use at most",
            cell.fate.unwrap_or("read slowly")
        ),
    };
    Some(match &cell.variant {
        Some(variant) => format!("{words} ({variant})"),
        None => words,
    })
}

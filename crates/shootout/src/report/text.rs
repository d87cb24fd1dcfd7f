//! The ranking for a terminal.

use super::ranking::{Row, rank};
use super::table::{Cell, Table};
use super::{headline, same_category, words};
use crate::stdout::one_line;
use run_record::Measurement;
use std::fmt::Write as _;

/// One aligned table for each workload and dialect, with its rule above and its notes below.
pub fn table(measurements: &[Measurement]) -> String {
    let texts: Vec<String> = rank(measurements)
        .chunk_by(same_category)
        .map(category)
        .collect();
    texts.join("\n")
}

fn category(rows: &[Row<'_>]) -> String {
    let table = Table::new(rows);
    let mut text = headline::category(rows);
    if let Some(limit) = rows.iter().find_map(Row::limit) {
        let _ = write!(
            text,
            ": clients with {}",
            words::rule(rows[0].workload(), limit)
        );
    }
    let _ = writeln!(text, " ({})", headline::tally(rows));
    text.push_str(&aligned(&table));
    if let Some(remark) = table.remark {
        let _ = writeln!(text, "{remark}");
    }
    for note in &table.notes {
        let _ = write!(text, "[{}] {}", note.number, one_line(&note.text));
        if let Some(link) = &note.link {
            let _ = write!(text, " <{}>", one_line(link));
        }
        text.push('\n');
    }
    text
}

fn aligned(table: &Table) -> String {
    let head = table.columns.iter().map(|column| column.title.to_owned());
    let lines = table.lines.iter().map(|line| {
        let mut cells: Vec<String> = line.cells.iter().map(shown).collect();
        if let (Some(status), false) = (cells.last_mut(), line.notes.is_empty()) {
            let numbers: Vec<String> = line.notes.iter().map(usize::to_string).collect();
            let _ = write!(status, " [{}]", numbers.join(","));
        }
        cells
    });
    let grid: Vec<Vec<String>> = std::iter::once(head.collect()).chain(lines).collect();
    let width = |column: usize| {
        let cells = grid.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let mut text = String::new();
    for line in &grid {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .zip(&table.columns)
            .map(|((cell, &width), column)| match column.numeric {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn shown(cell: &Cell) -> String {
    one_line(&cell.text)
}

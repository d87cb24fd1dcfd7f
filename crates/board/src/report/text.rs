//! The ranking for a terminal.

use super::ranking::Row;
use super::subject::Subject;
use super::table::{Cell, Table};
use super::{by_category, headline};
use crate::terminal::{aligned, one_line};
use record::Measurement;
use std::fmt::Write as _;

/// One aligned table for each workload and dialect, with its rule above and its notes below.
pub fn table(measurements: &[Measurement]) -> String {
    by_category(measurements, category).join("\n")
}

fn category(rows: &[Row<'_>]) -> String {
    let table = Table::new(rows);
    let mut text = headline::category(&rows[0]);
    if let Some(head) = Subject::new(rows).head() {
        let _ = write!(text, ": {head}");
    }
    let _ = writeln!(text, " ({})", headline::tally(rows));
    if !table.lines.is_empty() {
        text.push_str(&grid(&table));
    }
    for absent in &table.absent {
        let _ = writeln!(text, "{}", one_line(absent));
    }
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

fn grid(table: &Table) -> String {
    let head = table.columns.iter().map(|column| column.title.clone());
    let lines = table.lines.iter().map(|line| {
        let mut cells: Vec<String> = line.cells.iter().map(shown).collect();
        if let (Some(status), false) = (cells.last_mut(), line.notes.is_empty()) {
            let numbers: Vec<String> = line.notes.iter().map(usize::to_string).collect();
            let _ = write!(status, " [{}]", numbers.join(","));
        }
        cells
    });
    let grid: Vec<Vec<String>> = std::iter::once(head.collect()).chain(lines).collect();
    let right = |column: usize| table.columns[column].numeric;
    aligned(&grid, right).join("\n") + "\n"
}

fn shown(cell: &Cell) -> String {
    one_line(&cell.text)
}

//! The page of the table, as Markdown.

use super::{Exception, Line, REMEDY};
use crate::report::markdown::escaped;
use std::fmt::Write as _;

const HEAD: &str = "\
# Conformance of every server

Which rule of RFC 6455 and of [the protocol](protocol.md) each server was seen to keep. This page \
is generated: ";

const LEGEND: &str = "\
✓ passed · [n] waived for the reason below · ✗ failed · – does not apply. A check that runs in \
several dialects shows the worst that was seen. The ids are those of `shootout verify`, and name \
the section of RFC 6455 or the protocol's rule.
";

/// Columns of one table: more do not fit a page.
const COLUMNS: usize = 12;

/// The page that these lines make.
pub(super) fn render(lines: &[Line]) -> String {
    let mut notes = Notes::default();
    let columns = columns(lines, &mut notes);
    let mut text = format!("{HEAD}`{REMEDY}`.\n\n{LEGEND}\n## Servers\n\n");
    text.push_str(
        "| | server | variants | library | version | verified | passed | waived | failed |\n",
    );
    text.push_str("|--:|---|---|---|---|---|--:|--:|--:|\n");
    for (index, column) in columns.iter().enumerate() {
        let first = column.lines[0];
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            label(index),
            escaped(&first.server),
            escaped(&column.variants()),
            escaped(&first.library),
            escaped(&first.version),
            first.date,
            first.passed.len(),
            first.waived.len(),
            first.failed.len(),
        );
    }
    text.push_str("\n## Checks\n");
    for (chunk, part) in columns.chunks(COLUMNS).enumerate() {
        let labels: Vec<String> = (0..part.len())
            .map(|index| label(chunk * COLUMNS + index))
            .collect();
        let _ = writeln!(text, "\n| check | {} |", labels.join(" | "));
        let _ = writeln!(text, "|---|{}", ":-:|".repeat(part.len()));
        for (number, id) in conformance::check_ids().into_iter().enumerate() {
            let cells: Vec<&str> = part
                .iter()
                .map(|column| column.cells[number].as_str())
                .collect();
            let _ = writeln!(text, "| {} | {} |", escaped(id), cells.join(" | "));
        }
    }
    notes.write(&mut text);
    text
}

/// Variants of one server with the same results.
struct Column<'a> {
    lines: Vec<&'a Line>,
    cells: Vec<String>,
}

impl Column<'_> {
    fn variants(&self) -> String {
        let names: Vec<&str> = self
            .lines
            .iter()
            .map(|line| line.variant.as_str())
            .collect();
        names.join(", ")
    }
}

fn columns<'a>(lines: &'a [Line], notes: &mut Notes) -> Vec<Column<'a>> {
    let mut columns: Vec<Column<'a>> = Vec::new();
    for line in lines {
        let cells = cells(line, notes);
        let twin = columns.iter_mut().find(|column| {
            let first = column.lines[0];
            (&first.server, &first.version, &first.date)
                == (&line.server, &line.version, &line.date)
                && column.cells == cells
        });
        match twin {
            Some(column) => column.lines.push(line),
            None => columns.push(Column {
                lines: vec![line],
                cells,
            }),
        }
    }
    columns
}

fn cells(line: &Line, notes: &mut Notes) -> Vec<String> {
    let seen = line.seen();
    let cell = |id| match seen.get(id) {
        Some(("passed", _)) => "✓".to_owned(),
        Some(("waived", Some(waiver))) => {
            format!("\\[{}\\]", notes.number(&line.server, waiver))
        }
        Some(("failed", _)) => "✗".to_owned(),
        _ => "–".to_owned(),
    };
    conformance::check_ids().into_iter().map(cell).collect()
}

/// The waivers in the order of their first use, each once.
#[derive(Default)]
struct Notes(Vec<(String, Exception)>);

impl Notes {
    fn number(&mut self, server: &str, waiver: &Exception) -> usize {
        let note = (server.to_owned(), waiver.clone());
        let place = self.0.iter().position(|known| *known == note);
        place.unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        }) + 1
    }

    fn write(&self, text: &mut String) {
        if self.0.is_empty() {
            return;
        }
        text.push_str("\n## Waivers\n\n");
        for (index, (server, waiver)) in self.0.iter().enumerate() {
            let link = waiver.link.as_ref();
            let link = link.map_or_else(String::new, |link| format!(" ([link]({link}))"));
            let _ = writeln!(
                text,
                "{}. {}, {}: {}{link}",
                index + 1,
                escaped(server),
                escaped(&waiver.check),
                escaped(&waiver.reason)
            );
        }
    }
}

/// A, B, ... Z, AA, AB, ...
fn label(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => letter.to_string(),
        high => format!("{}{letter}", label(high - 1)),
    }
}

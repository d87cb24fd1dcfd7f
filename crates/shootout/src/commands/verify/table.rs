//! The table of the documentation: written, or held against what was seen.

use super::painted;
use crate::commands::Context;
use crate::conformance_table::{self, Files, Line};
use crate::exit::Refusal;
use crate::rows::Wanted;
use anstyle::AnsiColor;

/// What is done with the documentation's table.
#[derive(Clone, Copy)]
pub(in crate::commands) enum Table {
    /// It takes over what was seen.
    Write,
    /// It must say what was seen.
    Check,
}

/// Writes the table, or compares it with the results. False where they differ.
pub(super) fn keep(context: &Context<'_>, table: Table, fresh: Vec<Line>) -> Result<bool, Refusal> {
    let project = &context.project;
    let files = Files::of(project.root());
    let stored = files.read()?;
    let entries = project.select(&[])?;
    let all = Wanted::all(&entries);
    let variants: Vec<(&str, &str)> = all
        .iter()
        .flat_map(|w| {
            w.variants
                .iter()
                .map(|v| (w.entry.name.as_str(), v.as_str()))
        })
        .collect();
    match table {
        Table::Write => {
            let lines = conformance_table::merged(stored, fresh, &variants);
            files.write(&lines)?;
            say!("{}", project.shown(&files.page));
            Ok(true)
        }
        Table::Check => {
            let mut found = conformance_table::differences(&stored, &fresh, &variants);
            if !files.page_is_current(&stored) {
                let page = project.shown(&files.page);
                found.push(format!("{page}: not the page that its lines make"));
            }
            for difference in &found {
                say!("{} {difference}", painted(AnsiColor::Red, "DRIFT"));
            }
            if !found.is_empty() {
                say!(
                    "bring the table up to date with: {}",
                    conformance_table::REMEDY
                );
            }
            Ok(found.is_empty())
        }
    }
}

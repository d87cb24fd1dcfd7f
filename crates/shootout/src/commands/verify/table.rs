//! The generated tables of the documentation: written, or held against what was seen.

use super::painted;
use crate::commands::Context;
use crate::rows::Wanted;
use anstyle::AnsiColor;
use board::conformance_table::{self, Compared, Files, Line};
use board::servers_table::Page;
use project::Refusal;
use project::ServerFolder;

/// What is done with the documentation's tables.
#[derive(Clone, Copy)]
pub(in crate::commands) enum Table {
    /// They take over what was seen.
    Write,
    /// They must say what was seen.
    Check,
}

/// Writes the tables, or compares them with results and manifests. False where they differ.
pub(super) fn keep(context: &Context<'_>, table: Table, fresh: Vec<Line>) -> Result<bool, Refusal> {
    let project = &context.project;
    let files = Files::new(project.root());
    let stored = files.read()?;
    let entries = project.select(&[])?;
    let page = Page::new(project.root())?;
    match table {
        Table::Write => {
            files.write(&conformance_table::merged(
                stored,
                fresh,
                &variants(&entries),
            ))?;
            say!("{}", project.shown(&files.page));
            if let Some(page) = page {
                page.write(&entries)?;
                say!("{}", project.shown(page.path()));
            }
            Ok(true)
        }
        Table::Check => {
            let mut found = conformance_table::compared(&stored, &fresh, &variants(&entries));
            if !files.page_is_current(&stored) {
                let page = project.shown(&files.page);
                found
                    .drift
                    .push(format!("{page}: not the page that its lines make"));
            }
            if let Some(page) = page {
                found.add(page.compared(&entries)?);
            }
            tell(&found);
            Ok(found.drift.is_empty())
        }
    }
}

fn variants(entries: &[ServerFolder]) -> Vec<(&str, &str)> {
    let all = Wanted::all(entries).into_iter();
    let pairs = all.flat_map(|wanted| {
        let variants = wanted.manifest.variants.iter();
        variants.map(move |variant| (wanted.entry.name.as_str(), variant.name.as_str()))
    });
    pairs.collect()
}

fn tell(found: &Compared) {
    for difference in &found.drift {
        say!("{} {difference}", painted(AnsiColor::Red, "DRIFT"));
    }
    if !found.drift.is_empty() {
        say!(
            "bring the tables up to date with: {}",
            conformance_table::REMEDY
        );
    }
    for server in &found.unknown {
        say!(
            "{} {server}: not in the tables yet; write it there with: {} {server}",
            painted(AnsiColor::Yellow, "NEW"),
            conformance_table::REMEDY
        );
    }
}

//! The page: one HTML file that opens from disk.
//!
//! It loads nothing: style, script and charts stand in the file, and a content security policy in
//! its head forbids the rest. Templates escape every text; `|safe` stands only where a template
//! of this module has been rendered before.

mod autobahn;
mod chart;
mod conformance;
mod facts;
mod filters;
mod outcomes;
mod section;

use super::load::Run;
use super::ranking::{Row, rank};
use super::{ReportError, same_category};
use askama::Template;
use autobahn::Tested;
use conformance::Checked;
use facts::Facts;
use outcomes::Ended;
use record::AutobahnRecord;
use section::{Section, Styles};

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    headlines: &'a [String],
    warnings: &'a [String],
    runs: Vec<RunHead<'a>>,
    sections: Vec<Section>,
    ended: Vec<Ended>,
    checked: Vec<Checked>,
    tested: Vec<Tested<'a>>,
    facts: Vec<Facts>,
}

/// A run, as the head of the page names it.
struct RunHead<'a> {
    name: &'a str,
    started: &'a str,
    measurements: usize,
}

/// A row and the run that it is from.
struct Entry<'a> {
    row: Row<'a>,
    run: &'a str,
}

/// The page as text.
pub(super) fn render(
    runs: &[Run],
    headlines: &[String],
    warnings: &[String],
    autobahn: &[AutobahnRecord],
) -> Result<String, ReportError> {
    let runs: Vec<&Run> = runs
        .iter()
        .filter(|run| !run.measurements.is_empty())
        .collect();
    let entries: Vec<Entry<'_>> = runs
        .iter()
        .flat_map(|run| {
            let rows = rank(&run.measurements).into_iter();
            rows.map(|row| Entry {
                row,
                run: &run.name,
            })
        })
        .collect();
    let page = Page {
        headlines,
        warnings,
        runs: runs
            .iter()
            .map(|run| RunHead {
                name: &run.name,
                started: &run.started,
                measurements: run.measurements.len(),
            })
            .collect(),
        sections: sections(&entries, runs.len() > 1)?,
        ended: outcomes::ended(&entries),
        checked: conformance::checked(&entries),
        tested: autobahn::tested(&entries, autobahn),
        facts: runs.iter().map(|run| facts::facts(run)).collect(),
    };
    Ok(page.render()?)
}

/// One section for each workload and dialect, with the rows of all runs.
fn sections(entries: &[Entry<'_>], several: bool) -> Result<Vec<Section>, ReportError> {
    let mut categories: Vec<Vec<&Entry<'_>>> = Vec::new();
    for entry in entries {
        match categories
            .iter_mut()
            .find(|known| same_category(&known[0].row, &entry.row))
        {
            Some(known) => known.push(entry),
            None => categories.push(vec![entry]),
        }
    }
    let styles = Styles::new(entries);
    categories
        .iter()
        .enumerate()
        .map(|(index, entries)| Section::new(index, entries, &styles, several))
        .collect()
}

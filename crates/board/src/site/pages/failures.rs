//! The page of rows whose messages were watched while parts of the server failed.

use super::{Page, Ranked, Site};
use crate::report::failures;
use crate::report::ranking::{Row, Score};
use crate::report::table::NOTHING;
use crate::site::SiteError;
use crate::site::again::Again;
use crate::site::board::{Kind, Ranked as Line, Ranking};
use askama::Template;
use record::Status;

/// The page, in the folder of the site.
pub(super) const FILE: &str = "failures.html";
/// Columns of the ranking that are findings.
const FINDINGS: [&str; 12] = [
    "claim",
    "kept",
    "delivered",
    "silent",
    "cut",
    "away",
    "joining",
    "made good",
    "again",
    "95 % back",
    "all back",
    "whole again",
];

#[derive(Template)]
#[template(path = "site/failures.html")]
struct Failures {
    page: Page,
    parts: Vec<Part>,
}

/// One ranking.
struct Part {
    id: String,
    title: String,
    href: String,
    workload: String,
    from: String,
    reason: Option<String>,
    sentence: String,
    /// What the plan does, and when.
    timetable: String,
    heads: Vec<(String, String, bool)>,
    rows: Vec<Shown>,
}

struct Shown {
    key: String,
    name: String,
    href: String,
    language: String,
    class: String,
    /// Text, exact value, and whether it is a number.
    cells: Vec<(String, Option<String>, bool)>,
    status: &'static str,
    chart: Option<String>,
    faults: Vec<String>,
    again: Option<Again>,
}

/// Whether a ranking is of such rows.
pub(super) fn is_of(ranking: &Ranking<'_>) -> bool {
    ranking.kind == Kind::Score(Score::Loss)
}

/// The page; `None` where there are no such rows.
pub(super) fn render(site: &Site<'_>) -> Result<Option<String>, SiteError> {
    let rankings = site.rankings().filter(|(_, ranking)| is_of(ranking));
    let parts: Vec<Part> = rankings
        .enumerate()
        .map(|(index, (machine, ranking))| part(site, machine, ranking, index))
        .collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let page = Failures {
        page: site.page("When a node dies", FILE, ""),
        parts,
    };
    Ok(Some(page.render()?))
}

fn part(site: &Site<'_>, machine: &Ranked<'_>, ranking: &Ranking<'_>, index: usize) -> Part {
    let columns = ranking.columns.iter();
    let findings: Vec<usize> = FINDINGS
        .iter()
        .filter_map(|title| columns.clone().position(|column| column.title == *title))
        .collect();
    let heads = findings.iter().map(|at| {
        let column = &ranking.columns[*at];
        (column.title.clone(), column.meaning.clone(), column.numeric)
    });
    let lines = ranking.lines.iter().chain(&ranking.ceilings);
    let rows = lines.zip(&ranking.rows);
    let plan = ranking.rows.iter().find_map(Row::plan);
    let of_machine = machine.board.machine.as_ref();
    let of_machine = of_machine.map_or_else(String::new, |of| format!(" on {}", of.words()));
    Part {
        id: format!("f{index}"),
        title: ranking.title.clone(),
        href: site.workload_href(&ranking.workload, ""),
        workload: ranking.workload.clone(),
        from: format!("{}{of_machine}", ranking.origin),
        reason: ranking.reason.clone(),
        sentence: ranking.sentence.clone(),
        timetable: plan.map_or_else(String::new, |plan| failures::timetable(plan).join(", ")),
        heads: heads.collect(),
        rows: rows
            .map(|(line, row)| shown(site, ranking, &findings, (line, row)))
            .collect(),
    }
}

fn shown(
    site: &Site<'_>,
    ranking: &Ranking<'_>,
    findings: &[usize],
    (line, row): (&Line, &Row<'_>),
) -> Shown {
    let cells = findings.iter().map(|at| {
        let is_number = ranking.columns[*at].numeric;
        match line.cells.get(*at) {
            Some(cell) => (cell.text.clone(), cell.value.clone(), is_number),
            None => (NOTHING.to_owned(), None, is_number),
        }
    });
    Shown {
        key: line.key.clone(),
        name: line.name.clone(),
        href: site.server_href(&line.server, ""),
        language: line.language.clone(),
        class: line.class.clone(),
        cells: cells.collect(),
        status: match line.status {
            Status::Ok => "",
            other => other.name(),
        },
        chart: failures::chart(row).map(|chart| chart.to_string()),
        faults: failures::sentences(row),
        again: line.again.clone(),
    }
}

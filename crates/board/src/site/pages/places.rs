//! The page of places: those of every row in every workload, and what may be said of them.

use super::{Page, Site};
use crate::site::SiteError;
use crate::site::board::Ranking;
use askama::Template;
use std::collections::BTreeMap;

#[derive(Template)]
#[template(path = "site/places.html")]
struct Places {
    page: Page,
    matrices: Vec<Matrix>,
}

/// The places of every row in every workload on one machine.
struct Matrix {
    machine: Option<String>,
    round: String,
    heads: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    key: String,
    name: String,
    href: String,
    language: String,
    class: String,
    /// Text, and the number that sorts.
    cells: Vec<(String, Option<String>)>,
}

pub(super) fn render(site: &Site<'_>) -> Result<String, SiteError> {
    let page = Places {
        page: site.page("Places in every workload", "places.html", ""),
        matrices: matrices(site),
    };
    Ok(page.render()?)
}

/// Whether there is another row to be before.
fn is_contested(ranking: &Ranking<'_>) -> bool {
    let placed = ranking.lines.iter();
    placed.filter(|line| line.place.value.is_some()).count() > 1
}

fn matrices(site: &Site<'_>) -> Vec<Matrix> {
    let of_board = site.ranked.iter().map(|ranked| {
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        let contested = ranked.rankings.iter().filter(|r| is_contested(r));
        let contested: Vec<&Ranking<'_>> = contested.collect();
        let width = contested.len();
        for (column, ranking) in contested.iter().enumerate() {
            for line in &ranking.lines {
                let row = rows.entry(line.key.clone()).or_insert_with(|| Row {
                    key: line.key.clone(),
                    name: line.name.clone(),
                    href: site.server_href(&line.server, ""),
                    language: line.language.clone(),
                    class: line.class.clone(),
                    cells: vec![("–".to_owned(), None); width],
                });
                row.cells[column] = match line.place.value {
                    Some(_) => (line.place.text.clone(), line.place.value.clone()),
                    None => (line.status.name().to_owned(), None),
                };
            }
        }
        Matrix {
            machine: ranked.board.machine.as_ref().map(|machine| machine.words()),
            round: site
                .round
                .map(|round| round.name.clone())
                .unwrap_or_default(),
            heads: titles(&contested),
            rows: rows.into_values().collect(),
        }
    });
    of_board.collect()
}

/// The heads of rankings, with their runs where two would be the same.
fn titles(rankings: &[&Ranking<'_>]) -> Vec<String> {
    let short: Vec<String> = rankings
        .iter()
        .map(|ranking| short_title(ranking))
        .collect();
    let titles = short.iter().zip(rankings).map(|(title, ranking)| {
        let twins = short.iter().filter(|other| *other == title).count();
        match twins {
            1 => title.clone(),
            _ => format!("{title}, {}", ranking.origin.run),
        }
    });
    titles.collect()
}

/// Workload, and the dialect where it is not the usual one.
fn short_title(ranking: &Ranking<'_>) -> String {
    match ranking.dialect {
        "JSON" => ranking.workload.clone(),
        dialect => format!("{} ({dialect})", ranking.workload),
    }
}

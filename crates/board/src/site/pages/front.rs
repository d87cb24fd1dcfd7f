//! The front page: what is asked, the answer, the tables.

use super::{Page, Site};
use crate::report::figures;
use crate::site::SiteError;
use crate::site::board::{Ranking, key};
use crate::stats;
use askama::Template;
use project::contestant;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Template)]
#[template(path = "site/index.html")]
struct Front<'s> {
    page: Page,
    /// Which round this is, on what machine, and who says so.
    origin: Vec<String>,
    answer: Vec<String>,
    /// The board of other runs: words and way.
    other: Option<&'s (String, &'static str)>,
    command: Option<&'static str>,
    warnings: &'s [String],
    matrices: Vec<Matrix>,
    workloads: Vec<Workload>,
    servers: Vec<Server>,
}

/// The places of every row in every workload on one machine.
struct Matrix {
    machine: Option<String>,
    round: String,
    heads: Vec<String>,
    rows: Vec<Places>,
}

struct Places {
    key: String,
    name: String,
    href: String,
    language: String,
    class: String,
    /// Text, and the number that sorts.
    cells: Vec<(String, Option<String>)>,
}

struct Workload {
    name: String,
    href: String,
    reason: String,
    sentences: Vec<String>,
}

/// A variant of a server.
struct Server {
    key: String,
    name: String,
    href: String,
    language: String,
    class: String,
    library: String,
    version: String,
    /// Passed, waived, failed, failed of the Autobahn|Testsuite.
    counts: [Option<usize>; 4],
}

/// The command that measures a round.
const MEASURE: &str = "./shootout run --workload all --repeat 5 --out results/$(date +%Y-%m)";

pub(super) fn render(site: &Site<'_>) -> Result<String, SiteError> {
    let workloads = site.workload_names.iter().map(|name| {
        let reason = site
            .gathered
            .workloads
            .iter()
            .find(|(known, _)| known == name);
        let of_it = site
            .rankings()
            .filter(|(_, ranking)| ranking.workload == *name);
        Workload {
            name: name.clone(),
            href: site.workload_href(name, ""),
            reason: match reason {
                Some((_, reason)) => reason.clone(),
                None => "a plan that is not in workloads/".to_owned(),
            },
            sentences: of_it.map(|(_, ranking)| ranking.sentence.clone()).collect(),
        }
    });
    let page = Front {
        page: site.page("WebSocket servers, measured the same way", "index.html", ""),
        origin: origin(site),
        answer: answer(site),
        other: site.shown.other.as_ref(),
        command: site.round.is_none().then_some(MEASURE),
        warnings: &site.gathered.warnings,
        matrices: matrices(site),
        workloads: workloads.collect(),
        servers: servers(site),
    };
    Ok(page.render()?)
}

/// Machine and author of the round.
fn origin(site: &Site<'_>) -> Vec<String> {
    let Some(round) = site.round else {
        return Vec::new();
    };
    let machines = site
        .ranked
        .iter()
        .filter_map(|ranked| ranked.board.machine.as_ref());
    let machines: Vec<String> = machines.map(|machine| machine.words()).collect();
    let first = format!(
        "Round {}, measured on {}; {}.",
        round.name,
        machines.join(", and on "),
        round.about.label
    );
    std::iter::once(first)
        .chain(round.about.note.clone())
        .collect()
}

/// The answer in three sentences.
fn answer(site: &Site<'_>) -> Vec<String> {
    let lines = &site.gathered.conformance;
    let clean = lines
        .iter()
        .filter(|l| l.waived.is_empty() && l.failed.is_empty())
        .count();
    let servers: BTreeSet<&str> = lines.iter().map(|line| line.server.as_str()).collect();
    let checked = format!(
        "Of {} variants of {} servers, {} pass every conformance check that applies to them without a \
         waiver.",
        figures::count(lines.len() as u64),
        figures::count(servers.len() as u64),
        figures::count(clean as u64)
    );
    let Some(round) = site.round else {
        let suite = &site.gathered.autobahn;
        let whole = suite
            .iter()
            .filter(|record| record.failed.is_empty())
            .count();
        return vec![
            "No round has been published yet; the command below measures one.".to_owned(),
            checked,
            format!(
                "{} of {} raw echoes pass the Autobahn|Testsuite without a failed case.",
                figures::count(whole as u64),
                figures::count(suite.len() as u64)
            ),
        ];
    };
    let all = site.rankings().map(|(_, ranking)| ranking);
    let rankings: Vec<&Ranking<'_>> = all.filter(|ranking| is_contested(ranking)).collect();
    let contested = rankings.len();
    let shared = rankings
        .iter()
        .filter(|ranking| firsts(ranking) > 1)
        .count();
    let mut leaders: BTreeMap<&str, usize> = BTreeMap::new();
    for ranking in &rankings {
        for line in ranking
            .lines
            .iter()
            .filter(|line| line.place.value.as_deref() == Some("1"))
        {
            *leaders.entry(&line.name).or_default() += 1;
        }
    }
    let most = leaders.values().copied().max().unwrap_or_default();
    let leading: Vec<&str> = leaders
        .iter()
        .filter(|(_, n)| **n == most)
        .map(|(name, _)| *name)
        .collect();
    let leading = match leading.len() {
        0 => "No row has a place yet.".to_owned(),
        1..=3 => format!(
            "{} {} first, alone or shared, in {most} of {contested} rankings of round {}.",
            leading.join(" and "),
            if leading.len() == 1 { "is" } else { "are" },
            round.name
        ),
        many => format!(
            "{many} rows are first, alone or shared, in {most} of {contested} rankings of round {}.",
            round.name
        ),
    };
    vec![
        leading,
        match shared {
            _ if !are_tested(&rankings) => format!(
                "Places are the order of the figures and not tested: that takes {} repetitions of each \
                 row.",
                stats::repetitions_for(1)
            ),
            0 => "In none of these rankings is the first place shared.".to_owned(),
            _ => format!(
                "In {shared} of these rankings the first place is shared: the repetitions do not tell \
                 these rows apart."
            ),
        },
        checked,
    ]
}

/// Whether there is another row to be before.
fn is_contested(ranking: &Ranking<'_>) -> bool {
    let placed = ranking.lines.iter();
    placed.filter(|line| line.place.value.is_some()).count() > 1
}

/// Whether the repetitions are enough to tell the rows of every ranking apart.
fn are_tested(rankings: &[&Ranking<'_>]) -> bool {
    let mut rows = rankings.iter().flat_map(|ranking| &ranking.rows);
    rows.all(|row| {
        let measured = row.repetitions.iter().filter(|m| m.run.is_some()).count();
        measured == 0 || stats::enough(measured, measured)
    })
}

/// Rows that may be first.
fn firsts(ranking: &Ranking<'_>) -> usize {
    ranking
        .lines
        .iter()
        .filter(|line| line.place.value.as_deref() == Some("1"))
        .count()
}

fn matrices(site: &Site<'_>) -> Vec<Matrix> {
    let of_board = site.ranked.iter().map(|ranked| {
        let mut rows: BTreeMap<String, Places> = BTreeMap::new();
        let contested = ranked.rankings.iter().filter(|r| is_contested(r));
        let contested: Vec<&Ranking<'_>> = contested.collect();
        let width = contested.len();
        for (column, ranking) in contested.iter().enumerate() {
            for line in &ranking.lines {
                let row = rows.entry(line.key.clone()).or_insert_with(|| Places {
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

fn servers(site: &Site<'_>) -> Vec<Server> {
    let mut rows: BTreeMap<String, Server> = BTreeMap::new();
    for manifest in &site.gathered.manifests {
        for variant in &manifest.variants {
            let key = key(&manifest.name, &variant.name);
            rows.insert(
                key.clone(),
                Server {
                    key,
                    name: contestant(&manifest.name, &variant.name),
                    href: site.server_href(&manifest.name, ""),
                    language: manifest.language.clone(),
                    class: manifest.class.name().to_owned(),
                    library: manifest.library.clone(),
                    version: "–".to_owned(),
                    counts: [None; 4],
                },
            );
        }
    }
    for line in &site.gathered.conformance {
        if let Some(row) = rows.get_mut(&key(&line.server, &line.variant)) {
            row.version.clone_from(&line.version);
            row.counts[0] = Some(line.passed.len());
            row.counts[1] = Some(line.waived.len());
            row.counts[2] = Some(line.failed.len());
        }
    }
    for record in &site.gathered.autobahn {
        if let Some(row) = rows.get_mut(&key(&record.server.name, &record.server.variant)) {
            row.counts[3] = Some(record.failed.len());
        }
    }
    rows.into_values().collect()
}

//! The page of a server: its figures under every workload, conformance, waivers, history.

use super::history::{History, histories};
use super::{Page, Ranked, Site, standing};
use crate::report::figures;
use crate::report::markdown::is_web_address;
use crate::report::over_time::OverTime;
use crate::report::table::{Cell, NOTHING};
use crate::report::words;
use crate::site::SiteError;
use crate::site::board::Ranking;
use crate::site::chart::{self, Curve, Drawing, Of};
use crate::site::field::Field;
use askama::Template;
use project::manifest::{JsonReading, Manifest};
use record::{CheckVerdict, Status};

const ROOT: &str = "../";

#[derive(Template)]
#[template(path = "site/server.html")]
struct Server {
    page: Page,
    name: String,
    summary: Option<String>,
    homepage: Option<String>,
    standing: Vec<String>,
    facts: Vec<(&'static str, String)>,
    variants: Vec<(String, String)>,
    tables: Vec<Table>,
    unmeasured: &'static str,
    checked: Vec<Checked>,
    tested: Vec<Tested>,
    histories: Vec<History>,
}

/// Its rows on one machine.
struct Table {
    round: String,
    machine: Option<String>,
    rows: Vec<Row>,
    /// Some row says what runs or compiled the server.
    has_runtimes: bool,
    /// Why rows have no result, and why a version is old.
    reasons: Vec<String>,
    charts: Vec<String>,
}

struct Row {
    workload: String,
    href: String,
    variant: String,
    /// Place, figure, p95.
    numbers: [Cell; 3],
    interval: String,
    /// Where it is to lie when it is measured again.
    expected: String,
    /// Memory and memory in sockets for one connection, CPU time for one message.
    usage: [Cell; 3],
    version: String,
    runtime: Option<String>,
    status: &'static str,
}

struct Checked {
    name: String,
    sentence: String,
    failed: Vec<String>,
    waived: Vec<(String, String, Option<String>)>,
    skipped: Vec<(String, String)>,
}

struct Tested {
    sentence: String,
    failed: Vec<String>,
}

pub(super) fn render(site: &Site<'_>, field: &Field<'_>, name: &str) -> Result<String, SiteError> {
    let manifest = site
        .gathered
        .manifests
        .iter()
        .find(|manifest| manifest.name == name);
    let variants = manifest.into_iter().flat_map(|manifest| &manifest.variants);
    let variants = variants.filter_map(|v| Some((v.name.clone(), v.summary.clone()?)));
    let page = Server {
        page: site.page(name, "", ROOT),
        name: name.to_owned(),
        summary: manifest.map(|manifest| manifest.summary.clone()),
        homepage: manifest
            .map(|m| m.homepage.clone())
            .filter(|link| is_web_address(link)),
        standing: standing::sentences(field, name),
        facts: manifest.map(facts).unwrap_or_default(),
        variants: variants.collect(),
        tables: tables(site, name)?,
        unmeasured: match site.round {
            Some(_) => "The newest round has no row of this server.",
            None => "No round has been published yet.",
        },
        checked: checked(site, name),
        tested: tested(site, name),
        histories: histories(&site.points, name),
    };
    Ok(page.render()?)
}

fn facts(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("language", manifest.language.clone()),
        ("library", manifest.library.clone()),
        ("class", manifest.class.name().to_owned()),
        ("folder", format!("servers/{}", manifest.name)),
    ];
    if let Some(json) = manifest.json {
        facts.push(("JSON", reads(json).to_owned()));
    }
    if manifest.role.is_some() {
        facts.push((
            "role",
            "no contestant: other rows are held against it".to_owned(),
        ));
    }
    facts
}

fn reads(json: JsonReading) -> &'static str {
    match json {
        JsonReading::Tree => "tree: the payload of a message becomes a tree of values",
        JsonReading::Raw => "raw: the payload of a message is kept as the bytes that came",
        JsonReading::Sax => "sax: a message is read event by event, and no tree is built",
    }
}

/// One table for each machine of the newest round.
fn tables(site: &Site<'_>, name: &str) -> Result<Vec<Table>, SiteError> {
    let mut tables = Vec::new();
    for ranked in &site.ranked {
        let (mut rows, mut reasons, mut charts) = (Vec::new(), Vec::new(), Vec::new());
        for ranking in &ranked.rankings {
            let found = rows.len();
            rows.extend(of_ranking(site, ranked, ranking, name, &mut reasons));
            if rows.len() > found {
                charts.extend(of_charts(ranking, name, charts.len())?);
            }
        }
        if !rows.is_empty() {
            tables.push(Table {
                round: site
                    .round
                    .map(|round| round.name.clone())
                    .unwrap_or_default(),
                machine: ranked.board.machine.as_ref().map(|machine| machine.words()),
                has_runtimes: rows.iter().any(|row| row.runtime.is_some()),
                rows,
                reasons,
                charts,
            });
        }
    }
    Ok(tables)
}

fn of_ranking(
    site: &Site<'_>,
    ranked: &Ranked<'_>,
    ranking: &Ranking<'_>,
    name: &str,
    reasons: &mut Vec<String>,
) -> Vec<Row> {
    let lines = ranking
        .lines
        .iter()
        .chain(&ranking.ceilings)
        .zip(&ranking.rows);
    let of_it = lines.filter(|(line, _)| line.server == name);
    let expected = ranked.expected(site, ranking);
    let subject = ranking.subject();
    of_it
        .map(|(line, row)| {
            if row.status != Status::Ok {
                let why = row.reason.unwrap_or("no reason given");
                reasons.push(format!(
                    "{}, {}: {}: {why}",
                    ranking.title,
                    line.name,
                    row.status.name()
                ));
            }
            reasons.extend(words::why_old(row).filter(|why| !reasons.contains(why)));
            let step = row.shown_step();
            let latency = step.and_then(|step| step.completion.as_ref());
            let memory = step.and_then(|step| step.memory).map(|memory| memory.bytes);
            Row {
                workload: ranking.title.clone(),
                href: site.workload_href(&ranking.workload, ROOT),
                variant: row.server().variant.clone(),
                numbers: [
                    line.place.clone(),
                    line.figure.clone(),
                    Cell::latency(latency, |latency| latency.p95_ns),
                ],
                interval: line.interval.clone(),
                expected: expected
                    .as_ref()
                    .and_then(|expected| expected.place(row, &subject))
                    .map_or_else(|| NOTHING.to_owned(), |place| place.words()),
                usage: [
                    Cell::figure(memory, |bytes| figures::bytes(*bytes)),
                    Cell::figure(step.and_then(|s| s.sockets), |bytes| figures::bytes(*bytes)),
                    Cell::figure(step.and_then(|s| s.cpu_per_message_ns), |ns| {
                        figures::time(*ns)
                    }),
                ],
                version: line.dated_version.clone(),
                runtime: line.runtime.clone(),
                status: row.status.name(),
            }
        })
        .collect()
}

/// Its curves under one workload, before that of the row that is first there.
fn of_charts(ranking: &Ranking<'_>, name: &str, number: usize) -> Result<Vec<String>, SiteError> {
    let latency = chart::chart(ranking);
    let limit = ranking.rows.iter().find_map(|row| row.limit());
    let titles = [
        (latency, ""),
        (Of::Time(OverTime::Memory), ", memory over time"),
        (Of::Time(OverTime::Cpu), ", processor over time"),
    ];
    let mut others = ranking.lines.iter().filter(|line| line.server != name);
    let leader = others.next().map(|line| &line.key);
    let mut charts = Vec::new();
    for (index, (what, title)) in titles.into_iter().enumerate() {
        let own = chart::curves(ranking, what, |line| line.server == name);
        let first: Vec<Curve> = match what == latency {
            true => chart::curves(ranking, what, |line| Some(&line.key) == leader),
            false => Vec::new(),
        };
        let before = match first.first() {
            Some(first) => format!(" (grey: {})", first.name),
            None => String::new(),
        };
        let drawing = Drawing {
            id: format!("c{number}-{index}"),
            title: format!("{}{title}{before}", ranking.title),
            what,
            limit_ns: limit
                .filter(|_| what == Of::Clients)
                .map(|limit| limit.time.ns()),
            with_all: false,
            page: &|_| String::new(),
        };
        let drawn = chart::draw(&own, &first, &drawing)?;
        if !drawn.is_empty() {
            charts.push(drawn);
        }
    }
    Ok(charts)
}

/// Conformance of each variant: that of the table of the project, and that of the round.
fn checked(site: &Site<'_>, name: &str) -> Vec<Checked> {
    let link = |link: &Option<String>| link.clone().filter(|link| is_web_address(link));
    let lines = site
        .gathered
        .conformance
        .iter()
        .filter(|line| line.server == name);
    let mut all: Vec<Checked> = lines
        .map(|line| Checked {
            name: line.name(),
            sentence: format!(
                "Verified on {} with version {}: {} passed, {} waived, {} failed, {} do not apply.",
                line.date,
                line.version,
                line.passed.len(),
                line.waived.len(),
                line.failed.len(),
                line.skipped.len()
            ),
            failed: line.failed.iter().map(|one| one.check.clone()).collect(),
            waived: line
                .waived
                .iter()
                .map(|one| (one.check.clone(), one.reason.clone(), link(&one.link)))
                .collect(),
            skipped: line
                .skipped
                .iter()
                .map(|o| (o.check.clone(), o.reason.clone()))
                .collect(),
        })
        .collect();
    let Some(round) = site.round else {
        return all;
    };
    let mut seen = Vec::new();
    for (_, ranking) in site.rankings() {
        let lines = ranking
            .lines
            .iter()
            .chain(&ranking.ceilings)
            .zip(&ranking.rows);
        for (line, row) in lines.filter(|(line, _)| line.server == name) {
            let Some(conformance) = row.conformance().filter(|_| !seen.contains(&line.key)) else {
                continue;
            };
            seen.push(line.key.clone());
            let of = |verdict| {
                conformance
                    .checks
                    .iter()
                    .filter(move |c| c.verdict == verdict)
            };
            let count = |verdict| of(verdict).count();
            all.push(Checked {
                name: format!("{} in round {}", line.name, round.name),
                sentence: format!(
                    "The build that was measured: {} passed, {} waived, {} failed, {} do not apply.",
                    count(CheckVerdict::Pass),
                    count(CheckVerdict::Waived),
                    count(CheckVerdict::Fail),
                    count(CheckVerdict::Skipped)
                ),
                failed: of(CheckVerdict::Fail).map(|check| check.id.clone()).collect(),
                waived: of(CheckVerdict::Waived)
                    .map(|check| {
                        (check.id.clone(), check.detail.clone().unwrap_or_default(), link(&check.link))
                    })
                    .collect(),
                skipped: Vec::new(),
            });
        }
    }
    all
}

fn tested(site: &Site<'_>, name: &str) -> Vec<Tested> {
    let records = site
        .gathered
        .autobahn
        .iter()
        .filter(|record| record.server.name == name);
    records
        .map(|record| Tested {
            sentence: format!(
                "{} {}, suite {}, tested {}: {}.",
                project::contestant(&record.server.name, &record.server.variant),
                record
                    .server
                    .library_version
                    .as_deref()
                    .unwrap_or("of unknown version"),
                record.suite,
                record.finished,
                record.tally()
            ),
            failed: record
                .failed
                .iter()
                .map(|case| format!("{} ({}, {})", case.id, case.behavior, case.behavior_close))
                .collect(),
        })
        .collect()
}

//! The front page: which servers cost least, and what else is known of each.

use super::builds::{self, Build};
use super::languages::{self, Language};
use super::{Page, Site, failures};
use crate::report::figures;
use crate::report::table::NOTHING;
use crate::site::SiteError;
use crate::site::board::Ranking;
use crate::site::field::{Bar, Column, Field, Line, Yardstick, digits};
use askama::Template;
use plan::Load;
use std::collections::BTreeSet;

/// Columns of figures beside the bars.
const BESIDE: [Column; 4] = [Column::Memory, Column::Rooms, Column::Storm, Column::Slow];

#[derive(Template)]
#[template(path = "site/index.html")]
struct Front<'s> {
    page: Page,
    lead: String,
    /// The servers that cost least.
    answer: Vec<Answer>,
    /// The board of other runs: words and way.
    other: Option<&'s (String, &'static str)>,
    command: Option<&'static str>,
    warnings: &'s [String],
    /// What the bars show; `None` where the round has nothing for them.
    caption: Option<String>,
    heads: Vec<Head>,
    yardstick: Option<Row>,
    rows: Vec<Row>,
    /// Where the axis has the yardstick, in percent of a track.
    line: Option<String>,
    /// Which columns are of which run and machine, and what the round is.
    origin: Vec<String>,
    note: Option<String>,
    builds: Vec<Build>,
    languages: Vec<Language>,
    between: Option<String>,
    /// What was lost when nodes died, a sentence for each ranking.
    failures: Vec<String>,
    measured: Vec<WorkloadShown>,
    others: Vec<WorkloadShown>,
}

struct Answer {
    name: String,
    href: String,
    figures: String,
}

struct Head {
    title: String,
    meaning: &'static str,
    numeric: bool,
}

struct Row {
    key: String,
    name: String,
    href: String,
    language: String,
    class: String,
    conformance: Option<String>,
    /// Of it the kind, which filters.
    verdict: Option<&'static str>,
    fate: Option<&'static str>,
    bar: Option<Drawn>,
    /// In the place of the bar.
    status: &'static str,
    cells: Vec<Shown>,
}

/// A bar as the page draws it: lengths in percent of its track.
struct Drawn {
    length: String,
    whisker: Option<(String, String)>,
    classes: String,
    label: String,
    value: f64,
    cost: String,
    words: String,
    kept_up: bool,
}

struct Shown {
    label: &'static str,
    unit: &'static str,
    text: String,
    value: Option<f64>,
    variant: Option<String>,
}

struct WorkloadShown {
    name: String,
    href: String,
    reason: String,
    sentences: Vec<String>,
    /// A page of its own beside that of the workload: words and way.
    more: Option<(&'static str, &'static str)>,
}

/// The command that measures a round: one run of each workload, since the records of all of them are more
/// than a run may have (`records::MOST_FILES`).
const MEASURE: &str = "for w in workloads/*.toml; do n=$(basename \"$w\" .toml); ./shootout run --workload \"$n\" --repeat 5 --out \"results/$(date +%Y-%m)/$n\"; done";

pub(super) fn render(site: &Site<'_>, field: &Field<'_>) -> Result<String, SiteError> {
    let (measured, others): (Vec<WorkloadShown>, Vec<WorkloadShown>) = workloads(site)
        .into_iter()
        .partition(|workload| !workload.sentences.is_empty());
    let yardstick = field.yardstick.as_ref();
    let languages = languages::languages(site, field);
    let page = Front {
        page: site.page("WebSocket servers: what a message costs", "index.html", ""),
        lead: lead(site, field),
        answer: answer(site, field),
        other: site.shown.other.as_ref(),
        command: site.round.is_none().then_some(MEASURE),
        warnings: &site.gathered.warnings,
        caption: caption(field),
        heads: heads(),
        line: yardstick
            .filter(|_| !field.lines.is_empty())
            .map(|of| percent(of.bar.length)),
        rows: field
            .lines
            .iter()
            .map(|line| row(site, field, line))
            .collect(),
        origin: origin(site, field),
        note: site.round.and_then(|round| round.about.note.clone()),
        builds: match field.source(Column::Cost).is_none() && site.round.is_none() {
            true => Vec::new(),
            false => builds::builds(site, field),
        },
        between: languages::between(&languages),
        languages,
        failures: failed(site),
        measured,
        others,
        yardstick: yardstick.map(|of| of_yardstick(site, of)),
    };
    Ok(page.render()?)
}

fn workloads(site: &Site<'_>) -> Vec<WorkloadShown> {
    let workloads = site.workload_names.iter().map(|name| {
        let known = &site.gathered.workloads;
        let reason = known.iter().find(|(known, _)| known == name);
        let of_it = site.rankings();
        let of_it = of_it.filter(|(_, ranking)| ranking.workload == *name);
        let of_it: Vec<&Ranking<'_>> = of_it.map(|(_, ranking)| ranking).collect();
        let is_of_failures = of_it.iter().any(|ranking| failures::is_of(ranking));
        WorkloadShown {
            name: name.clone(),
            href: site.workload_href(name, ""),
            reason: match reason {
                Some((_, reason)) => reason.clone(),
                None => "a plan that is not in workloads/".to_owned(),
            },
            more: is_of_failures.then_some(("over time", failures::FILE)),
            sentences: of_it
                .iter()
                .map(|ranking| ranking.sentence.clone())
                .collect(),
        }
    });
    workloads.collect()
}

fn failed(site: &Site<'_>) -> Vec<String> {
    let rankings = site
        .rankings()
        .filter(|(_, ranking)| failures::is_of(ranking));
    rankings
        .map(|(_, ranking)| ranking.sentence.clone())
        .collect()
}

/// What the site is, in a sentence.
fn lead(site: &Site<'_>, field: &Field<'_>) -> String {
    let manifests = site.gathered.manifests.iter();
    let (servers, languages): (usize, BTreeSet<&str>) = match field.lines.is_empty() {
        true => (
            site.gathered.manifests.len(),
            manifests
                .map(|manifest| manifest.language.as_str())
                .collect(),
        ),
        false => (
            field.lines.len(),
            field
                .lines
                .iter()
                .map(|line| line.language.as_str())
                .collect(),
        ),
    };
    let of = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", figures::count(count as u64)),
    };
    let what = format!(
        "{} in {} under the same load, with every message checked.",
        of(servers, "WebSocket server", "WebSocket servers"),
        of(languages.len(), "language", "languages"),
    );
    match site.round {
        Some(_) => what,
        None => format!("{what} No round has been published yet; this command measures one:"),
    }
}

/// The cheapest three for a broadcast, with what else is asked of them.
fn answer(site: &Site<'_>, field: &Field<'_>) -> Vec<Answer> {
    let bars = field.lines.iter();
    let bars = bars.filter_map(|line| Some((line, line.bar.as_ref().filter(|bar| bar.kept_up)?)));
    let answers = bars.take(3).map(|(line, bar)| {
        let memory = line
            .cell(Column::Memory)
            .filter(|cell| cell.value.is_some());
        let memory =
            memory.map(|cell| format!("{} {} a connection", cell.text, Column::Memory.unit()));
        let fate = line.cell(Column::Slow).and_then(|cell| cell.fate);
        let fate = fate.map(|fate| match fate {
            "cut off" => "cuts slow readers off".to_owned(),
            "kept" => "keeps slow readers".to_owned(),
            _ => "cuts some slow readers off".to_owned(),
        });
        let said = std::iter::once(format!("{:.2}×", bar.times));
        Answer {
            name: line.name.clone(),
            href: site.server_href(&line.server, ""),
            figures: said
                .chain(memory)
                .chain(fate)
                .collect::<Vec<_>>()
                .join(", "),
        }
    });
    answers.collect()
}

/// What the bars show.
fn caption(field: &Field<'_>) -> Option<String> {
    let source = field.source(Column::Cost)?;
    let row = source.ranking.rows.first()?;
    let plan = source.ranking.rows.iter().find_map(|row| row.plan())?;
    let load = match &plan.load {
        Load::Open(open) => format!(
            "{} clients, {} broadcasts a second",
            figures::count(plan.clients_at(0)),
            open.rate
        ),
        _ => row.workload_name().to_owned(),
    };
    let unit = match &field.yardstick {
        Some(of) => format!("1× is {}: {}", of.name, figures::time(of.bar.ns)),
        None => "1× is the cheapest".to_owned(),
    };
    let bars = || field.lines.iter().filter_map(|line| line.bar.as_ref());
    let tied = bars().filter(|bar| bar.is_cheapest).count();
    let shade = match tied {
        0 | 1 => " Blue: the cheapest.",
        _ => " Blue: no measurable difference from the cheapest.",
    };
    let late = match bars().any(|bar| !bar.kept_up) {
        true => " Pale: too busy under this load.",
        false => "",
    };
    Some(format!(
        "CPU time per delivered message ({load}). {unit}. Thin line: interval of the \
         repetitions.{shade}{late}"
    ))
}

fn heads() -> Vec<Head> {
    let head = |title: String, meaning, numeric| Head {
        title,
        meaning,
        numeric,
    };
    let figure = |column: Column| {
        let meaning = match column {
            Column::Memory => "Memory for one idle connection, with its sockets in the kernel.",
            Column::Rooms => "99 of 100 room messages arrive within this time.",
            Column::Storm => "After many clients are cut off at once: until all are back.",
            _ => {
                "What becomes of clients that read little or nothing, and the most memory that the server \
                 used meanwhile."
            }
        };
        head(builds::head(column), meaning, true)
    };
    let mut heads = vec![
        head(
            "server".to_owned(),
            "Server, and its variant that costs least.",
            false,
        ),
        head(
            builds::head(Column::Cost),
            "CPU time of the server for one delivered message.",
            true,
        ),
    ];
    heads.extend(BESIDE.map(figure));
    heads.extend([
        head(
            "conformance".to_owned(),
            "Checks of the protocol. A waiver is an exception with a reason.",
            false,
        ),
        head("language".to_owned(), "Programming language.", false),
        head(
            "class".to_owned(),
            "Idiomatic: as the library's documentation shows. Tuned: beyond it.",
            false,
        ),
    ]);
    heads
}

fn percent(value: f64) -> String {
    format!("{value:.1}%")
}

fn row(site: &Site<'_>, field: &Field<'_>, line: &Line) -> Row {
    let cells = BESIDE.map(|column| {
        let cell = line.cell(column);
        Shown {
            label: column.words(),
            unit: match cell.and_then(|cell| cell.value) {
                Some(_) => column.unit(),
                None => "",
            },
            text: cell.map_or_else(
                || NOTHING.to_owned(),
                |cell| match cell.fate {
                    Some(fate) => format!("{fate}, {}", cell.text),
                    None => cell.text.clone(),
                },
            ),
            value: cell.and_then(|cell| cell.value),
            variant: cell.and_then(|cell| cell.variant.clone()),
        }
    });
    let unit = field.yardstick.as_ref().map(|of| of.name.as_str());
    let conformance = site.conformance(&line.key);
    Row {
        key: line.key.clone(),
        name: line.name.clone(),
        href: site.server_href(&line.server, ""),
        language: line.language.clone(),
        class: line.class.clone(),
        verdict: conformance.as_deref().map(verdict),
        conformance,
        fate: line.cell(Column::Slow).and_then(|cell| cell.fate),
        bar: line.bar.as_ref().map(|bar| drawn(bar, unit)),
        status: line.status.unwrap_or(NOTHING),
        cells: cells.into(),
    }
}

/// The kind of what [`Site::conformance`] says.
fn verdict(conformance: &str) -> &'static str {
    match conformance {
        "passed" => "passed",
        failed if failed.ends_with("failed") => "failed",
        _ => "with waivers",
    }
}

fn of_yardstick(site: &Site<'_>, of: &Yardstick) -> Row {
    let conformance = site.conformance(&of.key);
    Row {
        key: of.key.clone(),
        name: of.name.clone(),
        href: site.server_href(&of.server, ""),
        language: of.language.clone(),
        class: of.class.clone(),
        verdict: conformance.as_deref().map(verdict),
        conformance,
        fate: None,
        bar: Some(drawn(&of.bar, None)),
        status: NOTHING,
        cells: Vec::new(),
    }
}

/// A bar, held against the row of this name.
fn drawn(bar: &Bar, unit: Option<&str>) -> Drawn {
    let scale = bar.length / bar.times;
    let interval = bar.interval.map(|of| (of.low, of.high));
    let whisker = interval.filter(|_| !bar.is_cut).map(|(low, high)| {
        let (from, to) = (low * scale, (high * scale).min(100.0));
        (percent(from), percent((to - from).max(0.3)))
    });
    let between = interval.map_or_else(String::new, |(low, high)| {
        format!(", interval {low:.2} to {high:.2}")
    });
    let tie = match bar.is_cheapest {
        true => "; no measurable difference from the cheapest",
        false => "",
    };
    let classes = [
        (bar.is_cheapest, " cheapest"),
        (bar.is_cut, " cut"),
        (!bar.kept_up, " late"),
    ];
    Drawn {
        length: percent(bar.length),
        whisker,
        classes: classes
            .into_iter()
            .filter_map(|(is, class)| is.then_some(class))
            .collect(),
        label: format!("{:.2}×", bar.times),
        value: bar.ns / 1e3,
        cost: digits(bar.ns / 1e3),
        words: format!(
            "{:.2} times {}{between}{tie}",
            bar.times,
            unit.unwrap_or("the cheapest")
        ),
        kept_up: bar.kept_up,
    }
}

/// Which columns are of which run and machine, and what the round is.
fn origin(site: &Site<'_>, field: &Field<'_>) -> Vec<String> {
    let Some(round) = site.round else {
        return Vec::new();
    };
    let mut places: Vec<(String, Vec<&'static str>)> = Vec::new();
    for column in Column::ALL {
        let Some(source) = field.source(column) else {
            continue;
        };
        let place = source.machine.map_or_else(
            || "an unknown machine".to_owned(),
            |machine| machine.words(),
        );
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, columns)) => columns.push(column.words()),
            None => places.push((place, vec![column.words()])),
        }
    }
    let mut lines = vec![format!("Round {}; {}.", round.name, round.about.label)];
    match places.as_slice() {
        [] => lines.push(
            "This round has no broadcast at a fixed rate, and so no cost to show; its other figures are \
             on the pages of the workloads. ./shootout run --workload cost measures it."
                .to_owned(),
        ),
        [(machine, _)] => lines.push(format!("All columns are from one machine: {machine}.")),
        several => {
            let each = several
                .iter()
                .map(|(machine, columns)| format!("{}: {machine}", columns.join(", ")));
            lines.push(format!(
                "Two columns may be from two machines. {}.",
                each.collect::<Vec<_>>().join(". ")
            ));
        }
    }
    if field.source(Column::Cost).is_none() && !places.is_empty() {
        lines.push(
            "This round has no broadcast at a fixed rate, and so no bars; ./shootout run --workload cost \
             measures it."
                .to_owned(),
        );
    }
    lines
}

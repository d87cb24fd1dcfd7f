//! The page of a record: what it says, in which order.

use crate::chart::Chart;
use crate::timeline::Timeline;
use crate::watched::{FaultMark, WatchedChart};
use crate::{drops, feed, figures, http, streams};
use crate::{heat, lines};
use askama::Template;
use plan::{Measure, Workload};
use record::{End, RunRecord, StepRecord, Watched};

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    record: &'a RunRecord,
    title: String,
    headline: String,
    /// What is wrong with the run, if anything.
    invalid: Option<String>,
    expected: &'a [Expected],
    charts: Vec<Chart>,
    /// Of each step whose messages were watched.
    watched: Vec<WatchedChart>,
    columns: Vec<&'static str>,
    steps: Vec<Step>,
    /// Of each way in which connections of a step ended.
    drops: Vec<[String; drops::COLUMNS.len()]>,
    drop_columns: [&'static str; drops::COLUMNS.len()],
    /// Of each step that has a feed.
    feeds: Vec<[String; feed::COLUMNS.len()]>,
    feed_columns: [&'static str; feed::COLUMNS.len()],
    /// Requests over HTTP.
    http: Vec<[String; http::COLUMNS.len()]>,
    http_columns: [&'static str; http::COLUMNS.len()],
    /// Of each step whose answers have parts, and of each with dialogues.
    parts: Vec<[String; streams::PARTS.len()]>,
    dialogues: Vec<[String; streams::DIALOGUES.len()]>,
    faults: Vec<(&'static str, String)>,
    facts: Vec<(&'static str, String)>,
    plan: String,
}

/// What a run was expected to show, and what it has shown.
#[derive(Clone, Debug)]
pub struct Expected {
    /// As it was asked for, such as `p99<50ms`.
    pub text: String,
    /// Why it failed, in words.
    pub unmet: Option<String>,
}

/// A row of the table of steps.
struct Step {
    cells: Vec<String>,
    verdict: &'static str,
    passed: bool,
    reasons: Vec<String>,
}

/// The page of a record and of what was expected of it, as HTML that needs nothing else.
///
/// # Errors
/// When the plan cannot be written.
pub fn page(record: &RunRecord, expected: &[Expected]) -> Result<String, askama::Error> {
    let is_connect = record.plan.workload() == Workload::Connect;
    let limit_ns = (!is_connect && record.plan.limits.of == Measure::Completion)
        .then(|| record.plan.limits.time.ns());
    let time = Timeline::new(record);
    let charts = [
        time.as_ref().and_then(|time| heat::chart(time, limit_ns)),
        time.as_ref().map(lines::messages),
        lines::percentiles(&record.steps, limit_ns),
        drops::chart(record),
    ];
    let plan = serde_json::to_string_pretty(&record.plan);
    let plan = plan.map_err(|error| askama::Error::Custom(error.into()))?;
    Page {
        title: title(record),
        headline: headline(record),
        invalid: invalid(record),
        expected,
        charts: charts.into_iter().flatten().collect(),
        watched: watched(record),
        columns: columns(is_connect),
        steps: record.steps.iter().map(step).collect(),
        drops: record.steps.iter().flat_map(drops::rows).collect(),
        drop_columns: drops::COLUMNS,
        feeds: record.steps.iter().filter_map(feed::row).collect(),
        feed_columns: feed::COLUMNS,
        http: record.steps.iter().flat_map(http::rows).collect(),
        http_columns: http::COLUMNS,
        parts: record.steps.iter().filter_map(streams::parts).collect(),
        dialogues: record.steps.iter().filter_map(streams::dialogues).collect(),
        faults: faults(record),
        facts: facts(record),
        plan,
        record,
    }
    .render()
}

/// What became of watched messages. The generator does not know when a fault happened: it has the plan.
fn watched(record: &RunRecord) -> Vec<WatchedChart> {
    let faults = record.plan.faults.iter();
    let marks: Vec<FaultMark> = faults
        .map(|fault| FaultMark {
            at_ns: fault.at.ns(),
            label: format!("{} {} (plan)", fault.deed.name(), fault.what),
        })
        .collect();
    let steps = record.steps.iter();
    let drawn =
        |step: &StepRecord| WatchedChart::new(step.watched.as_deref()?, step.clients, &marks);
    steps.filter_map(drawn).collect()
}

fn title(record: &RunRecord) -> String {
    let workload = record.plan.workload().name();
    record.plan.name.as_deref().unwrap_or(workload).to_owned()
}

/// What the run has found, in one sentence.
fn headline(record: &RunRecord) -> String {
    let limits = &record.plan.limits;
    let limit = figures::time(limits.time.ns() as f64);
    if let Some(of) = record.steps.iter().find_map(|step| step.watched.as_deref()) {
        return headline_of_watched(of);
    }
    match record.outcome.carried_clients {
        Some(clients) if record.plan.workload() == Workload::Connect => {
            format!(
                "{} connections were opened and held.",
                figures::count(clients)
            )
        }
        Some(clients) => format!(
            "{} clients were carried: the {}th percentile of {} stayed within {limit}.",
            figures::count(clients),
            figures::percentile(limits.percentile),
            measure(limits.of)
        ),
        None if record.steps.is_empty() => "Nothing was measured.".to_owned(),
        None => format!(
            "No step was carried: the {}th percentile of {} must stay within {limit}, without faults.",
            figures::percentile(limits.percentile),
            measure(limits.of)
        ),
    }
}

/// Of confirmed messages, unless the dialect confirms nothing.
fn headline_of_watched(of: &Watched) -> String {
    let (fates, which) = match of.has_no_results {
        true => (of.of_unconfirmed, "messages that were sent"),
        false => (of.of_confirmed, "confirmed messages"),
    };
    match fates.all() {
        0 => format!("There were no {which}."),
        all => format!(
            "{} of the deliveries of {which} came.",
            figures::came_share(fates.lost() as f64 / all as f64)
        ),
    }
}

fn invalid(record: &RunRecord) -> Option<String> {
    let faults = record.faults();
    if record.contradicts_dialect() {
        return Some(format!(
            "The result is invalid: the dialect file and the server disagree ({faults})."
        ));
    }
    if !faults.is_empty() && record.outcome.end != End::EdgeFound {
        return Some(format!("The result is invalid, and {}.", record.blame()));
    }
    let limited = record.outcome.end == End::GeneratorLimited;
    limited.then(|| {
        "The result is invalid: the generator was the limit, and not the server.".to_owned()
    })
}

const fn measure(of: Measure) -> &'static str {
    match of {
        Measure::Completion => "completion",
        Measure::Delivery => "delivery",
        Measure::Ack => "the sender's result",
    }
}

fn columns(is_connect: bool) -> Vec<&'static str> {
    let per_second = match is_connect {
        true => "opened/s",
        false => "received/s",
    };
    vec![
        "clients",
        "requests/s",
        "p50",
        "p95",
        "p99",
        "max",
        "samples",
        per_second,
        "faults",
        "busiest thread",
        "largest lag",
    ]
}

fn step(step: &StepRecord) -> Step {
    let time = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), |ns| figures::time(ns as f64));
    let of = step.completion.as_ref();
    let opened = step.connections.as_deref().map(|of| of.opened_per_second);
    let received = step.throughput.as_ref().map(|of| of.received_per_second);
    let count = |rate: f64| figures::count(rate.round().max(0.0) as u64);
    Step {
        cells: vec![
            figures::count(step.clients),
            step.rate
                .map_or_else(|| "–".to_owned(), crate::scale::label),
            time(of.map(|of| of.p50_ns)),
            time(of.map(|of| of.p95_ns)),
            time(of.map(|of| of.p99_ns)),
            time(of.map(|of| of.max_ns)),
            match step.is_complete() {
                true => figures::count(step.samples),
                false => format!(
                    "{} of {}",
                    figures::count(step.samples),
                    figures::count(step.samples_planned)
                ),
            },
            opened.or(received).map_or_else(|| "–".to_owned(), count),
            figures::count(step.faults.total()),
            figures::share(step.generator.busiest_thread),
            figures::time(step.generator.largest_lag_ns as f64),
        ],
        verdict: step.verdict.name(),
        passed: step.passed(),
        reasons: step
            .verdict_reasons
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}

fn faults(record: &RunRecord) -> Vec<(&'static str, String)> {
    let classes = record.faults().classes();
    let some = classes.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(class, count)| (class, figures::count(count)))
        .collect()
}

fn facts(record: &RunRecord) -> Vec<(&'static str, String)> {
    let of = &record.environment;
    let unknown = || "unknown".to_owned();
    vec![
        ("Begun", record.started.clone()),
        ("Ended", record.ended.clone()),
        ("How it ended", record.outcome.detail.to_string()),
        ("Command", record.command.join(" ")),
        (
            "Measured by",
            format!("{} {}", record.tool.name, record.tool.version),
        ),
        ("Kernel", of.kernel.clone()),
        (
            "Distribution",
            of.distribution.clone().unwrap_or_else(unknown),
        ),
        ("Processor", of.cpu_model.clone().unwrap_or_else(unknown)),
        (
            "Cores",
            format!(
                "{}, of which {} may be used",
                of.cores,
                of.allowed_cpus.len()
            ),
        ),
        (
            "Memory",
            of.memory_bytes
                .map_or_else(unknown, |bytes| figures::bytes(bytes as f64)),
        ),
        ("Open files", figures::count(of.file_limit.soft)),
        ("Clock", of.clock_source.clone().unwrap_or_else(unknown)),
    ]
}

//! A record as CSV (RFC 4180): a line for each step, with the names of the record.

use super::fields::{FIGURES, field, figures};
use super::streams;
use record::{Feed, HttpRequests, HttpUse, RunRecord, StepRecord};
use std::io::{self, Write};

/// The columns of requests over HTTP, after their name.
const HTTP: [&str; 4] = [
    "steps",
    "steps_failed",
    "publications",
    "publications_failed",
];
/// The columns of a feed, after its name, but for the ages.
const FEED: [&str; 17] = [
    "clients",
    "silent_clients",
    "messages",
    "per_second",
    "per_client_min",
    "per_client_median",
    "per_client_max",
    "gaps",
    "missing",
    "repeats",
    "steps_back",
    "after_step",
    "unreadable",
    "unfollowed",
    "age_negative",
    "age_most_negative_ns",
    "age_unreadable",
];
const DISTRIBUTIONS: [&str; 4] = ["completion", "delivery", "ack", "send_lag"];

/// Writes the header and a line for each step. What does not exist is an empty field.
///
/// # Errors
/// When `out` takes no more.
pub(super) fn write(out: &mut dyn Write, record: &RunRecord) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(header(record))?;
    for (number, step) in record.steps.iter().enumerate() {
        table.write_record(line(number, step))?;
    }
    table.flush()
}

fn header(record: &RunRecord) -> Vec<String> {
    let mut names: Vec<String> = [
        "step",
        "clients",
        "rate",
        "verdict",
        "samples_planned",
        "samples",
        "elapsed_ns",
        "connecting_ns",
        "limited_ns",
        "over_limit",
        "timed_out",
    ]
    .map(String::from)
    .to_vec();
    for of in DISTRIBUTIONS {
        names.extend(FIGURES.map(|figure| format!("{of}_{figure}")));
    }
    names.extend(
        [
            "sent",
            "received",
            "sent_bytes",
            "received_bytes",
            "sent_per_second",
            "received_per_second",
        ]
        .map(String::from),
    );
    let classes = record.faults().classes();
    names.extend(classes.map(|(class, _)| format!("faults_{class}")));
    names.extend(
        [
            "generator_cpu_ns",
            "generator_busiest_thread",
            "generator_largest_lag_ns",
            "generator_resident_bytes",
            "connections_opened",
            "connections_opened_per_second",
            "verdict_reasons",
        ]
        .map(String::from),
    );
    names.extend(FEED.map(|column| format!("feed_{column}")));
    names.extend(FIGURES.map(|figure| format!("feed_age_{figure}")));
    names.extend(HTTP.map(|column| format!("http_{column}")));
    names.extend(streams::header());
    names
}

fn line(number: usize, step: &StepRecord) -> Vec<String> {
    let mut fields = vec![
        number.to_string(),
        step.clients.to_string(),
        field(step.rate),
        step.verdict.name().to_owned(),
        step.samples_planned.to_string(),
        step.samples.to_string(),
        step.elapsed_ns.to_string(),
        step.connecting_ns.to_string(),
        field(step.limited_ns),
        step.over_limit.to_string(),
        step.timed_out.to_string(),
    ];
    for of in [&step.completion, &step.delivery, &step.ack, &step.send_lag] {
        fields.extend(figures(of.as_ref()));
    }
    let traffic = step.throughput.as_ref();
    fields.extend([
        field(traffic.map(|of| of.sent)),
        field(traffic.map(|of| of.received)),
        field(traffic.map(|of| of.sent_bytes)),
        field(traffic.map(|of| of.received_bytes)),
        field(traffic.map(|of| of.sent_per_second)),
        field(traffic.map(|of| of.received_per_second)),
    ]);
    let classes = step.faults.classes();
    fields.extend(classes.map(|(_, count)| count.to_string()));
    let opened = step.connections.as_deref();
    fields.extend([
        step.generator.cpu_ns.to_string(),
        step.generator.busiest_thread.to_string(),
        step.generator.largest_lag_ns.to_string(),
        step.generator.resident_bytes.to_string(),
        field(opened.map(|of| of.opened)),
        field(opened.map(|of| of.opened_per_second)),
        step.verdict_reasons.join("; "),
    ]);
    let feed = step.feed.as_deref();
    fields.extend(of_feed(feed));
    let age = feed.and_then(|feed| feed.age.as_ref());
    fields.extend(figures(age.and_then(|age| age.age.as_ref())));
    fields.extend(of_http(step.http.as_deref()));
    fields.extend(streams::line(step));
    fields
}

fn of_http(http: Option<&HttpUse>) -> [String; HTTP.len()] {
    let of_steps =
        |count: fn(&HttpRequests) -> u64| http.map(|of| of.steps.iter().map(count).sum::<u64>());
    let published = http.and_then(|of| of.publications.as_ref());
    [
        field(of_steps(|of| of.requests)),
        field(of_steps(|of| of.failed)),
        field(published.map(|of| of.requests)),
        field(published.map(|of| of.failed)),
    ]
}

fn of_feed(feed: Option<&Feed>) -> [String; FEED.len()] {
    let rates = feed.and_then(|feed| feed.per_client);
    let numbers = feed.and_then(|feed| feed.numbers);
    let age = feed.and_then(|feed| feed.age.as_ref());
    [
        field(feed.map(|of| of.clients)),
        field(feed.map(|of| of.silent_clients)),
        field(feed.map(|of| of.messages)),
        field(feed.map(|of| of.per_second)),
        field(rates.map(|of| of.min)),
        field(rates.map(|of| of.median)),
        field(rates.map(|of| of.max)),
        field(numbers.map(|of| of.gaps)),
        field(numbers.map(|of| of.missing)),
        field(numbers.map(|of| of.repeats)),
        field(numbers.map(|of| of.steps_back)),
        field(numbers.map(|of| of.after_step)),
        field(numbers.map(|of| of.unreadable)),
        field(numbers.map(|of| of.unfollowed)),
        field(age.map(|of| of.negative)),
        field(age.map(|of| of.most_negative_ns)),
        field(age.map(|of| of.unreadable)),
    ]
}

//! The words for values of the records.

use super::figures;
use super::ranking::{Carried, Row};
use crate::stats::Interval;
use crate::terminal::one_line;
use plan::{Dialect, Limits, Measure, Workload};
use record::{CheckVerdict, End};

/// The word of `websocket-bench --measure`.
pub const fn measure_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Completion => "completion",
        Measure::Delivery => "delivery",
        Measure::Ack => "ack",
    }
}

pub(crate) fn dialect(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Text => "JSON",
        Dialect::Binary => "binary",
        Dialect::Phoenix => "Phoenix",
        Dialect::ActionCable => "Action Cable",
        Dialect::SocketIo => "Socket.IO",
        Dialect::File => "a dialect file",
        Dialect::Mqtt => "MQTT",
        Dialect::Mqtt5 => "MQTT 5",
    }
}

/// The library's version, with its year where that is old.
pub(crate) fn version(row: &Row<'_>) -> Option<String> {
    let version = row.server().library_version.clone()?;
    Some(match row.old_version_of() {
        Some(year) => format!("{version} ({year})"),
        None => version,
    })
}

/// Why the library's version is old, where it is.
pub(crate) fn why_old(row: &Row<'_>) -> Option<String> {
    let (year, server) = (row.old_version_of()?, row.server());
    let (version, why) = (
        server.library_version.as_ref()?,
        server.old_because.as_ref()?,
    );
    Some(format!("{} {version} is of {year}: {why}", server.library))
}

pub(crate) fn end(end: End) -> &'static str {
    match end {
        End::OverLimit => "a step was above the limit",
        End::StepsDone => "all planned steps were measured",
        End::MachineLimit => "this machine could open no more connections",
        End::ConnectFailed => "the server took no new connection",
        End::TimedOut => "a sample did not complete in time",
        End::NotUnderstood => "the answers were not of the protocol",
        End::DialectContradicted => "the server and the dialect file disagree",
        End::ServerLost => "connections were lost",
        End::EdgeFound => "a search found the edge",
        End::GeneratorLimited => "the generator was the limit",
        End::WorkerLost => "a worker of the generator was lost",
        End::Interrupted => "the user ended it",
    }
}

pub(crate) fn verdict(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Pass => "pass",
        CheckVerdict::Fail => "fail",
        CheckVerdict::Waived => "waived",
        CheckVerdict::Skipped => "skipped",
    }
}

/// The rule that a step had to keep, as a clause.
pub(crate) fn rule(workload: Workload, limit: &Limits) -> String {
    format!(
        "{} percent of {} within {}",
        figures::percentile(limit.percentile),
        measured(workload, limit.of),
        figures::time(limit.time.ns() as f64)
    )
}

/// What the limited latencies are those of.
pub(crate) fn measured(workload: Workload, of: Measure) -> &'static str {
    match (workload, of) {
        (Workload::Echo, _) => "echoes back at their sender",
        (Workload::Connect, _) => "connections upgraded",
        (Workload::Rooms, Measure::Completion) => "messages at the last client of their room",
        (Workload::Rooms, Measure::Delivery) => "messages at a client of their room",
        (Workload::Rooms, Measure::Ack) => "results back at their publisher",
        (_, Measure::Completion) => "broadcasts at their last listener",
        (_, Measure::Delivery) => "deliveries at their listener",
        (_, Measure::Ack) => "broadcast results back at their sender",
    }
}

/// The server, and its variant where it has several.
pub(crate) fn contestant(row: &Row<'_>) -> String {
    let server = row.server();
    if server.variant == "default" {
        server.name.clone()
    } else {
        format!("{} {}", server.name, server.variant)
    }
}

/// What is added to the name of its workload: the network, where that is not loopback.
pub(crate) fn network(row: &Row<'_>) -> String {
    let network = row
        .network()
        .map(|network| format!(" (network: {network})"));
    one_line(&network.unwrap_or_default())
}

/// The number of clients carried: exact, at least, or fewer than the first step.
pub(crate) fn carried(carried: &Carried) -> String {
    match carried.clients() {
        None => format!("< {}", figures::count(carried.first_step)),
        Some(clients) if carried.at_least => format!("≥ {}", figures::count(clients)),
        Some(clients) => figures::count(clients),
    }
}

/// The same in a sentence.
pub(crate) fn carried_in_words(carried: &Carried) -> String {
    match carried.clients() {
        None => format!("fewer than {} clients", figures::count(carried.first_step)),
        Some(clients) if carried.at_least => {
            format!("at least {} clients", figures::count(clients))
        }
        Some(clients) => format!("{} clients", figures::count(clients)),
    }
}

/// An interval of clients.
pub(crate) fn interval(interval: Interval) -> String {
    let [low, high] = [interval.low, interval.high].map(|end| figures::count(end.round() as u64));
    format!("{low}–{high}")
}

/// With a capital at its beginning.
pub(crate) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

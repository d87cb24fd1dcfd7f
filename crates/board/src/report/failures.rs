//! What followed from each fault of a row, as a picture and in sentences.

use super::figures;
use super::ranking::Row;
use crate::failover::{Failover, Recovery, does_harm};
use plan::{Fault, Plan};
use record::FaultDone;
use run_page::{FaultMark, WatchedChart};

/// The picture of the first repetition of a row that was watched.
pub(crate) fn chart(row: &Row<'_>) -> Option<WatchedChart> {
    let of = row.failovers().into_iter().next()?;
    let happened = of.faults.iter();
    let marks: Vec<FaultMark> = happened
        .filter_map(|fault| {
            Some(FaultMark {
                at_ns: fault.began_ns?,
                label: words(&fault.planned),
            })
        })
        .collect();
    WatchedChart::new(of.watched, of.clients, &marks)
}

/// A fault in words.
fn words(fault: &Fault) -> String {
    format!("{} {}", fault.deed.name(), fault.what)
}

/// What a plan does to the parts of a server, and when.
pub(crate) fn timetable(plan: &Plan) -> Vec<String> {
    let mut faults: Vec<&Fault> = plan.faults.iter().collect();
    faults.sort_by_key(|fault| fault.at);
    let at = |fault: &Fault| match fault.jitter.ns() {
        0 => fault.at.to_string(),
        _ => format!("{} and up to {} later", fault.at, fault.jitter),
    };
    let told = |fault: &Fault| format!("{} at {}", words(fault), at(fault));
    faults.into_iter().map(told).collect()
}

/// A sentence for each fault of the first repetition that was watched.
pub(crate) fn sentences(row: &Row<'_>) -> Vec<String> {
    let Some(of) = row.failovers().into_iter().next() else {
        return Vec::new();
    };
    let mut recoveries = of.recoveries().into_iter();
    let told = |fault: &FaultDone| match fault.began_ns {
        Some(_) => recoveries.next().map(|one| after(&of, &one)),
        None => {
            let why = fault.failure.as_ref().map(|words| format!(": {words}"));
            Some(format!(
                "{} did not happen{}.",
                words(&fault.planned),
                why.unwrap_or_default()
            ))
        }
    };
    of.faults.iter().filter_map(told).collect()
}

fn after(of: &Failover<'_>, one: &Recovery<'_>) -> String {
    let began = figures::time(one.began_ns as f64);
    let what = format!("{} at {began}", words(&one.fault.planned));
    let mut parts = Vec::new();
    if one.left > 0 {
        parts.push(back(one));
    }
    match one.loss {
        None => parts.push("no message was lost".to_owned()),
        Some((from, to)) => parts.push(format!(
            "{} deliveries were lost, of messages sent from {} to {}",
            figures::count(one.lost),
            relative(from),
            relative(to)
        )),
    }
    if does_harm(one.fault.planned.deed) && one.loss.is_some() {
        parts.push(match one.whole {
            Some(0) => "clients with a connection lost nothing".to_owned(),
            Some(ns) => format!("whole again after {}", figures::time(ns as f64)),
            None => "not whole again before the next fault or the end".to_owned(),
        });
    }
    let repetitions = match of.missing() {
        0 => String::new(),
        missing => format!(
            " ({} clients were not connected at the end)",
            figures::count(missing)
        ),
    };
    format!("{what}: {}{repetitions}.", parts.join("; "))
}

fn back(one: &Recovery<'_>) -> String {
    let time = |ns: Option<u64>| match ns {
        Some(ns) => format!("after {}", figures::time(ns as f64)),
        None => "never".to_owned(),
    };
    let [half, most, all] = one.back.map(time);
    format!(
        "{} clients lost their connection; half were back {half}, 95 % {most}, all {all}",
        figures::count(one.left)
    )
}

fn relative(ns: i64) -> String {
    let time = figures::time(ns.unsigned_abs() as f64);
    match ns < 0 {
        true => format!("{time} before it"),
        false => format!("{time} after it"),
    }
}

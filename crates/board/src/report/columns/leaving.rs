//! The columns of clients that are cut off, leave and come back, or change their room.

use super::super::figures;
use super::super::ranking::{CutOff, Leaving, Score, Step};
use super::super::table::Cell;
use super::{Filled, at_step, figure, time};
use record::{CutRecord, Latency};

pub(super) fn cut() -> Vec<Filled> {
    let back = |title: &str, share: &str, of: fn(&CutRecord) -> Option<u64>| {
        figure(
            title,
            format!(
                "Time from the cut until {share} of the clients that were cut off are back: the \
                 median over the repetitions."
            ),
            move |row| time(row.returned(of)),
        )
    };
    let others = |title: &str, when: &str, of: fn(&CutOff) -> Option<&Latency>| {
        at_step(
            title,
            format!("99th percentile of completion for the clients that stayed, {when}."),
            move |step| Cell::latency(of_cut(step).and_then(of), |latency| latency.p99_ns),
        )
    };
    vec![
        back("half back", "half", |cut| cut.back_50_ns),
        back("95 % back", "95 percent", |cut| cut.back_95_ns),
        back("all back", "all", |cut| cut.back_100_ns),
        others("before p99", "before the cut", |cut| cut.before.as_ref()),
        others("during p99", "from the cut until all are back", |cut| {
            cut.during.as_ref()
        }),
        others("after p99", "after that", |cut| cut.after.as_ref()),
    ]
}

fn of_cut(step: &Step) -> Option<&CutOff> {
    step.extra.leaving.as_ref()?.cut.as_ref()
}

fn count_of_leaving(title: &str, meaning: &str, of: fn(&Leaving) -> u64) -> Filled {
    at_step(title, meaning, move |step| {
        let leaving = step.extra.leaving.as_ref();
        Cell::figure(leaving.map(of), |count| figures::count(*count))
    })
}

pub(super) fn room_changes() -> Vec<Filled> {
    vec![
        count_of_leaving(
            "joined",
            "How often a client that had left its room was confirmed to be in the next.",
            |leaving| leaving.joined,
        ),
        at_step(
            "join p95",
            "95th percentile of the time from when a client was to be in the next room until that \
             was confirmed.",
            |step| {
                let leaving = step.extra.leaving.as_ref();
                let join = leaving.and_then(|leaving| leaving.join.as_ref());
                Cell::latency(join, |latency| latency.p95_ns)
            },
        ),
    ]
}

pub(super) fn lost() -> Filled {
    count_of_leaving(
        "lost",
        "Messages that clients which left, or changed their room, should have had and did not get.",
        |leaving| leaving.lost,
    )
}

/// Those that come and go, or were cut off.
pub(super) fn of_those(score: Score) -> Vec<Filled> {
    let mut columns = Vec::new();
    if score != Score::Return {
        columns.push(count_of_leaving(
            "returns",
            "How often a client that had left was ready again.",
            |leaving| leaving.reconnected,
        ));
        columns.push(at_step(
            "return p95",
            "95th percentile of the time from when a client was to be back until it was ready.",
            |step| {
                let leaving = step.extra.leaving.as_ref();
                let reconnect = leaving.and_then(|leaving| leaving.reconnect.as_ref());
                Cell::latency(reconnect, |latency| latency.p95_ns)
            },
        ));
    }
    columns.push(count_of_leaving(
        "failed",
        "Attempts to come back that failed.",
        |leaving| leaving.failures,
    ));
    columns
}

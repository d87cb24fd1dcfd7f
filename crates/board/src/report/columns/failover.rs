//! The columns of messages that are watched while parts of the server fail.
//!
//! CPU time and memory have none: the processes whose they were ended meanwhile.

use super::super::figures;
use super::super::ranking::{Lost, Row};
use super::super::table::{Cell, NOTHING};
use super::{Filled, figure, time, word};
use crate::failover::{Recovery, share_lost};
use record::{Fates, Latency};

/// All of them.
pub(super) fn columns() -> Vec<Filled> {
    let mut columns = vec![
        delivered(),
        count(
            "sent",
            "Messages that were sent, of all repetitions together. Of the others the publisher had no \
             connection.",
            |lost| lost.sent,
        ),
        confirmed(),
    ];
    columns.extend(fates());
    columns.extend([
        count(
            "again",
            "Deliveries that came once more to the same client, on the same connection or on a later one.",
            |lost| lost.again,
        ),
        count(
            "reordered",
            "Messages that came to a client after a later one of the same publisher.",
            |lost| lost.reordered,
        ),
        latency(
            "same node p50",
            "Median of the time from when a message was due until it came to a client of the publisher's \
             node.",
            |lost| lost.same_node.as_ref(),
            |latency| latency.p50_ns,
        ),
        latency(
            "cross node p50",
            "The same to a client of another node.",
            |lost| lost.cross_node.as_ref(),
            |latency| latency.p50_ns,
        ),
        latency(
            "cross node p99",
            "99th percentile of the same.",
            |lost| lost.cross_node.as_ref(),
            |latency| latency.p99_ns,
        ),
        latency(
            "bystanders p99",
            "99th percentile of the time to clients whose connection lasted from the first message to the \
             end.",
            |lost| lost.bystanders.as_ref(),
            |latency| latency.p99_ns,
        ),
    ]);
    columns.extend(recoveries());
    columns.extend([
        word(
            "claim",
            "What the documentation of the library promises where a node or a broker fails.",
            |row| Cell::word(row.promise().map_or(NOTHING, |(claim, _)| claim.name())),
        ),
        word(
            "kept",
            "Whether the repetitions together keep the claim.",
            |row| {
                let promise = row.promise();
                Cell::word(promise.map_or_else(|| NOTHING.to_owned(), |(_, of)| of.words()))
            },
        ),
    ]);
    columns
}

fn of(row: &Row<'_>, cell: impl Fn(&Lost) -> Cell) -> Cell {
    row.lost()
        .as_ref()
        .map_or_else(|| Cell::word(NOTHING), cell)
}

fn count(title: &str, meaning: &str, count: fn(&Lost) -> u64) -> Filled {
    figure(title, meaning, move |row| {
        of(row, |lost| {
            Cell::figure(Some(count(lost)), |count| figures::count(*count))
        })
    })
}

fn latency(
    title: &str,
    meaning: &str,
    which: fn(&Lost) -> Option<&Latency>,
    percentile: fn(&Latency) -> u64,
) -> Filled {
    figure(title, meaning, move |row| {
        of(row, |lost| Cell::latency(which(lost), percentile))
    })
}

fn delivered() -> Filled {
    figure(
        "delivered",
        "Share of the deliveries of confirmed messages that came, rounded down. Where the dialect \
         confirms nothing, of all messages that were sent.",
        |row| {
            of(row, |all| match share_lost(&all.fates) {
                Some(lost) => Cell {
                    value: Some((1.0 - lost).to_string()),
                    ..Cell::word(figures::came_share(lost))
                },
                None => Cell::word(NOTHING),
            })
        },
    )
}

fn confirmed() -> Filled {
    figure(
        "confirmed",
        "Those of them whose publisher got the server's result.",
        |row| {
            of(row, |lost| match lost.has_no_results {
                true => Cell::word("no results"),
                false => Cell::figure(Some(lost.confirmed), |count| figures::count(*count)),
            })
        },
    )
}

fn fates() -> Vec<Filled> {
    let fate = |title: &str, meaning: &str, of: fn(&Fates) -> u64| {
        figure(
            title,
            format!("Deliveries of confirmed messages that {meaning}."),
            move |row| {
                self::of(row, |lost| {
                    Cell::figure(Some(of(&lost.fates)), |count| figures::count(*count))
                })
            },
        )
    };
    vec![
        fate(
            "silent",
            "did not come although the connection stayed: the client was told nothing",
            |of| of.lost_silent,
        ),
        fate("cut", "did not come since the connection ended", |of| {
            of.lost_cut
        }),
        fate(
            "away",
            "did not come to a client that had no connection when they were sent",
            |of| of.lost_away,
        ),
        fate(
            "joining",
            "did not come within the first second of a connection, before anything came on it",
            |of| of.lost_joining,
        ),
        fate(
            "made good",
            "came on a later connection: the server had kept them for the client",
            |of| of.made_good,
        ),
    ]
}

fn recoveries() -> Vec<Filled> {
    let longest = |title: &str, until: &str, of: fn(&Recovery<'_>) -> Option<u64>| {
        let meaning = format!(
            "Time from a fault until {until}: of several faults the longest, of several repetitions the \
             median. None: nothing had to come back."
        );
        figure(title, meaning, move |row| match row.longest_recovery(of) {
            Some(0.0) => Cell {
                value: Some("0".to_owned()),
                ..Cell::word("none")
            },
            ns => time(ns),
        })
    };
    vec![
        longest(
            "half back",
            "half of the clients that it cut off were back",
            |one| one.back[0],
        ),
        longest("95 % back", "95 percent of them were back", |one| {
            one.back[1]
        }),
        longest("all back", "all of them were back", |one| one.back[2]),
        longest(
            "whole again",
            "the last message was sent that did not come to a client with a connection",
            |one| one.whole,
        ),
    ]
}

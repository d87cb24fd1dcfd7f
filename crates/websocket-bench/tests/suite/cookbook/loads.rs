//! Loads of servers that speak the protocol of this project.

use super::Case;
use super::task::Task;
use crate::dialects::relay;
use crate::replay;
use crate::support::{honest, record};
use std::time::Duration;
use test_servers::oracle::{Oracle, OracleOptions, Strikes};
use test_servers::{DelayOptions, DelayServer, NullOptions, NullServer, Pace};

pub(super) const RATES: &[Case] = &[
    ("The p95 and p99 of a broadcast to N listeners", percentiles),
    (
        "Users who send now and then, at random (think time)",
        think_time,
    ),
    ("A fixed rate, or one that rises", rising_rate),
    ("Rooms of 50 people", rooms),
    ("Large messages", large),
    ("Compression (permessage-deflate)", compression),
];

pub(super) const SEARCHES: &[Case] = &[
    (
        "How many clients until broadcasts take longer than a limit?",
        search_clients,
    ),
    ("The highest rate that keeps p95 below 100 ms", search_rate),
];

pub(super) const CLIENTS: &[Case] = &[
    ("Replay what a browser did", browser),
    ("Replay a log of frames", browser),
    (
        "All clients reconnect at once, as after a deployment",
        storm,
    ),
    ("Some clients read slowly", slow_readers),
];

/// A server that makes the faults of `options`.
fn oracle(options: OracleOptions) -> Oracle {
    Oracle::start(options).unwrap()
}

const NEVER: u64 = 1 << 40;

/// One fault, some messages after the beginning.
const ONCE: Strikes = Strikes {
    every: NEVER,
    first: 30,
};

fn percentiles(task: Task) {
    task.at(honest().addr()).holds();
}

fn search_clients(task: Task) {
    let server = oracle(OracleOptions {
        comfortable: Some(40),
        ..OracleOptions::default()
    });
    task.at(server.addr()).holds_once();
}

fn think_time(task: Task) {
    task.at(honest().addr()).holds();
}

fn rising_rate(task: Task) {
    let server = honest();
    let task = task.at(server.addr());
    task.holds();
    let series = record(&task.path("run.json")).steps[0].series.clone();
    let sent: u64 = series.unwrap().rows.iter().map(|row| row.sent).sum();
    // 25 a second on average for three seconds, and 40 for one.
    assert!((110..=120).contains(&sent), "{sent}");
}

fn search_rate(task: Task) {
    let server = DelayServer::start(DelayOptions {
        pace: Some(Pace::requests_per_second(300.0)),
        ..DelayOptions::default()
    });
    let server = server.unwrap();
    task.at(server.addr()).holds_once();
}

fn rooms(task: Task) {
    let server = honest();
    let task = task.at(server.addr());
    task.holds();
    let wrong = oracle(OracleOptions {
        misdirected: ONCE,
        ..OracleOptions::default()
    });
    task.at(wrong.addr()).fails(3, &["1 misdirected"]);
}

fn browser(task: Task) {
    let (server, heard) = replay::room();
    let task = task.at(server);
    task.holds();
    let counted = replay::counted(&heard);
    assert_eq!(counted.into_values().max(), Some(20));
    let (between, _) = relay::leaving_out(server, b"\"said\"", None, 7);
    let short = "--set limits.time=7s --set limits.sample_timeout=8s";
    task.at(between).more(short).fails(3, &["1 lost"]);
}

fn storm(task: Task) {
    let server = honest();
    let task = task.at(server.addr());
    task.holds();
    let closed = oracle(OracleOptions {
        closes_door: Some(Duration::from_millis(500)),
        ..OracleOptions::default()
    });
    task.at(closed.addr()).fails(2, &["back.max<3s"]);
}

fn slow_readers(task: Task) {
    let server = oracle(OracleOptions::default());
    task.at(server.addr()).holds();
}

fn large(task: Task) {
    task.at(honest().addr()).holds();
}

fn compression(task: Task) {
    let server = NullServer::start(NullOptions {
        deflate: true,
        ..NullOptions::default()
    });
    let server = server.unwrap();
    let task = task.at(server.addr());
    task.holds();
    task.at(honest().addr()).fails(1, &["permessage-deflate"]);
}

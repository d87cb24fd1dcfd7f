//! `make bench-generator`, third part: does an echo cost the generator more when more are in flight?
//!
//! Takes the same number of echoes with a few and with many in flight at any time, in turn, and prints
//! the user CPU of the generator per echo, with its ratio to that of the smallest window in the same
//! round. The kernel's part is left out: longer queues in the sockets are its own matter.
//! `-- --rounds N` changes the number of rounds.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod common;

use common::{Spread, median, option, pin};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use test_servers::{NullOptions, NullServer};

const ECHOES: u32 = 100_000;
const CLIENTS: u32 = 100;
const WINDOWS: [u32; 5] = [50, 1_000, 10_000, 50_000, 100_000];
/// What an echo may cost with the largest window, as a multiple of that with the smallest.
const MOST: f64 = 1.5;

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(5);
    pin(0);
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    pin(1);
    println!("user CPU per echo, {CLIENTS} clients, {ECHOES} echoes, {rounds} rounds, medians");
    let rounds: Vec<Vec<f64>> = (0..rounds)
        .map(|_| {
            WINDOWS
                .map(|window| user_ns(server.addr(), window))
                .to_vec()
        })
        .collect();
    println!(
        "| in flight | each | of {} in flight (least-most) |",
        WINDOWS[0]
    );
    let mut last = 0.0;
    for (column, window) in WINDOWS.iter().enumerate() {
        let each = median(rounds.iter().map(|round| round[column]));
        let ratio = Spread::new(rounds.iter().map(|round| round[column] / round[0]));
        println!("| {window:>9} | {:.2} us | {ratio} |", each / 1e3);
        last = ratio.median;
    }
    assert!(
        last <= MOST,
        "an echo costs {last:.2} times as much with {} in flight, more than {MOST}",
        WINDOWS[WINDOWS.len() - 1]
    );
}

/// User CPU of a generator per echo, with so many in flight.
fn user_ns(server: SocketAddr, window: u32) -> f64 {
    let before = user_of_children_ns();
    let status = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .args(["echo", &format!("ws://{server}/ws"), "--threads", "1"])
        .args(["--concurrent", &window.to_string()])
        .args(["--sample-size", &ECHOES.to_string()])
        .args(["--step-size", &CLIENTS.to_string()])
        .args(["--total-steps", "1", "--limit-rtt", "20s"])
        .stdout(Stdio::null())
        .status()
        .expect("websocket-bench runs");
    assert!(status.success(), "websocket-bench ended with {status}");
    (user_of_children_ns() - before) / f64::from(ECHOES)
}

/// User CPU of all children that have ended.
fn user_of_children_ns() -> f64 {
    // SAFETY: an all-zero rusage is valid; it outlives the call.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        let done = libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used);
        assert_eq!(done, 0, "getrusage knows RUSAGE_CHILDREN");
        used
    };
    used.ru_utime.tv_sec as f64 * 1e9 + used.ru_utime.tv_usec as f64 * 1e3
}

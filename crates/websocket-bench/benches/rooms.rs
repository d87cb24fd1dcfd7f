//! `make bench-generator`, fifth part: what does a delivery in a room cost the generator, beside a
//! delivery of a broadcast?
//!
//! A room that has all clients does what a broadcast does: the difference is the price of knowing
//! rooms. A publication to ten of 10,000 clients is ten deliveries, a send and a result, and a send
//! with its answer is what an echo is; so a delivery there is held against one of a broadcast to all
//! and a tenth of an echo. As many deliveries are under way as of the broadcasts, so that a wait can
//! bring as many. Server and generator have a core each; figures of one round are compared.
//! `-- --rounds N` changes the number of rounds.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod common;

use common::{Spread, median, option, pin};
use record::RunRecord;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use test_servers::{NullOptions, NullServer};

/// What a delivery in a room may cost, as a multiple of what it is held against.
const MOST: f64 = 1.1;
/// Clients of a room.
const MEMBERS: f64 = 10.0;

struct Load {
    name: &'static str,
    audience: &'static str,
    samples: u32,
    in_flight: u32,
}

const LOADS: [Load; 4] = [
    Load {
        name: "delivery of a broadcast to 10,000",
        audience: "\"everyone\"",
        samples: 60,
        in_flight: 4,
    },
    Load {
        name: "delivery in a room of all 10,000",
        audience: "{ room = { members = 10000 } }",
        samples: 60,
        in_flight: 4,
    },
    Load {
        name: "echo among 10,000",
        audience: "\"sender\"",
        samples: 200_000,
        in_flight: 4_000,
    },
    Load {
        name: "delivery in rooms of 10 of 10,000",
        audience: "{ room = { members = 10 } }",
        samples: 60_000,
        in_flight: 4_000,
    },
];

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(5);
    let directory = tempfile::tempdir().expect("a temporary directory");
    pin(0);
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    pin(1);
    let url = format!("ws://{}/ws", server.addr());
    let mut figures: Vec<[f64; LOADS.len()]> = Vec::new();
    for _ in 0..rounds {
        figures.push(std::array::from_fn(|load| {
            cpu_ns(&LOADS[load], &url, directory.path())
        }));
    }
    println!("CPU, {rounds} rounds, medians");
    for (number, load) in LOADS.iter().enumerate() {
        let cost = median(figures.iter().map(|round| round[number])) / 1e3;
        println!("| {:<34} | {cost:>5.2} us |", load.name);
    }
    let all = Spread::new(figures.iter().map(|[delivery, room, ..]| room / delivery));
    println!("a room of all, as a multiple of a broadcast: {all}");
    let small = figures
        .iter()
        .map(|[delivery, _, echo, room]| room / (delivery + echo / MEMBERS));
    let small = Spread::new(small);
    println!(
        "rooms of 10, as a multiple of a delivery of a broadcast and a tenth of an echo: {small}"
    );
    for (what, spread) in [("of all", all), ("of ten", small)] {
        assert!(
            spread.median <= MOST,
            "a delivery in a room {what} costs {:.2} times what it may, more than {MOST}",
            spread.median
        );
    }
}

/// CPU of the generator per delivery, or echo, of the only step.
fn cpu_ns(load: &Load, url: &str, directory: &Path) -> f64 {
    let (plan, record) = (directory.join("plan.toml"), directory.join("record.json"));
    let text = format!(
        "audience = {}\n[clients.steps]\nfirst = 10000\ncount = 1\n[load.closed]\nin_flight = {}\nsamples = {}\n[message]\npadding = 200\n[limits]\ntime = \"25s\"\n[connection]\nat_once = 200\n[target]\nlocal_addrs = [\"127.0.0.1\", \"127.0.0.2\"]\n[generator]\nthreads = 1\n",
        load.audience, load.in_flight, load.samples
    );
    fs::write(&plan, text).expect("the plan is written");
    let status = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .arg("run")
        .args([&plan])
        .args([url, "--json"])
        .arg(&record)
        .stdout(Stdio::null())
        .status()
        .expect("websocket-bench runs");
    assert!(status.success(), "websocket-bench ended with {status}");
    let text = fs::read_to_string(&record).expect("the record is there");
    let record: RunRecord = serde_json::from_str(&text).expect("the record is read");
    let step = &record.steps[0];
    assert!(step.faults.is_empty(), "{}", step.faults);
    let heard = step.delivery.as_ref().or(step.completion.as_ref());
    let count = heard.expect("there were messages").count;
    step.generator.cpu_ns as f64 / count as f64
}

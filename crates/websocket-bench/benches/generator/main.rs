//! `make bench-generator`: what a verified delivery and a verified echo cost this generator, beside
//! C loops that throw the bytes away, on either backend and with either kind of stamps.
//!
//! Server and clients run on different cores. Each round drives the same null server with every
//! generator in turn, so that ratios compare figures of the same minute; medians of the rounds are
//! printed, with the least and the largest ratio. `-- --rounds N` and `-- --only json-broadcast`
//! (or `binary-broadcast`, `json-echo`) shorten it.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod bare;
#[path = "../common/mod.rs"]
mod common;
mod figure;
mod ours;
mod peer;

use bare::{Bare, Complete, Kind, Stamps};
use common::{median, option, pin};
use figure::Rounds;
use ours::Ours;
use peer::{Dialect, Load, Peer, Request};
use record::Environment;
use std::path::Path;
use test_servers::{NullOptions, NullServer};

const CLIENTS: u64 = 1000;
const CONCURRENT: u64 = 4;
const BROADCASTS: u64 = 400;
const ECHOES: u64 = 240_000;
const PADDING: u64 = 200;

/// How many of the generators, from the first, are what the others are held against.
const BASES: usize = 2;

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(5);
    let only = option("--only");
    let build = tempfile::tempdir().expect("a temporary directory");
    let peers = peers(build.path());
    // Threads and children inherit the affinity of the thread that starts them.
    pin(0);
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    pin(1);
    let here = Environment::collect();
    println!(
        "{}, {} cores, {}; server on core 0, clients on core 1",
        here.cpu_model.as_deref().unwrap_or("unknown processor"),
        here.cores,
        here.kernel
    );
    println!(
        "{CLIENTS} clients, concurrency {CONCURRENT}, padding {PADDING}; {rounds} rounds, medians; ratios of one round (least-most)"
    );
    for (request, dialect) in [
        (Request::Broadcast, Dialect::Json),
        (Request::Broadcast, Dialect::Binary),
        (Request::Echo, Dialect::Json),
    ] {
        let load = Load {
            server: server.addr(),
            request,
            dialect,
            clients: CLIENTS,
            concurrent: CONCURRENT,
            samples: match request {
                Request::Broadcast => BROADCASTS,
                Request::Echo => ECHOES,
            },
            padding: PADDING,
        };
        let name = format!("{}-{}", load.dialect_name(), load.request_name());
        if only.as_ref().is_none_or(|only| *only == name) {
            println!("\n{name}");
            compare(&peers, &load, rounds);
        }
    }
    if only.is_none() {
        memory(&server, build.path(), rounds);
    }
}

/// Every generator, those that the others are held against first.
fn peers(directory: &Path) -> Vec<Box<dyn Peer>> {
    let mut peers: Vec<Box<dyn Peer>> = Vec::new();
    for which in [
        (Kind::Epoll, Complete::Each, Stamps::None),
        (Kind::Uring, Complete::Each, Stamps::None),
        (Kind::Epoll, Complete::Total, Stamps::None),
        (Kind::Epoll, Complete::Each, Stamps::Kernel),
    ] {
        peers.push(Box::new(Bare::compile(which, directory)));
    }
    for io in ["epoll", "uring"] {
        for timestamps in ["user", "kernel"] {
            peers.push(Box::new(Ours {
                io,
                timestamps,
                record: directory.join("record.json"),
            }));
        }
    }
    peers
}

/// Drives the server with each generator in turn, and prints the table.
fn compare(peers: &[Box<dyn Peer>], load: &Load, rounds: usize) {
    let able: Vec<&Box<dyn Peer>> = peers.iter().filter(|peer| peer.can(load)).collect();
    let mut results: Vec<Rounds> = able
        .iter()
        .map(|peer| Rounds {
            name: peer.name(),
            figures: Vec::new(),
        })
        .collect();
    for _ in 0..rounds {
        for (peer, result) in able.iter().zip(&mut results) {
            match peer.measure(load) {
                Ok(figure) => result.figures.push(figure),
                Err(words) => panic!("{}: {words}", result.name),
            }
        }
    }
    let (bases, _) = results.split_at(BASES);
    let bases: Vec<&Rounds> = bases.iter().collect();
    let heads: String = bases
        .iter()
        .map(|base| format!(" of {} |", base.name))
        .collect();
    println!("| {:<44} | CPU each | reads |{heads}", "generator");
    for result in &results {
        println!("{}", result.row(&bases));
    }
}

/// What a connection takes of the generator's own memory.
fn memory(server: &NullServer, directory: &Path, rounds: usize) {
    for io in ["epoll", "uring"] {
        let ours = Ours {
            io,
            timestamps: "kernel",
            record: directory.join("record.json"),
        };
        let resident = |clients| {
            let load = Load {
                server: server.addr(),
                request: Request::Broadcast,
                dialect: Dialect::Json,
                clients,
                concurrent: CONCURRENT,
                samples: 1,
                padding: PADDING,
            };
            let steps = (0..rounds.min(3)).map(|_| ours.step(&load).expect("it measures"));
            median(steps.map(|step| step.generator.resident_bytes as f64))
        };
        println!(
            "\n{io}: {:.0} bytes of the generator per connection (10 against 9,000 clients, one broadcast)",
            (resident(9_000) - resident(10)) / 8_990.0
        );
    }
}

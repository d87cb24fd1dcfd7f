//! `make bench-generator`: what a verified delivery costs the generator, beside a C loop that
//! throws the bytes away.
//!
//! Server and clients run on different cores. Each round drives the same null server with the
//! bare loop and with websocket-bench in turn, so that the ratios compare figures of the same
//! minute; the medians of the rounds are printed.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use test_servers::{NullOptions, NullServer};

const CLIENTS: u64 = 1000;
const CONCURRENT: u64 = 4;
const SAMPLES: u64 = 400;
const PADDING: u64 = 200;

/// CPU per delivery in nanoseconds, messages per read, resident bytes (of ours alone).
#[derive(Clone, Copy)]
struct Figure {
    cpu_ns: f64,
    per_read: f64,
    resident: f64,
}

fn main() {
    let rounds: usize = env::args()
        .skip_while(|arg| arg != "--rounds")
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(5);
    let build = tempfile::tempdir().expect("a temporary directory");
    let bare_loop = compile(build.path());
    // Threads and children inherit the affinity of the thread that starts them.
    pin(0);
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    pin(1);
    println!(
        "{CLIENTS} clients, concurrency {CONCURRENT}, {SAMPLES} broadcasts, padding {PADDING}, {rounds} rounds, medians; server on core 0, clients on core 1"
    );
    for dialect in ["json", "binary"] {
        let port = server.addr().port();
        let (mut each, mut total, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            each.push(run_bare(&bare_loop, port, dialect, "each"));
            ours.push(run_ours(port, dialect, build.path()));
            total.push(run_bare(&bare_loop, port, dialect, "total"));
        }
        println!("{dialect}");
        show("websocket-bench, verifies every message", &ours, None);
        show("bare epoll loop, bytes per socket", &each, Some(&ours));
        show(
            "bare epoll loop, bytes in total (runs ahead)",
            &total,
            Some(&ours),
        );
    }
    let idle = run_ours_with(server.addr().port(), "json", build.path(), 10, 1).resident;
    let full = run_ours_with(server.addr().port(), "json", build.path(), 10_000, 1).resident;
    println!(
        "memory   {:.0} bytes of the generator per connection (10 against 10,000 clients, one broadcast)",
        (full - idle) / 9_990.0
    );
}

/// One line; with `ours` also the ratio of ours to it, round by round.
fn show(name: &str, figures: &[Figure], ours: Option<&[Figure]>) {
    print!(
        "  {name:<46} {:.3} us CPU per delivery  {:.2} messages per read",
        median(figures.iter().map(|f| f.cpu_ns)) / 1e3,
        median(figures.iter().map(|f| f.per_read)),
    );
    let Some(ours) = ours else {
        println!();
        return;
    };
    let ratios: Vec<f64> = ours
        .iter()
        .zip(figures)
        .map(|(ours, bare)| ours.cpu_ns / bare.cpu_ns)
        .collect();
    let rounds: Vec<String> = ratios.iter().map(|r| format!("{r:.2}")).collect();
    println!(
        "  websocket-bench costs {:.2} of it ({})",
        median(ratios.into_iter()),
        rounds.join(" ")
    );
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn run_bare(program: &Path, port: u16, dialect: &str, completion: &str) -> Figure {
    let arguments = [u64::from(port), CLIENTS, CONCURRENT, SAMPLES, PADDING].map(|n| n.to_string());
    let output = Command::new(program)
        .args(arguments)
        .args([dialect, completion])
        .stderr(Stdio::inherit())
        .output()
        .expect("the bare loop runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    let [cpu_ns, deliveries, reads] = numbers[..] else {
        panic!("the bare loop printed `{text}`");
    };
    Figure {
        cpu_ns: cpu_ns / deliveries,
        per_read: deliveries / reads,
        resident: 0.0,
    }
}

fn run_ours(port: u16, dialect: &str, directory: &Path) -> Figure {
    run_ours_with(port, dialect, directory, CLIENTS, SAMPLES)
}

fn run_ours_with(port: u16, dialect: &str, directory: &Path, clients: u64, samples: u64) -> Figure {
    let record = directory.join("record.json");
    let status = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .arg("broadcast")
        .arg(format!("ws://127.0.0.1:{port}/ws"))
        .args([
            "--server-type",
            dialect,
            "--total-steps",
            "1",
            "--limit-rtt",
            "20s",
        ])
        .args(["--concurrent", &CONCURRENT.to_string()])
        .args(["--sample-size", &samples.to_string()])
        .args(["--step-size", &clients.to_string()])
        .args(["--payload-padding", &PADDING.to_string()])
        .arg("--json")
        .arg(&record)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("websocket-bench runs");
    assert!(status.success(), "websocket-bench ended with {status}");
    let text = std::fs::read_to_string(&record).expect("the record is there");
    let record: run_record::RunRecord = serde_json::from_str(&text).expect("the record is read");
    let generator = &record.steps[0].generator;
    Figure {
        cpu_ns: generator.cpu_ns as f64 / (clients * samples) as f64,
        per_read: generator.messages as f64 / generator.reads as f64,
        resident: generator.resident_bytes as f64,
    }
}

fn compile(directory: &Path) -> PathBuf {
    let program = directory.join("bare_epoll");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/bare_epoll.c");
    let status = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .expect("a C compiler is needed: apt-get install gcc");
    assert!(status.success(), "the bare loop does not compile");
    program
}

fn pin(cpu: usize) {
    // SAFETY: an all-zero cpu_set_t is valid; the set outlives the call.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    assert_eq!(done, 0, "this benchmark needs two cores");
}

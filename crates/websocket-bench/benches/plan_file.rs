//! `make bench-generator`, fourth part: does a run from a plan file cost what the flags cost that the
//! file stands for?
//!
//! Each workload is run by the flags in its comment and from its file, in turn, against the same null
//! server. Prints the CPU of the generator per verified message and the ratio of both in the same
//! round. `-- --rounds N` changes the number of rounds.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod common;

use common::{Spread, median, option, pin};
use record::RunRecord;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use test_servers::{NullOptions, NullServer};

/// Workloads, with the samples of a step that takes about as long as one of `generator`.
const WORKLOADS: [(&str, u32); 2] = [("broadcast", 400), ("echo", 240_000)];
/// What a message may cost from a file, as a multiple of what it costs by flags: twice the noise of
/// a quiet machine.
const MOST: f64 = 1.1;

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(9);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let record = directory.path().join("record.json");
    pin(0);
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    pin(1);
    let url = format!("ws://{}/ws", server.addr());
    println!(
        "CPU per message of one step, {rounds} rounds, medians; ratios of one round (least-most)"
    );
    println!("| workload  | by flags | from its file | ratio |");
    for (name, samples) in WORKLOADS {
        let by_flags = || cpu_ns(flags(name, samples, &url), &record);
        let from_file = || cpu_ns(file(name, samples, &url), &record);
        // Neither is always the first: what a round leaves behind in the server would favour one.
        let figures: Vec<(f64, f64)> = (0..rounds)
            .map(|round| match round % 2 {
                0 => (by_flags(), from_file()),
                _ => {
                    let from_file = from_file();
                    (by_flags(), from_file)
                }
            })
            .collect();
        let ratio = Spread::new(figures.iter().map(|(flags, file)| file / flags));
        println!(
            "| {name:<9} | {:>5.2} us | {:>10.2} us | {ratio} |",
            median(figures.iter().map(|(flags, _)| *flags)) / 1e3,
            median(figures.iter().map(|(_, file)| *file)) / 1e3,
        );
        assert!(
            ratio.median <= MOST,
            "a message of {name} costs {:.2} times as much from the file, more than {MOST}",
            ratio.median
        );
    }
}

fn path(workload: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../workloads/{workload}.toml"))
}

/// The command that the file names in its comment, for one step of so many samples.
fn flags(workload: &str, samples: u32, url: &str) -> Command {
    let text = fs::read_to_string(path(workload)).expect("the workload is read");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("# websocket-bench "))
        .expect("a workload names its flags");
    let words = line.split_whitespace();
    let mut command = Command::new(env!("CARGO_BIN_EXE_websocket-bench"));
    command
        .args(words.map(|word| if word == "URL" { url } else { word }))
        .args(["--total-steps", "1", "--limit-rtt", "20s"])
        .args(["--sample-size", &samples.to_string()]);
    command
}

/// The same from the file.
fn file(workload: &str, samples: u32, url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_websocket-bench"));
    command
        .arg("run")
        .arg(path(workload))
        .arg(url)
        .args(["--set", "clients.steps.count=1"])
        .args(["--set", "limits.time=20s"])
        .args(["--set", &format!("load.samples={samples}")]);
    command
}

/// CPU of the generator per verified message of the only step.
fn cpu_ns(mut command: Command, record: &Path) -> f64 {
    let status = command
        .arg("--json")
        .arg(record)
        .stdout(Stdio::null())
        .status()
        .expect("websocket-bench runs");
    assert!(status.success(), "websocket-bench ended with {status}");
    let text = fs::read_to_string(record).expect("the record is there");
    let record: RunRecord = serde_json::from_str(&text).expect("the record is read");
    let generator = &record.steps[0].generator;
    generator.cpu_ns as f64 / generator.messages as f64
}

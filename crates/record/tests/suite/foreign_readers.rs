//! The histograms of records are read by the HdrHistogram libraries of other languages, which see
//! the same counts and percentiles.

use crate::support::{record, step};
use ::record::{Json, Recorder};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

fn here() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where the libraries are, installed when they are not yet.
fn libraries() -> PathBuf {
    let ran = Command::new(root().join("scripts/foreign-readers")).output();
    let ran = ran.unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    root().join("target/foreign-readers")
}

fn python() -> Command {
    Command::new(libraries().join("python/bin/python"))
}

/// What a program prints, given this text.
fn output(program: &mut Command, input: String) -> String {
    let mut child = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{program:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn recorded(samples: impl IntoIterator<Item = (u64, u64)>) -> Recorder {
    let mut recorder = Recorder::default();
    for (ns, count) in samples {
        recorder.record_n(ns, count);
    }
    recorder
}

/// Distributions whose percentiles fall on whole ranks, which the libraries round differently.
fn distributions() -> Vec<Recorder> {
    let golden = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
    vec![
        recorded([(5_000, 1000)]),
        recorded((1..=1000).map(|n| (n * 1_000_000, 1))),
        // From below the lowest unit to above the longest latency.
        recorded((0..4000).map(|n| (1u64 << (n % 41), 1))),
        recorded((0..100_000).map(|n| (golden(n), 1))),
        recorded([(90_000, 7_000_000_000), (2_000_000_000, 3_000_000_000)]),
        recorded((0..1000).map(|n| (600_000_000_000 - n, 1))),
    ]
}

fn seen_by_us(recorder: &Recorder) -> Value {
    let latency = recorder.latency().unwrap();
    json!({
        "count": latency.count,
        "min": latency.min_ns,
        "max": latency.max_ns,
        "percentiles": [
            latency.p50_ns, latency.p90_ns, latency.p95_ns, latency.p99_ns, latency.p999_ns,
        ],
        "samples": recorder.samples().collect::<Vec<_>>(),
    })
}

fn assert_same(mut reader: Command) {
    let recorders = distributions();
    let lines: Vec<String> = recorders
        .iter()
        .map(|recorder| recorder.latency().unwrap().histogram)
        .collect();
    let seen = output(&mut reader, lines.join("\n"));
    let seen: Vec<Value> = seen
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(seen.len(), recorders.len());
    for (number, (seen, recorder)) in seen.iter().zip(&recorders).enumerate() {
        let ours = seen_by_us(recorder);
        for key in ["count", "min", "max", "percentiles"] {
            assert_eq!(seen[key], ours[key], "{key} of distribution {number}");
        }
        assert!(seen == &ours, "samples of distribution {number}");
    }
}

#[test]
fn python_sees_the_same_counts_and_percentiles() {
    let mut python = python();
    python.arg(here().join("read.py"));
    assert_same(python);
}

#[test]
fn javascript_sees_the_same_counts_and_percentiles() {
    let mut node = Command::new("node");
    node.arg(here().join("read.js"))
        .env("NODE_PATH", libraries().join("node_modules"));
    assert_same(node);
}

#[test]
fn the_example_of_the_documentation_runs() {
    let docs = fs::read_to_string(root().join("docs/result-format.md")).unwrap();
    let (_, rest) = docs.split_once("```python\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let record = record(vec![step(10)]).to_json().unwrap();
    let printed = output(python().args(["-c", example]), record);
    let latency = step(10).completion.unwrap();
    assert_eq!(
        printed,
        format!("{} {}\n", latency.count, latency.p95_ns as f64 / 1e6)
    );
}

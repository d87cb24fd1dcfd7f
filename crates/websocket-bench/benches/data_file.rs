//! What a data file of a million rows costs at the start of a run, in time.
//!
//! One client is connected to a null server with the file and without it, in turn; what the file costs
//! is the difference. `cargo bench -p websocket-bench --bench data_file`; `-- --rounds N` changes the
//! number of rounds.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod common;

use common::{median, option, pin};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use test_servers::{NullOptions, NullServer};

const ROWS: u32 = 1_000_000;
/// Most milliseconds that the rows may cost.
const MOST_MS: f64 = 100.0;

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(9);
    let directory = tempfile::tempdir().expect("a temporary directory");
    pin(0);
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    pin(1);
    let url = format!("ws://{}/ws", server.addr());
    let (csv, json) = (
        directory.path().join("rows.csv"),
        directory.path().join("rows.jsonl"),
    );
    write(&csv, "user,token\n", |row| {
        format!("user{row},token-{row:016x}\n")
    });
    write(&json, "", |row| {
        format!("{{\"user\":\"user{row}\",\"token\":\"token-{row:016x}\"}}\n")
    });
    println!("{ROWS} rows of two columns, {rounds} rounds, medians of the differences");
    for path in [csv, json] {
        let bytes = fs::metadata(&path).expect("the file was written").len();
        let differences: Vec<f64> = (0..rounds)
            .map(|_| {
                let (without, with) = (run(&url, None), run(&url, Some(&path)));
                with - without
            })
            .collect();
        let format = path.extension().unwrap_or_default().to_string_lossy();
        let cost = median(differences.iter().map(|seconds| seconds * 1e3));
        println!(
            "| {format:<10} | file {:>5.1} MB | {cost:>5.0} ms |",
            bytes as f64 / 1e6,
        );
        assert!(
            cost <= MOST_MS,
            "{format}: {cost:.0} ms; permitted: {MOST_MS} ms"
        );
    }
}

fn write(path: &Path, header: &str, row: impl Fn(u32) -> String) {
    let mut text = header.to_owned();
    for number in 0..ROWS {
        let _ = text.write_str(&row(number));
    }
    fs::write(path, text).expect("the file can be written");
}

/// Seconds of a run.
fn run(url: &str, data: Option<&Path>) -> f64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_websocket-bench"));
    command
        .args([
            "connect",
            url,
            "--clients",
            "1",
            "--hold",
            "1ms",
            "--threads",
            "1",
        ])
        .stdout(Stdio::null());
    if let Some(path) = data {
        command.arg("--data").arg(path);
        command.args(["-H", "X-User: {user}", "--query", "token={token}"]);
    }
    let begun = Instant::now();
    command.stderr(Stdio::null());
    let status = command.status().expect("the binary starts");
    assert!(status.success(), "the run failed");
    begun.elapsed().as_secs_f64()
}

//! `--search` against servers that refuse to be faster than a known pace.
//!
//! A machine that is busy with other things can disturb any run: one that says so itself is made
//! again. What it finds without saying so must be right.

use crate::support::{record, run};
use run_record::{End, RunRecord};
use std::collections::BTreeSet;
use test_servers::{DelayOptions, DelayServer, Pace, Truth};

const RUNS: u32 = 3;
/// The two sides of the edge differ by no more at the end.
const PRECISION: f64 = 0.02;

fn paced(pace: Pace) -> DelayServer {
    DelayServer::start(DelayOptions {
        pace: Some(pace),
        ..DelayOptions::default()
    })
    .unwrap()
}

/// The record of the first run that found an edge, and the server's ledger of it.
fn found(pace: Pace, arguments: &str) -> Option<(RunRecord, Truth)> {
    for _ in 0..RUNS {
        let server = paced(pace);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let (command, rest) = arguments.split_once(' ').unwrap();
        let ran = run(&format!(
            "{command} ws://{}/ {rest} --threads 1 --search-precision {} --json {}",
            server.addr(),
            PRECISION * 100.0,
            path.display()
        ));
        let record = record(&path);
        match record.outcome.end {
            End::EdgeFound => {
                ran.exits(0);
                return Some((record, server.truth()));
            }
            // The generator was the limit, or five tries in a row were noisy.
            End::GeneratorLimited | End::MachineLimit => {}
            _ => panic!("{ran:#?}"),
        }
    }
    None
}

/// The edge is there, and steps of the same precision would have been three times as many.
#[track_caller]
fn assert_edge(record: &RunRecord, truth: f64, load: impl Fn(usize) -> f64) {
    let edge = record.outcome.edge.unwrap();
    let (passed, failed) = (edge.passed.unwrap(), edge.failed.unwrap());
    for side in [passed, failed] {
        assert!((side / truth - 1.0).abs() <= 0.05, "{edge:?} {truth}");
    }
    let tried: BTreeSet<u64> = (0..record.steps.len()).map(|n| load(n).to_bits()).collect();
    let steps = (passed - load(0)) / (PRECISION * passed) + 1.0;
    assert!(
        3.0 * tried.len() as f64 <= steps,
        "{} of {steps}",
        tried.len()
    );
}

/// Answers per second when the server had most to do, by its own clock.
fn counted(truth: &Truth) -> f64 {
    const WINDOW: usize = 800;
    let mut written: Vec<u64> = truth.answers.iter().map(|a| a.written_ns).collect();
    written.sort_unstable();
    let spans = written.windows(WINDOW).map(|w| w[WINDOW - 1] - w[0]);
    (WINDOW - 1) as f64 * 1e9 / spans.min().unwrap() as f64
}

#[test]
fn the_rate_of_a_server_is_found_among_few() {
    // Above the server's pace its queue grows: by 3 percent of the time at 3 percent more.
    let found = found(
        Pace::requests_per_second(800.0),
        "echo --search rate --rate 80 --arrivals constant --duration 1s --initial-clients 50 \
         --limit-rtt 30ms",
    );
    let Some((record, truth)) = found else { return };
    assert_edge(&record, counted(&truth), |n| record.steps[n].rate.unwrap());
}

#[test]
fn the_clients_of_a_server_are_found_among_few() {
    let found = found(
        Pace::deliveries_per_second(5_000.0),
        "broadcast --search clients --initial-clients 10 -c 1 -s 20 --limit-percentile 50 \
         --limit-rtt 50ms",
    );
    let Some((record, truth)) = found else { return };
    // No client was served faster than that.
    let steps = record.steps.iter();
    let copies: u64 = steps.map(|step| step.clients * step.samples).sum();
    let busy: f64 = truth
        .answers
        .iter()
        .map(|a| (a.written_ns - a.arrival_ns) as f64)
        .sum();
    let per_copy_ns = busy / copies as f64;
    assert_edge(&record, 50e6 / per_copy_ns, |n| {
        record.steps[n].clients as f64
    });
}

//! `--search` against servers that refuse to be faster than a known pace.
//!
//! A machine that is busy with other things can disturb any run: one that says so itself is made
//! again. It can disturb the ledger of the server as well, whose means hold every pause, and have the
//! search try loads that it would else have left out: an edge that is not where the ledger has it, or
//! that took many steps, is looked for again.

use crate::support::{record, run};
use ::record::{End, RunRecord};
use std::collections::BTreeSet;
use test_servers::{DelayOptions, DelayServer, Pace, Truth};

/// Runs that show something.
const RUNS: usize = 5;
/// Those that show nothing, because the machine disturbed them, included.
const MOST_RUNS: usize = 20;
/// The two sides of the edge differ by no more at the end.
const PRECISION: f64 = 0.02;
/// By so much a server may be slower than its pace.
const STEADY: f64 = 0.1;

fn paced(pace: Pace) -> DelayServer {
    DelayServer::start(DelayOptions {
        pace: Some(pace),
        ..DelayOptions::default()
    })
    .unwrap()
}

/// Looks for the edge of a server of that pace until it is found where `truth` has it. `nominal` is where
/// `truth` has it when nothing disturbs the server. A run in which the server was slower than that by more
/// than [`STEADY`] shows nothing: its edge moved while it was looked for.
fn assert_found(
    (pace, nominal): (Pace, f64),
    arguments: &str,
    truth: impl Fn(&RunRecord, &Truth) -> f64,
    load: impl Fn(&RunRecord, usize) -> f64,
) {
    let mut seen = Vec::new();
    for _ in 0..MOST_RUNS {
        if seen.len() == RUNS {
            break;
        }
        let Some((record, ledger)) = found(pace, arguments) else {
            return;
        };
        let (edge, truth) = (record.outcome.edge.unwrap(), truth(&record, &ledger));
        let sides = [edge.passed.unwrap(), edge.failed.unwrap()];
        if nominal / truth - 1.0 > STEADY {
            continue;
        }
        let is_there = sides.iter().all(|side| (side / truth - 1.0).abs() <= 0.05);
        let (tried, most) = tried(&record, |n| load(&record, n));
        if is_there && tried <= most {
            return;
        }
        seen.push((edge, truth, tried, most));
    }
    assert!(seen.is_empty(), "{seen:?}");
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

/// How many loads were tried, and the most that may be: steps of the same precision would have been
/// three times as many.
fn tried(record: &RunRecord, load: impl Fn(usize) -> f64) -> (usize, usize) {
    let passed = record.outcome.edge.unwrap().passed.unwrap();
    let tried: BTreeSet<u64> = (0..record.steps.len()).map(|n| load(n).to_bits()).collect();
    let steps = (passed - load(0)) / (PRECISION * passed) + 1.0;
    (tried.len(), (steps / 3.0) as usize)
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
    assert_found(
        (Pace::requests_per_second(800.0), 800.0),
        "echo --search rate --rate 80 --arrivals constant --duration 1s --initial-clients 50 \
         --limit-rtt 30ms",
        |_, ledger| counted(ledger),
        |record, n| record.steps[n].rate.unwrap(),
    );
}

#[test]
fn the_clients_of_a_server_are_found_among_few() {
    // No client was served faster than that.
    let most = |record: &RunRecord, ledger: &Truth| {
        let steps = record.steps.iter();
        let copies: u64 = steps.map(|step| step.clients * step.samples).sum();
        let busy: f64 = ledger
            .answers
            .iter()
            .map(|a| (a.written_ns - a.arrival_ns) as f64)
            .sum();
        50e6 / (busy / copies as f64)
    };
    assert_found(
        // 250 get theirs within the limit of 50 ms, less what the server itself takes for a message.
        (Pace::deliveries_per_second(5_000.0), 232.0),
        "broadcast --search clients --initial-clients 10 -c 1 -s 20 --limit-percentile 50 \
         --limit-rtt 50ms",
        most,
        |record, n| record.steps[n].clients as f64,
    );
}

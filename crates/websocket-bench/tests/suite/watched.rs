//! `load.watch` as a user meets it: what is printed, what `--expect` makes of it, and what is refused.

use crate::support::{assert_valid, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use test_servers::oracle::{Fate, Oracle, OracleOptions, Strikes};

/// Fifty messages to ten clients, and what each must not take longer than.
const PLAN: &str = r#"
audience = "everyone"
[clients.steps]
first = 10
count = 1
[load.watch]
rate = 50.0
duration = "1s"
patience = "10s"
[[fault]]
at = "500ms"
do = "kill"
what = "node:1"
"#;

fn planned() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("watch.toml");
    fs::write(&plan, PLAN).unwrap();
    (folder, plan)
}

fn command(plan: &Path, server: &Oracle) -> String {
    format!("run {} ws://{}/ws", plan.display(), server.addr())
}

#[test]
fn what_was_lost_is_told_and_counts_where_it_is_expected_not_to_be() {
    let server = Oracle::start(OracleOptions {
        lost: Strikes {
            every: 40,
            first: 5,
        },
        ..OracleOptions::default()
    })
    .unwrap();
    let (folder, plan) = planned();
    let json = folder.path().join("run.json");
    let ran = run(&format!(
        "{} --json {} --expect lost<=0 --expect silent<=1 --expect silent<=500",
        command(&plan, &server),
        json.display()
    ))
    .exits(2);
    let told = server.told();
    let copies = told.asked.iter().flat_map(|asked| &asked.copies);
    let lost = copies.filter(|copy| copy.fate == Fate::Lost).count();
    let live = 500 - lost;
    let ran = ran.says(&[
        &format!("expectation failed: lost<=0: {lost} in all steps together"),
        &format!("expectation failed: silent<=1: {lost} in all steps together"),
    ]);
    for printed in [
        "50 of 50 were sent, 50 were confirmed",
        &format!("{live} of 500 came live"),
        &format!("{lost} in silence (the connection stayed)"),
    ] {
        assert!(ran.stdout.contains(printed), "{printed}: {ran:#?}");
    }
    let record = assert_valid(&json);
    let watched = record.steps[0].watched.as_ref().unwrap();
    assert_eq!(watched.of_confirmed.lost_silent, lost as u64);
    assert_eq!(record.plan.faults.len(), 1);
}

/// All is sent within six seconds, and comes after eight to fourteen. A busy machine may keep the server from
/// its messages for three seconds.
#[test]
fn what_a_server_that_is_behind_brings_late_is_not_lost() {
    let server = Oracle::start(OracleOptions {
        delay: Duration::from_secs(8),
        ..OracleOptions::default()
    })
    .unwrap();
    let (_folder, plan) = planned();
    let ran = run(&format!(
        "{} --set load.duration=6s --set load.patience=5s --expect lost<=0",
        command(&plan, &server)
    ))
    .exits(0);
    let printed = "3000 of 3000 came live";
    assert!(ran.stdout.contains(printed), "{ran:#?}");
}

#[test]
fn several_processes_and_expectations_without_a_watch_are_refused() {
    let server = Oracle::start(OracleOptions::default()).unwrap();
    let (_folder, plan) = planned();
    let command = command(&plan, &server);
    run(&format!("{command} --processes 2"))
        .exits(1)
        .says(&["load.watch follows each message to each client within one process"]);
    for (set, words) in [
        ("clients.steps.count=2", "clients.steps.count"),
        ("load.watch.rate=10000000", "50,000,000"),
        ("load.patience=0s", "load.watch.patience"),
    ] {
        run(&format!("{command} --set {set}"))
            .exits(1)
            .says(&[words]);
    }
    let broadcast = format!("broadcast ws://{}/ws --total-steps 1", server.addr());
    for expected in ["lost<=0", "silent<=0"] {
        run(&format!("{broadcast} --expect {expected}"))
            .exits(1)
            .says(&[&format!(
                "--expect {expected}: what became of each delivery is told of load.watch alone"
            )]);
    }
}

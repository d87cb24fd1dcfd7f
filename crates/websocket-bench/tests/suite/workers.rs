//! Runs over several processes: workers that are dialled, that dial in, and that the program starts.

use crate::support::{Ran, bench, finish, honest, record, run, undisturbed, url};
use crate::worker_process::{Process, Worker};
use ::record::{End, RunRecord};
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Asserts that every delivery of every sample was counted, once.
#[track_caller]
fn assert_exact(record: &RunRecord, clients: &[u64], samples: u64) {
    let counted: Vec<_> = record
        .steps
        .iter()
        .map(|step| {
            (
                step.clients,
                step.samples,
                step.delivery.as_ref().map(|it| it.count),
            )
        })
        .collect();
    let expected: Vec<_> = clients
        .iter()
        .map(|clients| (*clients, samples, Some(samples * clients)))
        .collect();
    assert_eq!(counted, expected);
    assert!(record.faults().is_empty(), "{}", record.faults());
}

fn measured(arguments: &str) -> (Ran, RunRecord) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let ran = finish(
        bench()
            .args(arguments.split_whitespace())
            .arg("--json")
            .arg(&path),
    );
    let record = record(&path);
    (ran, record)
}

#[test]
fn two_workers_share_the_connections_and_stay_for_the_next_run() {
    let server = honest();
    let (mut one, other) = (Worker::start(""), Worker::start(""));
    let arguments = format!(
        "broadcast {} -c 4 -s 50 --step-size 31 --total-steps 2 --limit-rtt 20s --payload-padding 200 \
         -w {} -w {}",
        url(server.addr()),
        one.addr,
        other.addr
    );
    for _ in 0..2 {
        let (ran, record) = measured(&arguments);
        let ran = ran.exits(0).says(&["clocks:", "has this machine's"]);
        assert_eq!(ran.stdout.lines().count(), 2, "{ran:#?}");
        assert_exact(&record, &[31, 62], 50);
        one.process.says(&["a run for", "site 1 of 2"]);
        one.process.says(&["the run is over"]);
        other.process.says(&["a run for", "site 2 of 2"]);
        other.process.says(&["the run is over"]);
    }
    one.process.signal(libc::SIGTERM);
    one.process.end().exits(0);
}

#[test]
fn processes_of_its_own_measure_and_end_with_it() {
    let server = honest();
    let (ran, record) = measured(&format!(
        "broadcast {} -c 4 -s 50 --step-size 31 --total-steps 2 --limit-rtt 20s --processes 2",
        url(server.addr())
    ));
    ran.exits(0).says(&["carried within the limit: 62 clients"]);
    assert_exact(&record, &[31, 62], 50);
}

#[test]
fn a_process_that_could_open_no_connection_is_refused() {
    let server = honest();
    let url = url(server.addr());
    run(&format!(
        "echo {url} --step-size 4 --total-steps 1 --processes 2 --connect-concurrency 1"
    ))
    .exits(1)
    .says(&[
        "no more than 1 handshakes",
        "2 processes",
        "--connect-concurrency",
    ]);
}

#[test]
fn an_open_loop_of_echoes_runs_over_processes() {
    let server = honest();
    let arguments = format!(
        "echo {} --rate 500 --duration 1s --step-size 20 --processes 3 --limit-rtt 20s",
        url(server.addr())
    );
    let mut record = None;
    undisturbed(|| {
        let (ran, of) = measured(&arguments);
        record = Some(of);
        ran
    })
    .exits(0);
    let record = record.unwrap();
    assert_eq!(record.outcome.end, End::StepsDone);
    assert!(
        (350..650).contains(&record.steps[0].samples),
        "{}",
        record.steps[0].samples
    );
}

#[test]
fn source_addresses_beside_workers_are_those_of_this_process() {
    let server = honest();
    let worker = Worker::start("-l 127.0.0.5");
    let (ran, record) = measured(&format!(
        "broadcast {} -c 4 -s 50 --step-size 30 --total-steps 1 --limit-rtt 20s -l 127.0.0.2 \
         -l 127.0.0.3 -w {}",
        url(server.addr()),
        worker.addr
    ));
    ran.exits(0);
    assert_exact(&record, &[30], 50);
    worker.process.says(&["a run for", "site 2 of 2"]);
}

/// The command lines of round two, with four workers and source addresses beside them.
#[test]
fn the_command_lines_of_round_two_with_four_workers() {
    let server = honest();
    let phoenix = crate::handmade::phoenix();
    let started = [(); 4].map(|()| Worker::start(""));
    let workers: String = started
        .iter()
        .map(|one| format!(" -w {}", one.addr))
        .collect::<String>()
        + " -l 127.0.0.2 -l 127.0.0.3 -l 127.0.0.4";
    let load = "--concurrent 4 --sample-size 100 --payload-padding 200";
    for (url, step_size, more) in [
        (format!("ws://{}/ws", server.addr()), 1000, ""),
        (
            format!("ws://{}", server.addr()),
            1000,
            "--server-type binary",
        ),
        (
            format!("ws://{phoenix}/socket/websocket"),
            100,
            "--server-type phoenix",
        ),
    ] {
        let ran = run(&format!(
            "broadcast {url} {load} --step-size {step_size} --total-steps 1 --limit-rtt 20s {workers} {more}"
        ));
        let ran = ran.exits(0);
        assert!(
            ran.stdout.starts_with(&format!("clients: {step_size:5} ")),
            "{ran:#?}"
        );
    }
}

/// A coordinator that waits for workers, and where.
fn waiting(flags: &str) -> (Process, String) {
    let coordinator = Process::start(bench().args(flags.split_whitespace()));
    let line = coordinator.says(&["waiting for workers on "]);
    let (_, addr) = line.split_once("waiting for workers on ").unwrap();
    (coordinator, addr.to_owned())
}

#[test]
fn workers_dial_in_and_leave_with_the_run() {
    let server = honest();
    let (mut coordinator, addr) = waiting(&format!(
        "broadcast {} -c 4 -s 50 --step-size 30 --total-steps 1 --limit-rtt 20s --await-workers 2 \
         --listen 127.0.0.1:0",
        url(server.addr())
    ));
    let join = || Process::start(bench().args(["worker", "--coordinator", &addr]));
    let (one, other) = (join(), join());
    let ran = coordinator.end().exits(0);
    assert!(ran.stdout.starts_with("clients:    30 "), "{ran:#?}");
    for mut worker in [one, other] {
        worker
            .end()
            .exits(0)
            .says(&["joined", "a run for", "the run is over"]);
    }
}

#[test]
fn a_worker_too_many_is_told_so_and_one_too_few_is_named() {
    let (mut coordinator, addr) = waiting(
        "broadcast ws://127.0.0.1:9/ --await-workers 2 --listen 127.0.0.1:0 --await-timeout 10s",
    );
    let mut lonely = Process::start(bench().args(["worker", "--coordinator", &addr]));
    coordinator
        .end()
        .exits(1)
        .says_in_one_line(&["1 of 2 workers joined within 10 s", "--await-timeout"]);
    lonely
        .end()
        .exits(1)
        .says(&["the coordinator", "lost before the run began"]);

    let server = honest();
    let (mut coordinator, addr) = waiting(&format!(
        "echo {} --rate 20 --duration 15s --step-size 2 --limit-rtt 20s --await-workers 1 \
         --listen 127.0.0.1:0",
        url(server.addr())
    ));
    let mut first = Process::start(bench().args(["worker", "--coordinator", &addr]));
    first.says(&["a run for"]);
    let mut late = Process::start(bench().args(["worker", "--coordinator", &addr]));
    late.end()
        .exits(1)
        .says(&["it has all the workers that it wants"]);
    let ran = coordinator.end();
    assert!(ran.code == 0 || ran.was_put_aside(), "{ran:#?}");
    first.end().exits(0);
}

/// A long run on a worker, in its measurement.
fn under_way(server: &str, worker: &Worker, json: &Path) -> Process {
    let flags = format!(
        "echo {server} --rate 50 --duration 600s --step-size 4 --initial-clients 4 --events - -w {} --json {}",
        worker.addr,
        json.display()
    );
    let run = Process::start(bench().args(flags.split_whitespace()));
    worker.process.says(&["a run for"]);
    run.prints("\"event\":\"measuring\"");
    run
}

#[test]
fn a_worker_that_is_killed_is_named_and_what_was_measured_is_kept() {
    let server = honest();
    let (lasting, doomed) = (Worker::start(""), Worker::start("-l 127.0.0.7"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let flags = format!(
        "broadcast {} -c 4 -s 50 --step-size 20 --limit-rtt 20s -w {} -w {} --json {}",
        url(server.addr()),
        lasting.addr,
        doomed.addr,
        path.display()
    );
    let mut run = Process::start(bench().args(flags.split_whitespace()));
    run.prints("clients:    20 ");
    doomed.process.signal(libc::SIGKILL);
    // By the end of its connection, and not by its silence.
    run.end()
        .exits(3)
        .says(&[&doomed.addr.to_string(), "its connection broke"]);
    let record = record(&path);
    assert_eq!(record.outcome.end, End::WorkerLost);
    assert!(
        record.outcome.detail.contains(&doomed.addr.to_string()),
        "{:?}",
        record.outcome
    );
    assert_eq!(record.steps[0].delivery.as_ref().unwrap().count, 50 * 20);
    lasting.process.says(&["the run is over"]);
}

#[test]
fn a_worker_whose_coordinator_is_killed_is_free_again() {
    let server = honest();
    let worker = Worker::start("");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let run = under_way(&url(server.addr()), &worker, &path);
    run.signal(libc::SIGKILL);
    worker
        .process
        .says(&["the run was ended early", "coordinator"]);
    let again = format!(
        "echo {} -s 20 --step-size 4 --total-steps 1 --limit-rtt 20s -w {}",
        url(server.addr()),
        worker.addr
    );
    run_until_free(&again);
}

/// The connections of the run before are closed in order, which may take some time.
// timed: polls; the end is only for a hang.
fn run_until_free(arguments: &str) {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let ran = run(arguments);
        if ran.code == 0 || Instant::now() > end {
            ran.exits(0);
            return;
        }
        assert!(ran.stderr.contains("is busy"), "{ran:#?}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_worker_has_one_run_at_a_time() {
    let server = honest();
    let worker = Worker::start("");
    let folder = tempfile::tempdir().unwrap();
    let mut first = under_way(
        &url(server.addr()),
        &worker,
        &folder.path().join("run.json"),
    );
    run(&format!("echo {} -w {}", url(server.addr()), worker.addr))
        .exits(1)
        .says_in_one_line(&[
            &worker.addr.to_string(),
            "is busy",
            "the coordinator 127.0.0.1:",
        ]);
    worker
        .process
        .says(&["is busy", "the coordinator 127.0.0.1:"]);
    first.signal(libc::SIGINT);
    first.end().exits(130).says(&["interrupted by the user"]);
    worker.process.says(&["the run is over"]);
}

#[test]
fn a_worker_that_is_told_to_end_says_so_to_its_coordinator() {
    let server = honest();
    let mut worker = Worker::start("");
    let folder = tempfile::tempdir().unwrap();
    let mut run = under_way(
        &url(server.addr()),
        &worker,
        &folder.path().join("run.json"),
    );
    worker.process.signal(libc::SIGTERM);
    run.end()
        .exits(3)
        .says(&[&worker.addr.to_string(), "it was ended by a signal"]);
    worker.process.end().exits(130);
}

// timed: polls; the end is only for a hang.
#[test]
fn processes_do_not_outlive_a_killed_coordinator() {
    let server = honest();
    let flags = format!(
        "echo {} --rate 50 --duration 600s --step-size 4 --processes 2 --events -",
        url(server.addr())
    );
    let run = Process::start(bench().args(flags.split_whitespace()));
    run.prints("\"event\":\"measuring\"");
    let parent = run.child.id();
    let children = children_of(parent);
    assert_eq!(children.len(), 2);
    run.signal(libc::SIGKILL);
    let end = Instant::now() + Duration::from_secs(120);
    while children.iter().any(|pid| is_running(*pid)) {
        assert!(Instant::now() < end, "they still run");
        sleep(Duration::from_millis(20));
    }
}

/// A process of a `connect` run that is killed, or stopped for good, after some connections.
fn loses_a_process_by(signal: i32, words: &str) {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let flags = format!(
        "connect {} --clients 1200 --connect-rate 20 --hold 60s --ping-interval 1s --processes 3 --events - --json {}",
        url(server.addr()),
        path.display()
    );
    let mut run = Process::start(bench().args(flags.split_whitespace()));
    run.prints("\"connected\":1");
    crate::shared::send(children_of(run.child.id())[1], signal);
    run.end()
        .exits(3)
        .says(&["worker process ", " of 3 was lost: ", words]);
    let record = record(&path);
    assert_eq!(record.outcome.end, End::WorkerLost);
    let of = record.steps[0].connections.as_deref().unwrap();
    assert!((1..1200).contains(&of.opened), "{}", of.opened);
}

#[test]
fn a_process_that_is_killed_is_named_and_what_the_others_measured_is_kept() {
    loses_a_process_by(libc::SIGKILL, "its connection broke");
}

#[test]
fn a_process_that_is_stopped_is_told_from_one_that_waits_for_its_turn() {
    loses_a_process_by(libc::SIGSTOP, "it was stopped by a signal");
}

fn children_of(parent: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    text.split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

/// Neither ended nor a zombie that has not been reaped yet.
fn is_running(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}

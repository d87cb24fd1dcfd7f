//! Runs over several hosts: a coordinator, two workers and a server, each in a network namespace of
//! its own. Needs root; says so and passes where it is not permitted.

mod network;

use crate::shared::{Process, send};
use network::Network;
use record::{End, Json, RunRecord, Verdict};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use test_servers::{NullOptions, NullServer};

const COORDINATOR: u32 = 1;
const WORKERS: [u32; 2] = [2, 3];
const SERVER: u32 = 4;
const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// How often a worker is starved before it must be the one that is named.
const TRIES: u32 = 10;

/// Four hosts, a server and two workers.
struct Hosts {
    // Dropped in this order: processes leave the network before it goes.
    workers: [Process; 2],
    server: NullServer,
    network: Network,
    folder: tempfile::TempDir,
}

impl Hosts {
    fn start() -> Option<Self> {
        Self::with(|command, _| command)
    }

    /// `wrap` may start a worker by way of another program.
    // timed: each host has a network of its own, in which no other program has the ports.
    fn with(wrap: fn(Vec<String>, u32) -> Vec<String>) -> Option<Self> {
        let network = Network::new(SERVER)?;
        let address = format!("{}:3334", Network::address(SERVER))
            .parse()
            .unwrap();
        let options = NullOptions {
            address,
            ..NullOptions::default()
        };
        let server = network.do_on(SERVER, || NullServer::start(options).unwrap());
        let workers = WORKERS.map(|host| {
            let words = [
                env!("CARGO_BIN_EXE_websocket-bench"),
                "worker",
                "-a",
                "0.0.0.0",
            ];
            let words = wrap(words.map(str::to_owned).to_vec(), host);
            let mut command = network.on(host, &words[0]);
            let worker =
                Process::start(command.args(&words[1..]).env(remote::TOKEN_VARIABLE, TOKEN));
            worker.prints("listening on 0.0.0.0:4000");
            worker
        });
        Some(Self {
            workers,
            server,
            network,
            folder: tempfile::tempdir().unwrap(),
        })
    }

    fn record_path(&self) -> PathBuf {
        self.folder.path().join("run.json")
    }

    /// A measuring command over both workers.
    fn command(&self, workload: &str, flags: &str) -> Command {
        let program = env!("CARGO_BIN_EXE_websocket-bench");
        let mut command = self.network.on(COORDINATOR, program);
        command
            .env(remote::TOKEN_VARIABLE, TOKEN)
            .env("XDG_CACHE_HOME", "/dev/null")
            .arg(workload)
            .arg(format!("ws://{}/ws", self.server.addr()))
            .args(flags.split_whitespace())
            .arg("--json")
            .arg(self.record_path());
        for host in WORKERS {
            command.args(["-w", &worker_address(host)]);
        }
        command
    }

    fn record(&self) -> RunRecord {
        RunRecord::from_json(&std::fs::read_to_string(self.record_path()).unwrap()).unwrap()
    }
}

// timed: each host has a network of its own, in which no other program has the port.
fn worker_address(host: u32) -> String {
    format!("{}:4000", Network::address(host))
}

#[test]
fn every_delivery_over_four_hosts_is_counted_once() {
    let Some(hosts) = Hosts::start() else { return };
    let flags = "-c 4 -s 100 --step-size 101 --total-steps 2 --payload-padding 200 --limit-rtt 20s";
    let mut run = Process::start(&mut hosts.command("broadcast", flags));
    run.end().exits(0);
    let record = hosts.record();
    assert!(record.faults().is_empty(), "{}", record.faults());
    for (step, clients) in record.steps.iter().zip([101, 202]) {
        assert_eq!((step.clients, step.samples), (clients, 100));
        assert_eq!(step.delivery.as_ref().unwrap().count, 100 * clients);
        let rows: Vec<_> = step
            .sites
            .iter()
            .map(|row| (row.name.to_string(), row.clients))
            .collect();
        let halves = [clients.div_ceil(2), clients / 2];
        let expected: Vec<_> = WORKERS
            .map(worker_address)
            .into_iter()
            .zip(halves)
            .collect();
        assert_eq!(rows, expected);
    }
}

/// Clocks of which one is a thousand seconds ahead, by a time namespace.
#[test]
fn clocks_that_differ_are_compared_to_within_the_bound() {
    let ahead = 1000;
    let probe = Command::new("unshare")
        .args(["--time", "--monotonic", "1000", "--fork", "true"])
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        test_servers::skipped("no time namespaces can be made here (`unshare --time`)");
        return;
    }
    let hosts = Hosts::with(|words, host| {
        if host != WORKERS[1] {
            return words;
        }
        let unshare = "unshare --time --monotonic 1000 --fork --kill-child";
        unshare.split(' ').map(str::to_owned).chain(words).collect()
    });
    let Some(hosts) = hosts else { return };
    let flags = "-c 4 -s 100 --step-size 100 --total-steps 1 --limit-rtt 20s";
    let mut run = Process::start(&mut hosts.command("broadcast", flags));
    let line = run.says(&["clocks: "]);
    run.end().exits(0);
    for words in [
        format!("{} has this machine's", worker_address(WORKERS[0])),
        format!("{} +", worker_address(WORKERS[1])),
        " ms, known within ".to_owned(),
    ] {
        assert!(line.contains(&words), "{line}");
    }
    let record = hosts.record();
    assert!(record.faults().is_empty(), "{}", record.faults());
    let step = &record.steps[0];
    assert_eq!(step.samples, 100);
    let row = &step.sites[1];
    let error = row.clock_offset_ns.abs_diff(ahead * 1_000_000_000);
    // `unshare` sets whole seconds, and the bound is half of a round trip over a bridge.
    assert!(
        row.clock_bound_ns > 0 && error <= row.clock_bound_ns,
        "{row:?}"
    );
    // Nothing of the thousand seconds, however slow the machine.
    let slowest = step.completion.as_ref().unwrap().max_ns;
    assert!(slowest < 500_000_000_000, "{slowest}");
}

#[test]
fn a_worker_that_is_killed_ends_the_run_with_what_was_measured() {
    let Some(hosts) = Hosts::start() else { return };
    let flags = "-c 4 -s 50 --step-size 50 --limit-rtt 20s";
    let mut run = Process::start(&mut hosts.command("broadcast", flags));
    run.prints("clients:    50 ");
    hosts.workers[1].signal(libc::SIGKILL);
    assert_lost(&mut run, &hosts, "its connection broke");
}

#[test]
fn a_worker_that_is_cut_off_ends_the_run_with_what_was_measured_and_is_free_again() {
    let Some(hosts) = Hosts::start() else { return };
    let flags = "-c 4 -s 50 --step-size 50 --limit-rtt 20s";
    let mut run = Process::start(&mut hosts.command("broadcast", flags));
    run.prints("clients:    50 ");
    hosts.network.cut(WORKERS[1], true);
    assert_lost(&mut run, &hosts, "nothing was heard of it for 3 s");
    hosts.workers[1].says(&[
        "the run was ended early",
        "nothing was heard of the coordinator",
    ]);
    hosts.network.cut(WORKERS[1], false);
    let again = "-c 4 -s 50 --step-size 50 --total-steps 1 --limit-rtt 20s";
    run_until_free(&hosts, again);
}

// timed: polls; the end is only for a hang.
#[track_caller]
fn run_until_free(hosts: &Hosts, again: &str) {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let ran = Process::start(&mut hosts.command("broadcast", again)).end();
        if ran.code == 0 || Instant::now() > end {
            ran.exits(0);
            return;
        }
        // Its connections to a server that it could not reach are closed after a while.
        assert!(ran.stderr.contains("is busy"), "{ran:#?}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// The second worker was lost just now: named, exit code 3, the first step kept.
#[track_caller]
fn assert_lost(run: &mut Process, hosts: &Hosts, reason: &str) {
    let ran = run.end().exits(3);
    let name = worker_address(WORKERS[1]);
    ran.says(&[&name, reason]);
    let record = hosts.record();
    assert_eq!(record.outcome.end, End::WorkerLost, "{:?}", record.outcome);
    assert!(
        record.outcome.detail.contains(&name),
        "{:?}",
        record.outcome
    );
    let first = &record.steps[0];
    assert_eq!((first.clients, first.samples), (50, 50));
    assert_eq!(first.delivery.as_ref().unwrap().count, 50 * 50);
    hosts.workers[0].says(&["the run is over"]);
}

#[test]
fn a_worker_that_is_starved_is_the_limit_and_not_the_server() {
    let Some(hosts) = Hosts::start() else { return };
    let mut seen = Vec::new();
    let is_named = (0..TRIES).any(|_| {
        starve(&hosts);
        let record = hosts.record();
        let step = &record.steps[0];
        assert_eq!(
            step.verdict,
            Verdict::GeneratorLimited,
            "{:?}",
            step.verdict_reasons
        );
        assert_eq!(record.outcome.end, End::GeneratorLimited);
        let [fed, starved] = [0, 1].map(|number| step.sites[number].send_lag_p99_ns.unwrap());
        // Nine tenths of what was due in its 165 ms came in a stop of 150 ms.
        assert!(starved > 100_000_000, "{fed} {starved}");
        // A busy machine may starve the other one as well.
        let named = record.outcome.detail.contains(&worker_address(WORKERS[1]));
        seen.push((fed, starved, record.outcome.detail));
        let told_apart = starved > 2 * fed;
        assert!(named || !told_apart, "{seen:#?}");
        told_apart
    });
    assert!(is_named, "{seen:#?}");
}

/// A run whose second worker is stopped nine tenths of the time.
// timed: a stop that lasts longer starves the worker more, and one that is disturbed in between is made
// again.
#[track_caller]
fn starve(hosts: &Hosts) {
    let flags = "--rate 500 --duration 3s --step-size 20 --limit-rtt 30ms";
    let mut run = Process::start(&mut hosts.command("echo", flags));
    hosts.workers[1].says(&["a run for"]);
    let starved = hosts.workers[1].child.id();
    let stop = AtomicBool::new(false);
    let ran = thread::scope(|scope| {
        let starving = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                send(starved, libc::SIGSTOP);
                thread::sleep(Duration::from_millis(150));
                send(starved, libc::SIGCONT);
                thread::sleep(Duration::from_millis(15));
            }
        });
        let ran = run.end();
        stop.store(true, Ordering::Relaxed);
        starving.join().unwrap();
        ran
    });
    ran.exits(3);
    hosts.workers[1].says(&["the run is over"]);
}

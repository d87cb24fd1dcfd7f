//! Rooms, and clients that leave and come back: over several processes, and ended by the user in the
//! middle.

use crate::handmade;
use crate::shared::send;
use crate::support::{
    Ran, assert_valid, bench, finish, honest, interrupt_until_it_ends, undisturbed, url, wait,
};
use record::{End, Faults, RunRecord, StepRecord, Verdict};
use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};
use test_servers::fault::{Misdeeds, MixedServer};
use test_servers::{Framework, Gate, GateOptions};

/// By equal shares 11 of so many clients stay and 10 leave, a few more or less.
const CLIENTS: u64 = 21;

/// Runs a plan over so many processes; the only step of its record.
fn measured(plan: &str, server: SocketAddr, processes: u32) -> (Ran, StepRecord) {
    let folder = tempfile::tempdir().unwrap();
    let (file, json) = (
        folder.path().join("plan.toml"),
        folder.path().join("run.json"),
    );
    fs::write(&file, plan).unwrap();
    let ran = undisturbed(|| {
        let mut command = bench();
        command.arg("run").arg(&file).arg(url(server));
        if processes > 1 {
            command.args(["--processes", &processes.to_string()]);
        }
        finish(command.arg("--json").arg(&json))
    });
    let record = assert_valid(&json);
    assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
    let step = record.steps[0].clone();
    let sites = if processes > 1 { processes } else { 0 };
    assert_eq!(step.sites.len() as u32, sites);
    (ran, step)
}

/// 100 broadcasts in a second for three seconds, to a population that stays and one that does not.
fn leaving(life: &str) -> String {
    format!(
        r#"
        audience = "everyone"
        [[populations]]
        [[populations]]
        life = {life}
        reconnect = {{ first = "100ms", most = "400ms" }}
        [clients.steps]
        first = {CLIENTS}
        count = 1
        [load.open]
        rate = 100.0
        arrivals = "constant"
        duration = "3s"
        [limits]
        time = "20s"
        "#
    )
}

#[test]
fn rooms_over_processes_reach_every_member_once() {
    let server = honest();
    for (room, listeners) in [("members = 5", 5), ("equal = 4", 5)] {
        let plan = format!(
            "[audience.room]\n{room}\n[clients.steps]\nfirst = 20\ncount = 1\n\
             [load.closed]\nin_flight = 4\nsamples = 60\n[limits]\ntime = \"20s\"\n"
        );
        for processes in [1, 2] {
            let (ran, step) = measured(&plan, server.addr(), processes);
            ran.exits(0);
            assert!(step.faults.is_empty(), "{}", step.faults);
            assert_eq!(step.samples, 60);
            assert_eq!(step.delivery.as_ref().unwrap().count, 60 * listeners);
            assert_eq!(step.ack.as_ref().unwrap().count, 60);
        }
    }
}

#[test]
fn clients_change_rooms_over_processes() {
    let server = honest();
    let life = "{ changes_room = { stays = \"500ms\", away = \"50ms\" } }";
    let plan = leaving(life).replace(
        "audience = \"everyone\"",
        "audience = { room = { equal = 3 } }",
    );
    for processes in [1, 2] {
        let (ran, step) = measured(&plan, server.addr(), processes);
        let lines = ran.stdout.clone();
        ran.exits(0);
        assert!(step.faults.is_empty(), "{}", step.faults);
        let rooms = step.churn.as_ref().unwrap().rooms.as_ref().unwrap();
        // 10 clients, 3 s, 0.55 s each: 55 in the mean, standard deviation 7.
        assert!((10..110).contains(&rooms.left), "{rooms:?}");
        assert!(rooms.joined > 5 && rooms.unanswered == 0, "{rooms:?}");
        assert!(lines.contains("    rooms        "), "{lines}");
    }
}

#[test]
fn what_a_server_does_to_rooms_is_counted_over_processes() {
    let misdeeds = Misdeeds {
        broadcasts: 100,
        faults: Faults {
            duplicate: 40,
            corrupt: 30,
            misdirected: 50,
            ..Faults::default()
        },
    };
    let server = MixedServer::start(misdeeds, Framework::Plain).unwrap();
    let plan = "[audience.room]\nmembers = 5\n[clients.steps]\nfirst = 20\ncount = 1\n\
                [load.closed]\nin_flight = 1\nsamples = 100\n[message]\npadding = 64\n\
                [limits]\ntime = \"20s\"\n";
    let (ran, step) = measured(plan, server.addr(), 2);
    ran.exits(3);
    assert_eq!(server.done().faults, misdeeds.faults);
    assert_eq!(step.faults, misdeeds.faults);
    assert_eq!(step.samples, 100);
}

#[test]
fn clients_come_and_go_over_processes() {
    let server = honest();
    let plan = leaving(r#"{ comes_and_goes = { stays = "200ms", away = "50ms" } }"#);
    let (ran, step) = measured(&plan, server.addr(), 2);
    assert!(step.faults.is_empty(), "{} {ran:#?}", step.faults);
    assert_eq!((step.samples, step.samples_planned), (300, 300));
    let churn = step.churn.as_ref().unwrap();
    let stay = CLIENTS - churn.clients;
    assert_eq!(step.delivery.as_ref().unwrap().count, 300 * stay);
    assert!(churn.left > churn.clients, "{churn:?}");
    assert_eq!(
        churn.attempts,
        churn.reconnected + churn.failures.total() + churn.unfinished
    );
    assert_eq!(churn.reconnect.as_ref().unwrap().count, churn.reconnected);
    assert!(churn.messages > 0);
}

#[test]
fn a_storm_over_processes_is_one_storm() {
    let server = honest();
    let plan = leaving(r#"{ cut = { at = "500ms" } }"#);
    let (ran, step) = measured(&plan, server.addr(), 2);
    assert!(step.faults.is_empty(), "{} {ran:#?}", step.faults);
    assert_eq!(step.samples, 300);
    let churn = step.churn.as_ref().unwrap();
    let cut = churn.cut.as_ref().unwrap();
    let left = churn.clients;
    assert_eq!(
        (cut.clients, cut.back, churn.reconnected),
        (left, left, left)
    );
    assert_eq!(cut.back_time.as_ref().unwrap().count, left);
    assert!(cut.back_50_ns <= cut.back_95_ns && cut.back_95_ns <= cut.back_100_ns);
    assert!(cut.back_100_ns.is_some());
    let phases = [&cut.before, &cut.during, &cut.after];
    let counts = phases.map(|of| of.as_ref().map_or(0, |of| of.count));
    assert_eq!(counts.iter().sum::<u64>(), 300);
    // Once before the cut and once after it.
    assert_eq!(churn.visits, 2 * left);
}

/// The clients that are cut off find a closed gate, and the others are served.
#[test]
fn a_storm_after_which_nobody_is_back_is_not_carried() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let (file, json) = (
        folder.path().join("plan.toml"),
        folder.path().join("run.json"),
    );
    let plan = leaving(r#"{ cut = { at = "500ms" } }"#);
    for (limit, words) in [
        ("", "and all were to be;"),
        (
            "back = { percentile = 95.0, time = \"2s\" }",
            "and 95% were to be within 2000 ms;",
        ),
    ] {
        fs::write(&file, format!("{plan}{limit}\n")).unwrap();
        let ran = undisturbed(|| {
            let gate = Gate::start(GateOptions {
                behind: server.addr(),
                free: CLIENTS as u32,
                opens_after: Duration::from_secs(3_600),
                interval: Duration::ZERO,
            });
            let gate = gate.unwrap();
            let mut command = bench();
            command.arg("run").arg(&file).arg(url(gate.addr()));
            command
                .args(["--expect", "back.p50<2s", "--json"])
                .arg(&json);
            finish(&mut command)
        });
        let ran = ran.exits(2).says(&[
            "clients that were cut off were back when the step ended",
            words,
            "carried within the limit: no step",
            "expectation failed: back.p50<2s: 0 of ",
        ]);
        assert!(ran.stdout.contains("clients not back in time"), "{ran:#?}");
        let record = assert_valid(&json);
        assert_eq!(record.outcome.end, End::OverLimit);
        assert_eq!(record.outcome.carried_clients, None);
        assert_eq!(record.steps[0].verdict, Verdict::Fail);
    }
    let printed = finish(
        bench()
            .arg("run")
            .arg(&file)
            .args(["ws://h/", "--print-plan"]),
    );
    let printed = printed.exits(0).stdout;
    assert!(
        printed.contains("[limits.back]\npercentile = 95.0\n"),
        "{printed}"
    );
    let impossible = plan.replace("{ first = \"100ms\", most = \"400ms\" }", "\"never\"");
    fs::write(&file, impossible).unwrap();
    let mut command = bench();
    command.arg("run").arg(&file).arg(url(server.addr()));
    finish(command.args(["--expect", "back.max<10s"]))
        .exits(1)
        .says(&["back.max<10s: no clients are cut off and come back"]);
}

/// A storm whose clients are kept out, before a server that has gone deaf.
struct Storm {
    child: Child,
    path: PathBuf,
    gate: Gate,
    _folder: tempfile::TempDir,
}

impl Storm {
    // timed: polls; the end is only for a hang.
    fn start(more: &[&str]) -> Self {
        let gate = Gate::start(GateOptions {
            behind: handmade::deaf_after(10),
            free: CLIENTS as u32,
            opens_after: Duration::from_secs(3_600),
            interval: Duration::ZERO,
        });
        let gate = gate.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = (
            folder.path().join("plan.toml"),
            folder.path().join("run.json"),
        );
        let plan = leaving(r#"{ cut = { at = "500ms" } }"#)
            .replace("\"everyone\"", "\"sender\"")
            .replace("duration = \"3s\"", "duration = \"1h\"")
            .replace("[limits]", "[limits]\nsample_timeout = \"1h\"");
        fs::write(&file, plan).unwrap();
        let mut command = bench();
        command
            .arg("run")
            .arg(&file)
            .arg(url(gate.addr()))
            .args(more);
        let child = command.arg("--json").arg(&path).spawn().unwrap();
        let storm = Self {
            child,
            path,
            gate,
            _folder: folder,
        };
        let end = Instant::now() + Duration::from_secs(300);
        // Those that were cut wait at the gate.
        while storm.gate.passages().came < 8 {
            assert!(Instant::now() < end, "the clients do not come back");
            sleep(Duration::from_millis(10));
        }
        storm
    }

    /// Waits for the end; what it said, and the record.
    fn end(mut self) -> (String, RunRecord) {
        let status = wait(&mut self.child);
        self.ended(status)
    }

    fn ended(mut self, status: ExitStatus) -> (String, RunRecord) {
        let mut stderr = String::new();
        let pipe = self.child.stderr.as_mut().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        assert_eq!(status.code(), Some(130), "{stderr}");
        (stderr, assert_valid(&self.path))
    }
}

#[test]
fn an_interrupt_in_a_storm_keeps_what_was_measured_of_it() {
    for more in [&[][..], &["--processes", "2"]] {
        let storm = Storm::start(more);
        send(storm.child.id(), libc::SIGINT);
        let (stderr, record) = storm.end();
        assert!(stderr.contains("interrupted by the user"), "{stderr}");
        assert_eq!(record.outcome.end, End::Interrupted);
        let [step] = &record.steps[..] else {
            panic!("{:?}", record.outcome);
        };
        assert_eq!(step.verdict, Verdict::Interrupted, "{stderr}");
        let churn = step.churn.as_ref().unwrap();
        let cut = churn.cut.as_ref().unwrap();
        assert_eq!((cut.clients, cut.back), (churn.clients, 0));
        assert!(churn.unfinished >= 8, "{churn:?}");
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!(step.samples, 10);
    }
}

#[test]
fn a_second_interrupt_in_a_storm_ends_the_program_and_keeps_the_record() {
    let ended_early = (0..10).any(|_| {
        let mut storm = Storm::start(&[]);
        let path = storm.path.clone();
        let status = interrupt_until_it_ends(&mut storm.child, || path.exists());
        let (_, record) = storm.ended(status);
        assert_eq!(record.outcome.end, End::Interrupted);
        // A run whose second interrupt came late has ended by itself, when it had waited for the server.
        record
            .outcome
            .detail
            .contains("ended before the run had ended")
    });
    assert!(ended_early, "each run ended by itself");
}

//! A server's life: every way in which it can go wrong, and what is left afterwards.

mod nodes;
mod support;

use project::manifest::{Dialect, Receipt, Scope, Service, Variant, Workload};
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use shootout::interrupt::Interrupt;
use shootout::network::Location;
use shootout::supervise::{Cuts, LaunchError, Server, Spec, StartError, start};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

struct Fixture {
    dir: TempDir,
    variant: Variant,
}

/// A shell script as a server; `{port}` is its port.
fn script(text: &str) -> Fixture {
    let text = text
        .replace(
            "SERVER",
            &support::programs().join("liar-server").to_string_lossy(),
        )
        .replace(
            "FAULT",
            &support::programs().join("fault-server").to_string_lossy(),
        );
    Fixture {
        dir: tempfile::tempdir().unwrap(),
        variant: Variant {
            name: "default".into(),
            summary: None,
            command: ["sh", "-c", &text].map(str::to_owned).to_vec(),
            env: BTreeMap::new(),
            multi_process: false,
            compression: false,
            tls: false,
            nodes: None,
            claim: None,
            path: "/".into(),
            dialects: vec![Dialect::Text],
            workloads: vec![Workload::Echo],
            receipt: Receipt {
                command: vec!["true".into()],
                matches: Regex::new("(.)").unwrap(),
            },
            runtime: None,
            services: Vec::new(),
        },
    }
}

impl Fixture {
    fn start(&self, ready: u64) -> Result<Server, (StartError, Option<String>)> {
        let log = self.path("server.log");
        start(&self.spec(&log, ready), &Interrupt::default())
    }

    fn spec<'a>(&'a self, log: &'a Path, ready: u64) -> Spec<'a> {
        Spec {
            variant: &self.variant,
            ready_timeout: Duration::from_millis(ready),
            grace: Duration::from_secs(2),
            dir: self.dir.path(),
            bin: self.dir.path(),
            threads: 1,
            cpus: &[],
            place: Location::default(),
            log,
            cuts: Cuts::default(),
            through: None,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// A service; `{service:NAME}` in the script is its port.
fn service(name: &str, script: &str) -> Service {
    Service {
        name: name.into(),
        variants: Scope(None),
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        ready_timeout: Duration::from_secs(60),
        receipt: None,
        broker: false,
    }
}

/// Listens on the port, and says so in a file of its name.
fn listening(name: &str) -> String {
    format!(
        "echo $$ {{service:{name}}} > {name}.pid; \
         exec python3 -c 'import socket,time; s=socket.create_server((\"127.0.0.1\", \
         {{service:{name}}})); time.sleep(7000)'"
    )
}

/// A process that is gone is no harm.
fn send(pid: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
}

fn alive(pid: i32) -> bool {
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

#[test]
fn a_good_server_starts_and_leaves_nothing() {
    let fixture = script("exec SERVER --port {port}");
    let server = fixture.start(60_000).unwrap();
    let pid = server.pid() as i32;
    assert!(server.url().starts_with("ws://127.0.0.1:"));
    let stopped = server.stop();
    assert_eq!(stopped.leak(), None);
    assert_eq!(stopped.crash(), None);
    assert!(!alive(pid));
}

#[test]
fn a_server_that_dies_at_start_is_seen_at_once_with_its_log() {
    // Without the end of its process the test would hang.
    let (error, log) = script("echo no such option >&2; exit 7")
        .start(300_000)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server ended before it was ready: exit code 7"
    );
    assert_eq!(log.as_deref(), Some("no such option"));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut fixture = script("");
    fixture.variant.command = vec!["/nowhere/server".into()];
    let (error, _) = fixture.start(1000).unwrap_err();
    assert!(matches!(error, StartError::Launch(LaunchError::Spawn(..))));
    assert!(
        error
            .to_string()
            .contains("`/nowhere/server` could not be started"),
        "{error}"
    );
}

#[test]
fn a_server_that_never_answers_is_ended() {
    let fixture = script("echo $$ > pid; exec sleep 7060");
    let (error, _) = fixture.start(1_000).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("no handshake and echo was answered within 1s; last: connect"),
        "{error}"
    );
    let pid = fs::read_to_string(fixture.path("pid"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(!alive(pid));
}

#[test]
fn a_server_that_dies_later_has_crashed() {
    let fixture = script("exec SERVER --port {port}");
    let mut server = fixture.start(60_000).unwrap();
    assert!(server.death().is_none());
    send(server.pid() as i32, Signal::ABORT);
    support::eventually("the exit is seen", || server.death().is_some());
    let crash = server.stop().crash().unwrap();
    assert_eq!(crash, "the server ended by itself: signal 6 (SIGABRT)");
}

#[test]
fn a_server_that_ignores_term_is_killed_and_said_so() {
    let fixture = script("trap '' TERM; SERVER --port {port} & while true; do sleep 0.05; done");
    let server = fixture.start(60_000).unwrap();
    let pid = server.pid() as i32;
    let leak = server.stop().leak().unwrap();
    assert!(
        leak.starts_with("the server ignored TERM and was killed after 2s"),
        "{leak}"
    );
    assert!(!alive(pid));
}

#[test]
fn a_child_that_outlives_its_server_is_found_and_killed() {
    let fixture = script(
        "(trap '' TERM; echo $$ > /dev/null; exec sleep 7061) & echo $! > child; exec SERVER --port {port}",
    );
    let server = fixture.start(60_000).unwrap();
    support::eventually("the child is there", || {
        support::running("sleep\x007061") > 0
    });
    let leak = server.stop().leak().unwrap();
    let child: i32 = fs::read_to_string(fixture.path("child"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert_eq!(
        leak,
        format!("1 process was left behind by the server and killed: {child} (sleep 7061)")
    );
    support::eventually("the child is dead", || !alive(child));
}

#[test]
fn a_child_in_a_session_of_its_own_is_found_and_killed() {
    let fixture =
        script("setsid sh -c 'echo $$ > child; exec sleep 7062' & exec SERVER --port {port}");
    let server = fixture.start(60_000).unwrap();
    support::eventually("the child is there", || {
        support::running("sleep\x007062") > 0
    });
    let leak = server.stop().leak().unwrap();
    assert!(leak.contains("(sleep 7062)"), "{leak}");
    let child: i32 = fs::read_to_string(fixture.path("child"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    support::eventually("the child is dead", || !alive(child));
}

/// What is said of a server whose port is taken by a process with this environment when it ends.
fn leak_of_port_taken_by(mark: &str) -> Option<String> {
    let taker = "import os,socket,time\n\
                 def until(of):\n \
                 while True:\n  \
                 try: return of((\"127.0.0.1\", {port}))\n  \
                 except OSError: time.sleep(0.005)\n\
                 until(socket.create_connection).close()\n\
                 open(\"taker\", \"w\").write(str(os.getpid()))\n\
                 s=until(socket.create_server)\n\
                 open(\"taken\", \"w\")\n\
                 time.sleep(20)";
    let fixture = script(&format!(
        "SERVER --port {{port}} & server=$!
         trap 'kill $server; until [ -e taken ]; do sleep 0.01; done; exit' TERM
         env {mark} setsid python3 -c '{taker}' &
         while true; do sleep 0.05; done"
    ));
    let server = fixture.start(60_000).unwrap();
    support::eventually("the taker is there", || fixture.path("taker").exists());
    let leak = server.stop().leak();
    support::eventually("the port is taken", || fixture.path("taken").exists());
    let taker: i32 = fs::read_to_string(fixture.path("taker"))
        .unwrap()
        .parse()
        .unwrap();
    send(taker, Signal::KILL);
    leak
}

#[test]
fn a_port_that_another_program_took_meanwhile_is_no_leak() {
    let words = "still accepted connections";
    let of_this = format!("SHOOTOUT_CHILD={}-1000", std::process::id());
    for own in ["-u SHOOTOUT_CHILD", &of_this] {
        let leak = leak_of_port_taken_by(own).unwrap_or_default();
        assert!(leak.contains(words), "{own}: {leak}");
    }
    let other = leak_of_port_taken_by("SHOOTOUT_CHILD=1-0").unwrap_or_default();
    assert!(!other.contains(words), "{other}");
}

#[test]
fn a_server_that_is_forgotten_is_killed() {
    let fixture = script("sleep 7063 & exec SERVER --port {port}");
    let pid = fixture.start(60_000).unwrap().pid() as i32;
    support::eventually("all are dead", || {
        !alive(pid) && support::running("sleep\x007063") == 0
    });
}

#[test]
fn a_port_that_is_taken_is_replaced_by_another() {
    // A stranger takes the port between the look at it and the server's own attempt.
    let fixture = script(
        "if [ -e stranger ]; then exec SERVER --port {port}; fi; \
         setsid env -u SHOOTOUT_CHILD FAULT --fault never-answers --port {port} >listens 2>&1 & \
         echo $! > stranger; until [ -s listens ]; do sleep 0.05; done; \
         echo address in use >&2; exit 1",
    );
    let result = fixture.start(60_000);
    let stranger = fs::read_to_string(fixture.path("stranger")).unwrap();
    send(stranger.trim().parse().unwrap(), Signal::KILL);
    let leak = result.map(|server| server.stop().leak());
    assert!(matches!(leak, Ok(None)), "{leak:?}");
}

impl Fixture {
    fn with(mut self, services: Vec<Service>) -> Self {
        self.variant.services = services;
        self
    }

    /// Process id and port of a service that wrote them.
    fn service(&self, name: &str) -> (i32, u16) {
        let text = fs::read_to_string(self.path(&format!("{name}.pid"))).unwrap();
        let (pid, port) = text.trim().split_once(' ').unwrap();
        (pid.parse().unwrap(), port.parse().unwrap())
    }
}

#[test]
fn services_are_there_before_the_server_and_gone_after_it() {
    let fixture = script("[ -e b.pid ] && echo {service:a} > told && exec SERVER --port {port}")
        .with(vec![
            service("a", &listening("a")),
            service("b", &listening("b")),
        ]);
    let mut server = fixture.start(60_000).unwrap();
    let ((a, port), (b, _)) = (fixture.service("a"), fixture.service("b"));
    let told = fs::read_to_string(fixture.path("told")).unwrap();
    assert_eq!(told.trim(), port.to_string());
    let pids: Vec<i32> = server.pids().into_iter().map(|pid| pid as i32).collect();
    assert_eq!(pids, [server.pid() as i32, a, b]);
    assert_eq!(server.death(), None);
    let stopped = server.stop();
    assert_eq!((stopped.crash(), stopped.leak()), (None, None));
    assert!(!alive(a) && !alive(b));
}

#[test]
fn a_service_that_does_not_start_is_named_with_its_log() {
    let fixture = script("touch started; exec SERVER --port {port}").with(vec![
        service("good", &listening("good")),
        service("bad", "echo no such module >&2; exit 4; echo {service:bad}"),
    ]);
    let (error, log) = fixture.start(60_000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the service bad did not start: it ended before it was ready: exit code 4"
    );
    assert_eq!(log.as_deref(), Some("no such module"));
    assert!(!fixture.path("started").exists());
    let (pid, _) = fixture.service("good");
    support::eventually("the other service is dead", || !alive(pid));
}

#[test]
fn a_service_that_never_listens_is_ended() {
    let mut deaf = service("deaf", "echo $$ {service:deaf} > deaf.pid; exec sleep 7068");
    deaf.ready_timeout = Duration::from_secs(1);
    let fixture = script("exec SERVER --port {port}").with(vec![deaf]);
    let (error, _) = fixture.start(60_000).unwrap_err();
    let (pid, port) = fixture.service("deaf");
    assert_eq!(
        error.to_string(),
        format!(
            "the service deaf did not start: 127.0.0.1:{port} accepted no connection within 1s"
        )
    );
    support::eventually("it is dead", || !alive(pid));
}

#[test]
fn a_service_that_dies_is_a_crash_of_the_row() {
    let fixture =
        script("exec SERVER --port {port}").with(vec![service("store", &listening("store"))]);
    let mut server = fixture.start(60_000).unwrap();
    let (pid, _) = fixture.service("store");
    send(pid, Signal::KILL);
    support::eventually("the death is seen", || server.death().is_some());
    let stopped = server.stop();
    assert_eq!(
        stopped.crash().as_deref(),
        Some("the service store ended by itself: signal 9 (SIGKILL)")
    );
}

#[test]
fn what_a_service_leaves_behind_is_found_and_killed() {
    let fixture = script("exec SERVER --port {port}").with(vec![service(
        "store",
        &format!("setsid sleep 7067 & {}", listening("store")),
    )]);
    let server = fixture.start(60_000).unwrap();
    support::eventually("the child is there", || {
        support::running("sleep\x007067") > 0
    });
    let leak = server.stop().leak().unwrap();
    assert!(
        leak.starts_with("1 process was left behind by the service store and killed: "),
        "{leak}"
    );
    assert_eq!(support::running("sleep\x007067"), 0);
}

#[test]
fn a_server_that_is_forgotten_takes_its_services_along() {
    let fixture =
        script("exec SERVER --port {port}").with(vec![service("store", &listening("store"))]);
    drop(fixture.start(60_000).unwrap());
    let (pid, _) = fixture.service("store");
    support::eventually("it is dead", || !alive(pid));
}

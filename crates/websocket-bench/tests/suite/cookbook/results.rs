//! What comes of a run: faults, gates, comparisons, metrics, several machines, conformance.

use super::Case;
use super::servers;
use super::task::{Task, built};
use crate::metrics;
use crate::otlp::Collector;
use crate::shared::Process;
use crate::support::{faulty_server, free_addr, honest};
use std::fs;
use std::thread;
use std::time::Duration;
use test_servers::fault::Fault;
use test_servers::{Delay, DelayOptions, DelayServer};

pub(super) const VERDICTS: &[Case] = &[
    (
        "Does my server lose messages, or send them twice?",
        duplicates,
    ),
    (
        "Which message of the server does my dialect not understand?",
        not_understood,
    ),
    ("Fail the build in CI when p99 is too high", gate),
    ("Does my server conform to RFC 6455?", conformance),
];

pub(super) const OUTPUTS: &[Case] = &[
    ("Is the new build slower than the old one?", two_builds),
    ("A table for a spreadsheet, and a page to show", table),
    ("Watch a run in Prometheus and Grafana", prometheus),
    ("Send metrics to an OpenTelemetry collector", collector),
    ("Several machines as one run", machines),
];

/// A server that answers so late.
fn late(ms: u64) -> DelayServer {
    DelayServer::start(DelayOptions {
        delay: Delay::Constant(Duration::from_millis(ms)),
        ..DelayOptions::default()
    })
    .unwrap()
}

fn duplicates(task: Task) {
    let server = faulty_server(Fault::Duplicates, 1);
    let task = task.at(server.addr());
    task.holds_with(3);
    let server = honest();
    let ran = task.at(server.addr()).ran().exits(0);
    assert!(!ran.stdout.contains("faults"), "{ran:#?}");
}

fn not_understood(task: Task) {
    task.at(servers::chat("txt")).holds_with(1);
}

fn gate(task: Task) {
    let server = honest();
    let task = task.at(server.addr());
    task.holds_once();
    let junit = fs::read_to_string(task.path("junit.xml")).unwrap();
    assert!(junit.contains("expect p99&lt;250ms"), "{junit}");
    let server = late(400);
    task.at(server.addr())
        .fails(2, &["expectation failed: p99<250ms"]);
}

fn two_builds(task: Task) {
    let (old, new) = (late(5), late(100));
    // `servers` makes it the folder of a project.
    for folder in ["old", "new", "servers"] {
        fs::create_dir(task.path(folder)).unwrap();
    }
    let shootout = built("shootout");
    task.program(
        "shootout",
        &format!("#!/bin/sh\nexec {} \"$@\"\n", shootout.display()),
    );
    let task = task
        .at(old.addr())
        .with("127.0.0.1:8081", new.addr().to_string());
    task.holds_with(2);
}

fn table(task: Task) {
    let server = honest();
    let task = task.at(server.addr());
    task.holds();
    let page = fs::read_to_string(task.path("run.html")).unwrap();
    assert!(page.contains("Latency over time"));
}

// timed: polls until the run has ended, which waits until it is asked once more.
fn prometheus(task: Task) {
    let server = honest();
    let addr = free_addr();
    let task = task
        .at(server.addr())
        .with("127.0.0.1:9464", addr.to_string());
    let mut run = Process::start(&mut task.command());
    let mut seen = metrics::started(addr);
    while run.child.try_wait().unwrap().is_none() {
        let now = metrics::get(addr, "/metrics");
        if now.contains("websocket_bench_run_ended 1") {
            seen = now;
        }
        thread::sleep(Duration::from_millis(20));
    }
    run.end().exits(0);
    task.assert_promised(&seen);
}

fn collector(task: Task) {
    let server = honest();
    let (collector, addr) = Collector::start(100);
    let task = task
        .at(server.addr())
        .with("127.0.0.1:4317", addr.to_string());
    task.holds();
    assert!(!collector.pushes.lock().unwrap().is_empty());
}

fn machines(task: Task) {
    let server = honest();
    let task = task.at(server.addr());
    task.with("127.0.0.1:4000", free_addr().to_string()).holds();
}

fn conformance(task: Task) {
    let [shootout, server] = ["shootout", "liar-server"].map(built);
    let script = |lie: &str| {
        let server = server.display();
        format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0 && exit\nexec {server} {lie} \"$@\"\n"
        )
    };
    task.program(
        "shootout",
        &format!("#!/bin/sh\nexec {} \"$@\"\n", shootout.display()),
    );
    task.program("my-server", &script(""));
    task.holds();
    task.program("my-server", &script("--lie cuts-pongs"));
    task.fails(1, &["FAIL rfc6455-5.5.2-ping (RFC 6455, 5.5.2)"]);
}

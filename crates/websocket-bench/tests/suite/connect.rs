//! `websocket-bench connect`, and the two programs with the names of 2016.

use crate::raw_peer::{self, Script, frame};
use crate::support::{assert_valid, faulty_server, finish, honest, no_listener, run, url};
use plan::Workload;
use record::{End, Verdict};
use std::process::{Command, Stdio};
use test_servers::fault::Fault;
use test_servers::{NullOptions, NullServer};
use ws_proto::Opcode;

#[test]
fn the_record_of_connections_agrees_with_the_lines() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let ran = run(&format!(
        "connect {} --initial-clients 30 --step-size 20 --total-steps 2 --connect-rate 300 \
         --arrivals constant --hold 3s --ping-interval 3s --limit-rtt 20s --json {}",
        url(server.addr()),
        path.display()
    ))
    .exits(0);
    let record = assert_valid(&path);
    let connect = record.plan.connect().unwrap();
    assert_eq!(record.plan.workload(), Workload::Connect);
    assert_eq!(connect.rate, Some(300.0));
    assert_eq!(connect.ping_timeout, connect.ping_interval);
    assert_eq!(record.outcome.end, End::StepsDone);
    assert_eq!(record.outcome.carried_clients, Some(50));
    for (step, (clients, added)) in record.steps.iter().zip([(30, 30), (50, 20)]) {
        let of = step.connections.as_ref().unwrap();
        assert_eq!(
            (step.clients, of.opened, step.samples),
            (clients, added, added)
        );
        assert_eq!(step.verdict, Verdict::Pass);
        let lines = [
            format!("clients: {clients:5}    rate: 300/s    95per-rtt:"),
            format!("opened       {added} of {added}, "),
            format!("{} pings, {} answered", of.pings.sent, of.pings.sent),
            "dropped      none".to_owned(),
        ];
        for line in lines {
            assert!(ran.stdout.contains(&line), "{line:?} in {}", ran.stdout);
        }
        // The server is this very test, another process than the generator.
        let server = of.server.unwrap();
        assert_eq!(server.connections, clients);
        assert!(server.after.resident_bytes > 0 && server.after.sockets_bytes.is_some());
        assert!(of.generator.unwrap().after.resident_bytes > 0);
    }
}

#[test]
fn the_events_of_a_hold_are_told_as_they_come() {
    let server = honest();
    let events = run(&format!(
        "connect {} --clients 5 --hold 1s --events -",
        url(server.addr())
    ))
    .exits(0)
    .stdout;
    let of = |name: &str| format!("{{\"event\":\"{name}\"");
    let kinds = ["connecting", "holding", "step", "end"].map(|name| events.find(&of(name)));
    assert!(
        kinds.iter().all(Option::is_some) && kinds.is_sorted(),
        "{events}"
    );
}

#[test]
fn dropped_connections_make_the_result_invalid() {
    let server = faulty_server(Fault::ResetsAtPing, 3);
    // Each connection has its first ping within two seconds, however late that is noticed.
    let ran = run(&format!(
        "connect {} --clients 20 --hold 5s --ping-interval 2s",
        url(server.addr())
    ))
    .exits(3)
    .says(&["3 of 20 connections were lost", "3 disconnected"]);
    assert!(
        ran.stdout.contains("dropped      3 reset"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_server_that_is_not_there_is_named() {
    run(&format!(
        "connect ws://{}/ --clients 3 --hold 1s",
        no_listener()
    ))
    .exits(1)
    .says(&["0 of 3 connections were opened", "is the server running"]);
}

#[test]
fn memory_per_connection_is_told_where_it_is_known_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let connect = |url: String, clients: u32| {
        run(&format!(
            "connect {url} --clients {clients} --hold 1s --json {}",
            path.display()
        ))
    };
    let ran = connect(format!("ws://{}/", no_listener()), 3).exits(1);
    let words = "generator    memory per connection unknown: no connection was open";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let record = assert_valid(&path);
    let of = record.steps[0].connections.as_ref().unwrap();
    assert_eq!(of.generator.unwrap().process_bytes_per_connection, None);

    // The server is this very test, another process than the generator.
    let server = faulty_server(Fault::NeverAnswers, 1);
    let ran = connect(format!("{} --connect-timeout 300ms", url(server.addr())), 3).exits(1);
    let words = "server       memory per connection unknown: no connection was open";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let record = assert_valid(&path);
    let of = record.steps[0].connections.as_ref().unwrap();
    assert_eq!(of.server.unwrap().process_bytes_per_connection, None);
    assert_eq!(of.server_unknown.as_deref(), Some("no connection was open"));
}

/// A server that speaks by itself, as one that tells prices does.
#[test]
fn messages_that_nothing_asked_for_are_counted_and_are_no_fault() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let greeting = [
        frame(Opcode::Text, b"{\"price\":3}"),
        frame(Opcode::Text, b"hello"),
        frame(Opcode::Binary, b"\xFF\x00"),
    ];
    let speaking = |more: &str| {
        let (addr, _) = raw_peer::start(Script {
            greeting: greeting.concat(),
            ..Script::default()
        });
        run(&format!(
            "connect ws://{addr}/ --clients 5 --hold 1s --ping-interval 10s {more} --json {}",
            path.display()
        ))
    };
    for more in ["", "--processes 2"] {
        let ran = speaking(more).exits(0);
        let words = "unasked      15 messages came that nothing asked for";
        assert!(ran.stdout.contains(words), "{ran:#?}");
        let record = assert_valid(&path);
        let of = record.steps[0].connections.as_ref().unwrap();
        assert_eq!(of.unasked_messages, 15);
        assert!(record.faults().is_empty(), "{ran:#?}");
    }
    // What is named is verified.
    speaking("--server-type binary").exits(3);
    assert_eq!(assert_valid(&path).faults().malformed, 15);
}

#[test]
fn flags_that_contradict_are_refused() {
    for (flags, words) in [
        ("--clients 5 --step-size 3", "--step-size"),
        (
            "--connect-rate 5 --connect-concurrency 3",
            "--connect-concurrency",
        ),
        ("--connect-rate 5:9/3s", "expected one number per second"),
        ("--arrivals constant", "--connect-rate"),
        (
            "--ping-interval 1s --ping-timeout 2s",
            "raise --ping-interval",
        ),
        ("--payload-padding 3", "--payload-padding"),
    ] {
        run(&format!("connect ws://127.0.0.1:1/ {flags}"))
            .exits(1)
            .says(&[words]);
    }
}

fn classic(program: &str, arguments: &str) -> crate::support::Ran {
    finish(
        Command::new(program)
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    )
}

const SCALABILITY: &str = env!("CARGO_BIN_EXE_scalability");
const THROUGHPUT: &str = env!("CARGO_BIN_EXE_throughput");

fn raw_echo() -> NullServer {
    NullServer::start(NullOptions {
        echo_raw: true,
        ..NullOptions::default()
    })
    .unwrap()
}

#[test]
fn scalability_prints_the_two_lines_of_the_ancestor() {
    let server = honest();
    let ran = classic(SCALABILITY, &format!("200 {}", server.addr().port())).exits(0);
    let form = regex::Regex::new(
        r"^Connection performance: [0-9.]+ connections/ms\nMemory performance: ([0-9.]+|unknown) connections/mb",
    )
    .unwrap();
    assert!(form.is_match(&ran.stdout), "{ran:?}");
}

#[test]
fn throughput_prints_the_average_of_verified_echoes() {
    let server = raw_echo();
    let port = server.addr().port();
    let ran = classic(THROUGHPUT, &format!("20 20 10 {port} --duration 300ms")).exits(0);
    let form = regex::Regex::new(r"^Throughput: [0-9.]+ echoes/ms \(([0-9]+) echoes").unwrap();
    let echoes: u64 = form.captures(&ran.stdout).expect(&ran.stdout)[1]
        .parse()
        .unwrap();
    assert!(echoes > 0 && echoes.is_multiple_of(200), "{echoes}");
}

#[test]
fn what_goes_wrong_is_one_line_and_a_code() {
    let port = no_listener().port();
    classic(SCALABILITY, &format!("5 {port}"))
        .exits(1)
        .says_in_one_line(&["0 of 5 connections were opened", "refused"]);
    classic(THROUGHPUT, &format!("5 20 1 {port}"))
        .exits(1)
        .says_in_one_line(&["refused the connection"]);
    let no_echo = honest();
    classic(THROUGHPUT, &format!("5 20 1 {}", no_echo.addr().port()))
        .exits(3)
        .says_in_one_line(&["echo 1 of connection", "Binary was due"]);
    classic(THROUGHPUT, "5 20 1").exits(1).says(&["<PORT>"]);
}

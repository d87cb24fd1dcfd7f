//! Servers that are not there, do not open a WebSocket, or break in a step.

use crate::support::{Ran, faulty_server, no_listener, record, run, url};
use ::record::End;
use test_servers::fault::Fault;

#[test]
fn a_port_without_a_listener_is_refused() {
    let addr = no_listener();
    run(&format!("broadcast ws://{addr}/ --step-size 10"))
        .exits(1)
        .says_in_one_line(&[
            "nothing was measured: 0 of 10 clients connected",
            &format!("{addr} refused the connection"),
            "is the server running, and on this port?",
        ]);
}

#[test]
fn a_search_against_a_port_without_a_listener_is_no_measurement() {
    for flags in [
        "echo URL --initial-clients 4 --search",
        "echo URL --initial-clients 1500 --search",
        "echo URL --initial-clients 4 --rate 50 --search rate",
    ] {
        let addr = no_listener();
        run(&flags.replace("URL", &format!("ws://{addr}/")))
            .exits(1)
            .says_in_one_line(&[
                "clients connected",
                &format!("{addr} refused the connection"),
            ]);
    }
}

#[test]
fn a_source_address_of_another_machine_is_named() {
    run(&format!(
        "broadcast ws://{}/ -l 192.0.2.1 --step-size 10",
        no_listener()
    ))
    .exits(1)
    .says_in_one_line(&["192.0.2.1 is not one of this machine's", "ip address"]);
}

#[test]
fn servers_that_open_no_websocket_are_named_with_what_they_did() {
    for (fault, words) in [
        (
            Fault::NeverAnswers,
            [
                "silent before it answered the WebSocket upgrade",
                "--connect-timeout",
            ],
        ),
        (
            Fault::Status200,
            ["HTTP 200 OK", "check the path of the URL"],
        ),
        (
            Fault::Status404,
            ["HTTP 404 Not Found", "check the path of the URL"],
        ),
        (
            Fault::WrongAccept,
            ["wrong Sec-WebSocket-Accept", "check the path of the URL"],
        ),
        (
            Fault::ClosesAtOnce,
            [
                "the connection before it answered the WebSocket upgrade",
                "0 of 10",
            ],
        ),
        (
            Fault::UpgradesThenCloses,
            [
                "the connection after the WebSocket was open",
                "of 10 clients",
            ],
        ),
    ] {
        let server = faulty_server(fault, 0);
        let addr = server.addr().to_string();
        run(&format!(
            "broadcast ws://{addr}/ws --step-size 10 --connect-timeout 700ms"
        ))
        .exits(1)
        .says_in_one_line(&[words[0], words[1], &addr]);
    }
}

/// A request on a connection that the server has just ended is never answered, so that its step may
/// also end by the time-out.
const LOST: &[End] = &[End::ServerLost, End::TimedOut];

/// Two steps against a server that misbehaves; the run ends in one of the ways given.
fn in_step(fault: Fault, count: u64, ends: &[End]) -> Ran {
    let server = faulty_server(fault, count);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let ran = run(&format!(
        "broadcast {} -c 2 -s 20 --step-size 5 --total-steps 2 --payload-padding 200 \
         --sample-timeout 800ms --limit-rtt 700ms --json {}",
        url(server.addr()),
        path.display()
    ))
    .exits(3)
    .says(&["invalid: the server is at fault: "]);
    let record = record(&path);
    assert!(
        ends.contains(&record.outcome.end),
        "{:?}: {ran:#?}",
        record.outcome
    );
    assert_eq!(record.steps.len(), ran.stdout.lines().count());
    ran
}

#[track_caller]
fn assert_line(ran: &Ran, number: usize, words: &[&str]) {
    let line = ran.stdout.lines().nth(number).unwrap_or_default();
    for word in words {
        assert!(line.contains(word), "{word:?} in line {number}: {ran:#?}");
    }
}

#[test]
fn a_server_that_stops_answering_ends_the_run_in_time_and_keeps_the_steps_before() {
    // The first step takes 20 requests, the second stops in its middle.
    let ran = in_step(Fault::Freezes, 30, &[End::TimedOut]).says(&[
        "carried within the limit: 5 clients",
        "--sample-timeout",
        "0.8 s",
    ]);
    assert!(
        !ran.stdout.lines().next().unwrap().contains("faults"),
        "{ran:#?}"
    );
    assert_line(
        &ran,
        1,
        &[
            "clients:    10",
            "10 of 20 samples",
            "timed out",
            "faults: 20 lost, 2 unanswered",
        ],
    );
}

#[test]
fn a_reset_in_mid_step_is_a_lost_connection() {
    let ran = in_step(Fault::Resets, 25, LOST);
    assert_line(&ran, 1, &["clients:    10", "1 disconnected"]);
}

#[test]
fn malformed_frames_and_frames_cut_short_are_told_apart() {
    let malformed = in_step(Fault::MalformedFrame, 5, LOST);
    assert_line(&malformed, 0, &["1 malformed", "1 disconnected"]);
    let cut = in_step(Fault::CutShort, 5, LOST);
    assert_line(&cut, 0, &["1 disconnected"]);
    assert!(!cut.stdout.contains("malformed"), "{cut:#?}");
}

#[test]
fn each_class_of_fault_is_counted_in_the_line() {
    assert_line(
        &in_step(Fault::Drops, 1, &[End::TimedOut]),
        0,
        &["faults: 1 lost", "timed out"],
    );
    assert_line(
        &in_step(Fault::Duplicates, 3, &[End::StepsDone]),
        0,
        &["faults: 3 duplicate"],
    );
    assert_line(
        &in_step(Fault::Corrupts, 2, &[End::StepsDone]),
        0,
        &["faults: 2 corrupt"],
    );
    assert_line(
        &in_step(Fault::NoResult, 0, &[End::TimedOut]),
        0,
        &["faults: 2 unanswered", "0 of 20 samples"],
    );
}

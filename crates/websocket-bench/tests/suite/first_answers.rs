//! Servers that speak another dialect are found at their first answers.

use crate::raw_peer::{Script, frame, start};
use crate::support::{record, run};
use crate::worker_process::Worker;
use ::record::End;
use ws_proto::Opcode;

fn answering(opcode: Opcode, payload: &[u8]) -> std::net::SocketAddr {
    let reply = frame(opcode, payload);
    let (addr, _) = start(Script {
        reply,
        ..Script::default()
    });
    addr
}

/// The time-out of these runs is longer than a test may take.
const LONG: &str = "--sample-timeout 10m --step-size 12 --total-steps 1";

#[test]
fn ten_answers_of_another_dialect_end_the_run_and_show_the_first() {
    let long = [b"hello \x1b[31m".as_slice(), &[b'x'; 300]].concat();
    for (opcode, payload, flags, words) in [
        (
            Opcode::Text,
            &long[..],
            "echo URL -c 12",
            [
                "the first malformed message was `hello \\x1b[31mxxx",
                "xxx... (211 more bytes)` (not JSON)",
                "expected was {\"type\":\"echo\",\"payload\":{\"stamp\":...}} (docs/protocol.md)",
            ],
        ),
        (
            Opcode::Binary,
            b"\x00\x01",
            "broadcast URL -c 12",
            [
                "`\\x00\\x01` (a Binary message where Text was due)",
                "{\"type\":\"broadcast\",\"payload\":{\"stamp\":...}} or {\"type\":\"broadcastResult\"",
                "check message.dialect (--server-type)",
            ],
        ),
        (
            Opcode::Text,
            br#"{"kind":"echo"}"#,
            "echo URL -c 12",
            [
                "{\"kind\":\"echo\"}` (",
                "there is no `/type`",
                "--server-type",
            ],
        ),
    ] {
        let addr = answering(opcode, payload);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let arguments = flags.replace("URL", &format!("ws://{addr}/"));
        let ran = run(&format!("{arguments} {LONG} --json {}", path.display()))
            .exits(3)
            .says(&words);
        assert!(!ran.stderr.contains('\x1b'), "{ran:#?}");
        let record = record(&path);
        assert_eq!(record.outcome.end, End::NotUnderstood);
        assert!(record.faults().malformed >= 10, "{:?}", record.faults());
    }
}

#[test]
fn one_answer_of_another_dialect_and_then_silence_end_the_run_too() {
    let addr = answering(Opcode::Text, b"what?");
    run(&format!("echo ws://{addr}/ -c 1 {LONG}"))
        .exits(3)
        .says(&[
            "the first malformed message was `what?` (not JSON)",
            "--server-type",
        ]);
}

#[test]
fn the_words_of_the_first_refusal_are_shown() {
    let addr = answering(
        Opcode::Text,
        br#"{"type":"error","message":"log in first"}"#,
    );
    let worker = Worker::start("");
    for sites in [String::new(), format!("-w {}", worker.addr)] {
        run(&format!(
            "echo ws://{addr}/ -c 1 -v --step-size 2 --total-steps 1 \
             --limit-rtt 100ms --sample-timeout 300ms {sites}"
        ))
        .exits(3)
        .says(&[r#"the first refusal: `{"type":"error","message":"log in first"}`"#]);
    }
}

#[test]
fn it_is_found_over_workers_as_well() {
    let addr = answering(Opcode::Text, b"what?");
    let worker = Worker::start("");
    run(&format!(
        "echo ws://{addr}/ -c 12 {LONG} -v -w {}",
        worker.addr
    ))
    .exits(3)
    .says(&[
        "the first malformed message was `what?` (not JSON)",
        "--server-type",
    ])
    .says(&["sockets are read with epoll: io_uring may not be available on all workers"]);
}

#[test]
fn a_first_message_that_is_no_framework_s_is_shown() {
    let (addr, _) = start(Script {
        greeting: frame(Opcode::Text, b"hi \x07"),
        ..Script::default()
    });
    for kind in ["phoenix", "actioncable"] {
        let ran = run(&format!(
            "echo ws://{addr}/ --server-type {kind} --step-size 1 --connect-timeout 20s"
        ));
        // Action Cable's subprotocol is missing already.
        let words = match kind {
            "phoenix" => "not a message of the dialect phoenix: `hi \\x07` (not JSON)",
            _ => "asked for was `actioncable-v1-json`",
        };
        ran.exits(1).says(&[words]);
    }
}

/// A server of no framework takes the WebSocket: what is likely is said, and no time-out is blamed first.
#[test]
fn a_server_that_does_not_open_the_dialect_is_said_to_be_another_one() {
    let silent = || start(Script::default()).0;
    let echoing = || answering(Opcode::Text, br#"["1","1","room:lobby","phx_join",{}]"#);
    for (addr, kind, words) in [
        (
            silent(),
            "socketio",
            [
                "did not answer as a server of socketio does",
                "no message came; no Socket.IO server answered on this path",
                "/socket.io/?EIO=4&transport=websocket",
            ],
        ),
        (
            silent(),
            "phoenix",
            [
                "no message came",
                "no Phoenix server answered on this path",
                "check message.dialect (--server-type)",
            ],
        ),
        (
            echoing(),
            "phoenix",
            [
                "the last message was `[\"1\",\"1\",\"room:lobby\"",
                "no Phoenix server answered on this path",
                "raise connection.timeout (--connect-timeout) if it is only slow",
            ],
        ),
        (
            silent(),
            "centrifugo",
            [
                "did not answer as a server of centrifugo does",
                "no message came; no Centrifugo server answered on this path",
                "/connection/websocket",
            ],
        ),
    ] {
        let path = if kind == "phoenix" { "?vsn=2.0.0" } else { "" };
        run(&format!(
            "broadcast ws://{addr}/{path} --server-type {kind} -c 1 --step-size 1 --total-steps 1 --connect-timeout 5s"
        ))
        .exits(1)
        .says(&words);
    }
}

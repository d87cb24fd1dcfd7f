//! Answers to the upgrade, and close frames, as servers and proxies really send them.

use crate::raw_peer::{Heard, Script, frame, start, switching};
use crate::support::{no_listener, record, run};
use std::time::Duration;
use ws_proto::{CloseFrame, Opcode};

/// Far longer than any run of these tests.
const HOUR: Duration = Duration::from_secs(3600);

/// Opens two connections and holds them for a moment.
fn open(answer: fn(&str) -> Vec<u8>) -> crate::support::Ran {
    let (addr, _) = start(Script {
        answer,
        ..Script::default()
    });
    run(&format!(
        "connect ws://{addr}/ --clients 2 --hold 100ms --ping-interval 1h --limit-rtt 20s"
    ))
}

#[test]
fn interim_answers_and_split_headers_open_a_connection() {
    open(|accept| {
        let early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
        [early, &switching(accept, "")[..]].concat()
    })
    .exits(0);
    open(|accept| {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: keep-alive\r\n\
             Connection: upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        )
        .into_bytes()
    })
    .exits(0);
}

#[test]
fn answers_that_cannot_upgrade_are_refused_by_name() {
    open(|accept| {
        let answer = String::from_utf8(switching(accept, "")).unwrap();
        answer.replace("HTTP/1.1", "HTTP/1.0").into_bytes()
    })
    .exits(1)
    .says(&["HTTP/1.0 with status 101", "needs HTTP/1.1"]);
    open(|_| b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(40))
        .exits(1)
        .says(&["more than 8 interim answers"]);
    open(|accept| switching(accept, &format!("Sec-WebSocket-Accept: {accept}\r\n")))
        .exits(1)
        .says(&["more than one Sec-WebSocket-Accept"]);
}

/// Both commands with each answer: the code is 1, and the remedy fits the answer.
#[test]
fn a_status_is_told_with_its_remedy_and_the_same_code_by_every_command() {
    type Case = (fn(&str) -> Vec<u8>, [&'static str; 2]);
    let cases: [Case; 6] = [
        (
            |_| b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n\r\n".to_vec(),
            ["HTTP 401", "wants authorization (Bearer)"],
        ),
        (
            |_| b"HTTP/1.1 403 Forbidden\r\n\r\n".to_vec(),
            ["HTTP 403", "check the credentials"],
        ),
        (
            |_| b"HTTP/1.1 404 Not Found\r\n\r\n".to_vec(),
            ["HTTP 404", "check the path of the URL"],
        ),
        (
            |_| b"HTTP/1.1 302 Found\r\nLocation: /\x1b[31mred\r\n\r\n".to_vec(),
            ["is not HTTP", "check the path of the URL"],
        ),
        (
            |_| b"HTTP/1.1 301 Moved\r\nLocation: wss://x/\xc3\xa9\r\n\r\n".to_vec(),
            ["HTTP 301", "(wss://x/\\xc3\\xa9)"],
        ),
        (
            |_| b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n".to_vec(),
            ["HTTP 503", "(it says to wait for 7)"],
        ),
    ];
    for (answer, words) in cases {
        let (addr, _) = start(Script {
            answer,
            ..Script::default()
        });
        for command in ["echo --step-size 2", "connect --clients 2 --hold 1s"] {
            let (command, flags) = command.split_once(' ').unwrap();
            let ran = run(&format!("{command} ws://{addr}/ {flags}"))
                .exits(1)
                .says(&["nothing was measured: "])
                .says(&words);
            assert!(!ran.stderr.contains("at fault"), "{ran:#?}");
            assert!(
                ran.stderr
                    .bytes()
                    .all(|b| b == b'\n' || (b' '..=b'~').contains(&b))
            );
        }
    }
}

#[test]
fn a_close_code_is_told_and_sent_back() {
    let close = CloseFrame {
        code: 1008,
        reason: "policy\u{1b}[2J".to_owned(),
    };
    let (addr, heard) = start(Script {
        reply: frame(Opcode::Close, &close.encode()),
        ..Script::default()
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    run(&format!(
        "echo ws://{addr}/ -c 1 -s 3 --step-size 1 --total-steps 1 --sample-timeout 3s --json {}",
        path.display()
    ))
    .exits(3)
    .says(&["after the WebSocket was open with 1008 \"policy\\x1b[2J\""]);
    assert!(record(&path).outcome.detail.contains("with 1008"));
    // timed: waits for what the peer heard; the end is only for a hang.
    assert_eq!(heard.recv_timeout(HOUR), Ok(Heard::Message));
    assert_eq!(
        // timed: as above.
        heard.recv_timeout(HOUR),
        Ok(Heard::Close(1008_u16.to_be_bytes().to_vec()))
    );
}

#[test]
fn a_close_code_right_after_the_upgrade_is_told() {
    let close = frame(Opcode::Close, &[0x03, 0xF5]);
    let (addr, _) = start(Script {
        greeting: close,
        ..Script::default()
    });
    run(&format!(
        "echo ws://{addr}/ --step-size 2 --total-steps 1 --limit-rtt 20s"
    ))
    .exits(1)
    .says(&["after the WebSocket was open with 1013"]);
}

#[test]
fn a_close_payload_that_may_not_be_sent_is_malformed() {
    for (payload, words) in [
        (&[0x03_u8, 0xED][..], "close code 1005 may not be sent"),
        (&[0x03], "a payload of one byte"),
        (&[0x03, 0xE8, 0xFF], "close reason is not UTF-8"),
    ] {
        let (addr, _) = start(Script {
            reply: frame(Opcode::Close, payload),
            ..Script::default()
        });
        let ran = run(&format!(
            "echo ws://{addr}/ -c 1 -s 3 --step-size 1 --total-steps 1 --sample-timeout 3s"
        ))
        .exits(3)
        .says(&[words]);
        assert!(ran.stdout.contains("1 malformed"), "{ran:#?}");
    }
}

/// The name stands for one or two addresses here; the server listens on the last of them.
#[test]
fn a_name_is_loaded_where_it_answers_and_the_record_says_where() {
    let server = crate::support::honest();
    let port = server.addr().port();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    run(&format!(
        "echo ws://localhost:{port}/ws -s 20 --step-size 2 --total-steps 1 --limit-rtt 20s -v --json {}",
        path.display()
    ))
    .exits(0)
    .says(&[&format!("the server is 127.0.0.1:{port}")]);
    assert_eq!(record(&path).server, Some(server.addr()));
    run(&format!("echo ws://localhost:{}/", no_listener().port()))
        .exits(1)
        .says(&["refused the connection"]);
}

//! permessage-deflate (RFC 7692): figures, refusals, and servers that lie about it.

use crate::support::{Ran, assert_valid, bench, finish, honest, run, url};
use plan::Timestamps;
use record::{CompressionUse, StepRecord};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use test_servers::liar::{LiarServer, Lie};
use ws_proto::{
    Decoder, DeflateTerms, Deflater, Event, FrameHeader, Opcode, Sender, accept_for, encode_frame,
    encode_header, mark_compressed,
};

/// What can be had here of the two backends.
fn backends() -> Vec<&'static str> {
    match ws_load::probe_io_uring(Timestamps::Kernel) {
        Ok(()) => vec!["epoll", "uring"],
        Err(reason) => {
            test_servers::skipped(&format!("io_uring is not available here: {reason}"));
            vec!["epoll"]
        }
    }
}

const TERMS: DeflateTerms = DeflateTerms {
    server_no_context_takeover: true,
    client_no_context_takeover: false,
    server_window_bits: 15,
    client_window_bits: 15,
};

/// Broadcasts and echoes of 500 bytes, in text and binary.
fn measured(addr: SocketAddr, workload: &str, more: &[&str]) -> (Ran, StepRecord) {
    let json = tempfile::NamedTempFile::new().unwrap();
    let mut command = bench();
    command.args([workload, &url(addr)]).args(more);
    command.args([
        "--step-size",
        "10",
        "--total-steps",
        "1",
        "--sample-size",
        "40",
    ]);
    command.args(["--payload-padding", "500", "--limit-rtt", "20s"]);
    let ran = finish(command.arg("--json").arg(json.path()));
    assert_eq!(ran.code, 0, "{ran:?}");
    let record = assert_valid(json.path());
    (ran, record.steps[0].clone())
}

#[test]
fn messages_are_compressed_inflated_and_verified_on_all_terms() {
    let server = LiarServer::start(Lie::None).unwrap();
    for io in backends() {
        for (workload, received) in [("broadcast", 440), ("echo", 40)] {
            for parameters in [
                "client_max_window_bits",
                "",
                "server_no_context_takeover; client_no_context_takeover",
                "server_max_window_bits=9, client_max_window_bits=8, level=9",
            ] {
                for dialect in ["text", "binary"] {
                    let more = [
                        "--io",
                        io,
                        "--server-type",
                        dialect,
                        "--compression",
                        parameters,
                    ];
                    let (ran, step) = measured(server.addr(), workload, &more);
                    assert!(step.faults.is_empty(), "{ran:?}");
                    let of = step.compression.unwrap();
                    assert_eq!((of.received, of.sent), (received, 40), "{more:?}");
                    assert!(of.sent_inflated_bytes >= 40 * 500);
                    assert!(of.sent_bytes < of.sent_inflated_bytes / 2, "{of:?}");
                    assert!(of.received_bytes < of.received_inflated_bytes / 2, "{of:?}");
                    let wire = step.throughput.unwrap().received_bytes;
                    assert!(wire >= of.received_bytes + 2 * received);
                    assert!(wire < of.received_bytes + 8 * received, "{wire} {of:?}");
                    assert!(ran.stdout.contains("    compression: received "), "{ran:?}");
                }
            }
        }
    }
}

#[test]
fn it_works_over_processes() {
    let server = LiarServer::start(Lie::None).unwrap();
    let (_, step) = measured(
        server.addr(),
        "broadcast",
        &["--processes", "2", "--compression"],
    );
    let CompressionUse { received, sent, .. } = step.compression.unwrap();
    assert_eq!((received, sent), (440, 40));
    assert_eq!(step.sites.len(), 2);
}

#[test]
fn a_server_without_compression_is_no_server_for_such_a_run() {
    let server = honest();
    let ran = run(&format!(
        "broadcast {} --compression --step-size 3",
        url(server.addr())
    ));
    assert_ne!(ran.code, 0);
    let words = "the server does not negotiate permessage-deflate; run without connection.compression (--compression)";
    assert!(ran.stderr.contains(words), "{ran:?}");
}

#[test]
fn plans_say_what_is_offered() {
    let ran =
        run("echo ws://127.0.0.1:1/ --compression level=3,client_max_window_bits --print-plan");
    for line in [
        "[connection.compression]",
        "client_max_window_bits = 15",
        "level = 3",
    ] {
        assert!(ran.stdout.contains(line), "{ran:?}");
    }
    for flag in ["server_max_window_bits=16", "level=0", "mystery"] {
        let ran = run(&format!(
            "echo ws://127.0.0.1:1/ --compression {flag} --print-plan"
        ));
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("--compression"), "{ran:?}");
    }
}

/// Serves one handshake after the other, with this line in its answer, and then sends these bytes for
/// the first message of each connection.
fn peer(line: &'static str, bytes: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let bytes = bytes.clone();
            thread::spawn(move || serve(stream.unwrap(), line, &bytes));
        }
    });
    addr
}

fn serve(mut stream: TcpStream, line: &str, bytes: &[u8]) -> Option<()> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&buffer[..count]);
    }
    let head = String::from_utf8(head).unwrap();
    let key = head
        .split("Sec-WebSocket-Key: ")
        .nth(1)?
        .split("\r\n")
        .next()?;
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n{line}\r\n",
        accept_for(key)
    );
    stream.write_all(answer.as_bytes()).ok()?;
    let mut decoder = Decoder::new(Sender::Client, 1 << 20);
    decoder.permit_compressed();
    let mut asked = false;
    loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        let heard = |event: Event<'_>| {
            asked |= matches!(event, Event::Message { .. });
            Ok::<_, ws_proto::DecodeError>(())
        };
        decoder.feed(&buffer[..count], heard).ok()?;
        if std::mem::take(&mut asked) {
            stream.write_all(bytes).ok()?;
        }
    }
}

const ON: &str = "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n";

fn refusal(line: &'static str, bytes: Vec<u8>, io: &str) -> String {
    let addr = peer(line, bytes);
    let ran = run(&format!(
        "echo {} --compression --io {io} --step-size 2 --total-steps 1 --limit-rtt 20s --sample-size 4 --threads 1",
        url(addr)
    ));
    assert_ne!(ran.code, 0, "{ran:?}");
    ran.stdout + &ran.stderr
}

#[test]
fn wrong_answers_to_the_offer_are_named_with_their_clause() {
    for (line, words) in [
        (
            "Sec-WebSocket-Extensions: permessage-deflate; mystery\r\n",
            "no parameter `mystery` (RFC 7692, 7.1)",
        ),
        (
            "Sec-WebSocket-Extensions: x-webkit-deflate-frame\r\n",
            "was not offered (RFC 6455, 9.1)",
        ),
        (
            "Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Extensions: permessage-deflate\r\n",
            "twice (RFC 7692, 5.1)",
        ),
        (
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n",
            "(RFC 7692, 7.1.2.2)",
        ),
        (
            "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=16\r\n",
            "(RFC 7692, 7.1.2.1)",
        ),
    ] {
        let told = refusal(line, Vec::new(), "epoll");
        assert!(told.contains(words), "{words}: {told}");
    }
}

/// A frame with this first byte.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode_frame(&mut out, Opcode::Text, None, payload);
    out[0] = first;
    out
}

/// A gibibyte of zeros in one message: half a mebibyte 2048 times, as blocks of one stream.
fn bomb() -> Vec<u8> {
    let mut deflater = Deflater::new(
        &DeflateTerms {
            server_no_context_takeover: false,
            ..TERMS
        },
        Sender::Server,
        9,
    );
    let zeros = vec![0; 1 << 19];
    let mut payload = Vec::new();
    for _ in 0..2048 {
        deflater.deflate(&zeros, &mut payload);
        // The rest of the empty block between two pieces.
        payload.extend_from_slice(&[0, 0, 0xFF, 0xFF]);
    }
    payload.truncate(payload.len() - 4);
    payload
}

#[test]
fn a_bomb_is_named_and_takes_no_memory() {
    let bomb = bomb();
    assert!(bomb.len() < 3 << 20, "{}", bomb.len());
    let mut whole = frame(0xC2, b"");
    whole.truncate(1);
    whole.push(127);
    whole.extend_from_slice(&(bomb.len() as u64).to_be_bytes());
    whole.extend_from_slice(&bomb);
    let parts: Vec<&[u8]> = bomb.chunks(60_000).collect();
    let mut fragmented = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let is_first = at == 0;
        encode_header(
            &mut fragmented,
            &FrameHeader {
                fin: at + 1 == parts.len(),
                opcode: if is_first {
                    Opcode::Binary
                } else {
                    Opcode::Continuation
                },
                mask: None,
                payload_len: part.len() as u64,
            },
        );
        if is_first {
            mark_compressed(&mut fragmented[0]);
        }
        fragmented.extend_from_slice(part);
    }
    for (name, bytes) in [("whole", &whole), ("fragmented", &fragmented)] {
        for io in backends() {
            let addr = peer(ON, bytes.clone());
            let json = tempfile::NamedTempFile::new().unwrap();
            let mut command = bench();
            command.args([
                "echo",
                &url(addr),
                "--compression",
                "--io",
                io,
                "--threads",
                "1",
            ]);
            command.args(["--server-type", "binary", "--payload-padding", "4000000"]);
            command.args([
                "--step-size",
                "2",
                "--total-steps",
                "1",
                "--sample-size",
                "4",
            ]);
            let ran = finish(command.arg("--json").arg(json.path()));
            assert_ne!(ran.code, 0, "{name} {io}");
            let words = "that expands past 4032832 bytes, the longest that this plan allows";
            assert!(
                (ran.stdout + &ran.stderr).contains(words),
                "{name} {io}: {}",
                ran.stderr
            );
            let resident = assert_valid(json.path()).steps[0].generator.resident_bytes;
            assert!(resident < 200 << 20, "{name} {io}: {resident}");
        }
    }
}

#[test]
fn what_may_not_be_sent_compressed_is_named() {
    let hello = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00];
    let continuation = [frame(0x41, &hello[..3]), frame(0xC0, &hello[3..])].concat();
    for (bytes, words) in [
        (continuation, "RSV1 set on a continuation frame"),
        (frame(0xC9, b"ping"), "RSV1 set on a control frame"),
        (frame(0xA1, b"{}"), "reserved bits 0b010"),
        (
            frame(0xC1, &[0x06]),
            "corrupt deflate data (RFC 7692, 7.2.2)",
        ),
        (
            frame(0xC1, &hello[..4]),
            "does not end as a sender must end it",
        ),
        (frame(0xC1, b""), "compressed message without a byte"),
        (frame(0xC1, &hello), "Hello"),
    ] {
        for io in backends() {
            let told = refusal(ON, bytes.clone(), io);
            assert!(told.contains(words), "{words}: {told}");
        }
    }
    let addr = peer("", frame(0xC1, &hello));
    let ran = run(&format!(
        "echo {} --step-size 2 --total-steps 1 --limit-rtt 20s --sample-size 4",
        url(addr)
    ));
    assert!(
        ran.stderr
            .contains("reserved bits 0b100 set without an extension"),
        "{ran:?}"
    );
}

#[test]
fn compressed_messages_with_wrong_content_are_corrupt() {
    let server = LiarServer::start(Lie::SpoilsBroadcast).unwrap();
    let json = tempfile::NamedTempFile::new().unwrap();
    let mut command = bench();
    command.args([
        "broadcast",
        &url(server.addr()),
        "--compression",
        "--payload-padding",
        "1020",
    ]);
    command.args([
        "--step-size",
        "4",
        "--total-steps",
        "1",
        "--sample-size",
        "10",
    ]);
    let ran = finish(command.arg("--json").arg(json.path()));
    assert_eq!(ran.code, 3, "{ran:?}");
    let step = &assert_valid(json.path()).steps[0];
    assert_eq!(step.faults.corrupt, 10, "{ran:?}");
}

//! Dialect files in bytes, each against a server of that kind: protobuf, MessagePack, Yjs, NATS, and SignalR
//! in both of its forms. The servers are made with the protocol's own library, by the lock file in `servers/`, or are brokers.

pub(crate) mod nats;

use crate::dialects::go_server::GoServer;
use crate::dialects::{Server, bench, install, relay};
use nats::Nats;
use record::{Faults, Json, RunRecord, StepRecord};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Messages of samples before the one that is left out.
const PASSED: u64 = 777;
/// Broadcasts of a run.
const SAMPLES: u64 = 10;

pub(crate) fn server(script: &str) -> Server {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    Server::start_in(INSTALLED.get_or_init(|| install("bytes")), script, &[])
}

fn dialect(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/bytes");
    folder.join(name).display().to_string()
}

/// The only step of a run.
fn run(workload: &str, url: &str, file: &str, more: &[&str]) -> StepRecord {
    let file = dialect(file);
    let line = [
        workload,
        url,
        "--dialect",
        &file,
        "--total-steps",
        "1",
        "--connect-timeout",
        "60s",
        "--limit-rtt",
        "20s",
        "--json",
        "-",
    ];
    let (_, record, words) = bench(&[&line[..], more].concat());
    let record = RunRecord::from_json(&record);
    let mut record = record.unwrap_or_else(|error| panic!("{error}: {words}"));
    assert_eq!(record.steps.len(), 1, "{words}");
    record.steps.remove(0)
}

/// 500 clients without a fault; and with one delivery left out between server and clients, which has
/// `mark` in it once as nothing else has.
fn proves_a_loss(url: &str, file: &str, mark: &'static [u8], padding: &str) {
    let samples = SAMPLES.to_string();
    let clients = [
        "--initial-clients",
        "500",
        "--sample-size",
        &samples,
        "--payload-padding",
        padding,
    ];
    let whole = run("broadcast", url, file, &clients);
    assert!(whole.faults.is_empty(), "{file}: {}", whole.faults);
    assert_eq!((whole.clients, whole.samples), (500, SAMPLES));
    assert_eq!(whole.delivery.unwrap().count, 500 * SAMPLES);

    let authority = url.split('/').nth(2).unwrap();
    let server: SocketAddr = authority.parse().unwrap();
    let (between, seen) = relay::leaving_out(server, mark, None, PASSED);
    let url = url.replace(authority, &between.to_string());
    // One at a time, so that no delivery comes together with that of another sample.
    let alone = ["--sample-timeout", "25s", "--concurrent", "1"];
    let step = run("broadcast", &url, file, &[&clients[..], &alone].concat());
    let one = Faults {
        lost: 1,
        ..Faults::default()
    };
    assert_eq!(step.faults, one, "{file}");
    assert!(seen() > PASSED && seen() <= 500 * SAMPLES, "{}", seen());
}

const FEW: [&str; 6] = [
    "--initial-clients",
    "100",
    "--sample-size",
    "30",
    "--concurrent",
    "4",
];

#[test]
fn protobuf() {
    let server = server("protobuf.js");
    proves_a_loss(&server.url, "protobuf.toml", b"1234567890", "10");
    // A field without a byte is left out by the library.
    for padding in ["1", "127", "3000", "70000"] {
        let more = [&FEW[..], &["--payload-padding", padding]].concat();
        let echoed = run("echo", &server.url, "protobuf.toml", &more);
        assert!(echoed.faults.is_empty(), "{}", echoed.faults);
        assert_eq!(echoed.samples, 30);
        let broadcast = run("broadcast", &server.url, "protobuf.toml", &more);
        assert!(broadcast.faults.is_empty(), "{}", broadcast.faults);
        assert_eq!(broadcast.ack.unwrap().count, 30);
    }
}

#[test]
fn protobuf_with_lines_of_many_lengths() {
    let server = server("protobuf.js");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines.txt");
    let lines: Vec<String> = (1..40).map(|n| "ab\u{e9}".repeat(n * n)).collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let lines = ["--payload-lines", file.to_str().unwrap()];
    let more = [&FEW[..], &lines].concat();
    let broadcast = run("broadcast", &server.url, "protobuf.toml", &more);
    assert!(broadcast.faults.is_empty(), "{}", broadcast.faults);
    assert_eq!(broadcast.delivery.unwrap().count, 30 * 100);
}

#[test]
fn messagepack_in_rooms() {
    let server = server("msgpack.js");
    let plan = format!(
        r#"
audience = {{ room = {{ equal = 4 }} }}
target = {{ url = "{}" }}
clients.steps = {{ first = 100, count = 1 }}
load.closed = {{ samples = 30, in_flight = 4 }}
message = {{ dialect = "{}", padding = 300 }}
limits = {{ time = "20s" }}
"#,
        server.url,
        dialect("msgpack.toml")
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    fs::write(&path, plan).unwrap();
    let (_, record, words) = bench(&["run", path.to_str().unwrap(), "--json", "-"]);
    let record = RunRecord::from_json(&record).expect(&words);
    let step = &record.steps[0];
    assert!(step.faults.is_empty(), "{}", step.faults);
    let count = |of: &Option<record::Latency>| of.as_ref().unwrap().count;
    assert_eq!((count(&step.delivery), count(&step.ack)), (30 * 25, 30));
}

#[test]
fn yjs() {
    let server = server("yjs.js");
    let url = |room: &str| format!("{}{room}", server.url);
    for (room, padding) in [("a", "0"), ("b", "200")] {
        let more = [&FEW[..], &["--payload-padding", padding]].concat();
        let step = run("broadcast", &url(room), "yjs.toml", &more);
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!(step.delivery.unwrap().count, 30 * 100);
    }
}

#[test]
fn nats_server() {
    let server = match Nats::start() {
        Ok(server) => server,
        Err(reason) => return test_servers::skipped(&reason),
    };
    proves_a_loss(&server.url, "nats.toml", b"MSG all 1 ", "10");
    let more = [
        &FEW[..],
        &["--payload-padding", "3000", "--concurrent", "20"],
    ]
    .concat();
    let step = run("broadcast", &server.url, "nats.toml", &more);
    assert!(step.faults.is_empty(), "{}", step.faults);
    assert_eq!(step.delivery.unwrap().count, 30 * 100);
}

/// Both protocols of SignalR, after a negotiation over HTTP.
fn signalr(file: &str) {
    let server = match GoServer::start("signalr") {
        Ok(server) => server,
        Err(reason) => return test_servers::skipped(&reason),
    };
    let url = format!("{}?id={{id}}", server.url());
    proves_a_loss(&url, file, b"ReceiveMessage", "100");
    let more = [&FEW[..], &["--payload-padding", "200", "--processes", "2"]].concat();
    let step = run("broadcast", &url, file, &more);
    assert!(step.faults.is_empty(), "{}", step.faults);
    let count = |of: &Option<record::Latency>| of.as_ref().unwrap().count;
    assert_eq!((count(&step.delivery), count(&step.ack)), (30 * 100, 30));
}

#[test]
fn signalr_in_json() {
    signalr("signalr-json.toml");
}

#[test]
fn signalr_in_messagepack() {
    signalr("signalr-messagepack.toml");
}

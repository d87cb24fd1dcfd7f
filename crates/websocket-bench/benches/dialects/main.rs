//! `make bench-generator`: what does it cost that a dialect is a file?
//!
//! The first table has the time to understand a delivery or an echo by the file and by a recogniser that
//! is code (`by_hand.rs`), in turn: once learned, as all but the first messages of a run are, and parsed
//! in full. `whole` is what that makes of the CPU that the generator takes for such a message, from the
//! socket to the histogram: with the file, as a multiple of the same with the code. The second table holds
//! the generator's user CPU per echo by Socket.IO against that by JSON, with messages of the same size from
//! servers that are made of the same parts. `-- --rounds N` changes the number of rounds.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod by_hand;
#[path = "../common/mod.rs"]
mod common;

use by_hand::{Known, Parse};
use common::{Spread, median, option, pin};
use plan::{Audience, Dialect, Plan};
use record::RunRecord;
use std::hint::black_box;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Instant;
use test_servers::Framework;
use test_servers::liar::{LiarServer, Lie};
use test_servers::{NullOptions, NullServer};
use ws_load::for_benches::Recogniser;

const MESSAGES: u64 = 20_000;
const PADDING: u32 = 200;
/// What a message may cost with a file, as a multiple of the same with code.
const MOST_FILE: f64 = 1.05;
/// What an echo by Socket.IO may cost, as a multiple of one by JSON.
const MOST_SOCKET_IO: f64 = 1.2;
const ECHOES: u32 = 50_000;
const CLIENTS: u32 = 20;
/// `{"type":"echo","payload":}` is so much longer than `42["echo",]`.
const LONGER: u32 = 15;

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(5);
    pin(0);
    understanding(rounds);
    socket_io(rounds);
}

/// A message, its place for the stamp, and how it is recognised.
struct Case {
    name: &'static str,
    dialect: Dialect,
    audience: Audience,
    message: &'static str,
    by_hand: Parse,
}

const CASES: [Case; 6] = [
    Case {
        name: "text, echo",
        dialect: Dialect::Text,
        audience: Audience::Sender,
        message: r#"{"type":"echo","payload":PAYLOAD}"#,
        by_hand: by_hand::text,
    },
    Case {
        name: "text, delivery",
        dialect: Dialect::Text,
        audience: Audience::Everyone,
        message: r#"{"type":"broadcast","payload":PAYLOAD}"#,
        by_hand: by_hand::text,
    },
    Case {
        name: "Phoenix, echo",
        dialect: Dialect::Phoenix,
        audience: Audience::Sender,
        message: r#"{"topic":"room:lobby","event":"phx_reply","payload":{"status":"ok","response":{"type":"echo","body":PAYLOAD}},"ref":"2"}"#,
        by_hand: by_hand::phoenix,
    },
    Case {
        name: "Phoenix, delivery",
        dialect: Dialect::Phoenix,
        audience: Audience::Everyone,
        message: r#"{"topic":"room:lobby","event":"broadcast","payload":{"type":"broadcast","body":PAYLOAD},"ref":null}"#,
        by_hand: by_hand::phoenix,
    },
    Case {
        name: "Action Cable, echo",
        dialect: Dialect::ActionCable,
        audience: Audience::Sender,
        message: r#"{"identifier":"{\"channel\":\"BenchmarkChannel\"}","message":{"action":"echo","payload":PAYLOAD}}"#,
        by_hand: by_hand::action_cable,
    },
    Case {
        name: "Action Cable, delivery",
        dialect: Dialect::ActionCable,
        audience: Audience::Everyone,
        message: r#"{"identifier":"{\"channel\":\"BenchmarkChannel\"}","message":{"action":"broadcast","payload":PAYLOAD}}"#,
        by_hand: by_hand::action_cable,
    },
];

impl Case {
    /// The messages of the stamps from 0 on.
    fn messages(&self, padding: &str) -> Vec<Vec<u8>> {
        let of = |stamp: u64| {
            let payload = format!(r#"{{"stamp":"{stamp:016x}","padding":"{padding}"}}"#);
            self.message.replace("PAYLOAD", &payload).into_bytes()
        };
        (0..MESSAGES).map(of).collect()
    }
}

/// Nanoseconds per message; every message must be understood.
fn each_ns(messages: &[Vec<u8>], understand: impl Fn(&[u8]) -> Option<u64>) -> f64 {
    let start = Instant::now();
    for (stamp, message) in messages.iter().enumerate() {
        assert_eq!(
            black_box(understand(black_box(message))),
            Some(stamp as u64)
        );
    }
    start.elapsed().as_nanos() as f64 / messages.len() as f64
}

/// CPU of the generator for a message from the null server, user and kernel.
fn whole_ns(server: SocketAddr, audience: Audience) -> f64 {
    let (request, clients, samples) = match audience {
        Audience::Sender => ("echo", "20", "50000"),
        _ => ("broadcast", "1000", "100"),
    };
    let done = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .args([request, &format!("ws://{server}/ws"), "--threads", "1"])
        .args(["--payload-padding", &PADDING.to_string()])
        .args(["--sample-size", samples, "--step-size", clients])
        .args(["--total-steps", "1", "--limit-rtt", "20s", "--json", "-"])
        .stderr(Stdio::null())
        .output()
        .expect("websocket-bench runs");
    let record: RunRecord = serde_json::from_slice(&done.stdout).expect("it leaves a record");
    let generator = &record.steps[0].generator;
    generator.cpu_ns as f64 / generator.messages as f64
}

fn understanding(rounds: usize) {
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    // Threads and children inherit the affinity of the thread that starts them.
    pin(1);
    let padding: String = "1234567890"
        .chars()
        .cycle()
        .take(PADDING as usize)
        .collect();
    println!("understanding a message, {PADDING} bytes of padding, {rounds} rounds, medians");
    println!(
        "| message | learned, file | by hand | of a whole | whole | parsed, file | by hand | ratio |"
    );
    for case in CASES {
        let mut plan = Plan::default();
        plan.message.dialect = case.dialect;
        plan.message.padding = PADDING;
        plan.audience = case.audience;
        plan.target.url = "ws://127.0.0.1/".to_owned();
        let mut file = Recogniser::new(&plan);
        let messages = case.messages(&padding);
        file.learn(&messages[1]);
        let known = Known::new(&messages[1], 1);
        let round = |_| {
            [
                whole_ns(server.addr(), case.audience),
                each_ns(&messages, |message| file.recognise(message)),
                each_ns(&messages, |message| known.stamp(message)),
                each_ns(&messages, |message| file.parse(message)),
                each_ns(&messages, |message| (case.by_hand)(message, &padding)),
            ]
        };
        let rounds: Vec<[f64; 5]> = (0..rounds).map(round).collect();
        let each = |at: usize| median(rounds.iter().map(|round| round[at]));
        let parsed = Spread::new(rounds.iter().map(|round| round[3] / round[4]));
        let with_code = |[whole, file, code, ..]: &[f64; 5]| whole - file + code;
        let whole = Spread::new(rounds.iter().map(|round| round[0] / with_code(round)));
        println!(
            "| {} | {:.0} ns | {:.0} ns | {:.0} ns | {whole} | {:.0} ns | {:.0} ns | {parsed} |",
            case.name,
            each(1),
            each(2),
            each(0),
            each(3),
            each(4),
        );
        assert!(
            whole.median <= MOST_FILE,
            "a message with a file costs {:.2} times the same with code, more than {MOST_FILE}",
            whole.median
        );
    }
}

fn socket_io(rounds: usize) {
    let json = LiarServer::start_as(Lie::None, Framework::Plain).expect("a server starts");
    let other = LiarServer::start_as(Lie::None, Framework::SocketIo).expect("a server starts");
    pin(1);
    println!("user CPU per echo, {CLIENTS} clients, {ECHOES} echoes, {rounds} rounds, medians");
    let round = |_| {
        [
            user_ns(other.addr(), "socketio", PADDING + LONGER),
            user_ns(json.addr(), "json", PADDING),
        ]
    };
    let rounds: Vec<[f64; 2]> = (0..rounds).map(round).collect();
    let each = |at: usize| median(rounds.iter().map(|round| round[at])) / 1e3;
    let ratio = Spread::new(rounds.iter().map(|round| round[0] / round[1]));
    println!("| Socket.IO | JSON | ratio |");
    println!("| {:.2} us | {:.2} us | {ratio} |", each(0), each(1));
    assert!(
        ratio.median <= MOST_SOCKET_IO,
        "an echo by Socket.IO costs {:.2} times one by JSON, more than {MOST_SOCKET_IO}",
        ratio.median
    );
}

/// User CPU of a generator per echo.
fn user_ns(server: SocketAddr, dialect: &str, padding: u32) -> f64 {
    let before = user_of_children_ns();
    let url = format!("ws://{server}/socket.io/?EIO=4&transport=websocket");
    let status = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .args(["echo", &url, "--threads", "1", "--server-type", dialect])
        .args(["--payload-padding", &padding.to_string()])
        .args(["--sample-size", &ECHOES.to_string()])
        .args(["--step-size", &CLIENTS.to_string()])
        .args(["--concurrent", &CLIENTS.to_string()])
        .args(["--total-steps", "1", "--limit-rtt", "20s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("websocket-bench runs");
    assert!(status.success(), "websocket-bench ended with {status}");
    (user_of_children_ns() - before) / f64::from(ECHOES)
}

/// User CPU of all children that have ended.
fn user_of_children_ns() -> f64 {
    // SAFETY: an all-zero rusage is valid; it outlives the call.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        let done = libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used);
        assert_eq!(done, 0, "getrusage knows RUSAGE_CHILDREN");
        used
    };
    used.ru_utime.tv_sec as f64 * 1e9 + used.ru_utime.tv_usec as f64 * 1e3
}

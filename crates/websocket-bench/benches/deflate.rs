//! `make bench-generator`, fifth part: what inflating and verifying a compressed broadcast costs the
//! generator, beside the library's own inflating of such messages.
//!
//! Null servers deliver the same broadcasts with and without compression, in turn, each frame built
//! once for all clients, so that both are equally fast; of both the generator's user CPU per delivery
//! is taken, so that the difference is that of compression. The library inflates as many messages as
//! were delivered, of as many connections that keep a window, and does nothing with them.
//! Messages here are mostly padding, which is one letter over and over. `-- --rounds N` changes the
//! number of rounds.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod common;

use common::{Spread, median, option, pin};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use std::hint::black_box;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use test_servers::{NullOptions, NullServer};

const CLIENTS: u32 = 100;
const BROADCASTS: u32 = 1_000;
const PADDINGS: [usize; 3] = [200, 2_000, 20_000];
/// What compression may cost the generator per delivery, as a multiple of the library's inflating.
const MOST: f64 = 2.0;

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(5);
    pin(0);
    let [plain, deflating] = [false, true].map(|deflate| {
        let options = NullOptions {
            deflate,
            ..NullOptions::default()
        };
        NullServer::start(options).expect("a port")
    });
    pin(1);
    println!(
        "user CPU per delivery, {CLIENTS} clients, {BROADCASTS} broadcasts, {rounds} rounds, medians"
    );
    println!(
        "| padding | uncompressed | compressed | library | difference of library (least-most) |"
    );
    let mut worst: f64 = 0.0;
    for padding in PADDINGS {
        let rounds: Vec<[f64; 3]> = (0..rounds)
            .map(|_| {
                [
                    user_ns(plain.addr(), padding, &[]),
                    user_ns(deflating.addr(), padding, &["--compression"]),
                    library_ns(padding),
                ]
            })
            .collect();
        let us = |column: usize| median(rounds.iter().map(|round| round[column])) / 1e3;
        let ratio = Spread::new(
            rounds
                .iter()
                .map(|[plain, deflated, own]| (deflated - plain) / own),
        );
        println!(
            "| {padding:>7} | {:.2} us | {:.2} us | {:.2} us | {ratio} |",
            us(0),
            us(1),
            us(2)
        );
        worst = worst.max(ratio.median);
    }
    assert!(
        worst <= MOST,
        "compression costs {worst:.2} times the library's inflating, more than {MOST}"
    );
}

/// User CPU of a generator per delivery.
fn user_ns(server: SocketAddr, padding: usize, more: &[&str]) -> f64 {
    let before = user_ns_of(libc::RUSAGE_CHILDREN);
    let status = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .args(["broadcast", &format!("ws://{server}/ws"), "--threads", "1"])
        .args(["--sample-size", &BROADCASTS.to_string()])
        .args(["--step-size", &CLIENTS.to_string()])
        .args(["--payload-padding", &padding.to_string()])
        .args(["--total-steps", "1", "--limit-rtt", "20s"])
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("websocket-bench runs");
    assert!(status.success(), "websocket-bench ended with {status}");
    (user_ns_of(libc::RUSAGE_CHILDREN) - before) / f64::from(BROADCASTS * CLIENTS)
}

/// User CPU of the library per message of connections with context takeover. Each message goes to all
/// of them in turn, as a broadcast does: their windows do not fit into the caches together.
fn library_ns(padding: usize) -> f64 {
    let mut deflate = Compress::new_with_window_bits(Compression::new(6), false, 15);
    let messages: Vec<Vec<u8>> = (0..BROADCASTS)
        .map(|number| {
            let message = format!(
                r#"{{"type":"broadcast","payload":{{"stamp":"{:016x}","padding":"{}"}}}}"#,
                u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15),
                "x".repeat(padding)
            );
            deflate.reset();
            let mut out = Vec::with_capacity(message.len() + 64);
            let done = deflate.compress_vec(message.as_bytes(), &mut out, FlushCompress::Sync);
            done.expect("deflate takes any bytes");
            out
        })
        .collect();
    let mut out = Vec::with_capacity(padding + 4096);
    let before = user_ns_of(libc::RUSAGE_THREAD);
    let connections = (0..CLIENTS).map(|_| Decompress::new_with_window_bits(false, 15));
    let mut connections: Vec<Decompress> = connections.collect();
    for message in &messages {
        for inflate in &mut connections {
            out.clear();
            let done = inflate.decompress_vec(message, &mut out, FlushDecompress::Sync);
            done.expect("the library reads what it wrote");
            black_box(&out);
        }
    }
    (user_ns_of(libc::RUSAGE_THREAD) - before) / f64::from(BROADCASTS * CLIENTS)
}

/// User CPU of this thread, or of all children that have ended.
fn user_ns_of(which: libc::c_int) -> f64 {
    // SAFETY: an all-zero rusage is valid; it outlives the call.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(which, &raw mut used), 0);
        used
    };
    used.ru_utime.tv_sec as f64 * 1e9 + used.ru_utime.tv_usec as f64 * 1e3
}

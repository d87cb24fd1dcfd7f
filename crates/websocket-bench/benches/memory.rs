//! `make bench-generator`, second part: what an idle connection costs the generator.
//!
//! Opens connections to a null server and holds them, a few and many, and prints how much the
//! resident size of the generator differs per connection: user space alone. What the kernel holds in
//! the sockets' queues is printed apart; its fixed part, some 2 to 3 KiB of slab memory per socket,
//! is not in either.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use record::{MemoryUse, RunRecord};
use std::path::Path;
use std::process::{Command, Stdio};
use test_servers::{NullOptions, NullServer};

const FEW: u64 = 1_000;
const MANY: u64 = 15_000;
const ROUNDS: usize = 3;
/// What an idle connection may cost, in bytes of the generator.
const MOST: f64 = 512.0;

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    let port = server.addr().port();
    println!("memory of the generator per idle connection, {ROUNDS} rounds");
    let mut worst: f64 = 0.0;
    for _ in 0..ROUNDS {
        let few = held(port, FEW, directory.path());
        let many = held(port, MANY, directory.path());
        let resident = |used: &MemoryUse| used.after.resident_bytes as f64;
        let each = (resident(&many) - resident(&few)) / (MANY - FEW) as f64;
        worst = worst.max(each);
        println!(
            "  {each:.0} bytes between {FEW} and {MANY} connections; {:.0} bytes with all that is needed once; kernel: {:.0} bytes in queues",
            many.process_bytes_per_connection.unwrap_or(f64::NAN),
            many.socket_bytes_per_connection.unwrap_or(f64::NAN),
        );
    }
    assert!(worst <= MOST, "{worst:.0} bytes are more than {MOST:.0}");
}

fn held(port: u16, connections: u64, directory: &Path) -> MemoryUse {
    let record = directory.join("record.json");
    let status = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .args(["connect", &format!("ws://127.0.0.1:{port}/")])
        .args(["--clients", &connections.to_string()])
        .args(["--hold", "5s", "--ping-interval", "5s", "--limit-rtt", "9s"])
        .arg("--json")
        .arg(&record)
        .stdout(Stdio::null())
        .status()
        .expect("websocket-bench runs");
    assert!(status.success(), "websocket-bench ended with {status}");
    let text = std::fs::read_to_string(&record).expect("the record is there");
    let record: RunRecord = serde_json::from_str(&text).expect("the record is read");
    let connections = record.steps[0].connections.as_ref();
    connections
        .and_then(|of| of.generator)
        .expect("a connect step has it")
}

//! `make bench-generator`, seventh part: what a client that leaves and comes back costs the generator,
//! beside one that is opened once.
//!
//! 10,000 clients come and go, each by itself, so that 4,000 of them come back in a second: a close
//! handshake, a new connection and an upgrade each. Beside it the same generator opens 10,000
//! connections at 4,000 in a second. Server and generator have a core each. A hundred clients that
//! stay are echoed to, a hundred times a second, since a step needs some. `-- --rounds N` changes the
//! number of rounds.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod common;

use common::{Spread, median, option, pin};
use record::{RunRecord, StepRecord};
use std::ffi::OsStr;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use test_servers::{NullOptions, NullServer};

const CLIENTS: u32 = 10_000;
const STAY: u32 = 100;
/// Mean time there and away: a client comes back every 2.5 seconds.
const PER_SECOND: f64 = 4_000.0;
const SECONDS: u32 = 10;
/// The least share of the planned returns: a stay begins when a client is ready, so that each
/// handshake puts off the next leave.
const REACHED: f64 = 0.95;
/// What a return may cost, as a multiple of a connection that is opened: it is such an opening, a close
/// handshake, and the kernel's end of the connection.
const MOST: f64 = 3.0;
/// With fewer, ports that were just used would have to be used again.
const SOURCES: &str =
    r#"["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"]"#;

/// One round.
struct Round {
    per_second: f64,
    /// CPU of the generator per return, and per connection of the other run.
    return_ns: f64,
    opening_ns: f64,
    busiest: f64,
    /// How late the latest of 99 percent of the attempts was.
    late_ns: f64,
}

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(5);
    let directory = tempfile::tempdir().expect("a temporary directory");
    pin(0);
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    pin(1);
    let rounds: Vec<Round> = (0..rounds)
        .map(|_| round(server.addr(), directory.path()))
        .collect();
    let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure));
    println!(
        "{CLIENTS} clients that come and go, {} rounds, medians",
        rounds.len()
    );
    println!(
        "| returns per second | {:.0} |",
        of(|round| round.per_second)
    );
    println!(
        "| CPU per return | {:.1} us |",
        of(|round| round.return_ns) / 1e3
    );
    println!(
        "| CPU per opening | {:.1} us |",
        of(|round| round.opening_ns) / 1e3
    );
    println!("| of the core | {:.2} |", of(|round| round.busiest));
    println!(
        "| lateness, p99 | {:.1} ms |",
        of(|round| round.late_ns) / 1e6
    );
    let ratio = Spread::new(
        rounds
            .iter()
            .map(|round| round.return_ns / round.opening_ns),
    );
    println!("a return, as a multiple of an opening: {ratio}");
    let reached = of(|round| round.per_second);
    assert!(
        reached >= PER_SECOND * REACHED,
        "{reached:.0} clients came back in a second, fewer than {PER_SECOND:.0}"
    );
    assert!(
        ratio.median <= MOST,
        "a return costs {:.2} times an opening, more than {MOST}",
        ratio.median
    );
}

fn round(server: SocketAddr, directory: &Path) -> Round {
    let plan = directory.join("plan.toml");
    let text = format!(
        "audience = \"sender\"\n[[populations]]\nshare = 1\n[[populations]]\nshare = {}\n\
         life = {{ comes_and_goes = {{ stays = \"2s\", away = \"500ms\" }} }}\n\
         reconnect = {{ first = \"100ms\" }}\n[clients.steps]\nfirst = {}\ncount = 1\n\
         [load.open]\nrate = 100.0\nduration = \"{SECONDS}s\"\n[limits]\ntime = \"9s\"\n\
         [connection]\nat_once = 500\n[target]\nlocal_addrs = {SOURCES}\n[generator]\nthreads = 1\n",
        CLIENTS / STAY,
        CLIENTS + STAY,
    );
    fs::write(&plan, text).expect("the plan is written");
    let url = format!("ws://{server}/");
    let returns = step(directory, ["run".as_ref(), plan.as_os_str(), url.as_ref()]);
    let churn = returns.churn.as_ref().expect("clients left");
    assert!(returns.faults.is_empty(), "{}", returns.faults);
    assert_eq!(churn.failures.total(), 0, "{:?}", churn.first_failure);
    let clients = CLIENTS.to_string();
    let rate = PER_SECOND.to_string();
    let arguments = [
        "connect",
        &url,
        "--clients",
        &clients,
        "--connect-rate",
        &rate,
    ];
    let more = ["--hold", "1s", "--limit-rtt", "9s", "--threads", "1"];
    let opened = step(directory, arguments.iter().chain(&more).map(OsStr::new));
    let lag = churn.attempt_lag.as_ref().expect("clients came back");
    Round {
        per_second: churn.reconnected as f64 / f64::from(SECONDS),
        return_ns: returns.generator.cpu_ns as f64 / churn.reconnected as f64,
        opening_ns: opened.generator.cpu_ns as f64 / f64::from(CLIENTS),
        busiest: returns.generator.busiest_thread,
        late_ns: lag.p99_ns as f64,
    }
}

/// The only step of a run with these arguments.
fn step<'a>(directory: &Path, arguments: impl IntoIterator<Item = &'a OsStr>) -> StepRecord {
    let record = directory.join("record.json");
    let status = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .args(arguments)
        .arg("--json")
        .arg(&record)
        .stdout(Stdio::null())
        .status()
        .expect("websocket-bench runs");
    assert!(status.success(), "websocket-bench ended with {status}");
    let text = fs::read_to_string(&record).expect("the record is there");
    let record: RunRecord = serde_json::from_str(&text).expect("the record is read");
    record.steps.into_iter().next().expect("there was a step")
}

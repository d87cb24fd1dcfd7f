//! `throughput`: echoes per millisecond of a raw echo server.
//!
//! The load generator with the arguments of the program of that name among the benchmarks of
//! uWebSockets (2016). Unlike that program, it checks every byte that comes back.

mod common;

use clap::Parser;
use record::{End, FileLimit};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Send messages to a raw echo server on this machine, which sends every message back as it came.
/// Each iteration sends numberOfConnections packs of framesPerSend messages, each over a connection
/// chosen at random, and waits for all echoes. Prints echoes per millisecond, averaged over the whole
/// time; every message of a pack counts. Messages are binary, and every byte of an echo is checked.
#[derive(Parser)]
#[command(version, after_help = EXIT)]
struct Args {
    /// Connections
    #[arg(value_name = "numberOfConnections", value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_CLIENTS_A_STEP)))]
    connections: u32,
    /// Payload of each message
    #[arg(value_name = "payloadByteSize", value_parser = clap::value_parser!(u64).range(0..=1 << 40))]
    payload_bytes: u64,
    /// Messages that are sent in one write over one connection
    #[arg(value_name = "framesPerSend", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    frames: u32,
    /// Port of 127.0.0.1 that the server listens on
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Start no new iteration after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// Give up when nothing has come back for this long
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    timeout: Duration,
    /// Threads, each with its share of the connections and iterations of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_THREADS)))]
    threads: u32,
}

const EXIT: &str = "\
Exit codes:
  0    measured
  1    wrong usage, or not all connections could be opened
  3    the result is invalid: an echo was wrong or did not come, or a connection was lost
  130  interrupted; the average so far is printed
  141  the reader of stdout closed it";

fn main() -> ExitCode {
    common::run("throughput", throughput)
}

fn throughput(args: &Args) -> Result<u8, Box<dyn Error>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupted))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)))?;
    }
    FileLimit::raise();
    let mut plan = ws_load::plan_for_port(args.port, args.connections, std::process::id().into());
    plan.generator.threads = args.threads.min(args.connections);
    plan.limits.sample_timeout = args.timeout.into();
    let packs = ws_load::Packs {
        payload: args.payload_bytes,
        pack: args.frames,
        duration: args.duration.into(),
    };
    let found = ws_load::throughput(&plan, packs, &interrupted)?;
    let end = found.outcome.end;
    if !matches!(end, End::StepsDone | End::Interrupted) {
        let _ = writeln!(io::stderr(), "throughput: {}", found.outcome.detail);
    }
    if matches!(end, End::ConnectFailed | End::MachineLimit) {
        return Ok(1);
    }
    let told = writeln!(
        io::stdout(),
        "Throughput: {:.6} echoes/ms ({} echoes in {:.2} s, {} iterations)",
        found.echoes_per_ms(),
        found.echoes,
        found.elapsed_ns as f64 / 1e9,
        found.iterations
    );
    if let Some(code) = common::closed(told)? {
        return Ok(code);
    }
    Ok(match end {
        End::StepsDone => 0,
        End::Interrupted => 130,
        _ => 3,
    })
}

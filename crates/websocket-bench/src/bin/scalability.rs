//! `scalability`: how fast a server takes connections, and how many fit into a megabyte of it.
//!
//! `websocket-bench connect` with the arguments and the output of the program of that name among the benchmarks of uWebSockets (2016).

mod common;

use clap::Parser;
use record::{FileLimit, MemoryUse, RunRecord, StepRecord};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Open connections to a WebSocket server on this machine, as fast as it takes them. Prints
/// connections per millisecond, and connections per megabyte (1,048,576 bytes) of the server's memory:
/// the growth of the process that listens on the port and of those that belong to it.
#[derive(Parser)]
#[command(version, after_help = EXIT)]
struct Args {
    /// Connections to open
    #[arg(value_name = "numberOfConnections", value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_CLIENTS_A_STEP)))]
    connections: u32,
    /// Port of 127.0.0.1 that the server listens on
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Threads that open the connections
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_THREADS)))]
    threads: u32,
}

const EXIT: &str = "\
Exit codes:
  0    measured
  1    wrong usage, or not all connections could be opened
  3    the server dropped connections
  130  interrupted
  141  the reader of stdout closed it";

fn main() -> ExitCode {
    common::run("scalability", scalability)
}

fn scalability(args: &Args) -> Result<u8, Box<dyn Error>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    FileLimit::raise();
    let mut plan = ws_load::plan_for_port(args.port, args.connections, std::process::id().into());
    plan.generator.threads = args.threads;
    let measured = ws_load::run(&plan, &interrupted, &mut |_| {})?;
    let Some(step) = measured.steps.first() else {
        if measured.outcome.end == record::End::Interrupted {
            return Ok(130);
        }
        return Err(String::from(measured.outcome.detail).into());
    };
    let told = tell(step);
    if RunRecord::carried(&measured.steps).is_none() {
        let _ = writeln!(io::stderr(), "scalability: {}", measured.outcome.detail);
    }
    if let Some(code) = common::closed(told)? {
        return Ok(code);
    }
    Ok(match step.connections.as_deref() {
        Some(of) if of.opened < of.planned => 1,
        Some(of) if of.drops.total() > 0 => 3,
        _ => 0,
    })
}

fn tell(step: &StepRecord) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let Some(of) = step.connections.as_deref() else {
        return Ok(());
    };
    writeln!(
        out,
        "Connection performance: {} connections/ms",
        figures(of.opened_per_second / 1e3)
    )?;
    match per_megabyte(of.server.as_ref()) {
        Some(each) => writeln!(out, "Memory performance: {} connections/mb", figures(each)),
        None => {
            let reason = of
                .server_unknown
                .as_deref()
                .unwrap_or("the memory of the server has not grown");
            writeln!(out, "Memory performance: unknown connections/mb ({reason})")
        }
    }
}

fn per_megabyte(used: Option<&MemoryUse>) -> Option<f64> {
    let each = used?.process_bytes_per_connection?;
    (each > 0.0).then(|| f64::from(1 << 20) / each)
}

/// Six digits, as the ancestor printed them.
fn figures(value: f64) -> String {
    let before = (value.abs().max(1.0).log10() as usize + 1).min(6);
    format!("{value:.*}", 6 - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_six_digits() {
        assert_eq!(figures(72.432_34), "72.4323");
        assert_eq!(figures(2695.2456), "2695.25");
        assert_eq!(figures(0.5), "0.50000");
        assert_eq!(figures(12_345_678.0), "12345678");
    }
}

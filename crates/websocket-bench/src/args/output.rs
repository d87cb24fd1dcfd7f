//! What a run writes, and what decides its exit code.

use crate::expect::Expectation;
use clap::Args;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// Print the plan as a file for `websocket-bench run`, and end without a run
    #[arg(long)]
    pub(crate) print_plan: bool,
    /// Write the run record to a file (docs/result-format.md), or to stdout (`-`) as one line at
    /// the end, in place of the human output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a table to a file, or to stdout (`-`) in place of the human output: one line per step, with
    /// the names of docs/result-format.md
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a table to a file, or to stdout (`-`): one line for each second of each step, with what was
    /// sent and received, and how many connections ended, and how
    #[arg(long, value_name = "FILE")]
    pub(crate) csv_series: Option<PathBuf>,
    /// Write JUnit XML to a file, for the display of a CI: one test case for the run and one for each
    /// --expect
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a page to a file: latency as a heat map, messages over time, percentiles, faults, what the
    /// generator did, the environment and the plan. It needs no other file and no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write events as JSON lines to a file, or to stdout (`-`) in place of the human output
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Serve metrics for Prometheus at http://ADDRESS/metrics while the run lasts, e.g. 127.0.0.1:9464.
    /// If they are read, the program ends when they have been read once more after the run
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Push metrics to a collector of OpenTelemetry (OTLP over gRPC) every 5 s while the run lasts and
    /// once when it has ended, e.g. http://127.0.0.1:4317
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Show more of each step: all latencies, the uncertainty of shared receive timestamps,
    /// the generator's own use and lag, the number in flight by Little's law, and the reasons for the
    /// verdict
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// On a terminal, show the last minute above the progress bar as a heat map: a column for each
    /// second, a line for a range of latencies
    #[arg(long, conflicts_with = "no_progress")]
    pub(crate) live: bool,
    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// Exit with code 2 unless this holds: `clients>=5000`; for every step `p99<50ms`,
    /// `delivery.p95<20ms`, `ack.max<1s`, `received>=10000/s`, `sent>=100/s`, and of clients that
    /// were cut off `back.p95<5s`, `back.max<10s`; for all steps together `faults<=0`, `drops<=0`.
    /// Repeat it for more than one
    #[arg(long, value_name = "EXPECTATION")]
    pub(crate) expect: Vec<Expectation>,
}

impl Output {
    /// Every output that has a place, with its flag.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let places = [
            ("--json", &self.json),
            ("--csv", &self.csv),
            ("--csv-series", &self.csv_series),
            ("--junit", &self.junit),
            ("--html", &self.html),
            ("--events", &self.events),
        ];
        places
            .into_iter()
            .filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }
}

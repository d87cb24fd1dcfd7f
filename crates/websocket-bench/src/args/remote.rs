//! Flags of a run over several processes and machines.

use super::duration;
use clap::Args;
use remote::{Address, Allowed};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Where the connections of a run are made, when not in this process alone.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several processes and machines")]
pub(crate) struct Sites {
    /// Run on the worker that listens at this address (`websocket-bench worker`). Repeat it to use
    /// several. With -l, this process opens connections from those addresses as well
    #[arg(short, long, value_name = "HOST:PORT")]
    pub(crate) worker_addr: Vec<Address>,
    /// Run in N processes on this machine. The limit on open files applies to each of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) processes: Option<u32>,
    /// Run on N workers that connect to this process (`websocket-bench worker --coordinator`)
    #[arg(long, value_name = "N", requires = "listen", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) await_workers: Option<u32>,
    /// Address on which to wait for these workers
    #[arg(long, value_name = "HOST:PORT", requires = "await_workers")]
    pub(crate) listen: Option<Address>,
    /// How long to wait for these workers
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "await_workers")]
    pub(crate) await_timeout: Duration,
    #[command(flatten)]
    pub(crate) credentials: Credentials,
}

impl Sites {
    /// True when the run is not this process's alone.
    pub(crate) fn are_several(&self) -> bool {
        self.are_elsewhere() || self.processes.is_some()
    }

    /// How many sites the run has; none of a run of this process alone.
    pub(crate) fn count(&self) -> u32 {
        let elsewhere = self.worker_addr.len() as u32 + self.await_workers.unwrap_or(0);
        self.processes.unwrap_or(0) + elsewhere
    }

    /// True when workers take part that were started separately, perhaps on other machines.
    pub(crate) fn are_elsewhere(&self) -> bool {
        !self.worker_addr.is_empty() || self.await_workers.is_some()
    }
}

/// What coordinator and workers show each other.
#[derive(Debug, Args)]
#[command(next_help_heading = "Credentials (the same on both sides; not needed on loopback)")]
pub(crate) struct Credentials {
    /// File with a token that both sides know [default: the variable WEBSOCKET_BENCH_TOKEN].
    /// Without TLS it is sent in clear text
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Mutual TLS: PEM file with the own certificate
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Mutual TLS: PEM file with the key of that certificate
    #[arg(long, value_name = "FILE", requires_all = ["tls_cert", "tls_ca"])]
    pub(crate) tls_key: Option<PathBuf>,
    /// Mutual TLS: PEM file with the authority that issued the other side's certificate
    #[arg(long, value_name = "FILE", requires_all = ["tls_cert", "tls_key"])]
    pub(crate) tls_ca: Option<PathBuf>,
}

/// A worker.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Address to listen on for coordinators
    #[arg(short, long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) address: String,
    /// Port to listen on; 0 takes a free port and prints it
    #[arg(short, long, default_value_t = 4000)]
    pub(crate) port: u16,
    /// Connect to this coordinator for one run, in place of listening. The coordinator is started
    /// with --await-workers and --listen
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["address", "port"])]
    pub(crate) coordinator: Option<Address>,
    /// How long to wait for the coordinator
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "coordinator")]
    pub(crate) await_timeout: Duration,
    /// Source address to connect from, in place of those of the run. Repeat it to use several
    #[arg(short, long, value_name = "ADDRESS")]
    pub(crate) local_addr: Vec<IpAddr>,
    /// Worker threads, in place of the number of the run [default: that of the run, else one per
    /// core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_THREADS)))]
    pub(crate) threads: Option<u32>,
    /// This machine's copy of a run's data file, which is not sent to workers
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// This machine's copy of a run's file of --payload-lines, which is not sent to workers
    #[arg(long, value_name = "FILE")]
    pub(crate) payload_lines: Option<PathBuf>,
    /// Load only this server. Repeat it for more than one [default: any]
    #[arg(long, value_name = "HOST[:PORT]|CIDR")]
    pub(crate) allow: Vec<Allowed>,
    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The coordinator has started this process and ends it
    #[arg(long, hide = true, requires = "coordinator")]
    pub(crate) child: bool,
    #[command(flatten)]
    pub(crate) credentials: Credentials,
}

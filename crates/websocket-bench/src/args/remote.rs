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
    /// Run on the worker that listens there (`websocket-bench worker`); repeat it for more than
    /// one. With -l, this process makes connections from those addresses beside them
    #[arg(short, long, value_name = "HOST:PORT")]
    pub(crate) worker_addr: Vec<Address>,
    /// Run in so many processes of this machine: each may open as many files as one process may
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) processes: Option<u32>,
    /// Run on so many workers that dial in (`websocket-bench worker --coordinator`)
    #[arg(long, value_name = "N", requires = "listen", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) await_workers: Option<u32>,
    /// Where to wait for them
    #[arg(long, value_name = "HOST:PORT", requires = "await_workers")]
    pub(crate) listen: Option<Address>,
    /// How long to wait for them
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

    /// True when workers that were started by somebody else take part, perhaps on other machines.
    pub(crate) fn are_elsewhere(&self) -> bool {
        !self.worker_addr.is_empty() || self.await_workers.is_some()
    }
}

/// What coordinator and workers show each other.
#[derive(Debug, Args)]
#[command(next_help_heading = "Credentials (both sides alike; needed but on loopback)")]
pub(crate) struct Credentials {
    /// File with a token that both sides know [default: the variable WEBSOCKET_BENCH_TOKEN].
    /// It is sent in clear text unless TLS is used
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Mutual TLS: own certificate, PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Mutual TLS: key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls_cert", "tls_ca"])]
    pub(crate) tls_key: Option<PathBuf>,
    /// Mutual TLS: authority that the other side's certificate must come from, PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls_cert", "tls_key"])]
    pub(crate) tls_ca: Option<PathBuf>,
}

/// A worker.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Address to wait on for coordinators
    #[arg(short, long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) address: String,
    /// Port to wait on; 0 takes a free one, which is printed
    #[arg(short, long, default_value_t = 4000)]
    pub(crate) port: u16,
    /// Join this coordinator for one run (it is started with --await-workers and --listen) instead
    /// of waiting for coordinators
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["address", "port"])]
    pub(crate) coordinator: Option<Address>,
    /// How long to wait until the coordinator is there
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "coordinator")]
    pub(crate) await_timeout: Duration,
    /// Source address to connect from, whatever the run says; repeat it for more than one
    #[arg(short, long, value_name = "ADDRESS")]
    pub(crate) local_addr: Vec<IpAddr>,
    /// Worker threads, whatever the run says [default: the run's, else one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Load only this server; repeat it for more than one [default: any]
    #[arg(long, value_name = "HOST[:PORT]|CIDR")]
    pub(crate) allow: Vec<Allowed>,
    /// Say nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The coordinator has started this process and ends it
    #[arg(long, hide = true, requires = "coordinator")]
    pub(crate) child: bool,
    #[command(flatten)]
    pub(crate) credentials: Credentials,
}

//! The command line. One definition gives parsing, help, man page and completions.

mod compression;
mod format;
mod handshake;
mod import;
mod output;
mod remote;
mod tls;
mod values;

pub(crate) use format::Format;
pub(crate) use handshake::Handshake;
pub(crate) use import::ImportArgs;
pub(crate) use output::Output;
pub(crate) use remote::{Credentials, Sites, WorkerArgs};
pub(crate) use tls::Tls;
use values::{connect_rate, duration, header_value, percentile, precision, rate};

use crate::exit;
use clap::{Args, Parser, Subcommand, ValueEnum};
use plan_file::Set;
use selftest::Part;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Find how many WebSocket connections a server carries before its 95th-percentile broadcast
/// time passes a limit.
#[derive(Debug, Parser)]
#[command(name = "websocket-bench", version, after_help = EXAMPLES)]
// A script gives its flags, and what its caller adds comes after them.
#[command(max_term_width = 100, args_override_self = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Example:
  websocket-bench broadcast ws://127.0.0.1:3334/ws --concurrent 10 --sample-size 100 \\
      --step-size 1000 --limit-percentile 95 --limit-rtt 250ms

`websocket-bench broadcast --help` says more.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// 1 to many: one client's message goes to every client
    #[command(after_help = exit::HELP, after_long_help = exit::HELP)]
    #[command(override_usage = "websocket-bench broadcast <URL> [OPTIONS]")]
    Broadcast(BroadcastArgs),
    /// 1 to 1: each message is answered to its sender
    #[command(after_help = exit::HELP, after_long_help = exit::HELP)]
    #[command(override_usage = "websocket-bench echo <URL> [OPTIONS]")]
    Echo(EchoArgs),
    /// Open connections, hold them with pings, and show what they cost
    #[command(after_help = exit::HELP, after_long_help = exit::HELP)]
    #[command(override_usage = "websocket-bench connect <URL> [OPTIONS]")]
    Connect(ConnectArgs),
    /// Carry out a plan from a file
    ///
    /// Flags for messages and connections override the plan. A header, cookie or parameter replaces the
    /// one of the same name; any other flag replaces the whole key.
    #[command(after_help = exit::HELP, after_long_help = exit::HELP)]
    #[command(override_usage = "websocket-bench run <PLAN> [URL] [--set KEY=VALUE]... [OPTIONS]")]
    Run(RunArgs),
    /// Make a plan from a capture: a HAR file from a browser or mitmproxy, or a list of frames
    #[command(after_help = import::HELP, after_long_help = import::HELP)]
    #[command(override_usage = "websocket-bench import <CAPTURE> [OPTIONS] > PLAN.toml")]
    Import(ImportArgs),
    /// Print the page of a record as HTML (as --html FILE writes it)
    Page {
        /// A run record of --json, or a measurement of `shootout run`
        record: PathBuf,
    },
    /// Open connections for runs of other processes, which use -w or --await-workers
    #[command(after_help = exit::WORKER_HELP, after_long_help = exit::WORKER_HELP)]
    Worker(WorkerArgs),
    /// Test this generator: measure servers whose behaviour is known, and print a certificate
    #[command(after_help = exit::SELFTEST_HELP, after_long_help = exit::SELFTEST_HELP)]
    Selftest(SelftestArgs),
    /// Write the JSON Schema of a plan to stdout, for editors
    Schema,
    /// Write a completion script for a shell to stdout
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write man pages into a directory
    Man {
        /// The directory
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BroadcastArgs {
    /// Where to connect: ws://HOST[:PORT]/PATH or wss://...
    pub(crate) url: String,

    #[command(flatten)]
    pub(crate) load: BroadcastLoad,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct BroadcastLoad {
    /// Broadcasts in flight at any time. The next is sent when one is complete
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_IN_FLIGHT)))]
    pub(crate) concurrent: u32,
    /// Broadcasts per step
    #[arg(short, long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_SAMPLES)))]
    pub(crate) sample_size: u32,
    /// Which latency the limit applies to
    #[arg(long, value_enum, default_value_t = Measure::Completion)]
    pub(crate) measure: Measure,
    #[command(flatten)]
    pub(crate) open: OpenLoop,
}

/// Sends by the clock, the same for both workloads.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Open loop (send at a fixed rate, even when the server falls behind)"
)]
pub(crate) struct OpenLoop {
    /// Send R requests per second over all clients, in place of --concurrent and --sample-size. A:B/TIME changes the rate from A to B in a straight line over TIME
    #[arg(long, value_name = "R", value_parser = rate, conflicts_with_all = ["concurrent", "sample_size"])]
    pub(crate) rate: Option<Rate>,
    /// How the sends are spread over time
    #[arg(long, value_enum, default_value_t = Arrivals::Poisson, requires = "rate")]
    pub(crate) arrivals: Arrivals,
    /// Length of the measurement of each step, at least the length of a ramp [default: 10s, or the
    /// length of the ramp if that is longer]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "rate")]
    pub(crate) duration: Option<Duration>,
    /// Time at the start of each step in which requests are sent but not timed [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "rate")]
    pub(crate) warm_up: Option<Duration>,
}

/// A rate per second that may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) from: f64,
    pub(crate) ramp: Option<(f64, Duration)>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Arrivals {
    /// At equal distances
    Constant,
    /// At random, as from many independent users (a Poisson process)
    Poisson,
}

#[derive(Debug, Args)]
pub(crate) struct EchoArgs {
    /// Where to connect: ws://HOST[:PORT]/PATH or wss://...
    pub(crate) url: String,

    #[command(flatten)]
    pub(crate) load: EchoLoad,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct EchoLoad {
    /// Echoes in flight at any time. The next is sent when one has come back
    #[arg(short, long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_IN_FLIGHT)))]
    pub(crate) concurrent: u32,
    /// Echoes per step
    #[arg(short, long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_SAMPLES)))]
    pub(crate) sample_size: u32,
    #[command(flatten)]
    pub(crate) open: OpenLoop,
}

#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Take fewer samples, in under a minute. An inconclusive part is then no error
    #[arg(long)]
    pub(crate) short: bool,
    /// Write the certificate, or what came of --plans, to a file (docs/result-format.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Run only these parts, separated by commas
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    pub(crate) only: Vec<Part>,
    /// Instead of the parts, carry out N random plans, each against a server that records what it does.
    /// The record of each must agree with what its server knows
    #[arg(long, value_name = "N", conflicts_with_all = ["short", "only", "timestamps", "io"])]
    pub(crate) plans: Option<std::num::NonZeroU64>,
    /// Seed of every random choice, such as the numbers of faults [default: random, printed]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where a latency ends. Part a fails with `user`: the server looks slow while the generator
    /// is stopped
    #[arg(long, value_enum, default_value_t = Timestamps::Auto)]
    pub(crate) timestamps: Timestamps,
    /// How sockets are read. io_uring costs less, epoll works on every Linux
    #[arg(long, value_enum, default_value_t = Io::Auto)]
    pub(crate) io: Io,
}

/// Everything that the workloads with requests share.
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) steps: Steps,
    #[command(flatten)]
    pub(crate) search: Searching,
    #[command(flatten)]
    pub(crate) messages: Messages,
    #[command(flatten)]
    pub(crate) connections: Connections,
    #[command(flatten)]
    pub(crate) sites: Sites,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    /// Where to connect: ws://HOST[:PORT]/PATH or wss://...
    pub(crate) url: String,

    #[command(flatten)]
    pub(crate) load: ConnectLoad,
    #[command(flatten)]
    pub(crate) steps: Steps,
    #[command(flatten)]
    pub(crate) connections: Connections,
    #[command(flatten)]
    pub(crate) sites: Sites,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// A plan from a file.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The plan, a TOML file (docs/plan.md); `-` reads it from stdin
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Where to connect: ws://HOST[:PORT]/PATH or wss://... [default: target.url of the plan]
    pub(crate) url: Option<String>,
    /// Change one key of the plan, e.g. load.rate=200 or message.dialect=binary; repeat it for more
    /// than one
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Set>,

    #[command(flatten)]
    pub(crate) format: Format,
    /// Origin header of the handshake, e.g. http://localhost/
    #[arg(short, long, value_name = "URL", value_parser = header_value, help_heading = "Messages and connections")]
    pub(crate) origin: Option<String>,
    #[command(flatten)]
    pub(crate) tls: Tls,
    #[command(flatten)]
    pub(crate) handshake: Handshake,
    #[command(flatten)]
    pub(crate) sites: Sites,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct ConnectLoad {
    /// Open this many connections in one step; short for --initial-clients N --total-steps 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_CLIENTS_A_STEP)), conflicts_with_all = ["initial_clients", "step_size", "total_steps"])]
    pub(crate) clients: Option<u32>,
    /// Start R connections per second, even when the server falls behind [default: as fast as the
    /// server takes them, --connect-concurrency at once]
    #[arg(long, value_name = "R", value_parser = connect_rate, conflicts_with = "connect_concurrency")]
    pub(crate) connect_rate: Option<f64>,
    /// How the starts are spread over time
    #[arg(long, value_enum, default_value_t = Arrivals::Poisson, requires = "connect_rate")]
    pub(crate) arrivals: Arrivals,
    /// How long the connections are held once all are open
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) hold: Duration,
    /// Time between two pings of each connection
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) ping_interval: Duration,
    /// Count a connection as dropped when a ping is not answered within this time, which is at most
    /// the interval [default: the interval]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) ping_timeout: Option<Duration>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Steps")]
pub(crate) struct Steps {
    /// Clients of the first step [default: the step size]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_CLIENTS_A_STEP)))]
    pub(crate) initial_clients: Option<u32>,
    /// Clients added for each further step
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_CLIENTS_A_STEP)))]
    pub(crate) step_size: u32,
    /// End after this many steps [default: when a step is over the limit; 1 with --rate]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) total_steps: Option<u32>,
    /// Percentile that the limit applies to, above 0 and at most 100
    #[arg(long, value_name = "P", default_value = "95", value_parser = percentile)]
    pub(crate) limit_percentile: f64,
    /// Longest latency allowed at that percentile. The first step above it is the last
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = duration)]
    pub(crate) limit_rtt: Duration,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Steps")]
pub(crate) struct Searching {
    /// Search for the highest load within the limit, in place of steps of equal size. The load
    /// doubles from --initial-clients (or --rate) until it fails; then the gap is halved again and
    /// again
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, default_missing_value = "clients", conflicts_with = "total_steps")]
    pub(crate) search: Option<SearchOf>,
    /// With --search: a load at the edge is tried up to N times, and more than half of the tries
    /// decide. Every other load is tried once; until one has failed, a try takes a quarter of the time
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(i64::from(plan::TRIES.0)..=i64::from(plan::TRIES.1)), requires = "search")]
    pub(crate) search_tries: u32,
    /// With --search: stop when the highest load that passes and the lowest that fails are this
    /// close, in percent
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = precision, requires = "search")]
    pub(crate) search_precision: f64,
    /// Give up a step when one sample takes longer than this
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub(crate) sample_timeout: Duration,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Messages and connections")]
pub(crate) struct Messages {
    /// Bytes of padding in each payload, at most 16776192 (servers take messages of 16 MiB)
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=i64::from(plan::MOST_PADDING)))]
    pub(crate) payload_padding: u32,
    /// Text file whose lines requests carry in place of padding: request n has line n, modulo the
    /// number of lines
    #[arg(long, value_name = "FILE", conflicts_with = "payload_padding")]
    pub(crate) payload_lines: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Messages and connections")]
pub(crate) struct Connections {
    #[command(flatten)]
    pub(crate) format: Format,
    /// Origin header of the handshake, e.g. http://localhost/
    #[arg(short, long, value_name = "URL", value_parser = header_value)]
    pub(crate) origin: Option<String>,
    /// Offer permessage-deflate (RFC 7692) and run only if the server turns it on. Parameters as in
    /// its header: server_no_context_takeover, client_no_context_takeover,
    /// server_max_window_bits=8..15, client_max_window_bits[=8..15]; and level=1..9 of what is sent
    #[arg(long, value_name = "PARAMETERS", num_args = 0..=1, default_missing_value = compression::DEFAULT, value_parser = compression::parse)]
    pub(crate) compression: Option<plan::Compression>,
    /// Split requests longer than BYTES into fragments of that size, as browsers do with long
    /// messages [default: one frame for each]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(i64::from(plan::FRAGMENTS.0)..=i64::from(plan::FRAGMENTS.1)))]
    pub(crate) fragment: Option<u32>,
    /// Source address to connect from. Repeat it to use several in turn [default: the system
    /// chooses; `connect` uses as many addresses of 127.0.0.0/8 as a server on loopback needs]
    #[arg(short, long, value_name = "ADDRESS")]
    pub(crate) local_addr: Vec<IpAddr>,
    /// Where a latency ends: at the kernel's receive timestamp, or when the generator reads the bytes
    #[arg(long, value_enum, default_value_t = Timestamps::Auto)]
    pub(crate) timestamps: Timestamps,
    /// How sockets are read. io_uring costs less, epoll works on every Linux
    #[arg(long, value_enum, default_value_t = Io::Auto)]
    pub(crate) io: Io,
    /// Handshakes under way at once, of all threads and processes together. A server with a small
    /// accept queue takes about 50
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_HANDSHAKES)))]
    pub(crate) connect_concurrency: u32,
    /// Give up a client that is not ready within this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) connect_timeout: Duration,
    /// Worker threads, as many as --connect-concurrency at most [default: one per core that this
    /// process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(plan::MOST_THREADS)))]
    pub(crate) threads: Option<u32>,
    /// Seed of every random choice (senders, masks) [default: random, kept in the record]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) tls: Tls,
    #[command(flatten)]
    pub(crate) handshake: Handshake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchOf {
    /// The number of clients
    Clients,
    /// The rate of an open loop; needs --rate to begin with
    Rate,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Timestamps {
    /// The kernel's timestamp if there is one, else the generator's read
    Auto,
    /// When the bytes reached this machine, so that a busy generator does not make the server look
    /// slow
    Kernel,
    /// When the generator has read them
    User,
}

impl Timestamps {
    /// None leaves them to the machine.
    pub(crate) const fn given(self) -> Option<plan::Timestamps> {
        match self {
            Self::Auto => None,
            Self::Kernel => Some(plan::Timestamps::Kernel),
            Self::User => Some(plan::Timestamps::User),
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Io {
    /// io_uring if it is available; epoll if workers take part that were started separately
    Auto,
    /// epoll, with one receive for each socket that is ready
    Epoll,
    /// io_uring, with multishot receives. It needs Linux 6.0, and it must not be disabled there
    Uring,
}

impl Io {
    /// None leaves it to the machine.
    pub(crate) const fn given(self) -> Option<plan::Io> {
        match self {
            Self::Auto => None,
            Self::Epoll => Some(plan::Io::Epoll),
            Self::Uring => Some(plan::Io::Uring),
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Measure {
    /// From the send to the receipt by the last listener
    Completion,
    /// From the send to the receipt by each listener
    Delivery,
    /// From the send to the sender's result: the figure of 2016
    Ack,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_names_every_exit_code() {
        let help = Cli::command()
            .find_subcommand_mut("broadcast")
            .unwrap()
            .render_help()
            .to_string();
        for code in [
            "\n  0 ", "\n  1 ", "\n  2 ", "\n  3 ", "\n  130 ", "\n  141 ",
        ] {
            assert!(help.contains(code), "{code:?} is missing");
        }
    }
}

//! The plan of a run: everything that decides what is sent, to where and when it stops.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which request is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// One client asks, the same client is answered.
    Echo,
    /// One client asks, every client is told, then the asker is answered.
    Broadcast,
    /// Nobody asks: connections are opened and held, with pings.
    Connect,
}

impl Workload {
    /// The word of records, command lines and manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
            Self::Connect => "connect",
        }
    }
}

/// The message format, called server type on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// JSON in text messages.
    Json,
    /// Type byte, size, payload in binary messages.
    Binary,
    /// Phoenix channels; the serializer follows from `vsn` in the URL.
    Phoenix,
    /// Action Cable.
    ActionCable,
}

/// Which latency the limit applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// From the send to the receipt by the last listener.
    Completion,
    /// From the send to the receipt by each listener.
    Delivery,
    /// From the send to the sender's result: the figure of 2016.
    Ack,
}

/// When a step is too slow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// Percentile that is compared, above 0 and at most 100.
    pub percentile: f64,
    /// Longest allowed latency at that percentile.
    pub rtt_ns: u64,
    /// Which latency is compared.
    pub measure: Measure,
}

/// How the moments of an open loop's sends are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At equal distances.
    Constant,
    /// With exponentially distributed gaps, as of many users who know nothing of one another.
    Poisson,
}

/// A rate that changes in a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ramp {
    /// The rate at its end and from then on, requests per second.
    pub to: f64,
    /// How long the change takes.
    pub over_ns: u64,
}

/// Requests sent by the clock, whatever the server does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLoop {
    /// Requests per second, of all clients together, at the start.
    pub rate: f64,
    /// How the rate changes from the start on.
    pub ramp: Option<Ramp>,
    /// How the sends are spread.
    pub arrivals: Arrivals,
    /// Length of the measurement of each step, after the warm-up.
    pub duration_ns: u64,
    /// Time at the start of each step in which requests are sent and checked but not timed.
    pub warm_up_ns: u64,
}

/// How connections are opened and held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Connecting {
    /// Connections opened per second, whatever the server does; absent when each waits for an
    /// earlier one, `connect_concurrency` of them at once.
    pub rate: Option<f64>,
    /// How the starts are spread, with a rate.
    pub arrivals: Arrivals,
    /// How long each step holds its connections once all are open.
    pub hold_ns: u64,
    /// Time between two pings of one connection.
    pub ping_interval_ns: u64,
    /// A connection whose ping is not answered within this counts as dropped. At most the interval,
    /// so that one ping at most is on its way.
    pub ping_timeout_ns: u64,
}

/// What a search varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchOf {
    /// The number of clients.
    Clients,
    /// The rate of an open loop.
    Rate,
}

/// A search for the highest load within the limit, in place of steps of equal size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// What is varied; it begins with the plan's own.
    pub of: SearchOf,
    /// Each side of the edge is tried until more than half of so many tries agree; on the way there
    /// one try decides.
    pub tries: u32,
    /// It ends when the highest load that passed and the lowest that failed differ by no more than
    /// this share of the latter.
    pub precision: f64,
}

/// What the end of a latency is taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timestamps {
    /// The kernel's receive stamp: when the bytes reached this machine.
    Kernel,
    /// The generator's own clock: when it had read them.
    #[default]
    User,
}

/// How the generator waits for its sockets and reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Io {
    /// epoll, and a receive for each report.
    #[default]
    Epoll,
    /// io_uring, with multishot receives.
    Uring,
}

/// How long the generator waits for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeouts {
    /// From the first byte of a connection attempt to the end of the handshake and of the
    /// dialect's subscription.
    pub connect_ns: u64,
    /// For one sample: from the send to its last receipt.
    pub sample_ns: u64,
}

/// The plan of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Where to connect: `ws://` or `wss://`.
    pub url: String,
    /// Which request is measured.
    pub workload: Workload,
    /// The message format.
    pub dialect: Dialect,
    /// `Origin` header of every handshake.
    pub origin: Option<String>,
    /// Source addresses, used in turn.
    pub local_addrs: Vec<std::net::IpAddr>,
    /// Sends by the clock; absent in a closed loop.
    pub open_loop: Option<OpenLoop>,
    /// Present in a `connect` run alone.
    #[serde(default)]
    pub connect: Option<Connecting>,
    /// Requests in flight at any time (closed loop).
    pub concurrent: u32,
    /// Requests per step (closed loop).
    pub sample_size: u32,
    /// Clients of the first step.
    pub initial_clients: u32,
    /// Clients added for each further step.
    pub step_size: u32,
    /// How loads are chosen when it is not by steps.
    pub search: Option<Search>,
    /// Number of steps after which the run ends, if the limit has not ended it before.
    pub total_steps: Option<u32>,
    /// Bytes of padding in each payload.
    pub payload_padding: u32,
    /// When a step is too slow.
    pub limit: Limit,
    /// How long to wait for the server.
    pub timeouts: Timeouts,
    /// What the end of a latency is taken from; `user` in records that do not say.
    #[serde(default)]
    pub timestamps: Timestamps,
    /// How sockets are read; `epoll` in records that do not say.
    #[serde(default)]
    pub io: Io,
    /// Handshakes under way at once.
    pub connect_concurrency: u32,
    /// Worker threads of the generator.
    pub threads: u32,
    /// Seed of every random choice: senders, masks, nonces.
    pub seed: u64,
    /// Whether a `wss://` server's certificate is checked.
    pub verify_certificate: bool,
    /// Extra certificate authorities, a PEM file.
    pub ca_file: Option<std::path::PathBuf>,
}

impl Plan {
    /// The latency that the limit applies to; an echo has only one.
    pub const fn limited(&self) -> Measure {
        match self.workload {
            Workload::Echo | Workload::Connect => Measure::Completion,
            Workload::Broadcast => self.limit.measure,
        }
    }

    /// The number of clients of a step, counted from 0.
    pub fn clients_at(&self, step: u32) -> u64 {
        u64::from(self.initial_clients) + u64::from(step) * u64::from(self.step_size)
    }
}

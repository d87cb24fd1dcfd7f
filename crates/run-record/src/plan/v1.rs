//! The plan of records of version 1, which had no parts. It is read and never written.

use super::{
    Arrivals, Audience, Clients, Closed, Connect, Connection, Dialect, Generator, Io, Limits, Load,
    Measure, Message, Nanos, OpenLoop, Plan, Ramp, Search, SearchOf, Steps, Target, Timestamps,
    Workload,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::net::IpAddr;
use std::path::PathBuf;

/// The plan of a record of any version: what has `url` on its first level is of version 1.
///
/// # Errors
/// Those of the deserializer.
pub(crate) fn of_any_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Plan, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let plan = if value.get("url").is_some() {
        serde_json::from_value::<PlanV1>(value).map(Plan::from)
    } else {
        serde_json::from_value(value)
    };
    plan.map_err(D::Error::custom)
}

#[derive(Deserialize)]
struct PlanV1 {
    url: String,
    workload: Workload,
    dialect: Dialect,
    origin: Option<String>,
    local_addrs: Vec<IpAddr>,
    open_loop: Option<OpenLoopV1>,
    connect: Option<ConnectingV1>,
    concurrent: u32,
    sample_size: u32,
    initial_clients: u32,
    step_size: u32,
    search: Option<SearchV1>,
    total_steps: Option<u32>,
    payload_padding: u32,
    limit: LimitV1,
    timeouts: TimeoutsV1,
    #[serde(default)]
    timestamps: Timestamps,
    #[serde(default)]
    io: Io,
    connect_concurrency: u32,
    threads: u32,
    seed: u64,
    verify_certificate: bool,
    ca_file: Option<PathBuf>,
}

#[derive(Deserialize)]
struct OpenLoopV1 {
    rate: f64,
    ramp: Option<RampV1>,
    arrivals: Arrivals,
    duration_ns: u64,
    warm_up_ns: u64,
}

#[derive(Deserialize)]
struct RampV1 {
    to: f64,
    over_ns: u64,
}

#[derive(Deserialize)]
struct ConnectingV1 {
    rate: Option<f64>,
    arrivals: Arrivals,
    hold_ns: u64,
    ping_interval_ns: u64,
    ping_timeout_ns: u64,
}

#[derive(Deserialize)]
struct SearchV1 {
    of: SearchOf,
    tries: u32,
    precision: f64,
}

#[derive(Deserialize)]
struct LimitV1 {
    percentile: f64,
    rtt_ns: u64,
    measure: Measure,
}

#[derive(Deserialize)]
struct TimeoutsV1 {
    connect_ns: u64,
    sample_ns: u64,
}

impl From<PlanV1> for Plan {
    fn from(old: PlanV1) -> Self {
        let (clients, load, audience) = (old.clients(), old.load(), old.audience());
        Self {
            target: Target {
                url: old.url,
                local_addrs: old.local_addrs,
                verify_certificate: old.verify_certificate,
                ca_file: old.ca_file,
                ..Target::default()
            },
            connection: Connection {
                origin: old.origin,
                at_once: old.connect_concurrency,
                timeout: Nanos(old.timeouts.connect_ns),
                ..Connection::default()
            },
            clients,
            warm_up: Nanos(0),
            audience,
            message: Message {
                sizes: None,
                lines: None,
                dialect: old.dialect,
                padding: old.payload_padding,
                definition: None,
            },
            limits: Limits {
                percentile: old.limit.percentile,
                of: old.limit.measure,
                time: Nanos(old.limit.rtt_ns),
                // A run without samples repeated the time-out of its pings there.
                sample_timeout: match load {
                    Load::Connect(_) => Limits::default().sample_timeout,
                    _ => Nanos(old.timeouts.sample_ns),
                },
                kept_bytes: None,
                back: None,
            },
            generator: Generator {
                threads: old.threads,
                io: old.io,
                timestamps: old.timestamps,
                seed: old.seed,
            },
            load,
            ..Self::default()
        }
    }
}

impl PlanV1 {
    fn clients(&self) -> Clients {
        match &self.search {
            Some(search) => Clients::Search(Search {
                of: search.of,
                first: self.initial_clients,
                tries: search.tries,
                precision: search.precision,
            }),
            None => Clients::Steps(Steps {
                first: self.initial_clients,
                add: self.step_size,
                count: self.total_steps,
            }),
        }
    }

    fn load(&self) -> Load {
        match (&self.connect, &self.open_loop) {
            (Some(connect), _) => Load::Connect(Connect {
                rate: connect.rate,
                arrivals: connect.arrivals,
                hold: Nanos(connect.hold_ns),
                ping_interval: Nanos(connect.ping_interval_ns),
                ping_timeout: Nanos(connect.ping_timeout_ns),
            }),
            (None, Some(open)) => Load::Open(OpenLoop {
                rate: open.rate,
                ramp: open.ramp.as_ref().map(|ramp| Ramp {
                    to: ramp.to,
                    over: Nanos(ramp.over_ns),
                }),
                arrivals: open.arrivals,
                duration: Nanos(open.duration_ns),
                warm_up: Nanos(open.warm_up_ns),
            }),
            (None, None) => Load::Closed(Closed {
                in_flight: self.concurrent,
                samples: self.sample_size,
            }),
        }
    }

    const fn audience(&self) -> Audience {
        match self.workload {
            // Version 1 knew no rooms.
            Workload::Broadcast | Workload::Rooms => Audience::Everyone,
            Workload::Echo | Workload::Connect => Audience::Sender,
        }
    }
}

//! What every part measures with: the generator and the plans it is given.

use crate::error::Unmade;
use plan::{
    Arrivals, Audience, Clients, Dialect, Io, Load, Nanos, OpenLoop, Plan, Timestamps, Workload,
};
use record::{Recorder, StepRecord};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use test_servers::Framework;

/// Of all plans whose senders are not left to chance.
pub(super) const SEED: u64 = 4;

/// The instrument under test, as the parts use it.
pub(super) struct Bench<'a> {
    pub(super) short: bool,
    /// Seed of every random choice.
    pub(super) seed: u64,
    pub(super) timestamps: Timestamps,
    pub(super) io: Io,
    /// The kernel gives stamps, so that a hindered generator must not make a server look slow.
    pub(super) prove_hindered: bool,
    /// The user wants it to end; what is measured then is of no use.
    pub(super) interrupted: &'a AtomicBool,
    /// Carries out a plan of one step. Tests put generators with a planted fault here.
    pub(super) generate: &'a Generate<'a>,
}

/// What carries out a plan of one step.
pub(super) type Generate<'a> = dyn Fn(&Plan) -> Result<StepRecord, Unmade> + 'a;

/// The generator of this program, on threads of this process.
pub(super) fn in_process(plan: &Plan, interrupted: &AtomicBool) -> Result<StepRecord, Unmade> {
    let measured = ws_load::run(plan, interrupted, &mut |_| {});
    let measured = measured?;
    let detail = measured.outcome.detail;
    measured
        .steps
        .into_iter()
        .next()
        .ok_or(Unmade::NoStep(detail))
}

impl Bench<'_> {
    pub(super) fn run(&self, plan: &Plan) -> Result<StepRecord, Unmade> {
        (self.generate)(plan)
    }

    /// `full` or `short`, by the form of the test.
    pub(super) const fn time(&self, full: Duration, short: Duration) -> Duration {
        if self.short { short } else { full }
    }

    /// One step of so many clients against `server`, one request after the other.
    pub(super) fn plan(&self, server: SocketAddr, workload: Workload, clients: u32) -> Plan {
        let mut plan = Plan::new(format!("ws://{server}/"));
        plan.audience = match workload {
            Workload::Broadcast | Workload::Rooms => Audience::Everyone,
            Workload::Echo | Workload::Connect => Audience::Sender,
        };
        plan.load = Load::closed(1, 1);
        plan.clients = Clients::steps(clients, 1, Some(1));
        plan.message.padding = 64;
        plan.limits.time = Nanos::secs(60);
        plan.limits.sample_timeout = Nanos::secs(10);
        plan.generator.timestamps = self.timestamps;
        plan.generator.io = self.io;
        plan.generator.seed = SEED;
        plan
    }
}

/// A dialect, as a server speaks it and as a plan asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spoken {
    pub(super) name: &'static str,
    pub(super) dialect: Dialect,
    pub(super) framework: Framework,
    /// What the path of the URL is.
    path: &'static str,
}

pub(super) const DIALECTS: [Spoken; 5] = [
    Spoken {
        name: "text",
        dialect: Dialect::Text,
        framework: Framework::Plain,
        path: "",
    },
    Spoken {
        name: "binary",
        dialect: Dialect::Binary,
        framework: Framework::Plain,
        path: "",
    },
    Spoken {
        name: "Phoenix, serializer 1",
        dialect: Dialect::Phoenix,
        framework: Framework::Phoenix,
        path: "socket/websocket?vsn=1.0.0",
    },
    Spoken {
        name: "Phoenix, serializer 2",
        dialect: Dialect::Phoenix,
        framework: Framework::Phoenix,
        path: "socket/websocket?vsn=2.0.0",
    },
    Spoken {
        name: "Action Cable",
        dialect: Dialect::ActionCable,
        framework: Framework::ActionCable,
        path: "cable",
    },
];

impl Spoken {
    /// Changes a plan of [`Bench::plan`] to this dialect.
    pub(super) fn speak(&self, plan: &mut Plan) {
        plan.message.dialect = self.dialect;
        plan.target.url.push_str(self.path);
    }
}

/// Numbers that are drawn anew for each run and are the same for the same seed: SplitMix64 (Steele,
/// Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
pub(super) struct Draws(u64);

impl Draws {
    /// Draws for one purpose.
    pub(super) fn new(seed: u64, purpose: &str) -> Self {
        let purpose = purpose.bytes().fold(0u64, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(byte.into())
        });
        Self(seed ^ purpose)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to `most`.
    pub(super) fn up_to(&mut self, most: u64) -> u64 {
        ((u128::from(self.next()) * (u128::from(most) + 1)) >> 64) as u64
    }

    /// None in one of six draws, else from 1 to `most`, small numbers as often as large ones.
    pub(super) fn some(&mut self, most: u64) -> u64 {
        if self.up_to(5) == 0 {
            return 0;
        }
        let share = self.up_to(1 << 20) as f64 / f64::from(1 << 20);
        let exponent = share * (most as f64).ln();
        (exponent.exp().round() as u64).clamp(1, most)
    }
}

/// A backend as the command line calls it.
pub(super) const fn io_flag(io: Io) -> &'static str {
    match io {
        Io::Epoll => "epoll",
        Io::Uring => "uring",
    }
}

/// Stamps as the command line calls them.
pub(super) const fn timestamps_flag(timestamps: Timestamps) -> &'static str {
    match timestamps {
        Timestamps::Kernel => "kernel",
        Timestamps::User => "user",
    }
}

/// Sends by the clock.
pub(super) fn at_rate(rate: f64, arrivals: Arrivals, duration: Duration) -> Load {
    Load::Open(OpenLoop {
        rate,
        ramp: None,
        arrivals,
        duration: duration.into(),
        warm_up: Nanos(0),
    })
}

pub(super) const fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

/// The histogram of a figure that may be missing from a record; empty then.
pub(super) fn recorder(latency: Option<&record::Latency>) -> Recorder {
    latency
        .and_then(|latency| latency.recorder().ok())
        .unwrap_or_default()
}

/// Starting a server of this process.
pub(super) fn started<S>(server: std::io::Result<S>) -> Result<S, Unmade> {
    server.map_err(Unmade::Server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_their_seed_and_go_from_none_to_hundreds() {
        let drawn = |seed| {
            let mut draws = Draws::new(seed, "x");
            (0..600).map(|_| draws.some(280)).collect::<Vec<u64>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        for wanted in [0..=0u64, 1..=5, 6..=50, 51..=280] {
            let there = drawn(1).iter().filter(|n| wanted.contains(n)).count();
            assert!(there > 30, "{wanted:?}: {there}");
        }
        assert!(drawn(1).iter().all(|n| *n <= 280));
    }
}

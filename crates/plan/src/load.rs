//! When is sent.

use super::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When requests are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// The next request goes out when one is complete.
    Closed(Closed),
    /// Requests go out by the clock, whatever the server does.
    Open(OpenLoop),
    /// No requests: connections are opened and held, with pings.
    Connect(Connect),
    /// Messages are published by the clock while connections may end and come back.
    Watch(Watch),
}

impl Load {
    /// The words of plans for its kinds.
    pub const NAMES: [&'static str; 4] = ["closed", "open", "connect", "watch"];

    /// A closed loop.
    pub const fn closed(in_flight: u32, samples: u32) -> Self {
        Self::Closed(Closed { in_flight, samples })
    }

    /// The word of plans.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Closed(_) => "closed",
            Self::Open(_) => "open",
            Self::Connect(_) => "connect",
            Self::Watch(_) => "watch",
        }
    }
}

impl Default for Load {
    fn default() -> Self {
        Self::Closed(Closed::default())
    }
}

/// Requests that wait for answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Closed {
    /// Requests in flight at any time.
    pub in_flight: u32,
    /// Requests per step.
    pub samples: u32,
}

impl Default for Closed {
    fn default() -> Self {
        Self {
            in_flight: 4,
            samples: 100,
        }
    }
}

/// How the moments of an open loop's sends are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At equal distances.
    Constant,
    /// With exponentially distributed gaps, as of many independent users.
    #[default]
    Poisson,
    /// Each client sends the requests of its dialect's script as far apart as the script says, after
    /// the client before it by `rate`, which is the number of clients that begin per second.
    Recorded,
}

/// A rate that changes in a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// The rate at its end and from then on, requests per second.
    pub to: f64,
    /// How long the change takes.
    pub over: Nanos,
}

/// Requests sent by the clock, whatever the server does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// Requests per second, of all clients together, at the start. By recorded arrivals: clients that
    /// begin the script per second.
    pub rate: f64,
    /// How the rate changes from the start on.
    #[serde(default)]
    pub ramp: Option<Ramp>,
    /// How the sends are spread.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Length of the measurement of each step, after the warm-up. By recorded arrivals every client
    /// carries the script out to its end, however long that takes, and begins it again within this.
    #[serde(default = "ten_seconds")]
    pub duration: Nanos,
    /// Time at the start of each step in which requests are sent and checked but not timed.
    #[serde(default)]
    pub warm_up: Nanos,
}

impl OpenLoop {
    /// Length of a step, the warm-up included.
    pub const fn length(&self) -> Nanos {
        Nanos(self.warm_up.ns().saturating_add(self.duration.ns()))
    }
}

/// How connections are opened and held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
// Another type of this name travels between workers.
#[serde(rename = "ConnectLoad", default, deny_unknown_fields)]
pub struct Connect {
    /// Connections opened per second, whatever the server does; absent when each waits for an
    /// earlier one, `connection.at_once` of them at once.
    pub rate: Option<f64>,
    /// How the starts are spread, with a rate.
    pub arrivals: Arrivals,
    /// How long each step holds its connections once all are open.
    pub hold: Nanos,
    /// Time between two pings of one connection.
    pub ping_interval: Nanos,
    /// A connection whose ping is not answered within this time counts as dropped. At most
    /// `ping_interval`, so that at most one ping of a connection is on its way. A file that leaves
    /// it out gets `ping_interval`.
    pub ping_timeout: Nanos,
}

impl Default for Connect {
    fn default() -> Self {
        Self {
            rate: None,
            arrivals: Arrivals::default(),
            hold: ten_seconds(),
            ping_interval: ten_seconds(),
            ping_timeout: ten_seconds(),
        }
    }
}

/// Messages that clients publish to everyone by the clock, through whatever happens to connections. A
/// client whose connection ends comes back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// Messages published per second, of all clients together, at equal distances.
    pub rate: f64,
    /// How long messages are published.
    #[serde(default = "a_minute")]
    pub duration: Nanos,
    /// After the last message clients listen until nothing has come for this long. A message that has not
    /// come by then, on a connection that stayed open, is lost.
    #[serde(default = "five_seconds")]
    pub patience: Nanos,
}

impl Watch {
    /// How long clients go on listening to a server that is behind, after the last message. What comes
    /// meanwhile is late, not lost.
    pub const MOST_BEHIND: Nanos = Nanos::secs(60);

    /// How many messages are published.
    pub fn messages(&self) -> u64 {
        (self.rate * self.duration.ns() as f64 / 1e9).floor() as u64
    }

    /// When a message is due, in nanoseconds from the first.
    pub fn due_ns(&self, message: u64) -> u64 {
        (message as f64 * 1e9 / self.rate) as u64
    }
}

const fn a_minute() -> Nanos {
    Nanos::secs(60)
}

const fn five_seconds() -> Nanos {
    Nanos::secs(5)
}

const fn ten_seconds() -> Nanos {
    Nanos::secs(10)
}

//! The network between server and clients, where a measurement was made over one of its own and not
//! over loopback.

use super::Latency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A network as it is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// The name under which it was asked for; absent where its values were.
    pub name: Option<String>,
    /// What it adds to a round trip, in nanoseconds: half of it in each direction.
    pub delay_ns: u64,
    /// By how much a round trip may be longer or shorter, in nanoseconds: half of it in each
    /// direction.
    pub jitter_ns: u64,
    /// The share of packets that it loses in each direction, from 0 to 1.
    pub loss: f64,
    /// What it carries in each direction, for all clients together, in bits of IP packets a second.
    /// Absent where nothing bounds it but the machine.
    pub rate: Option<u64>,
}

impl Network {
    /// Whether two are the same but for their names.
    pub fn is_like(&self, other: &Self) -> bool {
        let values = |of: &Self| (of.delay_ns, of.jitter_ns, of.loss, of.rate);
        values(self) == values(other)
    }

    /// The values as `shootout run --network` takes them.
    pub fn values(&self) -> String {
        let whole = |value: u64, units: [(u64, &str); 3]| {
            let largest = units
                .into_iter()
                .find(|(unit, _)| value.is_multiple_of(*unit));
            let (unit, name) = largest.unwrap_or(units[2]);
            format!("{}{name}", value / unit)
        };
        let time = |ns| whole(ns, [(1_000_000, "ms"), (1_000, "us"), (1, "ns")]);
        let mut text = format!("delay={}", time(self.delay_ns));
        if self.jitter_ns > 0 {
            text += &format!(" jitter={}", time(self.jitter_ns));
        }
        if self.loss > 0.0 {
            text += &format!(" loss={}%", rounded(self.loss * 100.0));
        }
        if let Some(rate) = self.rate {
            let bits = [
                (1_000_000_000, "gbit"),
                (1_000_000, "mbit"),
                (1_000, "kbit"),
            ];
            text += &format!(" rate={}", whole(rate, bits));
        }
        text
    }
}

/// In words, as tables name it.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}, ")?;
        }
        write!(f, "{} round trip", time(self.delay_ns))?;
        if self.jitter_ns > 0 {
            write!(f, " ± {}", time(self.jitter_ns))?;
        }
        if self.loss > 0.0 {
            write!(f, ", {} % loss each way", rounded(self.loss * 100.0))?;
        }
        match self.rate {
            None => Ok(()),
            Some(rate) => write!(f, ", {} Mbit/s", rounded(rate as f64 / 1e6)),
        }
    }
}

fn time(ns: u64) -> String {
    format!("{} ms", rounded(ns as f64 / 1e6))
}

/// Without the digits that a share times a hundred brings by the way numbers are stored.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The network of a measurement, as it was asked for and as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkUse {
    /// What was asked for.
    pub asked: Network,
    /// The kernel's congestion control, of both sides. Absent where it is not known.
    pub congestion_control: Option<String>,
    /// What datagrams from the clients' side to the server's and back found, before the server was
    /// started. Absent where the measurement did not come so far.
    pub probe: Option<NetworkProbe>,
    /// What the network carried from the clients to the server while it was measured. Absent where
    /// nothing was measured.
    pub to_server: Option<NetworkTraffic>,
    /// What it carried from the server to the clients.
    pub to_clients: Option<NetworkTraffic>,
}

/// What echoed datagrams found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkProbe {
    /// Datagrams sent.
    pub sent: u64,
    /// Those that did not come back.
    pub lost: u64,
    /// Round trips of the others. Absent where none came back.
    pub round_trip: Option<Latency>,
}

/// What was carried in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkTraffic {
    /// Packets that were sent.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Those of them that were lost as it was asked for.
    pub lost: u64,
    /// Those of them that found a thousand others waiting for the rate, and were dropped.
    pub overflowed: u64,
    /// Packets that this machine dropped because it could not keep up; they are in no other count.
    pub missed: u64,
    /// How much later than due the others arrived. Absent where none did.
    pub late: Option<Latency>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_what_is_asked_for() {
        let mut network = Network {
            name: None,
            delay_ns: 20_000_000,
            jitter_ns: 0,
            loss: 0.0,
            rate: None,
        };
        assert_eq!(network.to_string(), "20 ms round trip");
        network.name = Some("far".into());
        network.jitter_ns = 500_000;
        network.loss = 0.007;
        network.rate = Some(1_500_000);
        assert_eq!(
            network.to_string(),
            "far, 20 ms round trip ± 0.5 ms, 0.7 % loss each way, 1.5 Mbit/s"
        );
    }
}

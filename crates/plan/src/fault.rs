//! What is to fail during a run, and when.
//!
//! The load generator does nothing with it: `shootout run` carries it out, which starts the servers.

use super::Nanos;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Something that is done to a part of the server at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// When, from the first message on.
    pub at: Nanos,
    /// By how much later at most. How much of it is drawn from the seed of the run.
    #[serde(default)]
    pub jitter: Nanos,
    /// What is done.
    #[serde(rename = "do")]
    pub deed: FaultDeed,
    /// What it is done to.
    pub what: FaultPart,
}

/// What is done to a part of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FaultDeed {
    /// Its processes end at once (SIGKILL).
    Kill,
    /// Its processes are asked to end (SIGTERM), and are killed after the time that its manifest gives.
    Terminate,
    /// It is started again, where it was.
    Start,
    /// Its processes stand still (SIGSTOP).
    Freeze,
    /// They go on (SIGCONT).
    Thaw,
    /// Nothing passes any more between a node and the broker. Their connections stay.
    Cut,
    /// Everything takes 200 ms longer between a node and the broker, in each direction.
    Slow,
    /// What waited passes, and all that follows, at once.
    Heal,
    /// The proxy takes its configuration again, by the command that its manifest gives.
    Reload,
}

impl FaultDeed {
    /// The word of plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Terminate => "terminate",
            Self::Start => "start",
            Self::Freeze => "freeze",
            Self::Thaw => "thaw",
            Self::Cut => "cut",
            Self::Slow => "slow",
            Self::Heal => "heal",
            Self::Reload => "reload",
        }
    }

    /// Whether it can be done to such a part: only a link is cut, slowed and healed, and only a proxy takes
    /// its configuration again.
    pub const fn fits(self, part: FaultPart) -> bool {
        match self {
            Self::Cut | Self::Slow | Self::Heal => matches!(part, FaultPart::Link(_)),
            Self::Reload => matches!(part, FaultPart::Proxy),
            _ => !matches!(part, FaultPart::Link(_)),
        }
    }
}

/// A part of the server: `node:2`, `broker`, `link:2`, which lies between node 2 and the broker, or `proxy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultPart {
    /// A node, by its number from 1 on.
    Node(u32),
    /// The service that passes messages between the nodes.
    Broker,
    /// The way between a node and the broker.
    Link(u32),
    /// The proxy between clients and nodes.
    Proxy,
}

/// A text that names no part of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no part of a server: write \"node:1\", \"broker\", \"link:1\" or \"proxy\", with the number of the node"
)]
pub struct NoPart;

impl FromStr for FaultPart {
    type Err = NoPart;

    fn from_str(text: &str) -> Result<Self, NoPart> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0).ok_or(NoPart);
        match text.split_once(':') {
            Some(("node", of)) => number(of).map(Self::Node),
            Some(("link", of)) => number(of).map(Self::Link),
            None if text == "broker" => Ok(Self::Broker),
            None if text == "proxy" => Ok(Self::Proxy),
            _ => Err(NoPart),
        }
    }
}

impl fmt::Display for FaultPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(number) => write!(f, "node:{number}"),
            Self::Broker => f.write_str("broker"),
            Self::Link(number) => write!(f, "link:{number}"),
            Self::Proxy => f.write_str("proxy"),
        }
    }
}

/// The same in formats that people do not read.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename = "FaultPart")]
enum Tagged {
    Node(u32),
    Broker,
    Link(u32),
    Proxy,
}

impl Serialize for FaultPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        match *self {
            Self::Node(number) => Tagged::Node(number),
            Self::Broker => Tagged::Broker,
            Self::Link(number) => Tagged::Link(number),
            Self::Proxy => Tagged::Proxy,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FaultPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Tagged::deserialize(deserializer).map(|tagged| match tagged {
                Tagged::Node(number) => Self::Node(number),
                Tagged::Broker => Self::Broker,
                Tagged::Link(number) => Self::Link(number),
                Tagged::Proxy => Self::Proxy,
            });
        }
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse()
            .map_err(|error| serde::de::Error::custom(format!("\"{text}\" {error}")))
    }
}

impl JsonSchema for FaultPart {
    fn schema_name() -> Cow<'static, str> {
        "FaultPart".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A part of the server: `node:2`, `broker`, `link:2`, which lies between node 2 \
                            and the broker, or `proxy`.",
            "type": "string",
            "pattern": "^(broker|proxy|(node|link):[1-9][0-9]*)$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_and_written_as_people_write_them() {
        for (text, part) in [
            ("node:2", FaultPart::Node(2)),
            ("broker", FaultPart::Broker),
            ("link:1", FaultPart::Link(1)),
            ("proxy", FaultPart::Proxy),
        ] {
            assert_eq!(text.parse(), Ok(part));
            assert_eq!(part.to_string(), text);
            let quoted = format!("\"{text}\"");
            assert_eq!(serde_json::to_string(&part).unwrap(), quoted);
            assert_eq!(serde_json::from_str::<FaultPart>(&quoted).unwrap(), part);
        }
        for wrong in [
            "", "node", "node:", "node:0", "node:x", "broker:1", "proxy:1",
        ] {
            assert_eq!(wrong.parse::<FaultPart>(), Err(NoPart), "{wrong}");
        }
    }
}

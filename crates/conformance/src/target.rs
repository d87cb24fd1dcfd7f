//! What is to be checked.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// A server to be checked, already listening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Where it listens.
    pub addr: SocketAddr,
    /// The value of `Host`: a name and, unless it is 80, a port.
    pub host: String,
    /// Path and query of the WebSocket, beginning with `/`. Of Phoenix, the checks choose
    /// the serializer (`vsn`) themselves.
    pub path: String,
    /// The dialects that it speaks, at least one.
    pub dialects: Vec<Dialect>,
    /// The requests that it answers; checks of the others are skipped.
    pub workloads: Vec<Workload>,
    /// The server is several processes: the second half of the ack rule applies.
    pub multi_process: bool,
    /// The value of `Origin`. Without it, dialects that need one send the server's own.
    pub origin: Option<String>,
    /// How long to wait for one answer before it counts as missing. Transfers of many megabytes
    /// get at least ten seconds.
    pub timeout: Duration,
}

impl Target {
    /// A single process at `addr` that speaks text and binary at `/` and answers both requests,
    /// with two seconds for each answer.
    pub fn new(addr: SocketAddr) -> Self {
        Self {
            addr,
            host: addr.to_string(),
            path: "/".into(),
            dialects: vec![Dialect::Text, Dialect::Binary],
            workloads: vec![Workload::Echo, Workload::Broadcast],
            multi_process: false,
            origin: None,
            timeout: Duration::from_secs(2),
        }
    }
}

/// A request of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workload {
    /// Answered to the sender alone.
    Echo,
    /// Delivered to everyone.
    Broadcast,
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
        })
    }
}

/// A way to write requests and replies (docs/protocol.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Dialect {
    /// JSON in text messages.
    #[serde(rename = "text")]
    Text,
    /// A type byte, a size and a payload in binary messages.
    #[serde(rename = "binary")]
    Binary,
    /// Phoenix channels, serializer 1.0.0: JSON objects.
    #[serde(rename = "phoenix 1.0.0")]
    PhoenixV1,
    /// Phoenix channels, serializer 2.0.0: JSON arrays.
    #[serde(rename = "phoenix 2.0.0")]
    PhoenixV2,
    /// Action Cable.
    #[serde(rename = "actioncable")]
    ActionCable,
}

impl Dialect {
    /// The dialect is Phoenix, whatever the serializer.
    pub const fn is_phoenix(self) -> bool {
        matches!(self, Self::PhoenixV1 | Self::PhoenixV2)
    }
}

/// The same word as in the serialised form.
impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Binary => "binary",
            Self::PhoenixV1 => "phoenix 1.0.0",
            Self::PhoenixV2 => "phoenix 2.0.0",
            Self::ActionCable => "actioncable",
        })
    }
}

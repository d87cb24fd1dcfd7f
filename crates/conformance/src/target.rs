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
    /// Path and query of the WebSocket, beginning with `/`.
    pub path: String,
    /// The dialects that it speaks, at least one.
    pub dialects: Vec<Dialect>,
    /// It is several processes: the second half of the ack rule applies.
    pub multi_process: bool,
    /// The value of `Origin`, for servers that want one.
    pub origin: Option<String>,
    /// How long to wait for one answer before it counts as missing. Transfers of many megabytes
    /// get at least ten seconds.
    pub timeout: Duration,
}

impl Target {
    /// A single process at `addr` that speaks text and binary at `/`, with two seconds for each
    /// answer.
    pub fn new(addr: SocketAddr) -> Self {
        Self {
            addr,
            host: addr.to_string(),
            path: "/".into(),
            dialects: vec![Dialect::Text, Dialect::Binary],
            multi_process: false,
            origin: None,
            timeout: Duration::from_secs(2),
        }
    }
}

/// A way to write requests and replies (docs/protocol.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Dialect {
    /// JSON in text messages.
    Text,
    /// A type byte, a size and a payload in binary messages.
    Binary,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Binary => "binary",
        })
    }
}

//! Where a run connects to, and how a client gets in.

use super::{Compression, Nanos, Tls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::PathBuf;

/// Where to connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// The server: `ws://` or `wss://`. A file may leave it out; the command gives it then.
    pub url: String,
    /// Source addresses, used in turn; the system chooses when there are none.
    pub local_addrs: Vec<IpAddr>,
    /// Whether a `wss://` server's certificate is checked.
    pub verify_certificate: bool,
    /// Extra certificate authorities, a PEM file; relative to the file of the plan.
    pub ca_file: Option<PathBuf>,
}

impl Target {
    /// Whether the server is spoken to over TLS.
    pub fn is_secure(&self) -> bool {
        self.has_scheme("wss:")
    }

    pub(super) fn has_scheme(&self, scheme: &str) -> bool {
        self.url
            .get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    }
}

impl Default for Target {
    fn default() -> Self {
        Self {
            url: String::new(),
            local_addrs: Vec::new(),
            verify_certificate: true,
            ca_file: None,
        }
    }
}

/// How a client connects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Connection {
    /// `Origin` header of every handshake.
    pub origin: Option<String>,
    /// Handshakes under way at once.
    pub at_once: u32,
    /// Longest time from the start of a connection attempt to the end of the handshake and of the
    /// dialect's subscription.
    pub timeout: Nanos,
    /// permessage-deflate; not offered without it.
    pub compression: Option<Compression>,
    /// TLS, for `wss://` alone; with its defaults there without it.
    pub tls: Option<Tls>,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            origin: None,
            at_once: 50,
            timeout: Nanos::secs(10),
            compression: None,
            tls: None,
        }
    }
}

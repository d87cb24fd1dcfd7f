//! Where a run connects to, and how a client gets in.

use super::{Compression, Nanos, Tls};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
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
    /// The server's Unix socket, in the place of an address; relative to the file of the plan. The
    /// URL says the rest, its host too.
    pub unix_socket: Option<PathBuf>,
    /// A proxy to reach the server through, by CONNECT: `http://[user:password@]host:port`.
    pub proxy: Option<String>,
    /// Addresses for names, like `chat.example:443:127.0.0.1`; of IPv6 in brackets.
    pub resolve: Vec<String>,
    /// The nodes of the server, like `10.0.0.1:8080`, in place of the address of the URL. Client *i*
    /// connects to node *i* modulo their number. Where an attempt fails, its next one goes to the node
    /// after.
    pub nodes: Vec<SocketAddr>,
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
            unix_socket: None,
            proxy: None,
            resolve: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

/// How a client connects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Connection {
    /// `Origin` header of every handshake.
    pub origin: Option<String>,
    /// Handshakes under way at once, of all threads and processes together.
    pub at_once: u32,
    /// Longest time from the start of a connection attempt to the end of the handshake and of the
    /// dialect's subscription.
    pub timeout: Nanos,
    /// Most bytes of payload in a frame: a request that is longer is sent in fragments (RFC 6455, 5.4).
    /// Without it every message is one frame.
    pub fragment: Option<u32>,
    /// permessage-deflate; not offered without it.
    pub compression: Option<Compression>,
    /// TLS, for `wss://` alone; with its defaults there without it.
    pub tls: Option<Tls>,
    /// Header lines of every handshake, like `X-Tenant: blue`. A `Host` replaces that of the URL.
    pub headers: Vec<String>,
    /// Cookies of every handshake, like `session=1f2e`.
    pub cookies: Vec<String>,
    /// Subprotocols to ask for, of which the server must choose one. They take the place of the
    /// dialect's.
    pub subprotocols: Vec<String>,
    /// Parameters behind the query of the URL, like `room=1`, which are percent-encoded.
    pub query: Vec<String>,
    /// A data file (CSV with a header row, or JSON lines); relative to the file of the plan. Client
    /// *i* has its row *i*, modulo the rows: `{token}` is its column `token`.
    pub data: Option<PathBuf>,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            origin: None,
            at_once: 50,
            timeout: Nanos::secs(10),
            fragment: None,
            compression: None,
            tls: None,
            headers: Vec::new(),
            cookies: Vec::new(),
            subprotocols: Vec::new(),
            query: Vec::new(),
            data: None,
        }
    }
}

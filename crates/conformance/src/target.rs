//! What is to be checked.

use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
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
    pub workloads: Vec<ProtocolRequest>,
    /// It turns on permessage-deflate for clients that offer it; checks of it are skipped else.
    pub compression: bool,
    /// TLS, with the certificate that the server is to show; absent for plain TCP.
    pub tls: Option<Tls>,
    /// How much memory its processes have; checks of that are skipped else.
    pub memory: Option<ServerMemory>,
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
            workloads: vec![ProtocolRequest::Echo, ProtocolRequest::Broadcast],
            compression: false,
            tls: None,
            memory: None,
            multi_process: false,
            origin: None,
            timeout: Duration::from_secs(2),
        }
    }
}

impl Target {
    /// The scheme of its own pages, as `Origin` has it.
    pub(crate) const fn http(&self) -> &'static str {
        match self.tls {
            None => "http",
            Some(_) => "https",
        }
    }
}

/// How TLS is spoken to a server.
#[derive(Clone, Debug)]
pub struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the servers whose certificate, in PEM, is this one, or issued by it, and no others.
    ///
    /// # Errors
    /// When it is no certificate.
    pub fn trusting(pem: &str) -> Result<Self, rustls::Error> {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| rustls::Error::General(error.to_string()))?;
        let mut roots = RootCertStore::empty();
        roots.add(certificate)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        // Each check begins as a client that the server does not know.
        config.resumption = Resumption::disabled();
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

impl PartialEq for Tls {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Tls {}

/// Tells how much memory the processes of a server have.
#[derive(Clone)]
pub struct ServerMemory(Arc<Read>);

type Read = dyn Fn() -> Option<u64> + Send + Sync;

impl ServerMemory {
    /// `read` returns the bytes, or nothing when no process is left.
    pub fn new(read: impl Fn() -> Option<u64> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn bytes(&self) -> Option<u64> {
        self.0()
    }
}

impl fmt::Debug for ServerMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerMemory").field(&self.bytes()).finish()
    }
}

impl PartialEq for ServerMemory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ServerMemory {}

/// A request of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolRequest {
    /// Answered to the sender alone.
    Echo,
    /// Delivered to everyone.
    Broadcast,
    /// Published to the subscribers of a topic.
    Rooms,
}

impl fmt::Display for ProtocolRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
            Self::Rooms => "rooms",
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
    /// Socket.IO 4.
    #[serde(rename = "socketio")]
    SocketIo,
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
            Self::SocketIo => "socketio",
        })
    }
}

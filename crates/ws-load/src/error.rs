//! What can go wrong with a connection or a run, in words with place and remedy.

use std::io;
use std::net::SocketAddr;
use ws_proto::{DecodeError, HandshakeError};

/// How far a connection attempt had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The TCP connection was not established.
    Connect,
    /// The upgrade was not answered.
    Upgrade,
    /// The dialect's subscription was not confirmed.
    Subscribe,
    /// The client was ready.
    Ready,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "before the connection was established",
            Self::Upgrade => "before it answered the WebSocket upgrade",
            Self::Subscribe => "before it confirmed the subscription",
            Self::Ready => "after the WebSocket was open",
        })
    }
}

/// A client that could not be connected.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens there, or a firewall says so.
    #[error("{addr} refused the connection; is the server running, and on this port?")]
    Refused {
        /// The server's address.
        addr: SocketAddr,
    },
    /// No answer in time.
    #[error(
        "{addr} did not get further within {seconds} s: it was silent {stage}; raise --connect-timeout if it is only slow, the server's limit of open files if it has none left"
    )]
    TimedOut {
        /// The server's address.
        addr: SocketAddr,
        /// How far it had come.
        stage: Stage,
        /// The time that it had.
        seconds: f64,
    },
    /// The server ended the connection.
    #[error("{addr} closed the connection {stage}")]
    Closed {
        /// The server's address.
        addr: SocketAddr,
        /// How far it had come.
        stage: Stage,
        /// By a reset, and not in order.
        reset: bool,
    },
    /// A ping was not answered in time.
    #[error("{addr} did not answer a ping with its payload within {seconds} s (--ping-timeout)")]
    PingUnanswered {
        /// The server's address.
        addr: SocketAddr,
        /// The time that it had.
        seconds: f64,
    },
    /// The upgrade was answered wrongly.
    #[error("{addr}: {source}; check the path of the URL and that it is a WebSocket server")]
    Handshake {
        /// The server's address.
        addr: SocketAddr,
        /// What was wrong.
        source: HandshakeError,
    },
    /// A frame that RFC 6455 forbids.
    #[error("{addr} broke the WebSocket protocol: {source}")]
    Protocol {
        /// The server's address.
        addr: SocketAddr,
        /// What was wrong.
        source: DecodeError,
    },
    /// The framework turned the client away.
    #[error("{addr}: {words}; check --server-type and --origin")]
    Turned {
        /// The server's address.
        addr: SocketAddr,
        /// What it said.
        words: String,
    },
    /// This process may open no more files.
    #[error(
        "this process may have no more than {limit} open files (RLIMIT_NOFILE); raise it with `ulimit -n`, as root if need be"
    )]
    Files {
        /// The limit.
        limit: u64,
    },
    /// No port is left.
    #[error("no outgoing port is left for {sources} ({first}-{last}: about {} connections per source address, net.ipv4.ip_local_port_range); add source addresses with -l, on loopback for example -l 127.0.0.2 -l 127.0.0.3", u32::from(*last) - u32::from(*first) + 1)]
    Ports {
        /// The source addresses in use.
        sources: String,
        /// First port of the range.
        first: u16,
        /// Last port of the range.
        last: u16,
    },
    /// A source address that is not this machine's.
    #[error("the source address {local} is not one of this machine's; see `ip address`")]
    NotLocal {
        /// The address.
        local: std::net::IpAddr,
    },
    /// Anything else that the kernel or TLS says.
    #[error("{addr}: {source} ({stage})")]
    Io {
        /// The server's address.
        addr: SocketAddr,
        /// How far it had come.
        stage: Stage,
        /// What was said.
        source: io::Error,
    },
}

impl ConnectError {
    /// True when this machine, and not the server, was the limit.
    pub const fn is_machine_limit(&self) -> bool {
        matches!(self, Self::Files { .. } | Self::Ports { .. })
    }
}

/// A run that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The target cannot be used.
    #[error(transparent)]
    Target(#[from] crate::TargetError),
    /// A run over sites without any.
    #[error("a run over several processes needs at least one; name workers with -w host:port")]
    NoSites,
    /// The plan holds a value that nothing can be measured with.
    #[error("the plan is refused: {0}")]
    Plan(#[from] run_record::PlanError),
    /// An order that the plan cannot lead to.
    #[error(transparent)]
    Order(#[from] crate::site::OrderError),
    /// The kernel refuses what a worker needs.
    #[error("cannot set up a worker: {0}")]
    Worker(io::Error),
}

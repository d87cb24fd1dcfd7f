//! What a client's socket is connected to.

use socket2::{Domain, SockAddr};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// What takes the connections of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// The server.
    Tcp(SocketAddr),
    /// A proxy before it.
    Proxy(SocketAddr),
    /// A Unix socket of the server.
    Unix(Arc<Path>),
}

impl Endpoint {
    pub(crate) fn sock_addr(&self) -> io::Result<SockAddr> {
        match self {
            Self::Tcp(addr) | Self::Proxy(addr) => Ok(SockAddr::from(*addr)),
            Self::Unix(path) => SockAddr::unix(path),
        }
    }

    pub(crate) const fn domain(&self) -> Domain {
        match self {
            Self::Tcp(addr) | Self::Proxy(addr) => Domain::for_address(*addr),
            Self::Unix(_) => Domain::UNIX,
        }
    }

    /// The server's own address, where it is known.
    pub(crate) const fn server(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(addr) => Some(*addr),
            Self::Proxy(_) | Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(addr) => addr.fmt(f),
            Self::Proxy(addr) => write!(f, "the proxy {addr}"),
            Self::Unix(path) => write!(f, "unix:{}", path.to_string_lossy().escape_debug()),
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(addr: SocketAddr) -> Self {
        Self::Tcp(addr)
    }
}

impl From<([u8; 4], u16)> for Endpoint {
    fn from(addr: ([u8; 4], u16)) -> Self {
        Self::Tcp(addr.into())
    }
}

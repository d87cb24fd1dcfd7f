//! A correct server that breaks exactly one rule of choice, to prove that the conformance checks
//! find it.
//!
//! It takes permessage-deflate from a client that offers it, as it is offered.
//!
//! Lies are narrow, often for messages of certain lengths only, so that each fails the check of its
//! own rule and no other.

mod behaviour;
mod deflated;
mod frames;
mod hoard;
mod lie;
mod rooms;

pub(crate) use deflated::DeflatedWire;
pub use lie::Lie;

use crate::Framework;
use crate::threaded::{Overflow, PlainWire, QueuedWire, Server, Wire};
use crate::tls::TlsWire;
use hoard::Hoard;
use rustls::ServerConfig;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;

/// A running liar; dropping it ends it and all its connections.
pub struct LiarServer {
    server: Server,
    hoard: Hoard,
}

impl LiarServer {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(lie: Lie) -> io::Result<Self> {
        Self::start_as(lie, Framework::Plain)
    }

    /// The same in the message format of a framework.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start_as(lie: Lie, framework: Framework) -> io::Result<Self> {
        Self::start_on((Ipv4Addr::LOCALHOST, 0).into(), lie, framework)
    }

    /// The same on an address of choice; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start_on(address: SocketAddr, lie: Lie, framework: Framework) -> io::Result<Self> {
        let hoard = Hoard::default();
        let behaviour = Arc::new(behaviour::Liar::new(lie, framework, hoard.clone()));
        let of_wires = hoard.clone();
        let latest = Arc::default();
        let gone = Arc::default();
        let make_wire = Box::new(move |stream| {
            let wire = DeflatedWire::hoarding(lie, wire(lie, stream), of_wires.clone());
            let wire = match lie {
                Lie::DeflateOneForAll => wire.sharing(Arc::clone(&latest)),
                Lie::DeflateLosesBehindLeaver => wire.noting(Arc::clone(&gone)),
                _ => wire,
            };
            Ok(Arc::new(wire) as Arc<dyn Wire>)
        });
        let server = Server::start(address, behaviour, make_wire)?;
        Ok(Self { server, hoard })
    }

    /// One that tells no lie, over TLS with this certificate. What a client does not read it does not
    /// bound.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start_tls(address: SocketAddr, config: Arc<ServerConfig>) -> io::Result<Self> {
        let hoard = Hoard::default();
        let behaviour = behaviour::Liar::new(Lie::None, Framework::Plain, hoard.clone());
        let make_wire = Box::new(move |stream| {
            let wire = Arc::new(TlsWire::new(stream, Arc::clone(&config))?);
            Ok(Arc::new(deflated::DeflatedWire::new(Lie::None, wire)) as Arc<dyn Wire>)
        });
        let server = Server::start(address, Arc::new(behaviour), make_wire)?;
        Ok(Self { server, hoard })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Bytes of memory that it keeps although nothing needs them any more.
    pub fn hoarded_bytes(&self) -> u64 {
        self.hoard.bytes()
    }

    /// Serves until the process is ended.
    pub fn wait(self) {
        self.server.wait();
    }
}

/// A connection of a server that tells this lie.
fn wire(lie: Lie, stream: TcpStream) -> Arc<dyn Wire> {
    let overflow = match lie {
        Lie::WaitsForSlow => return Arc::new(PlainWire::patient(stream)),
        Lie::KeepsAllForSlow => Overflow::Keep,
        Lie::SkipsForSlow => Overflow::Skip,
        Lie::LosesBehindSlow => Overflow::SkipBehind(100_000, 101_000),
        _ => Overflow::CutOff,
    };
    Arc::new(QueuedWire::new(stream, overflow))
}

impl fmt::Debug for LiarServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiarServer").field(&self.addr()).finish()
    }
}

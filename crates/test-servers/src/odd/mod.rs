//! Peers that misbehave in ways a load generator must survive and report.
//!
//! Everything that a behaviour does not name is done by the book. These test a generator; for
//! servers that test the conformance checks see [`crate::liar`].

mod behaviour;
mod delivery;
mod mixed;

pub use behaviour::Behaviour;
pub use mixed::{Done, Misdeeds, MixedServer};

use crate::Framework;
use crate::threaded::Server;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

/// A running odd server; dropping it ends it and all its connections.
pub struct OddServer(Server);

impl OddServer {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// `count` is how often (or after how many requests) the server misbehaves; see
    /// [`Behaviour`].
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(behaviour: Behaviour, count: u64) -> io::Result<Self> {
        Self::start_on((Ipv4Addr::LOCALHOST, 0).into(), behaviour, count)
    }

    /// The same in the message format of a framework.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start_as(behaviour: Behaviour, count: u64, framework: Framework) -> io::Result<Self> {
        let manners = delivery::Odd::new(behaviour, count, framework);
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Ok(Self(Server::start_plain(address, manners)?))
    }

    /// The same on an address of choice; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start_on(address: SocketAddr, behaviour: Behaviour, count: u64) -> io::Result<Self> {
        let manners = delivery::Odd::new(behaviour, count, Framework::Plain);
        Ok(Self(Server::start_plain(address, manners)?))
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.0.addr()
    }

    /// Serves until the process is ended.
    pub fn wait(self) {
        self.0.wait();
    }
}

impl fmt::Debug for OddServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OddServer").field(&self.addr()).finish()
    }
}

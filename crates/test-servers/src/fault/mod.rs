//! Peers that misbehave in ways a load generator must survive and report.
//!
//! Everything that a fault does not name follows the protocol. These peers test a generator; the
//! servers of [`crate::liar`] test the conformance checks.

mod delivery;
mod list;
mod lossy;
mod mixed;
mod rooms;

pub(crate) use delivery::padding;
pub use list::Fault;
pub use lossy::{Delivery, LossyServer};
pub use mixed::{Done, Misdeeds, MixedServer};

use crate::Framework;
use crate::threaded::Server;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

/// A running server that makes one fault; dropping it ends it and all its connections.
pub struct FaultServer(Server);

impl FaultServer {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// `count` is how often the server misbehaves, or after how many requests; see
    /// [`Fault`].
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(fault: Fault, count: u64) -> io::Result<Self> {
        Self::start_on((Ipv4Addr::LOCALHOST, 0).into(), fault, count)
    }

    /// The same in the message format of a framework.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start_as(fault: Fault, count: u64, framework: Framework) -> io::Result<Self> {
        let behaviour = delivery::Faulty::new(fault, count, framework);
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Ok(Self(Server::start_plain(address, behaviour)?))
    }

    /// The same on an address of choice; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start_on(address: SocketAddr, fault: Fault, count: u64) -> io::Result<Self> {
        let behaviour = delivery::Faulty::new(fault, count, Framework::Plain);
        Ok(Self(Server::start_plain(address, behaviour)?))
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

impl fmt::Debug for FaultServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FaultServer").field(&self.addr()).finish()
    }
}

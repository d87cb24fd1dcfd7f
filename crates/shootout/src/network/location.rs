//! Where a server is: on loopback, or at the other side of a network.

use super::{CLIENTS, Link, SERVER};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::sync::Arc;

/// Where a server and its services are.
#[derive(Clone, Debug, Default)]
pub struct Location(Option<Arc<Link>>);

impl Location {
    /// The server's side of a network.
    pub fn beyond(link: &Arc<Link>) -> Self {
        Self(Some(Arc::clone(link)))
    }

    /// The address on which the server listens.
    pub fn host(&self) -> IpAddr {
        match self.0 {
            None => Ipv4Addr::LOCALHOST.into(),
            Some(_) => SERVER.into(),
        }
    }

    /// The addresses of clients; `None` on loopback, where the machine says it.
    pub fn clients(&self) -> Option<Vec<IpAddr>> {
        self.0.as_ref().map(|_| CLIENTS.map(IpAddr::V4).to_vec())
    }

    /// Lets what `command` starts begin there.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn begin(&self, command: &mut Command) -> io::Result<()> {
        match &self.0 {
            None => Ok(()),
            Some(link) => link.server.begin(command),
        }
    }

    /// Does something there, on a thread that is there.
    ///
    /// # Errors
    /// What setns(2) says.
    pub fn there<R: Send>(&self, act: impl FnOnce() -> R + Send) -> io::Result<R> {
        match &self.0 {
            None => Ok(act()),
            Some(link) => link.server.within(act),
        }
    }
}

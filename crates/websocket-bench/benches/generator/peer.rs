//! A generator that is compared, of this project or another.

use crate::figure::Figure;
use std::net::SocketAddr;

/// What every generator of a comparison is asked to do, at the same server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) server: SocketAddr,
    pub(crate) request: Request,
    pub(crate) dialect: Dialect,
    pub(crate) clients: u64,
    /// Requests in flight.
    pub(crate) concurrent: u64,
    /// Requests.
    pub(crate) samples: u64,
    /// Bytes of padding in each payload.
    pub(crate) padding: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Broadcast,
    Echo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Json,
    Binary,
}

impl Load {
    /// Messages that the clients are to receive, results of broadcasts apart.
    pub(crate) const fn deliveries(&self) -> u64 {
        match self.request {
            Request::Broadcast => self.samples * self.clients,
            Request::Echo => self.samples,
        }
    }

    /// The request as command lines call it.
    pub(crate) const fn request_name(&self) -> &'static str {
        match self.request {
            Request::Broadcast => "broadcast",
            Request::Echo => "echo",
        }
    }

    /// The dialect as command lines call it.
    pub(crate) const fn dialect_name(&self) -> &'static str {
        match self.dialect {
            Dialect::Json => "json",
            Dialect::Binary => "binary",
        }
    }
}

/// A generator under comparison. A peer of another project is a file that implements it, and a line
/// where the table is made.
pub(crate) trait Peer {
    /// Its line in the table.
    fn name(&self) -> String;
    /// Whether it can do this at all.
    fn can(&self, load: &Load) -> bool;
    /// Carries out the load, on the cores of the calling thread.
    ///
    /// # Errors
    /// In words, when it does not end well.
    fn measure(&self, load: &Load) -> Result<Figure, String>;
}

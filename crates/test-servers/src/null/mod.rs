//! The null server: echo and broadcast as fast as one thread can.
//!
//! It is the reference that the load generator is measured against, and **no contestant**: it
//! breaks the protocol's rule that a server must really parse. It finds the type by a scan of the
//! bytes, copies the payload unread and checks no UTF-8. A frame is built once for each broadcast;
//! what became ready in one round of the loop leaves in one `send` for each client.

mod deflated;
mod outbox;
mod reactor;
mod reply;
mod rooms;
mod several;

pub use several::NullServers;

use crate::listen::{listen, listen_sharing, raise_file_limit};
use crate::serving::Serving;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

/// How a [`NullServer`] is started; the default is a free port of 127.0.0.1.
#[derive(Clone, Copy, Debug)]
pub struct NullOptions {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// Send every message back as it came, whatever is in it.
    pub echo_raw: bool,
    /// Compress every message by itself, and refuse a client that does not offer permessage-deflate
    /// with a window of 15 bits.
    pub deflate: bool,
    /// Share the port with other processes that do the same. Each broadcasts to its own connections
    /// alone.
    pub share_port: bool,
}

impl Default for NullOptions {
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            echo_raw: false,
            deflate: false,
            share_port: false,
        }
    }
}

/// A running null server on a thread of its own; dropping it ends it and all its connections.
#[derive(Debug)]
pub struct NullServer(Serving);

impl NullServer {
    /// Starts listening and serving. Any path is served.
    ///
    /// # Errors
    /// When the address cannot be bound or the kernel denies a descriptor.
    pub fn start(options: NullOptions) -> io::Result<Self> {
        raise_file_limit();
        let listener = if options.share_port {
            listen_sharing(options.address)?
        } else {
            listen(options.address)?
        };
        let serving = Serving::start("null-server", listener, |listener, wake| {
            let mut reactor =
                reactor::Reactor::new(listener, wake, options.echo_raw, options.deflate)?;
            Ok(move || reactor.run())
        })?;
        Ok(Self(serving))
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.0.addr()
    }

    /// Serves until the process is ended.
    ///
    /// # Errors
    /// When the loop itself fails; a failing connection is only closed.
    pub fn wait(self) -> io::Result<()> {
        self.0.wait()
    }
}

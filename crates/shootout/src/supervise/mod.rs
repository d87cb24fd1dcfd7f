//! A server from its start until nothing of it is left.
//!
//! ```text
//!            +-- exits ----------------> Failed (exited)   -- port was taken --> started again
//! started ---+-- ready-timeout passes -> Failed (never ready)                    on another port
//!            +-- handshake and echo ---> ready
//!                                          |
//!                     exits by itself <----+----> stop()
//!                            |                      |
//!                        (crashed)              TERM to the group
//!                            |                      |---- gone within the grace ----+
//!                            |                  KILL to the group                   |
//!                            |                      |                               |
//!                            +----------------------+-------------------------------+
//!                                                   v
//!                          count what is left (session, mark, listening port), kill it: leaked
//! ```
//!
//! The services of a variant are started before its server, one after the other, and stopped after
//! it, in the same way; a service is ready when its port accepts a connection. A service that ends
//! by itself is a crash of the whole.
//!
//! What a crash or a leak means for a measurement is decided in `measure`.

mod certificate;
mod part;
mod port;
mod services;
mod start;
mod stop;

pub use part::{Death, LaunchError};
pub use services::ServiceError;
pub use start::{Failure, StartError, start};
pub use stop::{StopReport, Stopped};

use crate::network::Place;
use crate::target::target;
use certificate::Certificate;
use conformance::Target;
use part::Part;
use project::manifest::{Manifest, Start, Values, Variant};
use services::Services;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// Lines of a server's log that are shown and recorded.
pub const LOG_LINES: usize = 20;

/// How to start a server.
#[derive(Clone, Debug)]
pub struct Spec<'a> {
    /// The variant that is started.
    pub variant: &'a Variant,
    /// Longest time until it is ready.
    pub ready_timeout: Duration,
    /// Time from TERM to KILL.
    pub grace: Duration,
    /// The server's folder.
    pub dir: &'a Path,
    /// The project's bin/.
    pub bin: &'a Path,
    /// Value of `{threads}`.
    pub threads: usize,
    /// Cores that the server and its services are pinned to; all, when empty.
    pub cpus: &'a [usize],
    /// Where they are.
    pub place: Place,
    /// Where its output goes; that of a service goes beside it.
    pub log: &'a Path,
}

impl<'a> Spec<'a> {
    /// The specification for one variant of a manifest.
    pub fn new(
        manifest: &'a Manifest,
        variant: &'a Variant,
        place: (&'a Path, &'a Path),
        cpus: (usize, &'a [usize]),
        log: &'a Path,
    ) -> Self {
        Self {
            variant,
            ready_timeout: manifest.ready_timeout,
            grace: manifest.grace,
            dir: place.0,
            bin: place.1,
            threads: cpus.0,
            cpus: cpus.1,
            place: Place::default(),
            log,
        }
    }

    /// The same in another place than on loopback.
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    fn values(&self, start: Start) -> Values {
        Values {
            bin: self.bin.to_owned(),
            dir: self.dir.to_owned(),
            start: Some(start),
        }
    }
}

/// A server that has been ready, and its services. Dropped, all are killed with all that they
/// started.
#[derive(Debug)]
pub struct Server {
    server: Part,
    services: Services,
    path: String,
    /// Absent without TLS.
    certificate: Option<Certificate>,
}

impl Server {
    /// Process id of the server's leader.
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Process ids of the leaders of server and services.
    pub fn pids(&self) -> Vec<u32> {
        std::iter::once(self.pid())
            .chain(self.services.pids())
            .collect()
    }

    /// The port that it listens on.
    pub const fn port(&self) -> u16 {
        self.server.port()
    }

    /// Its WebSocket.
    pub fn url(&self) -> String {
        let scheme = match self.certificate {
            None => "ws",
            Some(_) => "wss",
        };
        format!("{scheme}://{}{}", self.server.address(), self.path)
    }

    /// The file of its certificate, which is its own authority; absent without TLS.
    pub fn authority(&self) -> Option<&Path> {
        self.certificate.as_ref().map(|of| of.cert.as_path())
    }

    /// The server in the terms of the checks, of which each answer has this time.
    pub fn target(&self, variant: &Variant, timeout: Duration) -> Target {
        let tls = self.certificate.as_ref().map(|of| of.tls.clone());
        let addr = SocketAddr::new(self.server.place().host(), self.port());
        target(variant, addr, tls, timeout)
    }

    /// What has ended by itself: a service first, since the server may have ended because of it, or
    /// the server.
    pub fn death(&mut self) -> Option<Death> {
        let of_service = self.services.death().map(|(death, _)| death);
        of_service.or_else(|| self.server.death())
    }

    /// The last lines of its output, or of that of the service that has ended.
    pub fn log_tail(&mut self) -> Option<String> {
        match self.services.death() {
            Some((_, tail)) => tail,
            None => self.server.log_tail(),
        }
    }
}

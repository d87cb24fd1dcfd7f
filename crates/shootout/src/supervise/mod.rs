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
//! A proxy is started when the server behind it is ready, and is ready when an echo is answered through it
//! (`front`). It is stopped first.
//!
//! A variant with nodes is its command started that often (`cluster`), ready when each node is, and when a
//! broadcast at each reaches a client of every other. A fault of a workload ends, freezes or cuts off a
//! part on purpose (`deed`), which is no crash.
//!
//! What a crash or a leak means for a measurement is decided in `measure`.

mod certificate;
mod cluster;
mod deed;
mod front;
mod part;
mod port;
mod relay;
mod services;
mod start;
mod stop;

pub use cluster::Server;
pub use deed::{DeedError, Reload, UnderWay};
pub use front::{ProxyError, Through};
pub use part::{Death, LaunchError};
pub use services::ServiceError;
pub use start::{Failure, StartError, start};
pub use stop::{StopReport, Stopped};

use crate::network::Location;
use project::manifest::{Manifest, Start, Values, Variant};
use std::collections::BTreeSet;
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
    pub place: Location,
    /// Where its output goes; that of services and nodes goes beside it.
    pub log: &'a Path,
    /// What will be cut.
    pub cuts: Cuts<'a>,
    /// The proxy between clients and server.
    pub through: Option<Through<'a>>,
}

/// The ways between nodes and broker that will be cut.
#[derive(Clone, Debug, Default)]
pub struct Cuts<'a> {
    /// The nodes, by their numbers.
    pub nodes: BTreeSet<u32>,
    /// Cores of the threads that carry what passes; all, when empty.
    pub cpus: &'a [usize],
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
            place: Location::default(),
            log,
            cuts: Cuts::default(),
            through: None,
        }
    }

    /// The same in another place than on loopback.
    pub fn at(mut self, place: Location) -> Self {
        self.place = place;
        self
    }

    /// The same with ways that can be cut.
    pub fn with_cuts(mut self, cuts: Cuts<'a>) -> Self {
        self.cuts = cuts;
        self
    }

    /// The same behind a proxy.
    pub fn through(mut self, through: Option<Through<'a>>) -> Self {
        self.through = through;
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

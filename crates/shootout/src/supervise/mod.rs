//! A server's life, from start to nothing left.
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
//! Does not judge: what a crash or a leak means for a measurement is decided in `measure`.

mod port;
mod start;
mod stop;

pub use start::{StartError, start};
pub use stop::StopReport;

use crate::manifest::{Manifest, Values, Variant};
use crate::process::Group;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

/// Where every server listens.
pub const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
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
    /// Cores that the server is confined to; all, when empty.
    pub cpus: &'a [usize],
    /// Where its output goes.
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
            log,
        }
    }

    fn values(&self, port: u16) -> Values {
        Values {
            bin: self.bin.to_owned(),
            dir: self.dir.to_owned(),
            start: Some((HOST.to_string(), port, self.threads)),
        }
    }
}

/// A server that has been ready. Dropped, it is killed with all that it started.
#[derive(Debug)]
pub struct Server {
    group: Group,
    cookie: String,
    port: u16,
    path: String,
    grace: Duration,
    log: PathBuf,
}

impl Server {
    /// Process id of the leader.
    pub fn pid(&self) -> u32 {
        self.group.id()
    }

    /// The port that it listens on.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Its WebSocket.
    pub fn url(&self) -> String {
        format!("ws://{HOST}:{}{}", self.port, self.path)
    }

    /// How it ended, if it has.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.group.exited()
    }

    /// The last lines of its output.
    pub fn log_tail(&self) -> Option<String> {
        crate::process::tail(&self.log, LOG_LINES)
    }
}

//! Why a run could not be made.

use crate::net::TargetError;
use std::io;

/// A run that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The target cannot be used.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A run over sites without any.
    #[error("a run over several processes needs at least one process that opens connections")]
    NoSites,
    /// Some of the sites could open no connection.
    #[error(
        "no more than {at_once} handshakes are to be under way at once, and \
         {sites} processes open connections; raise connection.at_once, or take fewer processes"
    )]
    TooManySites {
        /// How many there are.
        sites: u32,
        /// What the plan permits.
        at_once: u32,
    },
    /// Messages are watched within one process.
    #[error(
        "load.watch follows each message to each client within one process: take no other processes \
         for its connections"
    )]
    WatchedBySites,
    /// The plan holds a value that nothing can be measured with.
    #[error("the plan is refused: {0}")]
    Plan(#[from] plan::PlanError),
    /// The plan's dialect file makes no sense.
    #[error("the dialect file is refused: {0}")]
    Dialect(#[from] crate::dialect::DialectError),
    /// The kernel refuses what a worker needs.
    #[error("cannot set up a worker: {0}")]
    Worker(io::Error),
}

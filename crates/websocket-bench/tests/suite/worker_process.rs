//! A worker of the built binary.

pub(crate) use crate::shared::Process;

use crate::support::bench;
use std::net::SocketAddr;
use std::process::Command;

/// A worker on a port of its own.
pub(crate) struct Worker {
    pub(crate) process: Process,
    pub(crate) addr: SocketAddr,
}

impl Worker {
    pub(crate) fn start(flags: &str) -> Self {
        Self::new(
            bench()
                .args(["worker", "-p", "0"])
                .args(flags.split_whitespace()),
        )
    }

    #[track_caller]
    pub(crate) fn new(command: &mut Command) -> Self {
        let process = Process::start(command);
        let line = process.prints("listening on ");
        Self {
            addr: line.trim_start_matches("listening on ").parse().unwrap(),
            process,
        }
    }
}

//! Attempts that failed: whose they were, and what the user can do about it.

use super::super::clients::ClientTable;
use crate::clock;
use crate::io::Token;
use crate::message::Report;
use crate::net::{ConnectError, Offered, Stage};
use record::{Environment, FileLimit};
use std::io;
use std::net::IpAddr;

impl ClientTable {
    /// An attempt has failed.
    pub(in crate::worker) fn attempt_failed(&mut self, slot: Token, error: ConnectError) {
        match self.lives.as_mut().filter(|lives| lives.is_trying(slot)) {
            Some(lives) => {
                if !lives.failed(slot, &error, clock::now_ns()) {
                    self.report_failed(error);
                }
            }
            None => self.opening_failed(error),
        }
    }

    /// An attempt that began with requests over HTTP has failed before its connection.
    pub(in crate::worker) fn steps_failed(&mut self, slot: Token, error: ConnectError) {
        if error.is_machine_limit() {
            self.opening.under_way -= 1;
            self.opening.exhaust(error);
        } else {
            self.attempt_failed(slot, error);
        }
    }

    fn opening_failed(&mut self, error: ConnectError) {
        self.opening.under_way -= 1;
        // If a limit of this machine was found first, that one is reported.
        if !self.opening.count_failed(&error) && self.opening.exhausted.is_none() {
            self.report_failed(error);
        }
    }

    fn report_failed(&mut self, error: ConnectError) {
        self.opening.reported = true;
        self.report(Report::OpenFailed(error.into()));
    }

    /// The clients of this process use the source addresses in turn.
    pub(super) fn local_addr(&self, slot: Token) -> Option<IpAddr> {
        let client = u64::from(slot) * self.peers.len() as u64 + u64::from(self.thread);
        let addrs = &self.common.plan.target.local_addrs;
        (!addrs.is_empty()).then(|| addrs[(client % addrs.len() as u64) as usize])
    }

    /// The kernel's error, with what the user can do about it.
    pub(in crate::worker) fn explain(
        &self,
        error: io::Error,
        stage: Stage,
        slot: Token,
    ) -> ConnectError {
        let addr = self.endpoint(slot);
        let error = match error.downcast::<rustls::Error>() {
            Ok(source) => {
                return ConnectError::Tls {
                    addr,
                    stage,
                    offered: Offered::new(&self.common.plan),
                    source,
                };
            }
            Err(error) => error,
        };
        match error.raw_os_error() {
            Some(libc::ECONNREFUSED) => self.after_others(ConnectError::Refused { addr }),
            Some(libc::EMFILE | libc::ENFILE) => ConnectError::Files {
                limit: FileLimit::current().soft,
            },
            // A Unix socket does not wait for a place in the queue of its listener.
            Some(libc::EAGAIN) if stage == Stage::Connect => ConnectError::QueueFull { addr },
            Some(libc::EADDRNOTAVAIL) => self.explain_address(slot),
            Some(libc::ECONNRESET | libc::EPIPE) => ConnectError::Closed {
                addr,
                stage,
                reset: true,
                close: None,
            },
            _ => {
                let error = ConnectError::Io {
                    addr,
                    stage,
                    source: error,
                };
                match stage {
                    Stage::Connect => self.after_others(error),
                    _ => error,
                }
            }
        }
    }

    /// An address that does not open, where it is the last of several.
    fn after_others(&self, last: ConnectError) -> ConnectError {
        let passed_over = &self.common.target.passed_over;
        if passed_over.is_empty() {
            return last;
        }
        let others: Vec<String> = passed_over.iter().map(ToString::to_string).collect();
        ConnectError::Unreachable {
            last: Box::new(last),
            others: others.join(", "),
        }
    }

    /// The error of an attempt that took too long.
    pub(in crate::worker) fn late(&self, slot: Token, stage: Stage) -> ConnectError {
        let error = ConnectError::TimedOut {
            addr: self.endpoint(slot),
            stage,
            seconds: self.common.plan.connection.timeout.ns() as f64 / 1e9,
        };
        match stage {
            Stage::Connect => self.after_others(error),
            Stage::Subscribe => self.captured.not_opened(error),
            _ => error,
        }
    }

    /// "Cannot assign address" means two things: not ours, or no port left on it.
    fn explain_address(&self, slot: Token) -> ConnectError {
        let local = self.local_addr(slot);
        if let Some(local) = local
            && std::net::UdpSocket::bind((local, 0)).is_err()
        {
            return ConnectError::NotLocal { local };
        }
        let (first, last) = Environment::collect().local_ports.unwrap_or((1, u16::MAX));
        let sources = match self.common.plan.target.local_addrs.len() {
            0 | 1 => "the source address".to_owned(),
            several => format!("the {several} source addresses"),
        };
        ConnectError::Ports {
            sources,
            first,
            last,
        }
    }
}

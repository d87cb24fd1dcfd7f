//! The workers of a step as the controller sees them: the threads of this process, or sites that have
//! threads of their own.

use super::Ended;
use crate::figures::{Latencies, Rows};
use crate::message::{Command, Report, StepTerms};
use crate::verify::StepLedger;
use record::{Recorder, SiteUse};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Workers that take commands and give reports.
pub(crate) trait Workers {
    /// How many of them answer a command to all, each with its own report.
    fn len(&self) -> usize;

    /// Clients that are connected.
    fn connected(&self) -> u64;

    /// Sends a command to all of them.
    fn tell(&mut self, command: Command);

    /// Opens the ledger of a step and tells all workers the step. Each answers [`Report::Begun`].
    fn begin(&mut self, step: StepTerms) -> Arc<StepLedger>;

    /// Has the first samples of a closed loop sent, `in_flight` of them.
    fn fill(&mut self, in_flight: u32);

    /// The next report and the number of the worker or site that it is from, or nothing within
    /// `timeout`.
    fn wait(&mut self, timeout: Duration) -> Option<(u32, Report)>;

    /// Time from a command to a moment by which every worker has the command.
    fn start_in(&self) -> Duration;

    /// Where the server is, as seen from here.
    fn server(&self) -> Option<SocketAddr>;

    /// True while one of them may hang, so that a missing message is not the server's fault.
    fn doubts(&self) -> bool;

    /// How much later than it happens the ledger may learn of a send.
    fn ledger_lag(&self) -> Duration;

    /// The figures of the step that only the coordinator of several sites can record.
    fn take_kept(&mut self) -> Kept;

    /// A row for each site, of a step with so many clients and of sends up to `sent_by`. The figures
    /// of the parts are not in it.
    fn rows(&self, clients: u64, sent_by: Option<u64>) -> Vec<SiteUse>;

    /// Closes every connection and begins with new workers; soon, once the user has `interrupted`.
    fn renew(&mut self, interrupted: &AtomicBool) -> Result<(), Ended>;

    /// Closes every connection and ends; soon, once the user has `interrupted`.
    fn stop(&mut self, interrupted: &AtomicBool);
}

/// Latencies whose two ends are at different sites.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) latencies: Latencies,
    /// Of a closed loop over sites: see [`record::StepRecord::release_delay`].
    pub(crate) release_delay: Recorder,
    /// Of those latencies: the completions of each second.
    pub(crate) rows: Rows,
}

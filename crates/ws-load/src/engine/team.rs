//! Those who carry a step out, as the step controller sees them: the threads of this process, or
//! sites that have threads of their own.

use super::Ended;
use crate::judge::Latencies;
use crate::ledger::{StepLedger, Terms};
use crate::plan::Schedule;
use crate::series::Rows;
use crate::site::{SitePart, StepTerms, Unable};
use crate::worker::OpenOrder;
use run_record::{Plan, Recorder, SiteUse, Workload};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Told what to do, and heard with what became of it.
pub(super) trait Team {
    /// How many answer an order to all, each with news of its own.
    fn len(&self) -> usize;

    /// Clients that are connected.
    fn connected(&self) -> u64;

    /// Has so many clients opened. Each answers [`News::Opened`] or [`News::OpenFailed`].
    fn open(&mut self, clients: u64);

    /// A step of a `connect` run: has connections opened, and those that there are pinged. Each
    /// answers [`News::Opened`] or [`News::OpenFailed`].
    fn open_and_hold(&mut self, order: OpenOrder);

    /// Has the connections held until a moment. Each answers [`News::Held`].
    fn hold(&mut self, until_ns: u64);

    /// Between an order and a moment that everybody can meet who is told of it.
    fn start_in(&self) -> Duration;

    /// Where the server is, as seen from here.
    fn server(&self) -> Option<SocketAddr>;

    /// Opens the books of a step and tells all of it. Each answers [`News::Begun`].
    fn begin(&mut self, step: StepTerms) -> Arc<StepLedger>;

    /// Has the seconds of the step counted from this moment on.
    fn count_from(&mut self, from_ns: u64);

    /// Fills the closed loop.
    fn fill(&mut self);

    /// Has everybody send his part of the schedule. Returns the moment at which it begins.
    fn start(&mut self, schedule: &Schedule) -> u64;

    /// The next news, or nothing within `timeout`.
    fn wait(&mut self, timeout: Duration) -> Option<News>;

    /// True while one of the team may not be able to go on, so that what does not happen is not to
    /// be laid at the server's door.
    fn doubts(&self) -> bool;

    /// How much later than it happens the books may learn of a send.
    fn books_lag(&self) -> Duration;

    /// Has everybody give up what the step still waits for, and count it if `count` is set.
    fn give_up(&mut self, count: bool);

    /// Ends the step. Each answers [`News::Part`].
    fn finish(&mut self);

    /// What of the step nobody but the team itself could record.
    fn take_kept(&mut self) -> Kept;

    /// A row for each site, of a step with so many clients and of sends up to `sent_by`; without
    /// what comes with the parts.
    fn rows(&self, clients: u64, sent_by: Option<u64>) -> Vec<SiteUse>;

    /// Closes every connection and begins with new workers; soon, once the user has `interrupted`.
    fn begin_anew(&mut self, interrupted: &AtomicBool) -> Result<(), Ended>;

    /// Closes every connection and ends; soon, once the user has `interrupted`.
    fn dismiss(&mut self, interrupted: &AtomicBool);
}

/// What the step controller hears.
#[derive(Debug)]
pub(super) enum News {
    /// All clients asked for are ready.
    Opened,
    /// A client could not be connected, or was lost between steps.
    OpenFailed(Unable),
    /// The step is known and its samples may be received.
    Begun,
    /// The time of a hold has passed.
    Held,
    /// The last sample of the step is complete.
    AllSamples,
    /// Every client of a worker has been lost.
    AllLost,
    /// The first answers were not of the dialect: what they were, in words.
    NotUnderstood(String),
    /// A part of a step, and the number of the site or worker that it is from.
    Part(u32, Box<SitePart>),
    /// Somebody cannot go on: why, in words.
    Broken(String),
    /// A site or a worker is lost: its number, and why, in words.
    Lost(u32, String),
}

/// Latencies whose two ends are at different sites.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) latencies: Latencies,
    /// Of a closed loop over sites: see [`run_record::StepRecord::release_delay`].
    pub(super) release_delay: Recorder,
    /// Of those latencies: the completions of each second.
    pub(super) rows: Rows,
}

/// The terms of a step's books that `workers` keep together.
pub(crate) fn terms(plan: &Plan, step: StepTerms, workers: u64, clients: u64) -> Terms {
    Terms {
        workload: plan.workload(),
        seed: plan.generator.seed,
        first_sample: step.first_sample,
        samples: step.samples,
        warm_up: step.warm_up,
        by_clock: step.by_clock,
        clients: step.clients,
        parties: match plan.workload() {
            Workload::Broadcast => clients.min(workers) as u32,
            Workload::Echo | Workload::Connect => 1,
        },
    }
}

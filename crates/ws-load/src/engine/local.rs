//! A run with the threads of this process alone.

use super::crew::{self, Crew};
use super::team::{self, Kept, News, Team};
use super::{CLOSE_PATIENCE, Ended};
use crate::clock;
use crate::error::{ConnectError, RunError};
use crate::ledger::StepLedger;
use crate::plan::{self, Schedule};
use crate::site::{Share, SitePart, StepTerms, Unable};
use crate::target::Target;
use crate::worker::{Command, OpenOrder, Part, Report};
use run_record::{End, Plan, SiteUse};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Between the call to start and the start of a schedule: every worker has heard it by then.
const START_IN: Duration = Duration::from_millis(5);

pub(super) struct Local<'a> {
    plan: &'a Plan,
    target: Arc<Target>,
    pub(super) crew: Crew,
    step: Option<Arc<StepLedger>>,
}

impl<'a> Local<'a> {
    pub(super) fn hire(plan: &'a Plan) -> Result<Self, RunError> {
        let target = Arc::new(Target::of(plan)?);
        let crew = crew::hire(plan, Arc::clone(&target), Share::WHOLE).map_err(RunError::Worker)?;
        Ok(Self::with(plan, target, crew))
    }

    pub(super) const fn with(plan: &'a Plan, target: Arc<Target>, crew: Crew) -> Self {
        Self {
            plan,
            target,
            crew,
            step: None,
        }
    }
}

impl Team for Local<'_> {
    fn len(&self) -> usize {
        self.crew.here()
    }

    fn connected(&self) -> u64 {
        self.crew.connected()
    }

    fn open(&mut self, clients: u64) {
        let workers = self.crew.len() as u64;
        for worker in 0..workers {
            let share = plan::share_of(clients, worker, workers);
            self.crew.tell(worker as usize, Command::Open(share));
        }
    }

    fn open_and_hold(&mut self, order: OpenOrder) {
        self.crew.tell_all(|| Command::Connect(order));
    }

    fn hold(&mut self, until_ns: u64) {
        self.crew.tell_all(|| Command::Hold { until_ns });
    }

    fn start_in(&self) -> Duration {
        START_IN
    }

    fn server(&self) -> Option<SocketAddr> {
        Some(self.target.addr)
    }

    fn begin(&mut self, step: StepTerms) -> Arc<StepLedger> {
        let terms = team::terms(self.plan, step, self.crew.len() as u64, step.clients);
        let ledger = Arc::new(StepLedger::new(terms));
        self.crew.tell_all(|| Command::Begin(Arc::clone(&ledger)));
        self.step = Some(Arc::clone(&ledger));
        ledger
    }

    fn count_from(&mut self, from_ns: u64) {
        self.crew.tell_all(|| Command::CountFrom(from_ns));
    }

    /// All at once: requests that trickle in one by one would be served one by one for the rest of
    /// the step, and cost everybody more reads and writes.
    fn fill(&mut self) {
        let Some(ledger) = &self.step else { return };
        for _ in 0..self.plan.in_flight() {
            if let Some((index, client)) = ledger.release() {
                let owner = (client % self.crew.len() as u64) as usize;
                self.crew.tell_later(owner, Command::Send { index, client });
            }
        }
        self.crew.tell_all(|| Command::Wake);
    }

    fn start(&mut self, schedule: &Schedule) -> u64 {
        let start_ns = clock::now_ns() + clock::nanos(self.start_in());
        self.crew.tell_all(|| Command::Start {
            schedule: schedule.clone(),
            start_ns,
        });
        start_ns
    }

    fn wait(&mut self, timeout: Duration) -> Option<News> {
        if let Some((worker, words)) = self.crew.take_hung() {
            return Some(News::Lost(worker as u32, words));
        }
        match self.crew.wait(timeout)? {
            // The step goes on without it.
            Report::Part(part) if self.crew.has_given_up(part.thread as usize) => None,
            report => report.into_news(),
        }
    }

    fn doubts(&self) -> bool {
        self.crew.doubts()
    }

    fn books_lag(&self) -> Duration {
        Duration::ZERO
    }

    fn give_up(&mut self, count: bool) {
        self.crew.tell_all(|| Command::GiveUp { count });
    }

    fn finish(&mut self) {
        self.crew.tell_all(|| Command::Finish);
    }

    fn take_kept(&mut self) -> Kept {
        Kept::default()
    }

    fn rows(&self, _clients: u64, _sent_by: Option<u64>) -> Vec<SiteUse> {
        Vec::new()
    }

    fn begin_anew(&mut self, interrupted: &AtomicBool) -> Result<(), Ended> {
        self.crew.dismiss(CLOSE_PATIENCE, interrupted);
        self.crew = crew::hire(self.plan, Arc::clone(&self.target), Share::WHOLE)
            .map_err(|error| Ended::new(End::MachineLimit, error.to_string()))?;
        Ok(())
    }

    fn dismiss(&mut self, interrupted: &AtomicBool) {
        self.crew.dismiss(CLOSE_PATIENCE, interrupted);
    }
}

impl Report {
    fn into_news(self) -> Option<News> {
        Some(match self {
            Self::Opened => News::Opened,
            Self::OpenFailed(error) => News::OpenFailed(Unable::from(*error)),
            Self::Begun => News::Begun,
            Self::Held => News::Held,
            Self::AllSamples => News::AllSamples,
            Self::AllLost => News::AllLost,
            Self::NotUnderstood(words) => News::NotUnderstood(words),
            Self::Part(part) => News::Part(part.thread, Box::new(SitePart::from(*part))),
            Self::Broken(error) => News::Broken(format!("the kernel refuses to go on: {error}")),
            Self::Sent(_) | Self::HeldBack(_) | Self::Done(_) | Self::Packs(_) => return None,
        })
    }
}

impl From<ConnectError> for Unable {
    fn from(error: ConnectError) -> Self {
        Self {
            words: error.to_string(),
            machine_limit: error.is_machine_limit(),
        }
    }
}

impl From<Part> for SitePart {
    fn from(part: Part) -> Self {
        Self {
            latencies: part.latencies,
            faults: part.faults,
            first_malformed: part.first_malformed,
            first_disconnect: part.first_disconnect,
            messages: part.messages,
            reads: part.reads,
            unstamped: part.unstamped,
            clock_steps: part.clock_steps,
            busiest_cpu_ns: part.cpu_ns,
            largest_lag_ns: part.largest_lag_ns,
            process_cpu_ns: 0,
            resident_bytes: 0,
            counts: part.counts,
            rows: part.rows,
            held: part.held,
        }
    }
}

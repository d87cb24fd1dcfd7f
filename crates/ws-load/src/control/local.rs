//! A run with the threads of this process alone.

use super::Ended;
use super::error::RunError;
use super::workers::{Kept, Workers};
use crate::message::{Command, Report, StepTerms};
use crate::net::Target;
use crate::scenario::Work;
use crate::verify::{Keeper, StepLedger};
use crate::worker::WorkerPool;
use plan::Plan;
use record::{End, SiteUse};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time from the command to the start of a schedule: by then every worker has the command.
const START_IN: Duration = Duration::from_millis(5);

pub(super) struct Local<'a> {
    plan: &'a Plan,
    target: Arc<Target>,
    pub(super) pool: WorkerPool,
}

impl<'a> Local<'a> {
    pub(super) fn start(plan: &'a Plan, work: Work) -> Result<Self, RunError> {
        let target = Arc::new(Target::new(plan)?);
        let pool = WorkerPool::start(plan, Arc::clone(&target), Keeper::Process, work)
            .map_err(RunError::Worker)?;
        Ok(Self::with(plan, target, pool))
    }

    pub(super) const fn with(plan: &'a Plan, target: Arc<Target>, pool: WorkerPool) -> Self {
        Self { plan, target, pool }
    }
}

impl Workers for Local<'_> {
    fn len(&self) -> usize {
        self.pool.here()
    }

    fn connected(&self) -> u64 {
        self.pool.connected()
    }

    fn tell(&mut self, command: Command) {
        self.pool.tell(command);
    }

    fn begin(&mut self, step: StepTerms) -> Arc<StepLedger> {
        self.pool.begin(step)
    }

    fn fill(&mut self, in_flight: u32) {
        let Some(ledger) = self.pool.step() else {
            return;
        };
        let released = (0..in_flight).map_while(|_| ledger.release());
        let samples = released.map(|(index, _)| index).collect();
        self.pool.tell(Command::Send(samples));
    }

    fn wait(&mut self, timeout: Duration) -> Option<(u32, Report)> {
        if let Some((worker, words)) = self.pool.take_hung() {
            return Some((worker as u32, Report::Lost(words)));
        }
        let (worker, report) = self.pool.wait(timeout)?;
        // The step goes on without one that was given up.
        let is_too_late =
            matches!(report, Report::Part(_)) && self.pool.has_given_up(worker as usize);
        (!is_too_late).then_some((worker, report))
    }

    fn start_in(&self) -> Duration {
        START_IN
    }

    fn server(&self) -> Option<SocketAddr> {
        self.target.endpoint.server()
    }

    fn doubts(&self) -> bool {
        self.pool.doubts()
    }

    fn ledger_lag(&self) -> Duration {
        Duration::ZERO
    }

    fn take_kept(&mut self) -> Kept {
        Kept::default()
    }

    fn rows(&self, _clients: u64, _sent_by: Option<u64>) -> Vec<SiteUse> {
        Vec::new()
    }

    fn renew(&mut self, interrupted: &AtomicBool) -> Result<(), Ended> {
        self.pool.stop(interrupted);
        self.pool = WorkerPool::start(
            self.plan,
            Arc::clone(&self.target),
            Keeper::Process,
            Work::Plan,
        )
        .map_err(|error| Ended::new(End::MachineLimit, error.to_string()))?;
        Ok(())
    }

    fn stop(&mut self, interrupted: &AtomicBool) {
        self.pool.stop(interrupted);
    }
}

//! The worker threads of a process: one command to all, one queue of their reports.

use super::watchdog::{SILENCE, Watchdog};
use super::{Common, Peer, Progress, Worker};
use crate::clock;
use crate::dialect::Stamps;
use crate::http::Service;
use crate::io::{Backend, Epoll, Uring};
use crate::message::{Command, Report, Share, StepTerms};
use crate::net::Target;
use crate::scenario::{CurrentStep, Work};
use crate::verify::{Keeper, Sent, StepLedger, Terms};
use plan::{Io, Plan};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long closing connections may take.
pub(crate) const CLOSE_PATIENCE: Duration = Duration::from_secs(3);
/// Added to the time for closing connections: a worker with very many of them has to write to each and
/// close it.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long the workers have to end once the user has asked for the end.
pub(crate) const HURRY: Duration = Duration::from_millis(700);
/// Interval at which the pool checks whether the workers have ended.
const LOOK: Duration = Duration::from_millis(5);

/// The workers and the way to and from them.
pub(crate) struct WorkerPool {
    plan: Arc<Plan>,
    keeper: Keeper,
    share: Share,
    peers: Vec<Peer>,
    threads: Vec<JoinHandle<()>>,
    reports: mpsc::Receiver<(u32, Report)>,
    progress: Arc<Progress>,
    step: Arc<CurrentStep>,
    watchdog: Watchdog,
}

impl WorkerPool {
    /// Starts the workers of a process that keeps its ledger as `keeper`, on the plan's backend.
    pub(crate) fn start(
        plan: &Plan,
        target: Arc<Target>,
        keeper: Keeper,
        work: Work,
    ) -> io::Result<Self> {
        match plan.generator.io {
            Io::Epoll => Self::start_on::<Epoll>(plan, target, keeper, work),
            Io::Uring => Self::start_on::<Uring>(plan, target, keeper, work),
        }
    }

    /// Starts the workers on backend `B`.
    pub(crate) fn start_on<B: Backend + Send + 'static>(
        plan: &Plan,
        target: Arc<Target>,
        keeper: Keeper,
        work: Work,
    ) -> io::Result<Self> {
        let share = match keeper {
            Keeper::Process | Keeper::Coordinator => Share::WHOLE,
            Keeper::Site { share, .. } => share,
        };
        let workers: Vec<Worker<B>> = (0..share.threads(plan))
            .map(|_| Worker::new(plan.generator.timestamps))
            .collect::<io::Result<_>>()?;
        let peers: Vec<Peer> = workers.iter().map(Worker::peer).collect();
        let (sender, reports) = mpsc::channel();
        let progress = Arc::new(Progress::new(workers.len()));
        let plan = Arc::new(plan.clone());
        let step = Arc::new(CurrentStep::default());
        let understanding = Arc::default();
        let http = match work {
            Work::Plan => Service::start(&plan, &target)?,
            Work::RawEcho => None,
        };
        let mut threads = Vec::new();
        for (thread, worker) in workers.into_iter().enumerate() {
            let peers = peers.clone();
            let common = Common {
                stamps: Stamps::of_run(plan.generator.seed),
                plan: Arc::clone(&plan),
                work,
                share,
                target: Arc::clone(&target),
                progress: Arc::clone(&progress),
                understanding: Arc::clone(&understanding),
                step: Arc::clone(&step),
                reports: sender.clone(),
                http: http.clone(),
            };
            let thread = std::thread::Builder::new()
                .name(format!("worker-{thread}"))
                .spawn(move || worker.run(thread as u32, peers, common))?;
            threads.push(thread);
        }
        Ok(Self {
            plan,
            keeper,
            share,
            peers,
            threads,
            reports,
            watchdog: Watchdog::new(Arc::clone(&progress)),
            progress,
            step,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.peers.len()
    }

    pub(crate) fn connected(&self) -> u64 {
        self.progress.connected.load(Ordering::Relaxed)
    }

    /// Bytes of raw echoes that have come back.
    pub(crate) fn bytes(&self) -> u64 {
        self.progress.bytes.load(Ordering::Relaxed)
    }

    /// The ledger of the step under way.
    pub(crate) fn step(&self) -> Option<Arc<StepLedger>> {
        self.step.get()
    }

    /// Sends a command to all workers; each obeys its part.
    pub(crate) fn tell(&self, command: Command) {
        match command {
            Command::Begin(terms) => {
                self.begin(terms);
            }
            Command::Send(samples) => self.send(&samples),
            Command::Sent(samples) => {
                let Some(ledger) = self.step() else { return };
                for sample in samples {
                    ledger.sent_elsewhere(sample.index, Sent::from(sample));
                }
            }
            Command::Complete(samples) => {
                let Some(ledger) = self.step() else { return };
                for sample in samples {
                    ledger.complete_everywhere(sample.index, sample.last_ns);
                }
            }
            command => self.tell_all(&command),
        }
    }

    /// Sends samples of a closed loop, all of a worker at once. Requests that start one by one would be
    /// served one by one for the rest of the step, which costs both sides more reads and writes.
    fn send(&self, samples: &[u32]) {
        let Some(ledger) = self.step() else { return };
        let of = u64::from(self.share.of);
        let mut shares = vec![Vec::new(); self.len()];
        for &index in samples {
            let owner = ledger.sender(index) / of % self.len() as u64;
            shares[owner as usize].push(index);
        }
        for (peer, share) in self.peers.iter().zip(shares) {
            if !share.is_empty() {
                peer.tell(Command::Send(share));
            }
        }
    }

    /// Opens the ledger of a step and has the workers begin it.
    pub(crate) fn begin(&self, step: StepTerms) -> Arc<StepLedger> {
        let threads = self.len() as u32;
        let workers = (0..threads).map(|thread| self.share.worker(thread, threads));
        let terms = Terms::new(&self.plan, step, self.keeper, workers);
        let ledger = Arc::new(StepLedger::new(terms));
        self.step.set(Arc::clone(&ledger));
        self.tell_all(&Command::Begin(step));
        ledger
    }

    fn tell_all(&self, command: &Command) {
        self.peers
            .iter()
            .for_each(|peer| peer.tell(command.clone()));
    }

    /// The next report and the number of its thread, or nothing within `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<(u32, Report)> {
        self.reports.recv_timeout(timeout).ok()
    }

    /// Gives the reports to another listener.
    pub(crate) fn take_reports(&mut self) -> mpsc::Receiver<(u32, Report)> {
        std::mem::replace(&mut self.reports, mpsc::channel().1)
    }

    /// What may be looked at while the workers work.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// A watchdog over the workers, for the thread that takes their reports.
    pub(crate) fn watchdog(&self) -> Watchdog {
        Watchdog::new(self.progress())
    }

    /// A worker that hangs, with a message. Each is returned once.
    pub(crate) fn take_hung(&mut self) -> Option<(usize, String)> {
        let worker = self.watchdog.look()?;
        Some((worker, hung(worker, self.len())))
    }

    /// True while a worker may hang, so that a missing message is not the server's fault.
    pub(crate) fn doubts(&self) -> bool {
        self.watchdog.doubts()
    }

    /// True for a worker that was given up.
    pub(crate) fn has_given_up(&self, worker: usize) -> bool {
        self.watchdog.has_given_up(worker)
    }

    /// Workers that were not given up.
    pub(crate) fn here(&self) -> usize {
        let all = 0..self.len();
        all.filter(|worker| !self.has_given_up(*worker)).count()
    }

    /// Closes all connections and waits for the workers to end, except those that hang. The wait has a
    /// limit, which is short once the user has `interrupted`. A thread that does not end then is left
    /// to the end of the process.
    pub(crate) fn stop(&mut self, interrupted: &AtomicBool) {
        self.tell_all(&Command::Close);
        let mut end_ns = clock::now_ns() + clock::nanos(CLOSE_PATIENCE + FAREWELL);
        let mut threads: Vec<JoinHandle<()>> = std::mem::take(&mut self.threads)
            .into_iter()
            .enumerate()
            .filter(|(worker, _)| !self.has_given_up(*worker))
            .map(|(_, thread)| thread)
            .collect();
        loop {
            // A worker that panicked has nothing left to save.
            threads.retain(|thread| !thread.is_finished());
            if interrupted.load(Ordering::Relaxed) {
                end_ns = end_ns.min(clock::now_ns() + clock::nanos(HURRY));
            }
            if threads.is_empty() || clock::now_ns() >= end_ns {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// The message about a worker that hangs.
pub(crate) fn hung(worker: usize, workers: usize) -> String {
    format!(
        "worker thread {} of {workers} has not responded for {SILENCE}; what the others measured is kept",
        worker + 1
    )
}

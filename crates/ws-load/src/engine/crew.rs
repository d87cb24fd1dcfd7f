//! The workers of a process, as threads.

use super::watchdog::{SILENCE, Watchdog};
use crate::clock;
use crate::io::{Backend, Epoll, Uring};
use crate::site::Share;
use crate::stamp::Stamps;
use crate::target::Target;
use crate::worker::{Command, Common, Peer, Progress, Report, Worker};
use run_record::{Io, Plan};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// The workers and the way to and from them.
pub(crate) struct Crew {
    peers: Vec<Peer>,
    threads: Vec<JoinHandle<()>>,
    reports: mpsc::Receiver<Report>,
    progress: Arc<Progress>,
    watchdog: Watchdog,
}

/// Beyond the time that closing connections may take: what a worker with very many of them needs to
/// write to each and to let go of it.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long the workers have to end once the user has asked for the end.
pub(super) const HURRY: Duration = Duration::from_millis(700);
/// How often is looked whether the workers have ended.
const LOOK: Duration = Duration::from_millis(5);

/// Starts the workers of a process that has a share of the run, on the plan's backend.
pub(crate) fn hire(plan: &Plan, target: Arc<Target>, share: Share) -> io::Result<Crew> {
    match plan.generator.io {
        Io::Epoll => Crew::hire::<Epoll>(plan, target, share),
        Io::Uring => Crew::hire::<Uring>(plan, target, share),
    }
}

impl Crew {
    /// Starts the plan's number of workers on backend `B`.
    pub(super) fn hire<B: Backend + Send + 'static>(
        plan: &Plan,
        target: Arc<Target>,
        share: Share,
    ) -> io::Result<Self> {
        let workers: Vec<Worker<B>> = (0..plan.generator.threads)
            .map(|_| Worker::new(plan.generator.timestamps))
            .collect::<io::Result<_>>()?;
        let peers: Vec<Peer> = workers.iter().map(Worker::peer).collect();
        let (sender, reports) = mpsc::channel();
        let progress = Arc::new(Progress::new(workers.len()));
        let plan = Arc::new(plan.clone());
        let mut threads = Vec::new();
        for (thread, worker) in workers.into_iter().enumerate() {
            let peers = peers.clone();
            let common = Common {
                stamps: Stamps::of_run(plan.generator.seed),
                plan: Arc::clone(&plan),
                share,
                target: Arc::clone(&target),
                progress: Arc::clone(&progress),
                reports: sender.clone(),
            };
            let thread = std::thread::Builder::new()
                .name(format!("worker-{thread}"))
                .spawn(move || worker.run(thread as u32, peers, common))?;
            threads.push(thread);
        }
        Ok(Self {
            peers,
            threads,
            reports,
            watchdog: Watchdog::new(Arc::clone(&progress)),
            progress,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.peers.len()
    }

    pub(crate) fn connected(&self) -> u64 {
        self.progress.connected.load(Ordering::Relaxed)
    }

    /// Bytes of echoes that have come back, in a throughput run.
    pub(super) fn bytes(&self) -> u64 {
        self.progress.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn tell(&self, worker: usize, command: Command) {
        self.peers[worker].tell(command);
    }

    /// Leaves a command that is obeyed with the next one that is told.
    pub(crate) fn tell_later(&self, worker: usize, command: Command) {
        self.peers[worker].tell_later(command);
    }

    pub(crate) fn tell_all(&self, mut command: impl FnMut() -> Command) {
        self.peers.iter().for_each(|peer| peer.tell(command()));
    }

    /// The next report, or nothing within `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Report> {
        self.reports.recv_timeout(timeout).ok()
    }

    /// Has somebody else hear the reports.
    pub(crate) fn take_reports(&mut self) -> mpsc::Receiver<Report> {
        std::mem::replace(&mut self.reports, mpsc::channel().1)
    }

    /// What may be looked at while the workers work.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// A watchdog over the workers, for the thread that hears their reports.
    pub(crate) fn watchdog(&self) -> Watchdog {
        Watchdog::new(self.progress())
    }

    /// A worker that does not turn any more, and that in words. Each is told once.
    pub(super) fn take_hung(&mut self) -> Option<(usize, String)> {
        let worker = self.watchdog.look()?;
        Some((worker, hung(worker, self.len())))
    }

    /// True while a worker may hang, so that nothing that does not happen is the server's fault.
    pub(super) fn doubts(&self) -> bool {
        self.watchdog.doubts()
    }

    /// True for a worker that was given up.
    pub(super) fn has_given_up(&self, worker: usize) -> bool {
        self.watchdog.has_given_up(worker)
    }

    /// Workers that were not given up.
    pub(super) fn here(&self) -> usize {
        let all = 0..self.len();
        all.filter(|worker| !self.has_given_up(*worker)).count()
    }

    /// Has all connections closed and waits for the workers to end: those that can be expected to,
    /// for a limited time, and not for long once the user has `interrupted`. What does not end is
    /// left to the end of the process.
    pub(crate) fn dismiss(&mut self, patience: Duration, interrupted: &AtomicBool) {
        self.tell_all(|| Command::Close { patience });
        let mut end_ns = clock::now_ns() + clock::nanos(patience + FAREWELL);
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

/// A worker that does not turn any more, in words.
pub(crate) fn hung(worker: usize, workers: usize) -> String {
    format!(
        "worker thread {} of {workers} has not responded for {SILENCE}; what the others measured is kept",
        worker + 1
    )
}

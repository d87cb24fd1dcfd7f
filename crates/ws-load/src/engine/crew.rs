//! The workers of a process, as threads.

use crate::io::{Backend, Epoll, Uring};
use crate::site::Share;
use crate::stamp::Stamps;
use crate::target::Target;
use crate::worker::{Command, Common, Peer, Progress, Report, Worker};
use run_record::{Io, Plan};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// The workers and the way to and from them.
pub(crate) struct Crew {
    peers: Vec<Peer>,
    threads: Vec<JoinHandle<()>>,
    reports: mpsc::Receiver<Report>,
    progress: Arc<Progress>,
}

/// Starts the workers of a process that has a share of the run, on the plan's backend.
pub(crate) fn hire(plan: &Plan, target: Arc<Target>, share: Share) -> io::Result<Crew> {
    match plan.io {
        Io::Epoll => Crew::hire::<Epoll>(plan, target, share),
        Io::Uring => Crew::hire::<Uring>(plan, target, share),
    }
}

impl Crew {
    /// Starts the plan's number of workers on backend `B`.
    fn hire<B: Backend + Send + 'static>(
        plan: &Plan,
        target: Arc<Target>,
        share: Share,
    ) -> io::Result<Self> {
        let workers: Vec<Worker<B>> = (0..plan.threads)
            .map(|_| Worker::new(plan.timestamps))
            .collect::<io::Result<_>>()?;
        let peers: Vec<Peer> = workers.iter().map(Worker::peer).collect();
        let (sender, reports) = mpsc::channel();
        let progress = Arc::new(Progress::default());
        let plan = Arc::new(plan.clone());
        let mut threads = Vec::new();
        for (thread, worker) in workers.into_iter().enumerate() {
            let peers = peers.clone();
            let common = Common {
                stamps: Stamps::of_run(plan.seed),
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

    /// Has all connections closed and waits for the workers to end.
    pub(crate) fn dismiss(&mut self, patience: Duration) {
        self.tell_all(|| Command::Close { patience });
        for thread in self.threads.drain(..) {
            // A worker that panicked has aborted or reported; there is nothing left to save.
            let _ = thread.join();
        }
    }
}

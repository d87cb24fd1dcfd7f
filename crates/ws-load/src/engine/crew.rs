//! The workers of a run, as threads of this process.

use crate::io::{Backend, Epoll, Uring};
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
pub(super) struct Crew {
    peers: Vec<Peer>,
    threads: Vec<JoinHandle<()>>,
    reports: mpsc::Receiver<Report>,
    progress: Arc<Progress>,
}

impl Crew {
    /// Starts the plan's number of workers on the plan's backend.
    pub(super) fn of(plan: &Plan, target: Arc<Target>) -> io::Result<Self> {
        match plan.io {
            Io::Epoll => Self::hire::<Epoll>(plan, target),
            Io::Uring => Self::hire::<Uring>(plan, target),
        }
    }

    /// Starts the plan's number of workers on backend `B`.
    fn hire<B: Backend + Send + 'static>(plan: &Plan, target: Arc<Target>) -> io::Result<Self> {
        let workers: Vec<Worker<B>> = (0..plan.threads)
            .map(|_| Worker::new(plan.timestamps))
            .collect::<io::Result<_>>()?;
        let peers: Vec<Peer> = workers.iter().map(Worker::peer).collect();
        let (sender, reports) = mpsc::channel();
        let progress = Arc::new(Progress::default());
        let plan = Arc::new(plan.clone());
        let mut threads = Vec::new();
        for (number, worker) in workers.into_iter().enumerate() {
            let peers = peers.clone();
            let common = Common {
                stamps: Stamps::of_run(plan.seed),
                plan: Arc::clone(&plan),
                target: Arc::clone(&target),
                progress: Arc::clone(&progress),
                reports: sender.clone(),
            };
            let thread = std::thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || worker.run(number as u32, peers, common))?;
            threads.push(thread);
        }
        Ok(Self {
            peers,
            threads,
            reports,
            progress,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.peers.len()
    }

    pub(super) fn connected(&self) -> u64 {
        self.progress.connected.load(Ordering::Relaxed)
    }

    /// Bytes of echoes that have come back, in a throughput run.
    pub(super) fn bytes(&self) -> u64 {
        self.progress.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn tell(&self, worker: usize, command: Command) {
        self.peers[worker].tell(command);
    }

    /// Leaves a command that is obeyed with the next one that is told.
    pub(super) fn tell_later(&self, worker: usize, command: Command) {
        self.peers[worker].tell_later(command);
    }

    pub(super) fn tell_all(&self, mut command: impl FnMut() -> Command) {
        self.peers.iter().for_each(|peer| peer.tell(command()));
    }

    /// The next report, or nothing within `timeout`.
    pub(super) fn wait(&self, timeout: Duration) -> Option<Report> {
        self.reports.recv_timeout(timeout).ok()
    }

    /// Has all connections closed and waits for the workers to end.
    pub(super) fn dismiss(&mut self, patience: Duration) {
        self.tell_all(|| Command::Close { patience });
        for thread in self.threads.drain(..) {
            // A worker that panicked has aborted or reported; there is nothing left to save.
            let _ = thread.join();
        }
    }
}

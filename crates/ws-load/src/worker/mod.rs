//! Workers: each one thread, one event loop, its share of the clients.
//!
//! A worker takes [`Command`]s and gives [`Report`]s. During a step it uses only the shared ledger, and
//! sends commands to the worker whose client is to send the next sample.

mod beats;
mod captured;
mod catch_up;
mod clients;
mod drops;
mod event_loop;
mod exchange;
mod leaving;
mod lives;
mod missed;
mod nodes;
mod opening;
mod pacing;
mod pool;
mod questions;
mod receive;
mod segments;
mod sequences;
mod settling;
mod signing;
mod starts;
mod steps;
mod watch;
mod watchdog;

pub(crate) use pool::{CLOSE_PATIENCE, HURRY, WorkerPool, hung};
pub(crate) use watchdog::{TICK, Watchdog};

use crate::dialect::Stamps;
use crate::http::Service;
use crate::io::{Backend, Waker};
use crate::message::{Command, Report, Share};
use crate::net::Target;
use crate::scenario::{CurrentStep, Work};
use crate::verify::Understanding;
use event_loop::EventLoop;
use plan::{Plan, Timestamps};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

/// Progress that the controller may read while workers run.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) connected: AtomicU64,
    /// Bytes of raw echoes that have come back and are as they were sent.
    pub(crate) bytes: Arc<AtomicU64>,
    turns: Box<[Turns]>,
}

/// Turns of a worker's loop, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Turns(AtomicU64);

impl Progress {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            turns: (0..workers).map(|_| Turns::default()).collect(),
            ..Self::default()
        }
    }

    pub(crate) const fn workers(&self) -> usize {
        self.turns.len()
    }

    /// How often a worker has turned.
    pub(crate) fn turns(&self, worker: usize) -> u64 {
        self.turns[worker].0.load(Ordering::Relaxed)
    }

    /// Counts a turn; called by that worker alone.
    #[inline]
    pub(crate) fn turned(&self, worker: usize) {
        let turns = &self.turns[worker].0;
        turns.store(turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// The mailbox of a worker.
#[derive(Clone)]
pub(crate) struct Peer {
    commands: mpsc::Sender<Command>,
    waker: Waker,
}

impl Peer {
    pub(crate) fn tell(&self, command: Command) {
        // A worker that has ended has reported it.
        let _ = self.commands.send(command);
        self.waker.wake();
    }
}

/// What all workers of a process share.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) plan: Arc<Plan>,
    pub(crate) work: Work,
    /// The part of the run that this process has.
    pub(crate) share: Share,
    pub(crate) target: Arc<Target>,
    pub(crate) stamps: Stamps,
    pub(crate) progress: Arc<Progress>,
    pub(crate) understanding: Arc<Understanding>,
    pub(crate) step: Arc<CurrentStep>,
    pub(crate) reports: mpsc::Sender<(u32, Report)>,
    /// Absent where the dialect has no requests over HTTP.
    pub(crate) http: Option<Service>,
}

/// A worker before it knows the others.
pub(crate) struct Worker<B: Backend> {
    backend: B,
    commands: mpsc::Receiver<Command>,
    peer: Peer,
}

impl<B: Backend> Worker<B> {
    pub(crate) fn new(timestamps: Timestamps) -> io::Result<Self> {
        let backend = B::new(timestamps)?;
        let (sender, commands) = mpsc::channel();
        let peer = Peer {
            commands: sender,
            waker: backend.waker(),
        };
        Ok(Self {
            backend,
            commands,
            peer,
        })
    }

    pub(crate) fn peer(&self) -> Peer {
        self.peer.clone()
    }

    /// Runs until it is told to close.
    pub(crate) fn run(mut self, thread: u32, peers: Vec<Peer>, common: Common) {
        let reports = common.reports.clone();
        let mut event_loop = EventLoop::new(thread, peers, common);
        let ran = self
            .backend
            .begin()
            .and_then(|()| event_loop.run(&mut self.backend, &self.commands));
        if let Err(error) = ran {
            let words = format!("the kernel refuses to go on: {error}");
            let _ = reports.send((thread, Report::Broken(words)));
        }
    }
}

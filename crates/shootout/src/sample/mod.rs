//! What a server uses while it is measured: CPU time, context switches, memory, kernel memory of
//! its sockets.
//!
//! Purpose: a thread that follows the server's process tree through /proc, clocks and sock_diag,
//! and answers what the server uses now, and at most between two moments. It changes nothing: it
//! sends no signal and starts no process; only [`cpus::pin_current`] changes its caller.
//!
//! Reading costs CPU time, up to milliseconds for thousands of sockets. Each kind of reading
//! has a [`budget::Budget`], all together 2.5 percent of one core: an expensive reading is made less
//! often than asked for, and never left out of a [`Sampler::snapshot`].

mod budget;
pub mod cpus;
mod series;
mod state;

use host_facts::ThreadCounts;
use record::{Memory, ServerSeries};
use state::State;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Follows a server until it is stopped or dropped.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    stopping: Mutex<bool>,
    stop: Condvar,
}

/// What a server uses at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// When the clocks were read.
    pub at: Instant,
    /// CPU time (user and system) of the tree since it began, ended processes included.
    /// Differences are exact to microseconds for a process that is followed; of a process that
    /// ends, what it used after its last reading is lost.
    pub cpu: Duration,
    /// The part of `cpu` in the programs themselves, to a hundredth of a second of each process.
    pub user: Duration,
    /// The part of `cpu` in the kernel on their behalf, to a hundredth of a second of each process.
    pub kernel: Duration,
    /// Context switches of all threads since they began, ended ones included up to their last
    /// reading. `None` when the kernel does not tell.
    pub threads: Option<ThreadCounts>,
    /// Memory of the tree and of its sockets.
    pub memory: Memory,
}

impl Sampler {
    /// Follows the trees of `pids`, which listen on these TCP ports for clients, and
    /// reads at every `interval`, or less often where the budget does not allow it.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(pids: &[u32], ports: &[u16], interval: Duration) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(pids, ports, interval)),
            stopping: Mutex::new(false),
            stop: Condvar::new(),
        });
        let followed = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("sampler".into())
            .spawn(move || followed.follow(interval))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Follows the trees of these too, which were started later.
    pub fn follow_also(&self, pids: &[u32]) {
        self.shared.state().add(pids);
    }

    /// Reads everything now. It becomes one of the samples of [`Sampler::window`].
    pub fn snapshot(&self) -> Snapshot {
        self.shared.state().read_all()
    }

    /// The largest sample of each kind of memory between two moments. A kind that was not sampled
    /// in between is read now.
    pub fn window(&self, from: Instant, to: Instant) -> Memory {
        self.shared.state().window(from, to)
    }

    /// What was sampled between two moments, in intervals of equal length.
    pub fn series(&self, from: Instant, to: Instant) -> ServerSeries {
        self.shared.state().series(from, to)
    }

    /// Ends the thread. What was sampled is gone.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        *lock(&self.shared.stopping) = true;
        self.shared.stop.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed, and changes no measurement.
            let _ = thread.join();
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn follow(&self, interval: Duration) {
        let mut stopping = lock(&self.stopping);
        while !*stopping {
            drop(stopping);
            self.state().read_due();
            stopping = self
                .stop
                .wait_timeout_while(lock(&self.stopping), interval, |stopping| !*stopping)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

//! A child that leads a session and process group of its own, so that it can be ended with all
//! that it started.
//!
//! The group dies with this program: the leader by its parent-death signal, the rest by the guardian.

use crate::sample::cpus::pin_current;
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpid, getppid, getrlimit, kill_process_group,
    set_child_subreaper, set_parent_process_death_signal, setrlimit, setsid,
};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

static ALIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
const POLL: Duration = Duration::from_millis(10);

/// A running (or ended) child and its process group.
#[derive(Debug)]
pub struct Group {
    child: Child,
    id: Pid,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts `command` in a new session, restricted to `cpus` (all, when empty), with the open
    /// files limit raised to the hard limit. The parent-death signal is tied to the calling
    /// thread, which must live as long as the child may.
    ///
    /// # Errors
    /// Those of [`Command::spawn`], and the system calls made in the child.
    pub fn spawn(command: &mut Command, cpus: &[usize]) -> io::Result<Self> {
        let cpus = cpus.to_vec();
        let parent = getpid();
        let prepare = move || {
            setsid()?;
            set_parent_process_death_signal(Some(Signal::KILL))?;
            if getppid() != Some(parent) {
                return Err(Errno::SRCH.into());
            }
            if !cpus.is_empty() {
                pin_current(&cpus)?;
            }
            let maximum = getrlimit(Resource::Nofile).maximum;
            let raised = Rlimit {
                current: maximum,
                maximum,
            };
            Ok(setrlimit(Resource::Nofile, raised)?)
        };
        // SAFETY: the closure runs between fork and exec and makes only async-signal-safe calls
        // on values that were made before the fork.
        unsafe { command.pre_exec(prepare) };
        let child = command.spawn()?;
        let id = Pid::from_child(&child);
        alive().insert(id.as_raw_pid());
        Ok(Self {
            child,
            id,
            status: None,
        })
    }

    /// Process id of the leader, which is the id of its group and session too.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// How the leader ended, if it has.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status
    }

    /// Waits for the end of the leader, at most until `deadline`.
    pub fn wait_until(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            let exited = self.exited();
            if exited.is_some() || Instant::now() >= deadline {
                return exited;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Sends a signal to the whole group.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.id, signal);
    }

    /// Ends the group at once and waits for the leader.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.exited().is_none() {
            self.kill();
        }
        alive().remove(&self.id.as_raw_pid());
    }
}

/// Kills every group that is still alive. Called before the program exits at once.
pub fn kill_all() {
    for id in alive().iter().copied().filter_map(Pid::from_raw) {
        let _ = kill_process_group(id, Signal::KILL);
    }
}

/// Makes orphans of this program's children its own children instead of init's, so that they
/// are found and reaped.
pub fn become_subreaper() {
    // Where it fails orphans are still found by their session.
    let _ = set_child_subreaper(Some(getpid()));
}

fn alive() -> std::sync::MutexGuard<'static, BTreeSet<i32>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

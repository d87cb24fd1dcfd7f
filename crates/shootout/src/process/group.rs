//! A child that leads a session and process group of its own, so that it can be ended with all
//! that it started.
//!
//! The group dies with this program: the leader by its parent-death signal, the rest by the guardian.

use crate::sample::cpus::pin_current;
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
    id: i32,
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
        let parent = std::process::id();
        // SAFETY: the closure runs between fork and exec and makes only async-signal-safe calls
        // on values that were made before the fork.
        unsafe {
            command.pre_exec(move || {
                check(libc::setsid())?;
                check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
                if libc::getppid() as u32 != parent {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
                if !cpus.is_empty() {
                    pin_current(&cpus)?;
                }
                let mut limit = std::mem::zeroed::<libc::rlimit>();
                check(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit))?;
                limit.rlim_cur = limit.rlim_max;
                check(libc::setrlimit(libc::RLIMIT_NOFILE, &limit))
            });
        }
        let child = command.spawn()?;
        let id = child.id() as i32;
        alive().insert(id);
        Ok(Self {
            child,
            id,
            status: None,
        })
    }

    /// Process id of the leader, which is the id of its group and session too.
    pub fn id(&self) -> u32 {
        self.id as u32
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
    pub fn signal(&self, signal: i32) {
        // SAFETY: plain system call.
        unsafe { libc::kill(-self.id, signal) };
    }

    /// Ends the group at once and waits for the leader.
    pub fn kill(&mut self) {
        self.signal(libc::SIGKILL);
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
        alive().remove(&self.id);
    }
}

/// Kills every group that is still alive. Called before the program exits at once.
pub fn kill_all() {
    for id in alive().iter() {
        // SAFETY: plain system call.
        unsafe { libc::kill(-id, libc::SIGKILL) };
    }
}

/// Makes orphans of this program's children its own children instead of init's, so that they
/// are found and reaped.
pub fn become_subreaper() {
    // SAFETY: plain system call; where it fails orphans are still found by their session.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

fn alive() -> std::sync::MutexGuard<'static, BTreeSet<i32>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

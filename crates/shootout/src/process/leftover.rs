//! Finds processes that a child left behind, by its session and by a mark in their environment.
//!
//! The session finds what stayed in it, the mark finds what made a session of its own. A process
//! that made its own session and cleared its environment is missed.

use procfs::process::{Process, all_processes};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::ffi::OsStr;
use std::time::Duration;

/// The environment variable that marks a child and all that it starts.
pub const COOKIE: &str = "SHOOTOUT_CHILD";
const COMMAND_LENGTH: usize = 120;

/// A process that is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Process id.
    pub pid: i32,
    /// Its command line, shortened.
    pub command: String,
}

/// The children of this process, zombies among them.
pub(super) fn children() -> Vec<i32> {
    let own = std::process::id() as i32;
    let children = find(|process| process.stat().is_ok_and(|stat| stat.ppid == own));
    children.iter().map(|child| child.pid).collect()
}

/// The living processes of a session, and those that carry the mark `cookie`.
pub fn marked(session: u32, cookie: &str) -> Vec<Leftover> {
    find(|process| {
        let Ok(stat) = process.stat() else {
            return false;
        };
        stat.state != 'Z'
            && (stat.session == session as i32
                || process.environ().is_ok_and(|environ| {
                    environ
                        .get(OsStr::new(COOKIE))
                        .is_some_and(|value| value == OsStr::new(cookie))
                }))
    })
}

/// Whether a process carries the mark of another program: marks begin with the number of the program
/// that gave them, and a hyphen.
pub fn is_of_another_program(pid: u32) -> bool {
    let own = format!("{}-", std::process::id());
    let environ = Process::new(pid as i32).and_then(|process| process.environ());
    environ.is_ok_and(|environ| {
        environ
            .get(OsStr::new(COOKIE))
            .is_some_and(|mark| !mark.as_encoded_bytes().starts_with(own.as_bytes()))
    })
}

/// Sends these processes a signal.
pub fn signal(processes: &[Leftover], signal: Signal) {
    for pid in processes.iter().filter_map(|of| Pid::from_raw(of.pid)) {
        let _ = kill_process(pid, signal);
    }
}

/// Kills these processes and reaps those that have become our children.
pub fn kill(leftovers: &[Leftover]) {
    signal(leftovers, Signal::KILL);
    for leftover in leftovers {
        await_death(leftover.pid);
    }
}

/// Reaps the dead processes of a session that became our children. On a machine whose init reaps
/// nothing, as in many containers, they would stay as zombies.
pub fn reap(session: u32) {
    let own = std::process::id() as i32;
    let dead = find(|process| {
        process.stat().is_ok_and(|stat| {
            stat.session == session as i32 && stat.ppid == own && stat.state == 'Z'
        })
    });
    for zombie in dead.iter().filter(|zombie| zombie.pid != session as i32) {
        await_death(zombie.pid);
    }
}

/// Waits half a second at most for a process that is ending, and reaps it if it is a child of ours: it
/// counts as dead before its last thread has gone, and cannot be reaped until then.
fn await_death(pid: i32) {
    for _ in 0..100 {
        // Waiting for a process that is not ours fails harmlessly.
        match waitpid(Pid::from_raw(pid), WaitOptions::NOHANG) {
            Ok(Some(_)) => return,
            Err(_) if !is_alive(pid) => return,
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(pid: i32) -> bool {
    let stat = Process::new(pid).and_then(|process| process.stat());
    stat.is_ok_and(|stat| stat.state != 'Z')
}

fn find(wanted: impl Fn(&Process) -> bool) -> Vec<Leftover> {
    let Ok(processes) = all_processes() else {
        return Vec::new();
    };
    processes
        .filter_map(Result::ok)
        .filter(wanted)
        .map(|process| Leftover {
            pid: process.pid(),
            command: command_of(&process),
        })
        .collect()
}

fn command_of(process: &Process) -> String {
    let line = process
        .cmdline()
        .map(|words| words.join(" "))
        .unwrap_or_default();
    if line.is_empty() {
        return process.stat().map(|stat| stat.comm).unwrap_or_default();
    }
    line.chars().take(COMMAND_LENGTH).collect()
}

//! The guardian: an ancestor of everything that this program starts, which survives it.
//!
//! When the process above or the one below has ended, in whatever way, the guardian kills its
//! children until it has none. A process that made a session of its own, forked twice and cleared
//! its environment is still a child of the guardian. Only the death of the guardian itself is not
//! covered: then the worker ends as at SIGTERM.

use super::group::become_subreaper;
use super::leftover;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getpid, getppid, kill_process,
    set_parent_process_death_signal, setpgid, wait, waitpid,
};
use std::io::{self, PipeReader, Read as _};
use std::ptr;
use std::time::{Duration, Instant};

/// Signals that ask for an end and are passed on.
const PASSED: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::HUP];
/// How often the guardian looks at those above and below it.
const TICK_MS: i32 = 200;
/// Longest time that killed processes are waited for: one of another user cannot be killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Puts the guardian between the process that the user started and the one that works. Returns
/// nothing in the latter; in the former, when all has ended, the exit code. Only to be called while
/// the process has a single thread.
///
/// # Errors
/// When no process can be made.
pub fn guard() -> io::Result<Option<u8>> {
    let before = block()?;
    let (above, held) = io::pipe()?;
    let group = getpgrp();
    if let Some(guardian) = fork()? {
        drop(above);
        let code = wait_for(guardian);
        drop(held);
        return Ok(Some(code));
    }
    drop(held);
    // What is sent to the user's process group is not for the guardian.
    let _ = setpgid(None, None);
    become_subreaper();
    let guardian = getpid();
    if let Some(worker) = fork()? {
        leave_the_terminal();
        let code = watch(worker, above);
        kill_all_children();
        std::process::exit(i32::from(code));
    }
    drop(above);
    let _ = setpgid(None, Some(group));
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    // SAFETY: the mask is one that `block` filled.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
    if getppid() != Some(guardian) {
        let _ = kill_process(getpid(), Signal::TERM);
    }
    Ok(None)
}

/// Blocks the signals that are waited for; returns the mask from before.
fn block() -> io::Result<libc::sigset_t> {
    // SAFETY: a signal set is plain memory, filled by the calls that get it.
    unsafe {
        let mut before = std::mem::zeroed();
        let set = awaited();
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, &raw mut before) == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(before)
    }
}

fn awaited() -> libc::sigset_t {
    // SAFETY: a signal set is plain memory, filled by the calls that get it.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in PASSED.into_iter().chain([Signal::CHILD]) {
            libc::sigaddset(&raw mut set, signal.as_raw());
        }
        set
    }
}

/// The child's id in the parent, none in the child.
fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: there is one thread, so that the child has all of this process.
    let id = unsafe { libc::fork() };
    if id == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(Pid::from_raw(id))
}

/// A signal that has come within a tick, and whether a process sent it and not the terminal, which
/// sends to the whole group.
fn signal() -> Option<(Signal, bool)> {
    let set = awaited();
    let tick = libc::timespec {
        tv_sec: 0,
        tv_nsec: i64::from(TICK_MS) * 1_000_000,
    };
    // SAFETY: the set and the time are valid, and the kernel fills the zeroed information.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let signal = libc::sigtimedwait(&raw const set, &raw mut info, &raw const tick);
        Some((Signal::from_named_raw(signal)?, info.si_code <= 0))
    }
}

/// The process that the user started: all that it does.
fn wait_for(guardian: Pid) -> u8 {
    loop {
        if let Some((signal, true)) = signal()
            && PASSED.contains(&signal)
        {
            // It has not been waited for, so that its number is still its own.
            let _ = kill_process(guardian, signal);
        }
        if let Some((_, code)) = reap(Some(guardian)) {
            return code;
        }
    }
}

/// The guardian: until the worker or the process above has ended.
fn watch(worker: Pid, mut above: PipeReader) -> u8 {
    loop {
        if let Some((signal, _)) = signal()
            && PASSED.contains(&signal)
        {
            let _ = kill_process(worker, signal);
        }
        while let Some((ended, code)) = reap(None) {
            if ended == worker {
                return code;
            }
        }
        let now = Timespec::default();
        let told = poll(&mut [PollFd::new(&above, PollFlags::IN)], Some(&now));
        if told == Ok(1) && above.read(&mut [0]).is_ok_and(|read| read == 0) {
            return exit_code(Signal::KILL.as_raw());
        }
    }
}

/// Reaps this child, or any, if it has ended. Returns its id and its exit code.
fn reap(which: Option<Pid>) -> Option<(Pid, u8)> {
    let ended = match which {
        Some(_) => waitpid(which, WaitOptions::NOHANG),
        None => wait(WaitOptions::NOHANG),
    };
    let (ended, status) = ended.ok()??;
    let code = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code as u8,
        (None, signal) => exit_code(signal.unwrap_or_default()),
    };
    Some((ended, code))
}

/// The exit code that a shell gives to a process that a signal ended.
const fn exit_code(signal: i32) -> u8 {
    128 + signal as u8
}

/// Kills the children until there is none: those of a child that is killed become ours.
fn kill_all_children() {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        while reap(None).is_some() {}
        let children = leftover::children();
        if children.is_empty() {
            return;
        }
        for child in children.into_iter().filter_map(Pid::from_raw) {
            // A child that was not waited for keeps its number.
            let _ = kill_process(child, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A reader of the output of the worker sees its end when the worker has ended.
fn leave_the_terminal() {
    // SAFETY: the path is a C string; the descriptors are those of every process.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        for standard in 0..3 {
            libc::dup2(null, standard);
        }
    }
}

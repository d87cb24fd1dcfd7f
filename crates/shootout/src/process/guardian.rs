//! The guardian: an ancestor of everything that this program starts, which survives it.
//!
//! When the process above or the one below has ended, in whatever way, the guardian kills its
//! children until it has none. A process that made a session of its own, forked twice and cleared
//! its environment is still a child of the guardian. Only the death of the guardian itself is not
//! covered: then the worker ends as at SIGTERM.

use super::leftover;
use std::io::{self, PipeReader, Read as _};
use std::os::fd::AsRawFd as _;
use std::ptr;
use std::time::{Duration, Instant};

/// Signals that ask for an end and are passed on.
const PASSED: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
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
    // SAFETY: plain system call.
    let group = unsafe { libc::getpgrp() };
    let guardian = fork()?;
    if guardian != 0 {
        drop(above);
        let code = wait_for(guardian);
        drop(held);
        return Ok(Some(code));
    }
    drop(held);
    // SAFETY: plain system calls. What is sent to the user's process group is not for the guardian.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    }
    let guardian = std::process::id();
    let worker = fork()?;
    if worker != 0 {
        leave_the_terminal();
        let code = watch(worker, above);
        kill_all_children();
        std::process::exit(i32::from(code));
    }
    drop(above);
    // SAFETY: plain system calls on a mask that `block` filled.
    unsafe {
        libc::setpgid(0, group);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        if libc::getppid() as u32 != guardian {
            libc::raise(libc::SIGTERM);
        }
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
        for signal in PASSED.into_iter().chain([libc::SIGCHLD]) {
            libc::sigaddset(&raw mut set, signal);
        }
        set
    }
}

fn fork() -> io::Result<i32> {
    // SAFETY: there is one thread, so that the child has all of this process.
    let id = unsafe { libc::fork() };
    if id == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(id)
}

/// A signal that has come within a tick, and whether a process sent it and not the terminal, which
/// sends to the whole group.
fn signal() -> Option<(i32, bool)> {
    let set = awaited();
    let tick = libc::timespec {
        tv_sec: 0,
        tv_nsec: i64::from(TICK_MS) * 1_000_000,
    };
    // SAFETY: the set and the time are valid, and the kernel fills the zeroed information.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let signal = libc::sigtimedwait(&raw const set, &raw mut info, &raw const tick);
        (signal > 0).then_some((signal, info.si_code <= 0))
    }
}

/// The process that the user started: all that it does.
fn wait_for(guardian: i32) -> u8 {
    loop {
        if let Some((signal, true)) = signal()
            && PASSED.contains(&signal)
        {
            // SAFETY: plain system call; the guardian has not been waited for.
            unsafe { libc::kill(guardian, signal) };
        }
        if let Some((_, code)) = reap(guardian) {
            return code;
        }
    }
}

/// The guardian: until the worker or the process above has ended.
fn watch(worker: i32, mut above: PipeReader) -> u8 {
    loop {
        if let Some((signal, _)) = signal()
            && PASSED.contains(&signal)
        {
            // SAFETY: plain system call; the worker has not been waited for.
            unsafe { libc::kill(worker, signal) };
        }
        while let Some((ended, code)) = reap(-1) {
            if ended == worker {
                return code;
            }
        }
        let mut pipe = libc::pollfd {
            fd: above.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid pollfd.
        let told = unsafe { libc::poll(&raw mut pipe, 1, 0) };
        if told == 1 && above.read(&mut [0]).is_ok_and(|read| read == 0) {
            return 128 + libc::SIGKILL as u8;
        }
    }
}

/// A child that has ended (this one, or any with -1), and the exit code that stands for its end.
fn reap(which: i32) -> Option<(i32, u8)> {
    let mut status = 0;
    // SAFETY: the status is a valid integer.
    let ended = unsafe { libc::waitpid(which, &raw mut status, libc::WNOHANG) };
    if ended <= 0 {
        return None;
    }
    let code = if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        128 + libc::WTERMSIG(status)
    };
    Some((ended, code as u8))
}

/// Kills the children until there is none: those of a child that is killed become ours.
fn kill_all_children() {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        while reap(-1).is_some() {}
        let children = leftover::children();
        if children.is_empty() {
            return;
        }
        for child in children {
            // SAFETY: plain system call; a child that was not waited for keeps its number.
            unsafe { libc::kill(child, libc::SIGKILL) };
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

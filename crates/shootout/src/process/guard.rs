//! The guard: a small process of this same program that ends the process groups of the others
//! when the orchestrator was killed and could not do so itself.
//!
//! It reads `+id` and `-id` lines from a pipe. The end of the pipe is the orchestrator's death:
//! then it kills the groups that are still on its list, and leaves. Without a guard (in tests)
//! only the parent-death signal of each leader is left.

use super::leftover;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

static GUARD: Mutex<Option<Child>> = Mutex::new(None);

/// Starts the guard: `argument` is the hidden command of this program that calls [`guard_main`].
///
/// # Errors
/// When the program cannot start itself.
pub fn start_guard(argument: &str) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // SAFETY: setsid is async-signal-safe; it keeps the terminal's Ctrl-C from the guard.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            Ok(())
        });
    }
    *guard() = Some(command.spawn()?);
    Ok(())
}

/// Ends the guard and waits for it: for the orderly end of the program.
pub fn end_guard() {
    if let Some(mut child) = guard().take() {
        drop(child.stdin.take());
        let _ = child.wait();
    }
}

/// The guard itself; returns when its input ends and everything on its list was killed.
pub fn guard_main() {
    let mut groups: BTreeSet<i32> = BTreeSet::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        if let Some(id) = line.strip_prefix('+').and_then(|id| id.parse().ok()) {
            groups.insert(id);
        } else if let Some(id) = line.strip_prefix('-').and_then(|id| id.parse::<i32>().ok()) {
            groups.remove(&id);
        }
    }
    for id in groups {
        // SAFETY: plain system call.
        unsafe { libc::kill(-id, libc::SIGKILL) };
        leftover::kill(&leftover::members(id as u32));
    }
}

pub(super) fn watch(id: i32) {
    tell('+', id);
}

pub(super) fn forget(id: i32) {
    tell('-', id);
}

fn tell(sign: char, id: i32) {
    if let Some(pipe) = guard().as_mut().and_then(|child| child.stdin.as_mut()) {
        // A guard that is gone only loses its own service.
        let _ = pipe.write_all(format!("{sign}{id}\n").as_bytes());
    }
}

fn guard() -> std::sync::MutexGuard<'static, Option<Child>> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Processes of this program as sites of a run on one machine, each with its own limit of open
//! files. They dial in on loopback with a token that only they know, and end with this process.

use super::JoinedWorker;
use super::reception::Reception;
use crate::address::Address;
use crate::credentials::{Credentials, TOKEN_VARIABLE, Token};
use crate::dial::Pairing;
use crate::error::RemoteError;
use crate::{CHILD_PATIENCE, FAREWELL};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How often it is looked whether a process has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Processes that were started.
#[derive(Debug, Default)]
pub(super) struct Children(Vec<Child>);

impl Children {
    /// Starts so many and greets them, in the order in which they were started.
    pub(super) async fn start(&mut self, of: u32) -> Result<Vec<JoinedWorker>, RemoteError> {
        if of == 0 {
            return Ok(Vec::new());
        }
        let token = Token::one_time()?;
        let anywhere = Address {
            host: "127.0.0.1".to_owned(),
            port: 0,
        };
        let credentials = Credentials::of_token(token.clone());
        let silent: crate::Tell = Arc::new(|_| ());
        let mut reception =
            Reception::open(&anywhere, &credentials, Pairing::ParentAndChild, &silent).await?;
        let program = std::env::current_exe().map_err(|error| failed(1, of, &error))?;
        for number in 1..=of {
            let mut command = Command::new(&program);
            command
                .args(["worker", "--quiet", "--child", "--coordinator"])
                .arg(reception.address().to_string())
                .env(TOKEN_VARIABLE, token.reveal())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                // A terminal's interrupt is for the coordinator, which ends its processes in order.
                .process_group(0);
            end_with_parent(&mut command);
            let child = command
                .spawn()
                .map_err(|error| failed(number, of, &error))?;
            self.0.push(child);
        }
        self.welcome(&mut reception).await
    }

    async fn welcome(
        &mut self,
        reception: &mut Reception,
    ) -> Result<Vec<JoinedWorker>, RemoteError> {
        let of = self.0.len() as u32;
        let end = Instant::now() + CHILD_PATIENCE;
        let mut workers: Vec<(u32, JoinedWorker)> = Vec::new();
        while workers.len() < self.0.len() {
            let Ok(mut worker) = tokio::time::timeout(LOOK, reception.worker()).await else {
                self.look(end)?;
                continue;
            };
            let pid = worker.greeting.pid;
            let number = (1..).zip(&self.0).find(|(_, child)| child.id() == pid);
            let Some((number, _)) = number else {
                return Err(failed(1, of, "another process has joined in its place"));
            };
            worker.peer.name = format!("process {number} of {of}");
            workers.push((number, worker));
        }
        workers.sort_by_key(|(number, _)| *number);
        Ok(workers.into_iter().map(|(_, worker)| worker).collect())
    }

    /// Fails when one has ended, or has taken too long.
    fn look(&mut self, end: Instant) -> Result<(), RemoteError> {
        let of = self.0.len() as u32;
        for (number, child) in (1..).zip(&mut self.0) {
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => {
                    return Err(failed(number, of, format!("it ended at once ({status})")));
                }
                Err(error) => return Err(failed(number, of, &error)),
            }
        }
        if Instant::now() > end {
            let words = format!("not all have joined within {} s", CHILD_PATIENCE.as_secs());
            return Err(failed(of, of, words));
        }
        Ok(())
    }

    /// Gives them time to end by themselves, as they do when their conversation is over, and ends
    /// those that have not.
    pub(super) fn end(&mut self) {
        let end = Instant::now() + FAREWELL;
        for child in &mut self.0 {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
                thread::sleep(LOOK);
            }
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // An error here says that it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Why a silent child cannot go on; `None` while it runs, since on a busy machine it may be waiting for
/// a core.
pub(super) fn why_silent(pid: u32) -> Option<&'static str> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before the state may itself hold parentheses, proc(5).
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    match state {
        None | Some('Z' | 'X' | 'x') => Some("it has ended"),
        Some('T' | 't') => Some("it was stopped by a signal or a debugger"),
        Some(_) => None,
    }
}

fn failed(number: u32, of: u32, reason: impl ToString) -> RemoteError {
    RemoteError::Child {
        number,
        of,
        reason: reason.to_string(),
    }
}

/// Has the kernel kill the process when the thread that starts it ends: the main thread, which lives
/// as long as this process.
fn end_with_parent(command: &mut Command) {
    let parent = getpid();
    let tie = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(parent) {
            return Err(std::io::Error::other("the parent has ended"));
        }
        Ok(())
    };
    // SAFETY: the closure allocates only when it fails, and touches no lock of this process.
    unsafe { command.pre_exec(tie) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, kill_process};

    /// A process that waits for a core, for however long, is not lost.
    // timed: polls; the end is only for a hang.
    #[test]
    fn a_process_is_lost_when_it_has_ended_or_was_stopped_and_not_before() {
        assert_eq!(why_silent(std::process::id()), None);
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id();
        assert_eq!(why_silent(pid), None);
        kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
        let end = Instant::now() + CHILD_PATIENCE;
        while why_silent(pid).is_none_or(|reason| !reason.contains("stopped")) {
            assert!(Instant::now() < end, "it does not stop");
            thread::sleep(LOOK);
        }
        child.kill().unwrap();
        while why_silent(pid) != Some("it has ended") {
            assert!(Instant::now() < end, "it does not end");
            thread::sleep(LOOK);
        }
        child.wait().unwrap();
        assert_eq!(why_silent(pid), Some("it has ended"));
    }
}

//! From TERM to nothing left.

use super::{Server, port};
use crate::process::{Leftover, describe_exit, kill, marked, members, reap};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(20);

/// How a server went.
#[derive(Debug)]
pub struct StopReport {
    /// How the leader had ended before it was asked to: a crash.
    pub crashed: Option<ExitStatus>,
    /// The leader was still there after the grace time and was killed.
    pub killed_after: Option<Duration>,
    /// Other processes that were still there, and were killed.
    pub left: Vec<Leftover>,
    /// Somebody still accepted connections on the port.
    pub still_listening: Option<u16>,
}

impl StopReport {
    /// What was left behind, in words; `None` when the server went as it should.
    pub fn leak(&self) -> Option<String> {
        let mut said = Vec::new();
        if let Some(grace) = self.killed_after {
            said.push(format!(
                "it ignored TERM and was killed after {}",
                humantime::format_duration(grace)
            ));
        }
        if !self.left.is_empty() {
            let named: Vec<String> = self
                .left
                .iter()
                .map(|leftover| format!("{} ({})", leftover.pid, leftover.command))
                .collect();
            said.push(format!(
                "{} left behind and killed: {}",
                match named.len() {
                    1 => "1 process was".to_owned(),
                    n => format!("{n} processes were"),
                },
                named.join(", ")
            ));
        }
        if let Some(port) = self.still_listening {
            said.push(format!("port {port} still accepted connections"));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// The crash in words.
    pub fn crash(&self) -> Option<String> {
        self.crashed
            .map(|status| format!("the server ended by itself: {}", describe_exit(status)))
    }
}

impl Server {
    /// Ends the server and everything that it started, and says how that went.
    pub fn stop(mut self) -> StopReport {
        let session = self.group.id();
        let crashed = self.group.exited();
        let mut killed_after = None;
        if crashed.is_none() {
            self.group.signal(libc::SIGTERM);
            let deadline = Instant::now() + self.grace;
            if self.group.wait_until(deadline).is_none() {
                killed_after = Some(self.grace);
                self.group.kill();
            }
            // Children may take as long as their parent.
            while Instant::now() < deadline && !members(session).is_empty() {
                std::thread::sleep(POLL);
            }
        }
        let left = marked(session, &self.cookie);
        let still_listening = port::listening(self.port).then_some(self.port);
        kill(&left);
        reap(session);
        StopReport {
            crashed,
            killed_after,
            left,
            still_listening,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let left = marked(self.group.id(), &self.cookie);
        kill(&left);
    }
}

//! From TERM to nothing left.

use super::Death;
use crate::process::Leftover;
use std::time::Duration;

/// How the processes of a row ended: the server or its nodes first, then its proxy and its services.
#[derive(Debug)]
pub struct StopReport(pub Vec<Stopped>);

/// How one process went.
#[derive(Debug)]
pub struct Stopped {
    /// "the server", "node NUMBER", "the proxy NAME", or "the service NAME".
    pub who: String,
    /// How it had ended before it was asked to: a crash.
    pub died: Option<Death>,
    /// The leader was still there after the grace time and was killed.
    pub killed_after: Option<Duration>,
    /// Other processes that were still there, and were killed.
    pub left: Vec<Leftover>,
    /// The port still accepted connections.
    pub still_listening: Option<u16>,
}

impl StopReport {
    /// The processes that were left behind, in words; `None` without any.
    pub fn leak(&self) -> Option<String> {
        let said: Vec<String> = self.0.iter().filter_map(Stopped::leak).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// True where all that was left behind was given too little time to end, which a busy machine can do to
    /// any server.
    pub(crate) fn is_late(&self) -> bool {
        let leaked = |part: &&Stopped| part.leak().is_some();
        let mut parts = self.0.iter().filter(leaked).peekable();
        parts.peek().is_some() && parts.all(|part| part.killed_after.is_some())
    }

    /// The crashes in words: services first, since a server may end because of them.
    pub fn crash(&self) -> Option<String> {
        let deaths = self.0.iter().rev().filter_map(|part| part.died.as_ref());
        let said: Vec<String> = deaths.map(ToString::to_string).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

impl Stopped {
    fn leak(&self) -> Option<String> {
        let who = &self.who;
        let mut said = Vec::new();
        if let Some(grace) = self.killed_after {
            said.push(format!(
                "{who} ignored TERM and was killed after {}",
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
                "{} left behind by {who} and killed: {}",
                match named.len() {
                    1 => "1 process was".to_owned(),
                    n => format!("{n} processes were"),
                },
                named.join(", ")
            ));
        }
        if let Some(port) = self.still_listening {
            said.push(format!(
                "after {who} had ended, port {port} still accepted connections"
            ));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }
}

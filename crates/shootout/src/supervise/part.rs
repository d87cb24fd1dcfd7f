//! One of the processes that make a row: the server, a node of it, the proxy before it, or a service beside
//! it. Each leads a process group of its own, carries a mark of its own and writes a log of its own.
//!
//! A part that a fault has ended stays, without processes, and can be started again.

use super::stop::Stopped;
use super::{LOG_LINES, port};
use crate::network::Location;
use crate::process::{COOKIE, Group, describe_exit, kill, marked, reap, signal, tail};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(20);
static STARTED: AtomicU32 = AtomicU32::new(0);

/// What is started, with every placeholder replaced.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// "the server", "node NUMBER", "the proxy NAME", or "the service NAME".
    pub(super) who: String,
    pub(super) command: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) dir: PathBuf,
    pub(super) cpus: Vec<usize>,
    pub(super) place: Location,
    pub(super) port: u16,
    pub(super) grace: Duration,
    pub(super) log: PathBuf,
}

/// Why a process was not started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The program is not there or cannot be executed.
    #[error("`{0}` could not be started: {1}")]
    Spawn(String, io::Error),
    /// The log could not be written.
    #[error("{path}: cannot write the log: {1}", path = .0.display())]
    Log(PathBuf, io::Error),
}

/// A process that has ended without being asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// "the server", "node NUMBER", "the proxy NAME", or "the service NAME".
    pub who: String,
    /// How it ended.
    pub status: ExitStatus,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, status } = self;
        write!(f, "{who} ended by itself: {}", describe_exit(*status))
    }
}

/// What was done to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Up,
    Frozen,
    /// It was ended by a fault: that it is gone is no crash.
    Felled,
}

/// A process that was started. Dropped, it is killed with all that it started.
#[derive(Debug)]
pub(super) struct Part {
    launch: Launch,
    group: Group,
    cookie: String,
    condition: Condition,
}

impl Part {
    pub(super) fn start(launch: Launch) -> Result<Self, LaunchError> {
        if let Some(parent) = launch.log.parent() {
            fs::create_dir_all(parent).map_err(|error| LaunchError::Log(parent.into(), error))?;
        }
        File::create(&launch.log).map_err(|error| LaunchError::Log(launch.log.clone(), error))?;
        let (group, cookie) = spawn(&launch)?;
        Ok(Self {
            launch,
            group,
            cookie,
            condition: Condition::Up,
        })
    }

    /// Starts a part again whose processes have gone, where it was; its log goes on.
    pub(super) fn start_again(&mut self) -> Result<(), LaunchError> {
        (self.group, self.cookie) = spawn(&self.launch)?;
        self.condition = Condition::Up;
        Ok(())
    }

    /// Starts another command where this one runs, with what it knows and a log of its own.
    pub(super) fn beside(&self, name: &str, command: Vec<String>) -> Result<Self, LaunchError> {
        Self::start(Launch {
            who: format!("the {name} of {}", self.launch.who),
            command,
            log: beside(&self.launch.log, name),
            ..self.launch.clone()
        })
    }

    pub(super) fn who(&self) -> &str {
        &self.launch.who
    }

    pub(super) fn grace(&self) -> Duration {
        self.launch.grace
    }

    /// Whether it was ended by a fault.
    pub(super) fn is_felled(&self) -> bool {
        self.condition == Condition::Felled
    }

    pub(super) fn is_frozen(&self) -> bool {
        self.condition == Condition::Frozen
    }

    /// Has it stand still, with all that it started.
    pub(super) fn freeze(&mut self) {
        self.send(Signal::STOP);
        self.condition = Condition::Frozen;
    }

    pub(super) fn thaw(&mut self) {
        self.send(Signal::CONT);
        self.condition = Condition::Up;
    }

    /// Asks it to end. From now on that it has gone is no crash.
    pub(super) fn terminate(&mut self) {
        if self.is_frozen() {
            self.thaw();
        }
        self.condition = Condition::Felled;
        self.group.signal(Signal::TERM);
    }

    /// Kills it with all that it started. From now on that it has gone is no crash.
    pub(super) fn fell(&mut self) {
        self.condition = Condition::Felled;
        self.send(Signal::KILL);
    }

    /// Whether nothing of it runs any more.
    pub(super) fn has_gone(&mut self) -> bool {
        let session = self.group.id();
        if self.group.exited().is_none() || !marked(session, &self.cookie).is_empty() {
            return false;
        }
        reap(session);
        true
    }

    /// Sends a signal to its group, and to what it started in others.
    fn send(&self, what: Signal) {
        self.group.signal(what);
        signal(&marked(self.group.id(), &self.cookie), what);
    }

    pub(super) fn pid(&self) -> u32 {
        self.group.id()
    }

    pub(super) const fn port(&self) -> u16 {
        self.launch.port
    }

    /// Where it is to listen.
    pub(super) const fn place(&self) -> &Location {
        &self.launch.place
    }

    /// Whether a connection to it is accepted.
    pub(super) fn is_listening(&self) -> bool {
        port::listening(self.place(), self.port())
    }

    /// Its address, for people.
    pub(super) fn address(&self) -> String {
        format!("{}:{}", self.place().host(), self.port())
    }

    /// How it ended, if it has.
    pub(super) fn exited(&mut self) -> Option<ExitStatus> {
        self.group.exited()
    }

    /// How it ended, unless a fault has ended it.
    pub(super) fn death(&mut self) -> Option<Death> {
        if self.is_felled() {
            return None;
        }
        let status = self.exited()?;
        Some(Death {
            who: self.launch.who.clone(),
            status,
        })
    }

    pub(super) fn log_tail(&self) -> Option<String> {
        tail(&self.launch.log, LOG_LINES)
    }

    /// TERM, the grace time, KILL; then looks for what is left, and kills that too. `died` is how
    /// it had ended before anything was stopped.
    pub(super) fn stop(mut self, died: Option<Death>) -> Stopped {
        let session = self.group.id();
        let mut killed_after = None;
        let deadline = Instant::now() + self.launch.grace;
        if self.group.exited().is_none() {
            if self.is_frozen() {
                self.thaw();
            }
            self.group.signal(Signal::TERM);
            if self.group.wait_until(deadline).is_none() {
                killed_after = Some(self.launch.grace);
                self.group.kill();
            }
        }
        // What it started has the same grace time, in sessions of its own as well: a helper that
        // sees the end of its parent needs the processor for a moment before it ends itself.
        let mut left = marked(session, &self.cookie);
        while Instant::now() < deadline && !left.is_empty() {
            std::thread::sleep(POLL);
            left = marked(session, &self.cookie);
        }
        let still_listening = port::stays_open(self.place(), self.port()).then_some(self.port());
        kill(&left);
        reap(session);
        Stopped {
            who: self.launch.who.clone(),
            died,
            killed_after,
            left,
            still_listening,
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let left = marked(self.group.id(), &self.cookie);
        kill(&left);
    }
}

/// A new group of it, and the mark that it carries.
fn spawn(launch: &Launch) -> Result<(Group, String), LaunchError> {
    let cookie = format!(
        "{}-{}",
        std::process::id(),
        STARTED.fetch_add(1, Ordering::Relaxed)
    );
    let log_error = |error| LaunchError::Log(launch.log.clone(), error);
    let mut options = OpenOptions::new();
    let log = options.create(true).append(true).open(&launch.log);
    let log = log.map_err(log_error)?;
    let mut command = Command::new(&launch.command[0]);
    command
        .args(&launch.command[1..])
        .current_dir(&launch.dir)
        .envs(&launch.env)
        .env(COOKIE, &cookie)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(log_error)?)
        .stderr(log);
    let group = launch
        .place
        .begin(&mut command)
        .and_then(|()| Group::spawn(&mut command, &launch.cpus))
        .map_err(|error| LaunchError::Spawn(launch.command[0].clone(), error))?;
    Ok((group, cookie))
}

/// Where the messages of services and nodes go, beside those of the server.
pub(super) fn beside(log: &Path, name: &str) -> PathBuf {
    log.with_extension(format!("{name}.log"))
}

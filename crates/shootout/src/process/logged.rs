//! A command that runs to its end with its output in a log file: probes, build steps, installers.
//!
//! Does not interpret the output.

use super::group::Group;
use crate::interrupt::Interrupt;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(20);

/// A command and where it runs.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Program and arguments.
    pub command: &'a [String],
    /// Working directory.
    pub dir: &'a Path,
    /// Environment on top of the inherited one.
    pub env: &'a BTreeMap<String, String>,
    /// Where stdout and stderr are appended.
    pub log: &'a Path,
    /// Longest time it may take.
    pub timeout: Duration,
}

/// Why a command has no exit status.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The program is not there.
    #[error("`{0}` is not installed")]
    NotFound(String),
    /// The program could not be started.
    #[error("`{0}` could not be started: {1}")]
    Spawn(String, io::Error),
    /// The log could not be opened.
    #[error("{path}: cannot write the log: {1}", path = .0.display())]
    Log(PathBuf, io::Error),
    /// It took too long and was killed.
    #[error("`{0}` was ended after {time}", time = humantime::format_duration(*.1))]
    TimedOut(String, Duration),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Job<'_> {
    /// Runs the command to its end.
    ///
    /// # Errors
    /// [`JobError`] when it did not come to an end of its own.
    pub fn run(&self, interrupt: &Interrupt) -> Result<ExitStatus, JobError> {
        self.run_watched(interrupt, &mut || {})
    }

    /// The same, with `tick` called many times a second.
    ///
    /// # Errors
    /// [`JobError`] when it did not come to an end of its own.
    pub fn run_watched(
        &self,
        interrupt: &Interrupt,
        tick: &mut dyn FnMut(),
    ) -> Result<ExitStatus, JobError> {
        let program = self.command.first().cloned().unwrap_or_default();
        let log_error = |error| JobError::Log(self.log.to_owned(), error);
        if let Some(parent) = self.log.parent() {
            fs::create_dir_all(parent).map_err(log_error)?;
        }
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log)
            .map_err(log_error)?;
        let mut command = Command::new(&program);
        command
            .args(&self.command[1..])
            .current_dir(self.dir)
            .envs(self.env)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(log_error)?)
            .stderr(log);
        let mut group = Group::spawn(&mut command, &[]).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => JobError::NotFound(program.clone()),
            _ => JobError::Spawn(program.clone(), error),
        })?;
        let deadline = Instant::now() + self.timeout;
        loop {
            if let Some(status) = group.exited() {
                return Ok(status);
            }
            if interrupt.requested() {
                group.kill();
                return Err(JobError::Interrupted);
            }
            if Instant::now() >= deadline {
                group.kill();
                return Err(JobError::TimedOut(program, self.timeout));
            }
            tick();
            std::thread::sleep(POLL);
        }
    }
}

//! Probes: a command that must succeed, with output that matches.

use crate::interrupt::Interrupt;
use crate::manifest::Requirement;
use crate::process::{Job, JobError, describe_exit, shortened};
use anstream::adapter::strip_str;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Letters of a command and its output that are shown; the log has everything.
const COMMAND_LETTERS: usize = 80;
const LINE_LETTERS: usize = 200;
/// Long enough for a Java virtual machine on a busy machine, short enough for a hanging probe.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A requirement that was looked at.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The requirement in words.
    pub what: String,
    /// What it said (its first line), or what is missing.
    pub result: Result<String, Missing>,
}

/// A requirement that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The requirement in words.
    pub what: String,
    /// What the probe found instead.
    pub found: String,
    /// Debian packages that bring it.
    pub debian: Vec<String>,
    /// How to get it otherwise.
    pub remedy: Option<String>,
}

impl Missing {
    /// The command or advice that brings it.
    pub fn remedy(&self) -> String {
        if self.debian.is_empty() {
            return self.remedy.clone().unwrap_or_default();
        }
        super::apt::install_command(&self.debian)
    }
}

/// Runs a probe in the server's folder; its output is left in `log`.
pub(super) fn probe(
    requirement: &Requirement,
    dir: &Path,
    log: &Path,
    interrupt: &Interrupt,
) -> Probed {
    let result = look(requirement, dir, log, interrupt).map_err(|found| Missing {
        what: requirement.what.clone(),
        found,
        debian: requirement.debian.clone(),
        remedy: requirement.remedy.clone(),
    });
    Probed {
        what: requirement.what.clone(),
        result,
    }
}

fn look(
    requirement: &Requirement,
    dir: &Path,
    log: &Path,
    interrupt: &Interrupt,
) -> Result<String, String> {
    // The log is this probe's alone; an older one would be matched too.
    let _ = fs::remove_file(log);
    let job = Job {
        command: &requirement.probe,
        dir,
        env: &BTreeMap::new(),
        log,
        timeout: TIMEOUT,
    };
    let shown = shortened(&requirement.probe.join(" "), COMMAND_LETTERS);
    let status = job.run(interrupt).map_err(|error| match error {
        JobError::NotFound(program) => format!("`{program}` is not installed"),
        other => other.to_string(),
    })?;
    let output = fs::read(log).unwrap_or_default();
    let output = strip_str(&String::from_utf8_lossy(&output)).to_string();
    let said = output.lines().map(str::trim).find(|line| !line.is_empty());
    let quoted = said
        .map(|line| format!(": {}", shortened(line, LINE_LETTERS)))
        .unwrap_or_default();
    if !status.success() {
        return Err(format!(
            "`{shown}` ended with {}{quoted}",
            describe_exit(status)
        ));
    }
    let Some(wanted) = &requirement.matches else {
        return Ok(shortened(said.unwrap_or("found"), LINE_LETTERS));
    };
    match wanted.find(&output) {
        Some(found) => {
            let line = output
                .lines()
                .find(|line| line.contains(found.as_str()))
                .unwrap_or(found.as_str());
            Ok(shortened(line.trim(), LINE_LETTERS))
        }
        None => Err(format!(
            "the output of `{shown}` does not match /{wanted}/{quoted}"
        )),
    }
}

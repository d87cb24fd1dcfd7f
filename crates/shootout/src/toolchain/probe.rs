//! Probes: a command that must succeed, with output that matches.

use crate::interrupt::Interrupt;
use crate::process::{Job, JobError, describe_exit, shortened};
use anstream::adapter::strip_str;
use project::manifest::Requirement;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
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

/// A file beside the log that this probe alone writes: several runs in one project look for the same things
/// at the same time, and what one of them reads must be what it asked for.
fn own_log(log: &Path) -> PathBuf {
    static PROBES: AtomicU64 = AtomicU64::new(0);
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    log.with_extension(format!("{}-{number}.log", std::process::id()))
}

fn look(
    requirement: &Requirement,
    dir: &Path,
    log: &Path,
    interrupt: &Interrupt,
) -> Result<String, String> {
    let own = own_log(log);
    let job = Job {
        command: &requirement.probe,
        dir,
        env: &BTreeMap::new(),
        log: &own,
        timeout: TIMEOUT,
    };
    let shown = shortened(&requirement.probe.join(" "), COMMAND_LETTERS);
    let ended = job.run(interrupt).map_err(|error| match error {
        JobError::NotFound(program) => format!("`{program}` is not installed"),
        other => other.to_string(),
    });
    let output = fs::read(&own).unwrap_or_default();
    let _ = fs::rename(&own, log);
    let status = ended?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use project::manifest::Scope;

    #[test]
    fn probes_at_the_same_time_read_what_they_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("probe.log");
        std::thread::scope(|scope| {
            for number in 0..16 {
                let (log, dir) = (&log, folder.path());
                scope.spawn(move || {
                    let answer = format!("it is {number}");
                    let requirement = Requirement {
                        what: "a number".to_owned(),
                        variants: Scope::default(),
                        probe: ["sh", "-c", &format!("sleep 0.2; echo {answer}")]
                            .map(str::to_owned)
                            .to_vec(),
                        matches: Some(regex::Regex::new(&format!("(?m){answer}$")).unwrap()),
                        debian: Vec::new(),
                        remedy: None,
                    };
                    let found = look(&requirement, dir, log, &Interrupt::default());
                    assert_eq!(found, Ok(answer));
                });
            }
        });
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

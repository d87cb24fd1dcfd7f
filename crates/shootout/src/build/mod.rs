//! Builds a server: probes, steps, and the receipt that the result works.
//!
//! Purpose: turn a folder into a program that prints its library's version, or into a status with
//! a reason. A build is left out when nothing has changed since one that worked; the receipt is
//! asked for every time, so that a program that was deleted is built again.
//! Does not install anything.

mod stamp;

use crate::interrupt::Interrupt;
use crate::manifest::{Manifest, Values};
use crate::process::{Job, JobError, describe_exit, tail};
use crate::project::{Entry, Project};
use crate::toolchain::{Missing, probe};
use stamp::Stamp;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Longest time for one step: a cold toolchain that fetches and compiles its dependencies.
const STEP_TIMEOUT: Duration = Duration::from_secs(1800);
const RECEIPT_TIMEOUT: Duration = Duration::from_secs(60);
const LOG_LINES: usize = 20;

/// A build that works.
#[derive(Clone, Debug)]
pub struct Built {
    /// The library's version, as the built server prints it.
    pub version: String,
    /// Nothing had changed since the last build.
    pub reused: bool,
}

/// Why there is no build.
#[derive(Clone, Debug)]
pub enum BuildError {
    /// Requirements that are not met.
    Missing(Vec<Missing>),
    /// A step or the receipt failed.
    Failed {
        /// Which, and how.
        reason: String,
        /// The last lines of the log.
        tail: Option<String>,
        /// The log.
        log: PathBuf,
    },
    /// The user wants to stop.
    Interrupted,
}

impl BuildError {
    /// In words, with the remedy; without the log's lines.
    pub fn reason(&self, project: &Project) -> String {
        match self {
            Self::Missing(missing) => {
                let said: Vec<String> = missing
                    .iter()
                    .map(|m| {
                        format!(
                            "{} is missing ({}); remedy: {}",
                            m.what,
                            m.found,
                            m.remedy()
                        )
                    })
                    .collect();
                said.join("; ")
            }
            Self::Failed { reason, log, .. } => {
                format!("{reason}; the log is {}", project.shown(log))
            }
            Self::Interrupted => "interrupted".to_owned(),
        }
    }
}

/// Builds a server whose manifest is `manifest`, unless nothing has changed; `force` builds anyway.
/// `say` is told what is being done.
///
/// # Errors
/// [`BuildError`].
pub fn build(
    project: &Project,
    entry: &Entry,
    manifest: &Manifest,
    force: bool,
    interrupt: &Interrupt,
    say: &mut dyn FnMut(&str),
) -> Result<Built, BuildError> {
    let builder = Builder {
        project,
        entry,
        manifest,
        interrupt,
    };
    say("looking for its tools");
    let tools = builder.probe_all()?;
    let stamp = Stamp::of(&entry.dir, &tools, &builder.stamp_file());
    if !force
        && stamp.is_current()
        && let Ok(version) = builder.receipt()
    {
        return Ok(Built {
            version,
            reused: true,
        });
    }
    stamp.clear();
    builder.steps(say)?;
    let version = builder.receipt()?;
    stamp.write();
    Ok(Built {
        version,
        reused: false,
    })
}

/// The version that a server prints which was built before; nothing is probed or built.
///
/// # Errors
/// [`BuildError::Failed`] when it does not run.
pub fn receipt(
    project: &Project,
    entry: &Entry,
    manifest: &Manifest,
    interrupt: &Interrupt,
) -> Result<Built, BuildError> {
    let builder = Builder {
        project,
        entry,
        manifest,
        interrupt,
    };
    Ok(Built {
        version: builder.receipt()?,
        reused: true,
    })
}

/// Where a server's probe, build and version logs are.
pub fn logs(project: &Project, server: &str) -> PathBuf {
    project.cache().join("logs").join(server)
}

struct Builder<'a> {
    project: &'a Project,
    entry: &'a Entry,
    manifest: &'a Manifest,
    interrupt: &'a Interrupt,
}

impl Builder<'_> {
    fn probe_all(&self) -> Result<Vec<String>, BuildError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (number, requirement) in self.manifest.requires.iter().enumerate() {
            let log = self.log(&format!("probe-{number}.log"));
            match probe(requirement, &self.entry.dir, &log, self.interrupt).result {
                Ok(said) => found.push(said),
                Err(what) => missing.push(what),
            }
        }
        if self.interrupt.requested() {
            return Err(BuildError::Interrupted);
        }
        if missing.is_empty() {
            Ok(found)
        } else {
            Err(BuildError::Missing(missing))
        }
    }

    fn steps(&self, say: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
        let log = self.log("build.log");
        let _ = fs::remove_file(&log);
        let bin = self.project.bin();
        fs::create_dir_all(&bin).map_err(|error| BuildError::Failed {
            reason: format!("{}: {error}", bin.display()),
            tail: None,
            log: log.clone(),
        })?;
        let count = self.manifest.build.len();
        for (number, step) in self.manifest.build.iter().enumerate() {
            say(&format!("building, step {} of {count}", number + 1));
            let values = self.values();
            let command: Vec<String> = step.run.iter().map(|word| values.expand(word)).collect();
            let env: BTreeMap<String, String> = step
                .env
                .iter()
                .map(|(key, value)| (key.clone(), values.expand(value)))
                .collect();
            let what = format!("build step {} (`{}`)", number + 1, step.run.join(" "));
            self.job(&what, &command, &env, &log, STEP_TIMEOUT)?;
        }
        Ok(())
    }

    fn receipt(&self) -> Result<String, BuildError> {
        let log = self.log("version.log");
        let _ = fs::remove_file(&log);
        let values = self.values();
        let receipt = &self.manifest.receipt;
        let command: Vec<String> = receipt.command.iter().map(|w| values.expand(w)).collect();
        let what = format!("the version command (`{}`)", receipt.command.join(" "));
        self.job(&what, &command, &BTreeMap::new(), &log, RECEIPT_TIMEOUT)?;
        let output = fs::read(&log).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let version = receipt.matches.captures(&output).and_then(|c| c.get(1));
        version
            .map(|version| version.as_str().to_owned())
            .ok_or_else(|| BuildError::Failed {
                reason: format!("{what} does not print what matches /{}/", receipt.matches),
                tail: tail(&log, LOG_LINES),
                log,
            })
    }

    fn job(
        &self,
        what: &str,
        command: &[String],
        env: &BTreeMap<String, String>,
        log: &std::path::Path,
        timeout: Duration,
    ) -> Result<(), BuildError> {
        let job = Job {
            command,
            dir: &self.entry.dir,
            env,
            log,
            timeout,
        };
        let reason = match job.run(self.interrupt) {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => describe_exit(status),
            Err(JobError::Interrupted) => return Err(BuildError::Interrupted),
            Err(error) => error.to_string(),
        };
        Err(BuildError::Failed {
            reason: format!("{what} failed: {reason}"),
            tail: tail(log, LOG_LINES),
            log: log.to_owned(),
        })
    }

    fn values(&self) -> Values {
        Values {
            bin: self.project.bin(),
            dir: self.entry.dir.clone(),
            start: None,
        }
    }

    fn log(&self, name: &str) -> PathBuf {
        logs(self.project, &self.entry.name).join(name)
    }

    fn stamp_file(&self) -> PathBuf {
        self.project.cache().join("stamps").join(&self.entry.name)
    }
}

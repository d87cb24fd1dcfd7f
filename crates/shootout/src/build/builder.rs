//! Builds variants: from the probes to the receipts, and which variants a step concerns.
//!
//! A variant is built when its stamp is old or its receipt fails. That runs the steps that cover
//! it. A step may cover other variants, whose programs may be made from its outputs: they are built
//! as well.

use super::stamp::{self, Sources, Stamp};
use super::{BuildError, BuildOutcome, Builds, Built, Order, logs};
use crate::interrupt::Interrupt;
use crate::process::{Job, JobError, describe_exit, tail};
use crate::toolchain::Survey;
use project::manifest::{Receipt, Step, Values, Variant};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest time for one step: a cold toolchain that fetches and compiles its dependencies.
const STEP_TIMEOUT: Duration = Duration::from_secs(1800);
const RECEIPT_TIMEOUT: Duration = Duration::from_secs(60);
const LOG_LINES: usize = 20;
/// What a command is asked for, in words.
const LIBRARY: &str = "version";
const RUNTIME: &str = "runtime's version";

pub(super) struct Builder<'a> {
    order: Order<'a>,
    /// What is settled, by variant.
    done: BTreeMap<String, BuildOutcome>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(order: Order<'a>) -> Self {
        Self {
            order,
            done: BTreeMap::new(),
        }
    }

    pub(super) fn build(mut self, force: bool, say: &mut dyn FnMut(&str)) -> Builds {
        say("looking for its tools");
        let survey = self.survey();
        let sources = Sources::new(&self.order.entry.dir);
        let mut stamps: BTreeMap<String, Stamp> = BTreeMap::new();
        for variant in self.order.variants {
            let missing = survey.missing(variant);
            if !missing.is_empty() {
                let error = Err(BuildError::Missing(missing));
                self.done.insert(variant.clone(), error);
                continue;
            }
            let tools = survey.of_variant(variant);
            let tools = tools.filter_map(|probed| probed.result.as_deref().ok());
            let stamp = sources.with(tools, self.stamp_file(variant));
            stamps.insert(variant.clone(), stamp);
        }
        let current: Vec<String> = stamps
            .iter()
            .filter(|(_, stamp)| !force && stamp.is_current())
            .map(|(variant, _)| variant.clone())
            .collect();
        let unchanged: BTreeMap<String, BuildOutcome> = self
            .ask(&current, true)
            .into_iter()
            .filter(|(_, outcome)| outcome.is_ok())
            .collect();
        let stale = stamps.keys().filter(|name| !unchanged.contains_key(*name));
        let rebuilt = self.with_shared(stale.cloned().collect(), &stamps);
        self.done.extend(
            unchanged
                .into_iter()
                .filter(|(name, _)| !rebuilt.contains(name)),
        );
        self.steps(&rebuilt, say);
        let built: Vec<String> = rebuilt
            .into_iter()
            .filter(|variant| !self.done.contains_key(variant))
            .collect();
        for (variant, outcome) in self.ask(&built, false) {
            if outcome.is_ok() {
                stamps[&variant].write();
            }
            self.done.insert(variant, outcome);
        }
        self.into_builds()
    }

    pub(super) fn receipts(mut self) -> Builds {
        self.done = self.ask(self.order.variants, true);
        self.into_builds()
    }

    fn into_builds(mut self) -> Builds {
        let interrupted = self.order.interrupt.requested();
        let mut outcome = |name: &String| match self.done.remove(name) {
            Some(outcome) if !interrupted => outcome,
            _ => Err(BuildError::Interrupted),
        };
        let wanted = self.order.variants.iter();
        Builds(wanted.map(|name| (name.clone(), outcome(name))).collect())
    }

    fn survey(&self) -> Survey {
        let Order {
            entry,
            manifest,
            variants,
            interrupt,
            ..
        } = self.order;
        let log = |number| self.log(&format!("probe-{number}.log"));
        Survey::new(manifest, variants, &entry.dir, log, interrupt)
    }

    /// The variants that are built together with those of `rebuilt`, which are among them.
    fn with_shared(
        &self,
        mut rebuilt: BTreeSet<String>,
        buildable: &BTreeMap<String, Stamp>,
    ) -> BTreeSet<String> {
        loop {
            let shared: Vec<String> = buildable
                .keys()
                .filter(|other| !rebuilt.contains(*other))
                .filter(|other| {
                    let steps = self.order.manifest.build.iter();
                    steps
                        .filter(|step| covers(step, &rebuilt))
                        .any(|step| step.variants.covers(other))
                })
                .cloned()
                .collect();
            if shared.is_empty() {
                return rebuilt;
            }
            rebuilt.extend(shared);
        }
    }

    /// Runs the steps that these variants need; a failed one settles the variants that it covers.
    fn steps(&mut self, rebuilt: &BTreeSet<String>, say: &mut dyn FnMut(&str)) {
        if rebuilt.is_empty() {
            return;
        }
        let log = self.log("build.log");
        let _ = fs::remove_file(&log);
        let bin = self.order.project.bin();
        if let Err(error) = fs::create_dir_all(&bin) {
            let error = BuildError::Failed {
                reason: format!("{}: {error}", bin.display()),
                tail: None,
                log,
            };
            self.settle(rebuilt.iter(), &error);
            return;
        }
        let manifest = self.order.manifest;
        let mut left = rebuilt.clone();
        for (number, step) in manifest.build.iter().enumerate() {
            if !covers(step, &left) {
                continue;
            }
            // Also variants that were not asked for: their programs may be made from the outputs of
            // these steps.
            for variant in &manifest.variants {
                if step.variants.covers(&variant.name) {
                    let _ = fs::remove_file(self.stamp_file(&variant.name));
                }
            }
            let count = manifest.build.len();
            say(&format!("building, step {} of {count}", number + 1));
            if let Err(error) = self.step(number, step, &log) {
                let (failed, rest) = left.into_iter().partition(|v| step.variants.covers(v));
                left = rest;
                let failed: BTreeSet<String> = failed;
                self.settle(failed.iter(), &error);
            }
        }
    }

    fn settle<'v>(&mut self, variants: impl Iterator<Item = &'v String>, error: &BuildError) {
        self.done
            .extend(variants.map(|variant| (variant.clone(), Err(error.clone()))));
    }

    fn step(&self, number: usize, step: &Step, log: &Path) -> Result<(), BuildError> {
        let values = self.values();
        let command: Vec<String> = step.run.iter().map(|word| values.expand(word)).collect();
        let env: BTreeMap<String, String> = step
            .env
            .iter()
            .map(|(key, value)| (key.clone(), values.expand(value)))
            .collect();
        let what = format!("build step {} (`{}`)", number + 1, step.run.join(" "));
        let job = Job {
            command: &command,
            dir: &self.order.entry.dir,
            env: &env,
            log,
            timeout: STEP_TIMEOUT,
        };
        done(&what, &job, self.order.interrupt)
    }

    /// Asks variants for their versions; the same command is run once for all that share it.
    fn ask(&self, variants: &[String], reused: bool) -> BTreeMap<String, BuildOutcome> {
        let mut asked: Vec<(&Variant, BuildOutcome)> = Vec::new();
        let mut outcomes = BTreeMap::new();
        for name in variants {
            let Some(variant) = self.order.manifest.variant(name) else {
                continue;
            };
            let known = asked.iter().find(|(other, _)| told_alike(other, variant));
            let outcome = match known {
                Some((_, outcome)) => outcome.clone(),
                None => {
                    let outcome = self.receipt(variant, reused);
                    asked.push((variant, outcome.clone()));
                    outcome
                }
            };
            outcomes.insert(name.clone(), outcome);
        }
        outcomes
    }

    /// Asks for the version of the library, and for that of the runtime by a command of its own only where
    /// it has one.
    fn receipt(&self, variant: &Variant, reused: bool) -> BuildOutcome {
        let values = self.values();
        // Another process may ask the same at the same time.
        let process = std::process::id();
        let log = |what: &str| self.log(&format!("{what}-{}.{process}.log", variant.name));
        let asked = |receipt: &Receipt, what: &str| Asked {
            receipt: Receipt {
                command: receipt.command.iter().map(|w| values.expand(w)).collect(),
                matches: receipt.matches.clone(),
            },
            log: log(what),
        };
        let place = (self.order.entry.dir.as_path(), self.order.interrupt);
        let version = asked(&variant.receipt, "version").version(LIBRARY, place)?;
        let mut runtime = None;
        if let Some(of) = &variant.runtime {
            let version = if of.receipt.command == variant.receipt.command {
                asked(&of.receipt, "version").printed(RUNTIME)?
            } else {
                asked(&of.receipt, "runtime").version(RUNTIME, place)?
            };
            runtime = Some(format!("{} {version}", of.name));
        }
        let services = variant.services.iter().map(|service| {
            let of = service.receipt.as_ref();
            let what = format!("{} {LIBRARY}", service.name);
            of.map(|of| asked(of, "version").version(&what, place))
                .transpose()
        });
        let services = services.collect::<Result<_, _>>()?;
        for what in ["version", "runtime"] {
            let _ = fs::remove_file(log(what));
        }
        Ok(Built {
            version,
            runtime,
            services,
            reused,
        })
    }

    fn values(&self) -> Values {
        Values {
            bin: self.order.project.bin(),
            dir: self.order.entry.dir.clone(),
            start: None,
        }
    }

    fn log(&self, name: &str) -> PathBuf {
        logs(self.order.project, &self.order.entry.name).join(name)
    }

    fn stamp_file(&self, variant: &str) -> PathBuf {
        stamp::file(self.order.project, &self.order.entry.name, variant)
    }
}

/// The version that a command prints, which is run in the folder `dir`; what it prints is left in `log`.
///
/// # Errors
/// [`BuildError::Failed`] when it fails, or prints no version.
pub fn version(
    receipt: &Receipt,
    dir: &Path,
    log: &Path,
    interrupt: &Interrupt,
) -> Result<String, BuildError> {
    let asked = Asked {
        receipt: receipt.clone(),
        log: log.to_owned(),
    };
    asked.version(LIBRARY, (dir, interrupt))
}

/// A command that prints a version, without placeholders, and where its output is left.
struct Asked {
    receipt: Receipt,
    log: PathBuf,
}

impl Asked {
    /// Runs the command for `what`, and finds the version in its output.
    fn version(
        &self,
        what: &str,
        (dir, interrupt): (&Path, &Interrupt),
    ) -> Result<String, BuildError> {
        let _ = fs::remove_file(&self.log);
        let job = Job {
            command: &self.receipt.command,
            dir,
            env: &BTreeMap::new(),
            log: &self.log,
            timeout: RECEIPT_TIMEOUT,
        };
        done(&self.named(what), &job, interrupt)?;
        self.printed(what)
    }

    /// The version in the output that is there.
    fn printed(&self, what: &str) -> Result<String, BuildError> {
        let output = fs::read(&self.log).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let matches = &self.receipt.matches;
        let version = matches.captures(&output).and_then(|c| c.get(1));
        version
            .map(|version| version.as_str().to_owned())
            .ok_or_else(|| BuildError::Failed {
                reason: format!(
                    "the output of {} does not match /{matches}/",
                    self.named(what)
                ),
                tail: tail(&self.log, LOG_LINES),
                log: self.log.clone(),
            })
    }

    fn named(&self, what: &str) -> String {
        format!("the {what} command (`{}`)", self.receipt.command.join(" "))
    }
}

/// Runs a command that must succeed.
fn done(what: &str, job: &Job<'_>, interrupt: &Interrupt) -> Result<(), BuildError> {
    let reason = match job.run(interrupt) {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => describe_exit(status),
        Err(JobError::Interrupted) => return Err(BuildError::Interrupted),
        Err(error) => error.to_string(),
    };
    Err(BuildError::Failed {
        reason: format!("{what} failed: {reason}"),
        tail: tail(job.log, LOG_LINES),
        log: job.log.to_owned(),
    })
}

fn covers(step: &Step, variants: &BTreeSet<String>) -> bool {
    variants.iter().any(|name| step.variants.covers(name))
}

/// Whether the same commands tell of both.
fn told_alike(a: &Variant, b: &Variant) -> bool {
    let same = |a: &Receipt, b: &Receipt| {
        a.command == b.command && a.matches.as_str() == b.matches.as_str()
    };
    same(&a.receipt, &b.receipt)
        && a.services.is_empty()
        && b.services.is_empty()
        && match (&a.runtime, &b.runtime) {
            (None, None) => true,
            (Some(a), Some(b)) => a.name == b.name && same(&a.receipt, &b.receipt),
            _ => false,
        }
}

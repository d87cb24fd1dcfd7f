//! `shootout autobahn`: the Autobahn|Testsuite against the raw echo of each server.

use super::build::{order, told};
use super::tally::Tally;
use super::{Context, only};
use crate::autobahn::{self, SUITE_VERSION, Suite, SuiteError, Unavailable};
use crate::build::{self, Built};
use crate::exit::Exit;
use crate::machine;
use crate::options::Pin;
use crate::progress::bar;
use crate::rows::Wanted;
use crate::session::now;
use crate::supervise::{self, Spec, StartError};
use project::manifest::{RawEcho, Variant};
use project::{Refusal, contestant};
use record::{AutobahnRecord, Environment, ServerIdentity};
use std::path::{Path, PathBuf};

/// Failed cases that are listed; the stored summary has them all.
const LISTED: usize = 12;

pub(super) fn autobahn(
    context: &Context<'_>,
    servers: &[String],
    variants: &[String],
) -> Result<Exit, Refusal> {
    let entries = context.project.select(servers)?;
    let mut readable = context.readable(&entries);
    let unreadable = entries.len() - readable.len();
    only(&mut readable, variants)?;
    let cache = context.project.cache().join("autobahn");
    let say = &mut |words: &str| anstream::eprintln!("{words}");
    let program = match autobahn::install(&cache, context.interrupt, say) {
        Ok(program) => program,
        Err(Unavailable::Interrupted) => return Ok(Exit::Interrupted),
        Err(reason @ Unavailable::NoPython2) => {
            say!("skipped: {reason}");
            return Ok(Exit::Ok);
        }
        Err(error) => return Err(Refusal::new(error.to_string())),
    };
    let mut tally = Tally::default();
    tally.unreadable(unreadable);
    for mut wanted in readable {
        let modes = match &wanted.manifest.raw_echo {
            Some(RawEcho::Modes(modes)) => modes,
            Some(RawEcho::None(reason)) => {
                say!("{}: has no raw echo: {reason}", wanted.entry.name);
                continue;
            }
            None => {
                say!(
                    "{}: its manifest declares no [raw-echo]; see docs/adding-a-server.md",
                    wanted.entry.name
                );
                continue;
            }
        };
        wanted
            .variants
            .retain(|name| modes.iter().any(|mode| mode.name == *name));
        if wanted.variants.is_empty() {
            continue;
        }
        anstream::eprintln!("{}: building", wanted.entry.name);
        let builds = order(context, &wanted).build(false, &mut |_| {});
        if builds.interrupted() {
            return Ok(Exit::Interrupted);
        }
        say!("{}", told(context, &wanted, &builds));
        for (name, outcome) in &builds.0 {
            let built = match outcome {
                Ok(built) => built,
                Err(why) => {
                    tally.not_built(&wanted.entry.name, name, why, !servers.is_empty());
                    continue;
                }
            };
            let Some(mode) = modes.iter().find(|mode| mode.name == *name) else {
                continue;
            };
            let pass = Pass {
                context,
                wanted: &wanted,
                mode,
                program: &program,
                dir: cache
                    .join("reports")
                    .join(format!("{}.{name}", wanted.entry.name)),
            };
            if pass.run(built)? {
                tally.ok();
            } else {
                tally.failed(&wanted.entry.name, name);
            }
        }
    }
    Ok(tally.finish())
}

/// One pass of the suite against one variant.
struct Pass<'a> {
    context: &'a Context<'a>,
    wanted: &'a Wanted<'a>,
    mode: &'a Variant,
    program: &'a Path,
    /// Where the suite leaves its own report.
    dir: PathBuf,
}

impl Pass<'_> {
    /// Starts the raw echo, runs the suite, stores and prints the summary. False when there is
    /// none.
    fn run(&self, built: &Built) -> Result<bool, Refusal> {
        let (entry, manifest) = (self.wanted.entry, self.wanted.manifest);
        let project = &self.context.project;
        let name = contestant(&entry.name, &self.mode.name);
        let bin = project.bin();
        let log =
            build::logs(project, &entry.name).join(format!("autobahn-{}.log", self.mode.name));
        let cores = machine::cores(&Pin::Auto, &Environment::collect())?;
        let place = (entry.dir.as_path(), bin.as_path());
        let spec = Spec::new(
            manifest,
            self.mode,
            place,
            (cores.server_threads, &[]),
            &log,
        );
        let mut server = match supervise::start(&spec, self.context.interrupt) {
            Ok(server) => server,
            Err((StartError::Interrupted, _)) => return Err(Refusal::new("interrupted")),
            Err((error, tail)) => {
                say!("{name}: {error}");
                for line in tail.unwrap_or_default().lines() {
                    say!("    {line}");
                }
                return Ok(false);
            }
        };
        let sections = autobahn::sections(self.mode.compression);
        let mut record = AutobahnRecord::new(self.identity(built), SUITE_VERSION, sections, now());
        let suite = Suite {
            program: self.program,
            dir: &self.dir,
        };
        let bar = bar(&name, "case");
        let ran = suite.run(
            &server.url(),
            &mut record,
            self.context.interrupt,
            &|done, planned| {
                bar.set_length(planned as u64);
                bar.set_position(done as u64);
            },
        );
        bar.finish_and_clear();
        let death = server.death();
        server.stop();
        match ran {
            Ok(()) => {}
            Err(SuiteError::Interrupted) => return Err(Refusal::new("interrupted")),
            Err(error) => {
                let died = death.map_or_else(String::new, |_| {
                    format!("; the server had ended, its log is {}", project.shown(&log))
                });
                say!("{name}: {error}{died}");
                return Ok(false);
            }
        }
        record.finished = now();
        let stored = autobahn::store(&project.autobahn(), &record)
            .map_err(|error| Refusal::new(format!("the summary cannot be stored: {error}")))?;
        say!("{name}: {}", record.tally());
        for case in record.failed.iter().take(LISTED) {
            say!(
                "    {}: {}, close: {}",
                case.id,
                case.behavior,
                case.behavior_close
            );
        }
        if record.failed.len() > LISTED {
            say!("    and {} more", record.failed.len() - LISTED);
        }
        say!(
            "    {}; the suite's own report is {}",
            project.shown(&stored),
            project.shown(&self.dir.join("index.html"))
        );
        Ok(true)
    }

    fn identity(&self, built: &Built) -> ServerIdentity {
        let manifest = self.wanted.manifest;
        ServerIdentity {
            name: manifest.name.clone(),
            variant: self.mode.name.clone(),
            variant_summary: self.mode.summary.clone(),
            language: manifest.language.clone(),
            library: manifest.library.clone(),
            homepage: manifest.homepage.clone(),
            class: manifest.class.name().to_owned(),
            library_version: Some(built.version.clone()),
            runtime: built.runtime.clone(),
            json: manifest.json,
            released: manifest.released,
            old_because: manifest.old_because.clone(),
        }
    }
}

//! Who has passed every check on this machine, with all that decides it as it is now.
//!
//! The checks of a row take longer than its measurement. So what they found of a variant that passed is
//! kept in the user's cache, outside every checkout, under a fingerprint of: this program, the kernel and
//! the processor; the server's folder and its programs in `bin`; the versions of its library and its
//! runtime; the variant and its threads. A variant with services is always checked: they are not part of
//! the folder. Nothing is kept of a variant that failed, and nothing for longer than a week.

use crate::build::{self, Built, Print};
use crate::session::now;
use host_facts::user_cache;
use project::manifest::Variant;
use project::{Project, ServerFolder};
use record::{Conformance, Environment, Json as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// All that decides what the checks find, beside this program and the machine.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The project.
    pub project: &'a Project,
    /// The server.
    pub entry: &'a ServerFolder,
    /// Its variant.
    pub variant: &'a Variant,
    /// The build.
    pub built: &'a Built,
    /// Number of cores that the server is told to use.
    pub threads: usize,
}

/// The file of a variant as it is now.
#[derive(PartialEq)]
pub struct Passed(PathBuf);

impl Subject<'_> {
    /// `None` where the variant has services, or where something that decides the checks cannot be read.
    pub fn passed(&self) -> Option<Passed> {
        let Self { entry, variant, .. } = self;
        if !variant.services.is_empty() {
            return None;
        }
        let here = Environment::collect();
        let mut print = Print::default();
        print.add(&this_program()?);
        print.add(&here.kernel);
        print.add(&format!("{:?} {}", here.cpu_model, here.cores));
        print.add(&build::fingerprint(&entry.dir)?);
        let words = variant.command.iter();
        for (_, program) in words.filter_map(|word| word.split_once("{bin}/")) {
            print.add_file(&self.project.bin().join(program)).ok()?;
        }
        print.add(&self.built.version);
        print.add(self.built.runtime.as_deref().unwrap_or_default());
        for word in [&entry.name, &variant.name, &self.threads.to_string()] {
            print.add(word);
        }
        let folder = user_cache()?.join("websocket-shootout/passed");
        Some(Passed(folder.join(format!("{}.json", print.text()))))
    }
}

impl Passed {
    /// What the checks found, where the variant passed them within the last week.
    pub fn conformance(&self) -> Option<Conformance> {
        if !is_fresh(&self.0) {
            return None;
        }
        let text = fs::read_to_string(&self.0).ok()?;
        let conformance = Conformance::from_json(&text).ok()?;
        conformance.passed().then_some(conformance)
    }

    /// Keeps what the checks found of `subject`, and removes what is older than a week. A server that has
    /// changed its own folder meanwhile may be another one the next time: nothing is kept of it. If it cannot
    /// be written, the next run is only slower.
    pub fn keep(&self, subject: &Subject<'_>, conformance: &Conformance) {
        if subject.passed().as_ref() != Some(self) {
            return;
        }
        let conformance = Conformance {
            checked: Some(now()),
            ..conformance.clone()
        };
        let (Some(folder), Ok(text)) = (self.0.parent(), conformance.to_json()) else {
            return;
        };
        let _ = fs::create_dir_all(folder);
        let draft = self.0.with_extension(format!("{}.tmp", std::process::id()));
        if fs::write(&draft, text).is_ok() {
            let _ = fs::rename(&draft, &self.0);
        }
        let all = fs::read_dir(folder).into_iter().flatten().flatten();
        for old in all.filter(|file| !is_fresh(&file.path())) {
            let _ = fs::remove_file(old.path());
        }
    }
}

/// Tells one build of this program from another. To read all of it would take as long as some rows' checks.
fn this_program() -> Option<String> {
    let meta = fs::metadata("/proc/self/exe").ok()?;
    Some(format!("{} {:?}", meta.len(), meta.modified().ok()?))
}

fn is_fresh(file: &Path) -> bool {
    let written = fs::metadata(file).and_then(|meta| meta.modified());
    let age = written.ok().and_then(|written| written.elapsed().ok());
    age.is_some_and(|age| age < KEPT_FOR)
}

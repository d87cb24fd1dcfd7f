//! Builds a server: probes, steps, and the receipt that the result works.
//!
//! Purpose: turn a folder into programs that print their library's version, or into a status with a
//! reason. Each variant is built on its own: one that lacks its toolchain does not stop the others.
//! Nothing is built when nothing has changed since a build that worked; the receipt is run every
//! time, so that a deleted program is built again. Installs nothing.

mod builder;
mod stamp;

use crate::interrupt::Interrupt;
use crate::toolchain::Missing;
use builder::Builder;
pub use builder::version;
use project::manifest::Manifest;
use project::{Project, ServerFolder};
pub(crate) use stamp::Print;
use std::path::{Path, PathBuf};

/// The fingerprint of a server's sources, build outputs left out; `None` when they cannot be read.
pub(crate) fn fingerprint(dir: &Path) -> Option<String> {
    stamp::Sources::new(dir).text()
}

/// The fingerprint of the sources of which a variant was built last; empty where that is not known.
pub(crate) fn last_built(project: &Project, server: &str, variant: &str) -> String {
    std::fs::read_to_string(stamp::file(project, server, variant)).unwrap_or_default()
}

/// A build that works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The library's version, as the built server prints it.
    pub version: String,
    /// What runs or compiled it, with its version: `Go 1.26.8`. Absent where the manifest does not say how
    /// to ask.
    pub runtime: Option<String>,
    /// The versions of the variant's services. Absent where one of them has no command that tells it.
    pub services: Option<Vec<String>>,
    /// Nothing had changed since the last build.
    pub reused: bool,
}

/// Why there is no build.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What became of a variant's build.
pub type BuildOutcome = Result<Built, BuildError>;

/// What became of several variants, in the manifest's order.
#[derive(Clone, Debug)]
pub struct Builds(pub Vec<(String, BuildOutcome)>);

impl Builds {
    /// What became of the variant of that name; `None` when it was not asked for.
    pub fn outcome(&self, variant: &str) -> Option<&BuildOutcome> {
        let found = self.0.iter().find(|(name, _)| name == variant);
        found.map(|(_, outcome)| outcome)
    }

    /// True when the user ended it.
    pub fn interrupted(&self) -> bool {
        let all = self.0.iter();
        all.into_iter()
            .any(|(_, outcome)| matches!(outcome, Err(BuildError::Interrupted)))
    }
}

/// What is to be built.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// The project.
    pub project: &'a Project,
    /// The server.
    pub entry: &'a ServerFolder,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// Names of the variants that are wanted.
    pub variants: &'a [String],
    /// Ends it.
    pub interrupt: &'a Interrupt,
}

impl Order<'_> {
    /// Builds the variants, unless nothing has changed; `force` builds anyway. `say` is told what
    /// is being done.
    pub fn build(&self, force: bool, say: &mut dyn FnMut(&str)) -> Builds {
        Builder::new(*self).build(force, say)
    }

    /// The versions that the variants print as they are; nothing is probed or built.
    pub fn receipts(&self) -> Builds {
        Builder::new(*self).receipts()
    }
}

/// Where a server's probe, build and version logs are.
pub fn logs(project: &Project, server: &str) -> PathBuf {
    project.cache().join("logs").join(server)
}

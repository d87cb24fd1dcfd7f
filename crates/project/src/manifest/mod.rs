//! The manifest of a server folder: everything the orchestrator knows of a server.
//!
//! Purpose: read `server.toml`, refuse what cannot work with the line where it stands, and hand out
//! complete variants. Runs nothing and looks at no other file of the folder.

mod check;
mod placeholder;
mod problem;
mod proxy;
mod raw;
mod translate;
mod variant;

pub use placeholder::{Node, Start, Values};
pub use plan::Workload;
pub use problem::{Problem, lines, suggestion};
pub use proxy::{PROXY_FILE, Proxy, ProxyValues};
pub use record::{Claim, JsonReading};
pub use variant::{RawEcho, Receipt, Runtime, Scope, Service, Variant};

use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Name of the manifest in a server's folder.
pub const FILE: &str = "server.toml";
/// The only version of the manifest format there is.
pub const VERSION: u32 = 1;
/// Name of the one variant of a server that declares none.
pub const DEFAULT_VARIANT: &str = "default";

/// A server, as its manifest declares it.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Folder name.
    pub name: String,
    /// Programming language.
    pub language: String,
    /// Library.
    pub library: String,
    /// The library's own page.
    pub homepage: String,
    /// Whether it does anything beyond the library's own documentation.
    pub class: Class,
    /// What it stands for, where it is no contestant.
    pub role: Option<Role>,
    /// The names that rows of it had in results/2016/.
    pub in_2016: Vec<String>,
    /// What it is, in a sentence.
    pub summary: String,
    /// How it reads a text message; absent where no variant reads one.
    pub json: Option<JsonReading>,
    /// The year in which the library's version was released.
    pub released: Option<u32>,
    /// Why no newer version is used.
    pub old_because: Option<String>,
    /// Time from a machine without its toolchain to its figure in `run --quick`.
    pub quick: Option<Duration>,
    /// What must be there before the build, in order.
    pub requires: Vec<Requirement>,
    /// Build steps, in order.
    pub build: Vec<Step>,
    /// Longest time from the start to the first answered echo.
    pub ready_timeout: Duration,
    /// Time from TERM to KILL.
    pub grace: Duration,
    /// At least one.
    pub variants: Vec<Variant>,
    /// How to start it for Autobahn|Testsuite; absent when the manifest says nothing about it.
    pub raw_echo: Option<RawEcho>,
    /// Clients of the first step and of each further one, where the usual number is too many.
    pub step_size: Option<u32>,
    /// Checks that this library cannot pass.
    pub waivers: Vec<Waiver>,
}

/// Whether a server does what the library's documentation shows, or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It is.
    Idiomatic,
    /// It goes beyond.
    Tuned,
}

impl Class {
    /// The word in manifests and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idiomatic => "idiomatic",
            Self::Tuned => "tuned",
        }
    }
}

/// What a server stands for that is no contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The least that the work can cost: the board shows every figure as a share of its own, and
    /// gives it no place.
    Ceiling,
}

/// A message format, by the names of the manifest and the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[clap(rename_all = "lower")]
pub enum Dialect {
    /// JSON in text messages.
    Text,
    /// Type byte, size, payload.
    Binary,
    /// Phoenix channels.
    Phoenix,
    /// Action Cable.
    ActionCable,
    /// Socket.IO.
    SocketIo,
}

impl Dialect {
    /// The word in manifests, file names and on the command line.
    pub const fn name(self) -> &'static str {
        self.record().name()
    }

    /// The same in records.
    pub const fn record(self) -> plan::Dialect {
        match self {
            Self::Text => plan::Dialect::Text,
            Self::Binary => plan::Dialect::Binary,
            Self::Phoenix => plan::Dialect::Phoenix,
            Self::ActionCable => plan::Dialect::ActionCable,
            Self::SocketIo => plan::Dialect::SocketIo,
        }
    }

    /// That of a record; `None` of one that no manifest names.
    pub const fn of_record(dialect: plan::Dialect) -> Option<Self> {
        match dialect {
            plan::Dialect::Text => Some(Self::Text),
            plan::Dialect::Binary => Some(Self::Binary),
            plan::Dialect::Phoenix => Some(Self::Phoenix),
            plan::Dialect::ActionCable => Some(Self::ActionCable),
            plan::Dialect::SocketIo => Some(Self::SocketIo),
            plan::Dialect::File | plan::Dialect::Mqtt | plan::Dialect::Mqtt5 => None,
        }
    }
}

/// Something that must be installed.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// In words: "Go 1.22 or newer".
    pub what: String,
    /// Variants that need it.
    pub variants: Scope,
    /// The command that proves it.
    pub probe: Vec<String>,
    /// What its output must match, beside its success.
    pub matches: Option<Regex>,
    /// The Debian packages that bring it.
    pub debian: Vec<String>,
    /// How to get it where there is no package.
    pub remedy: Option<String>,
}

/// A build step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Program and arguments, with placeholders.
    pub run: Vec<String>,
    /// Variants that need it.
    pub variants: Scope,
    /// Environment on top of the inherited one.
    pub env: BTreeMap<String, String>,
}

/// A check that a library cannot pass.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// Id of the check.
    pub check: String,
    /// Variants that it holds for.
    pub variants: Scope,
    /// Why.
    pub reason: String,
    /// The library passes it most of the time. It counts as waived whenever it is run, so that a table does
    /// not change by chance.
    pub sometimes: bool,
    /// A page about it.
    pub link: Option<String>,
    /// When it was granted.
    pub date: Option<String>,
}

impl Waiver {
    /// True when the waiver excuses this check of this variant.
    pub fn covers(&self, check: &str, variant: &str) -> bool {
        self.check == check && self.variants.covers(variant)
    }
}

impl Manifest {
    /// Parses `text`, the manifest of the folder `folder`. `file` names it in problems.
    ///
    /// All problems of the values; of problems of syntax, keys and types the first.
    pub fn parse(text: &str, file: &Path, folder: &str) -> Result<Self, Vec<Problem>> {
        let mut problems = problem::Problems::new(file, text);
        match toml::from_str::<raw::Manifest>(text) {
            Ok(raw) => check::manifest(raw, folder, problems),
            Err(error) => {
                problems.at(error.span(), translate::message(error.message()));
                Err(problems.into_vec())
            }
        }
    }

    /// The variant of that name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}

#[cfg(test)]
mod tests;

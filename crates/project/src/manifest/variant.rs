//! One way to run a server, with everything that belongs to it.

use super::{Dialect, Workload};
use record::Claim;
use regex::Regex;
use std::collections::BTreeMap;
use std::time::Duration;

/// One way to run a server, complete: nothing is inherited any more.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name, unique within the server.
    pub name: String,
    /// What it is, in a few words.
    pub summary: Option<String>,
    /// Program and arguments, with placeholders.
    pub command: Vec<String>,
    /// Environment on top of the inherited one, with placeholders.
    pub env: BTreeMap<String, String>,
    /// Several processes share the work.
    pub multi_process: bool,
    /// Where the WebSocket lives.
    pub path: String,
    /// Message formats.
    pub dialects: Vec<Dialect>,
    /// Requests.
    pub workloads: Vec<Workload>,
    /// It turns on permessage-deflate for clients that offer it.
    pub compression: bool,
    /// It serves TLS, with the certificate that it is given.
    pub tls: bool,
    /// How many nodes it has: groups of processes that know of each other by a service or by their
    /// ports, and pass broadcasts on to each other. Absent where the variant is one group.
    pub nodes: Option<u32>,
    /// What the library's documentation promises where a node or a broker fails.
    pub claim: Option<Claim>,
    /// How to learn the library's version from the built server.
    pub receipt: Receipt,
    /// How to learn what runs or compiled it.
    pub runtime: Option<Runtime>,
    /// Programs that must run beside it, in the order of their start.
    pub services: Vec<Service>,
}

impl Variant {
    /// The service that passes messages between its nodes.
    pub fn broker(&self) -> Option<&Service> {
        self.services.iter().find(|service| service.broker)
    }
}

/// The command that proves a build by printing the library's version.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// Program and arguments, with placeholders.
    pub command: Vec<String>,
    /// Group 1 is the version.
    pub matches: Regex,
}

/// What runs a server, or compiled it.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// Its name: `Go`.
    pub name: String,
    /// How to learn its version.
    pub receipt: Receipt,
}

/// A program that a server needs beside it, ready when its port accepts a TCP connection.
#[derive(Clone, Debug)]
pub struct Service {
    /// Name, unique within the server; its port is the placeholder `{service:NAME}`.
    pub name: String,
    /// Variants that need it.
    pub variants: Scope,
    /// Program and arguments, with placeholders.
    pub command: Vec<String>,
    /// Longest time from the start to the first accepted connection.
    pub ready_timeout: Duration,
    /// How to learn its version.
    pub receipt: Option<Receipt>,
    /// It passes messages between nodes.
    pub broker: bool,
}

/// The variants that a key applies to: those that it names, or all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(pub Option<Vec<String>>);

impl Scope {
    /// True when the variant of that name is one of them.
    pub fn covers(&self, variant: &str) -> bool {
        self.0
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| name == variant))
    }
}

/// A mode in which a server sends every message back as it came.
#[derive(Clone, Debug)]
pub enum RawEcho {
    /// The variants that have such a mode, ready to be started. Command, environment and path are
    /// those of the mode, which answers like an echo of the text and the binary dialect.
    Modes(Vec<Variant>),
    /// The library can have no such mode, for this reason.
    None(String),
}

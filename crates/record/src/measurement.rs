//! The record of one measurement by the orchestrator: one server, one variant, one workload,
//! one repetition, with or without a number.

use super::{Claim, FaultDone, Memory, NetworkUse, RunRecord, ServerSeries, VERSION};
use plan::{Dialect, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Value of `format` in a [`Measurement`].
pub const MEASUREMENT_FORMAT: &str = "websocket-shootout/measurement";

/// A version of a library is old where it is of an earlier year than this many before.
const YEARS: u32 = 2;

/// One server measured once, or the reason why not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Always `websocket-shootout/measurement`.
    #[schemars(extend("const" = MEASUREMENT_FORMAT))]
    pub format: String,
    /// Version of this format.
    #[schemars(extend("const" = VERSION))]
    #[serde(deserialize_with = "super::format::of_now")]
    pub version: u32,
    /// What was measured.
    pub server: ServerIdentity,
    /// Which request.
    pub workload: Workload,
    /// Name of the workload. Absent in records from before workloads had names.
    #[serde(default)]
    pub workload_name: Option<String>,
    /// In which message format.
    pub dialect: Dialect,
    /// Number of this repetition, from 1.
    pub repetition: u32,
    /// When the measurement began, RFC 3339 in UTC.
    pub started: String,
    /// Whether there is a result, and if not, why.
    pub status: Status,
    /// The status in words; absent for `ok`.
    pub reason: Option<String>,
    /// The last lines of the server's own output, when it did not end well.
    pub log_tail: Option<String>,
    /// The conformance pass of this build in this run.
    pub conformance: Option<Conformance>,
    /// The cores of server and generator. Absent when nothing was pinned.
    pub pinning: Option<Pinning>,
    /// The network between server and clients. Absent where that was loopback, and in records from
    /// before.
    #[serde(default)]
    pub network: Option<NetworkUse>,
    /// The proxy between server and clients. Absent where there was none, and in records from before.
    #[serde(default)]
    pub proxy: Option<ProxyUse>,
    /// How many nodes of the server there were. Absent where one was all, and in records from before.
    #[serde(default)]
    pub nodes: Option<u32>,
    /// What its library promises where a node or a broker fails. Absent where the manifest says nothing,
    /// and in records from before.
    #[serde(default)]
    pub claim: Option<Claim>,
    /// The faults of the plan, in the order of their times. Empty where it has none.
    #[serde(default)]
    pub faults: Vec<FaultDone>,
    /// Share of all cores that were busy just before the server was started, from 0 to 1. Absent
    /// where nothing was started, and in records from before.
    #[serde(default)]
    pub busy_before: Option<f64>,
    /// Share of all cores that other programs and other virtual machines used while it was measured,
    /// from 0 to 1. Absent where nothing was measured, and in records from before.
    #[serde(default)]
    pub busy_during: Option<f64>,
    /// Memory of the server when it was ready and had no clients.
    pub idle: Option<Memory>,
    /// What the server used, step by step, in the order of `run.steps`.
    pub server_steps: Vec<ServerStep>,
    /// What the server used over time, until the generator ended. Absent where nothing was
    /// measured, and in records from before.
    #[serde(default)]
    pub server_series: Option<ServerSeries>,
    /// What the generator measured.
    pub run: Option<RunRecord>,
}

impl Measurement {
    /// Name of the workload; the request, where it has none.
    pub fn workload_name(&self) -> &str {
        let name = self.workload_name.as_deref();
        name.unwrap_or_else(|| self.workload.name())
    }
}

/// A proxy between server and clients, and what it used itself. The figures of the server do not contain
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProxyUse {
    /// Folder name.
    pub name: String,
    /// Its own page.
    pub homepage: String,
    /// Its version as it prints it. Absent where it was not started.
    pub version: Option<String>,
    /// Whether it ended the TLS of the clients.
    pub ends_tls: bool,
    /// Its memory when it was ready and had no clients. Absent where it was not started.
    pub idle: Option<Memory>,
    /// What it used, step by step, in the order of `run.steps`.
    pub steps: Vec<ServerStep>,
    /// What it used over time, until the generator ended. Absent where nothing was measured.
    pub series: Option<ServerSeries>,
}

/// The server that was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerIdentity {
    /// Folder name.
    pub name: String,
    /// Variant of the server.
    pub variant: String,
    /// What the variant is, in a few words.
    pub variant_summary: Option<String>,
    /// Programming language.
    pub language: String,
    /// Library.
    pub library: String,
    /// The library's own page.
    pub homepage: String,
    /// `idiomatic` or `tuned`.
    pub class: String,
    /// The library's version as the built server prints it.
    pub library_version: Option<String>,
    /// What runs or compiled it, with its version: `Go 1.26.8`. Absent where the manifest does not say how
    /// to ask, and in records from before.
    #[serde(default)]
    pub runtime: Option<String>,
    /// How it reads a text message. Absent where it reads none, and in records from before.
    #[serde(default)]
    pub json: Option<JsonReading>,
    /// The year in which this version of the library was released. Absent where the manifest does not have
    /// it, and in records from before.
    #[serde(default)]
    pub released: Option<u32>,
    /// Why no newer version is used. Absent where the manifest gives no reason, and in records from
    /// before.
    #[serde(default)]
    pub old_because: Option<String>,
}

impl ServerIdentity {
    /// The year of the library's version, where a measurement begun at `started` (RFC 3339) is more than
    /// two calendar years younger.
    pub fn old_in(&self, started: &str) -> Option<u32> {
        let measured: u32 = started.get(..4)?.parse().ok()?;
        self.released
            .filter(|year| measured.saturating_sub(*year) > YEARS)
    }
}

/// How a server reads a text message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JsonReading {
    /// It builds the whole message, with the payload as a tree of values.
    Tree,
    /// It reads the members and keeps the payload as the bytes that came.
    Raw,
    /// It is told one event after the other, or looks for members by itself, and builds neither.
    Sax,
}

impl JsonReading {
    /// The word in manifests and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Raw => "raw",
            Self::Sax => "sax",
        }
    }
}

/// Whether a measurement has a result; every other value carries a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Measured.
    Ok,
    /// A probe of the manifest failed.
    MissingToolchain,
    /// A build step failed.
    BuildFailed,
    /// The server never answered a handshake and an echo.
    StartFailed,
    /// A conformance check failed.
    Nonconforming,
    /// The server ended while it was measured.
    Crashed,
    /// The server stopped answering.
    Timeout,
    /// The server left processes behind.
    Leaked,
    /// The generator and not the server was the limit.
    GeneratorLimited,
    /// The repetitions differ too much.
    Noisy,
    /// The server lost, duplicated, reordered or changed messages while it was measured.
    Faulty,
    /// A fault of the plan did not happen as planned.
    FaultFailed,
    /// Variant and workload do not fit: the manifest does not declare what the workload needs, or the
    /// variant compresses and the workload offers no compression.
    NotApplicable,
    /// The user ended the run before this measurement was complete.
    Interrupted,
}

impl Status {
    /// The word of records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::MissingToolchain => "missing-toolchain",
            Self::BuildFailed => "build-failed",
            Self::StartFailed => "start-failed",
            Self::Nonconforming => "nonconforming",
            Self::Crashed => "crashed",
            Self::Timeout => "timeout",
            Self::Leaked => "leaked",
            Self::GeneratorLimited => "generator-limited",
            Self::Noisy => "noisy",
            Self::Faulty => "faulty",
            Self::FaultFailed => "fault-failed",
            Self::NotApplicable => "not-applicable",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Result of the conformance checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conformance {
    /// When the checks were done, if before this measurement's run (RFC 3339). Within a week, they are not
    /// done again for a server that passed them with the same folder, programs and tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// Every check that was run.
    pub checks: Vec<CheckOutcome>,
}

impl Conformance {
    /// True when no check failed without a waiver.
    pub fn passed(&self) -> bool {
        self.checks
            .iter()
            .all(|check| check.verdict != CheckVerdict::Fail)
    }
}

/// One check against one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckOutcome {
    /// Name of the check.
    pub id: String,
    /// RFC section or rule of the protocol.
    pub section: String,
    /// Dialect it was run in, where it depends on one.
    pub dialect: Option<Dialect>,
    /// What came out.
    pub verdict: CheckVerdict,
    /// What was seen instead of the expectation, the waiver's reason, or why it was skipped.
    pub detail: Option<String>,
    /// A page about the waiver.
    pub link: Option<String>,
}

/// What came out of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// As expected.
    Pass,
    /// Not as expected.
    Fail,
    /// Not as expected, and declared so in the server's manifest.
    Waived,
    /// Does not apply to this server.
    Skipped,
}

/// The cores of server and generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pinning {
    /// Cores of the server.
    pub server_cpus: Vec<usize>,
    /// Cores of the generator.
    pub generator_cpus: Vec<usize>,
}

/// What a server used in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStep {
    /// Clients connected.
    pub clients: u64,
    /// CPU time of the process tree during the measurement, in nanoseconds.
    pub cpu_ns: u64,
    /// Time over which `cpu_ns` was counted, in nanoseconds.
    pub elapsed_ns: u64,
    /// When that began, in nanoseconds since `server_series` did. Absent in records from before.
    #[serde(default)]
    pub from_ns: Option<u64>,
    /// The part of `cpu_ns` that the programs themselves took, in nanoseconds. The kernel tells it to a
    /// hundredth of a second of each process. Absent in records from before.
    #[serde(default)]
    pub user_ns: Option<u64>,
    /// The part of `cpu_ns` that the kernel took on their behalf, in nanoseconds, as `user_ns`. Absent
    /// in records from before.
    #[serde(default)]
    pub kernel_ns: Option<u64>,
    /// Context switches of all threads. Absent where the kernel does not tell, and in records from
    /// before.
    #[serde(default)]
    pub switches: Option<Switches>,
    /// Memory while the step was measured (the largest sample).
    pub memory: Memory,
}

/// How often the threads of a server left their cores during a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Switches {
    /// Times that a thread waited for something, and gave up its core.
    pub voluntary: u64,
    /// Times that the kernel gave the core of a thread to another.
    pub involuntary: u64,
    /// Threads of the process tree at the end of the step.
    pub threads: u64,
    /// Threads that ended during the step. What they counted after their last reading is missing above,
    /// and so is all of a thread that lived between two readings.
    pub ended_threads: u64,
}

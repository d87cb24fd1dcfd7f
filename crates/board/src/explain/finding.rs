//! What a row costs, as data: the JSON output, and what the words are made from.

use crate::report::ranking::Costs;
use plan::{Dialect, Workload};
use record::Status;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// Value of `format` in an [`Explanation`].
pub const EXPLANATION_FORMAT: &str = "websocket-shootout/explanation";

/// What the messages of one row cost, under each load that a run has of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Explanation {
    /// Always `websocket-shootout/explanation`.
    #[schemars(extend("const" = EXPLANATION_FORMAT))]
    pub format: &'static str,
    /// Version of this format.
    #[schemars(extend("const" = record::VERSION))]
    pub version: u32,
    /// Server, and variant where it has several.
    pub row: String,
    /// The result directory.
    pub results: String,
    /// Load by load.
    pub loads: Vec<ExplainedLoad>,
    /// Files that were left out, each with the reason.
    pub left_out: Vec<String>,
}

/// The row under one load.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainedLoad {
    /// Which request.
    pub workload: Workload,
    /// Name of the workload.
    pub workload_name: String,
    /// In which message format.
    pub dialect: Dialect,
    /// Over which network; absent over loopback.
    pub network: Option<String>,
    /// The status of the row.
    pub status: Status,
    /// The status in words; absent for `ok`.
    pub reason: Option<String>,
    /// Clients at which the messages were counted. Absent where no step has messages.
    pub clients: Option<u64>,
    /// Repetitions that have such a step.
    pub repetitions: usize,
    /// Other rows with a place under this load, at as many clients.
    pub others: usize,
    /// Most threads that the server had at the end of a step.
    pub threads: Option<u64>,
    /// Threads that ended during the steps. What they counted last is missing in the switches.
    pub ended_threads: u64,
    /// What a message costs.
    pub figures: Vec<ExplainedFigure>,
    /// What the records do not hold.
    pub missing: Vec<PartOfCost>,
}

/// One figure, beside those of the other rows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainedFigure {
    /// Which.
    pub part: PartOfCost,
    /// For one message delivered: nanoseconds, bytes, a count, or a share from 0 to 1.
    pub value: f64,
    /// The median of the other rows. Absent where no other row holds it.
    pub median: Option<f64>,
    /// The other row that has least.
    pub least: Option<LeastOf>,
    /// Whether it is far from the median: a share by 5 percentage points, another figure by a quarter
    /// more or a fifth less.
    pub differs: bool,
}

/// The row with the least of something.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeastOf {
    /// Server, and variant where it has several.
    pub row: String,
    /// What it has.
    pub value: f64,
}

/// What is counted for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartOfCost {
    /// CPU time of the server in nanoseconds.
    Cpu,
    /// The part of it in the kernel, in nanoseconds.
    Kernel,
    /// The kernel's share of it, from 0 to 1.
    KernelShare,
    /// The part of it in the server's own programs, in nanoseconds.
    User,
    /// Context switches where a thread of the server waited.
    VoluntarySwitches,
    /// Context switches where the kernel took the core of a thread away.
    InvoluntarySwitches,
    /// TCP segments with data that the server sent.
    Segments,
    /// Bytes of frames that the generator received.
    Bytes,
    /// Reads of the generator.
    Reads,
}

impl PartOfCost {
    /// In the order in which they are told.
    pub(super) const ALL: [Self; 9] = [
        Self::Cpu,
        Self::Kernel,
        Self::KernelShare,
        Self::User,
        Self::VoluntarySwitches,
        Self::InvoluntarySwitches,
        Self::Segments,
        Self::Bytes,
        Self::Reads,
    ];

    pub(super) fn of(self, costs: &Costs) -> Option<f64> {
        match self {
            Self::Cpu => costs.cpu_ns,
            Self::Kernel => Some(costs.cpu_ns? * costs.kernel_share?),
            Self::KernelShare => costs.kernel_share,
            Self::User => Some(costs.cpu_ns? * (1.0 - costs.kernel_share?)),
            Self::VoluntarySwitches => costs.voluntary,
            Self::InvoluntarySwitches => costs.involuntary,
            Self::Segments => costs.segments,
            Self::Bytes => costs.bytes,
            Self::Reads => costs.reads,
        }
    }
}

impl Explanation {
    /// Whether the records say of each load all that a message costs.
    pub fn is_whole(&self) -> bool {
        let mut loads = self.loads.iter();
        loads.all(|load| load.clients.is_some() && load.missing.is_empty())
    }
}

/// The schema of [`Explanation`].
pub fn explanation_schema() -> Schema {
    record::closed_schema::<Explanation>()
}

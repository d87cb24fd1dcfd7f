//! What a comparison found, as data: the JSON output, and what the words are made from.

use crate::stats::{Interval, Resampling};
use plan::{Dialect, Measure, Workload};
use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// Value of `format` in a [`Comparison`].
pub const COMPARISON_FORMAT: &str = "websocket-shootout/comparison";

/// Two sides compared. Ratios are `b` as a multiple of `a`; a ratio to nothing is null in JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Comparison {
    /// Always `websocket-shootout/comparison`.
    #[schemars(extend("const" = COMPARISON_FORMAT))]
    pub format: &'static str,
    /// Version of this format.
    #[schemars(extend("const" = record::VERSION))]
    pub version: u32,
    /// The side that is compared to.
    pub a: SideName,
    /// The side in question.
    pub b: SideName,
    /// A corrected p above this shows no difference.
    pub alpha: f64,
    /// Share by which `b` may be worse without being a regression.
    pub tolerance: f64,
    /// How the intervals were made.
    pub resampling: Resampling,
    /// Tests that the p values were corrected for.
    pub comparisons: usize,
    /// Row by row.
    pub rows: Vec<RowFinding>,
    /// All of it in a word.
    pub verdict: Overall,
}

/// A side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SideName {
    /// The file, directory or server.
    pub name: String,
    /// What was left out, each with the reason.
    pub left_out: Vec<String>,
}

/// One server, variant, workload and dialect.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RowFinding {
    /// Server and variant; both names where the sides differ in them; empty where the record has
    /// none.
    pub name: String,
    /// Which request.
    pub workload: Workload,
    /// Name of the workload; where the sides differ in it, that of `a`.
    pub workload_name: String,
    /// In which message format.
    pub dialect: Dialect,
    /// Which latency.
    pub measure: Option<Measure>,
    /// Clients at which latencies are compared.
    pub clients: Option<u64>,
    /// Requests per second of the load that is compared, in an open loop.
    pub rate: Option<f64>,
    /// Repetitions of the two sides.
    pub repetitions: (usize, usize),
    /// Figure by figure.
    pub figures: Vec<FigureFinding>,
    /// Why the row cannot be compared.
    pub problem: Option<String>,
    /// Neither side has a result: there is nothing to compare.
    pub absent: bool,
    /// What must be known beside the figures.
    pub remarks: Vec<String>,
}

/// One figure of a row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FigureFinding {
    /// Its name.
    pub figure: String,
    /// What it counts.
    pub unit: Unit,
    /// One value for each repetition.
    pub a: Vec<f64>,
    /// One value for each repetition.
    pub b: Vec<f64>,
    /// Their median.
    pub median_a: Option<f64>,
    /// Their median.
    pub median_b: Option<f64>,
    /// The median of `b` as a multiple of that of `a`.
    pub ratio: Option<f64>,
    /// Interval of that ratio, 95 percent.
    pub interval: Option<Interval>,
    /// Mann-Whitney U: pairs in which the value of `b` is the larger one.
    pub u: Option<f64>,
    /// Its two-sided p.
    pub p: Option<f64>,
    /// The same, corrected for the number of comparisons.
    pub p_corrected: Option<f64>,
    /// What is shown.
    pub finding: Finding,
    /// `b` is worse, and the whole interval is beyond the tolerance.
    pub regression: bool,
    /// Why nothing is shown, or what limits the finding.
    pub note: Option<String>,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds; fewer are better.
    Ns,
    /// Clients; more are better.
    Clients,
}

/// What is shown of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// `b` is worse.
    Worse,
    /// `b` is better.
    Better,
    /// Test and interval do not separate the sides.
    NoDifference,
    /// So few repetitions cannot show anything.
    TooFew,
    /// The figure does not exist or says nothing on one of the sides.
    LeftOut,
}

/// All findings in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Verdict")]
pub enum Overall {
    /// Everything was compared and nothing is shown to be worse.
    NoRegression,
    /// Something is shown to be worse.
    Regression,
    /// Nothing is shown to be worse, but not everything could be compared.
    NotComparable,
}

/// Schema of a [`Comparison`].
pub fn comparison_schema() -> Schema {
    record::closed_schema::<Comparison>()
}

//! The certificate of an instrument: what was known, what it measured, and whether the two agree.

use super::{Environment, Tool};
use plan::{Dialect, Io, Timestamps, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Value of `format` in a [`Certificate`].
pub const SELFTEST_FORMAT: &str = "websocket-shootout/selftest";

/// What `websocket-bench selftest` found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Certificate {
    /// Always `websocket-shootout/selftest`.
    #[schemars(extend("const" = SELFTEST_FORMAT))]
    pub format: String,
    /// Version of this format.
    #[schemars(extend("const" = super::VERSION))]
    #[serde(deserialize_with = "super::format::of_now")]
    pub version: u32,
    /// The program that was tested.
    pub tool: Tool,
    /// When the test began, RFC 3339 in UTC.
    pub started: String,
    /// When it ended, RFC 3339 in UTC.
    pub ended: String,
    /// The command line.
    pub command: Vec<String>,
    /// The short form: fewer samples, wider bounds where these follow from the number of samples.
    pub short: bool,
    /// Seed of every random choice, such as the numbers of faults. 0 in earlier records.
    #[serde(default)]
    pub seed: u64,
    /// What the end of a latency was taken from.
    pub timestamps: Timestamps,
    /// How sockets were read. `epoll` in earlier records.
    #[serde(default)]
    pub io: Io,
    /// Where it was run.
    pub environment: Environment,
    /// The parts that were made, in order.
    pub parts: Vec<Proof>,
    /// Letters of the parts that were asked for and not completed, because the test was
    /// interrupted. Absent in a complete certificate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_made: Vec<String>,
    /// What this generator can do at most on this machine, by part (f).
    pub ceilings: Vec<Ceiling>,
}

/// One part of the certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Letter of the part.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it proves, in a sentence.
    pub proves: String,
    /// Pass, when every check passed.
    pub verdict: ProofVerdict,
    /// Number of tries. A part is tried again only after an inconclusive try.
    pub attempts: u32,
    /// Time that all tries took, in nanoseconds.
    pub elapsed_ns: u64,
    /// The checks of the last try.
    pub checks: Vec<Check>,
    /// Figures that are reported without a verdict, and reasons.
    pub notes: Vec<String>,
}

/// One figure and what it had to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Which figure.
    pub what: String,
    /// What the numbers are.
    pub unit: Unit,
    /// What was known beforehand, or from the server's own ledger.
    pub known: Option<f64>,
    /// What the instrument reported. Absent when it reported nothing; such a check does not pass.
    pub measured: Option<f64>,
    /// The least that passes.
    pub least: Option<f64>,
    /// The most that passes.
    pub most: Option<f64>,
    /// Whether it passed.
    pub verdict: ProofVerdict,
    /// Why it is inconclusive, in words.
    pub reason: Option<String>,
}

/// The unit of a [`Check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Times.
    Nanoseconds,
    /// Numbers of things.
    Count,
    /// Shares and distances between distributions, from 0 to 1.
    Share,
}

/// What a check, a part or a certificate says; the later ones outweigh the earlier ones.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ProofVerdict {
    /// Measured is known, within the bounds.
    Pass,
    /// Measured is outside the bounds, and the noise of the machine explains that.
    Inconclusive,
    /// Measured is outside the bounds.
    Fail,
}

/// The most that the generator can do with one workload on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// Which request.
    pub workload: Workload,
    /// The message format.
    pub dialect: Dialect,
    /// Clients connected.
    pub clients: u64,
    /// Bytes of padding in each payload.
    pub payload_padding: u32,
    /// Worker threads.
    pub threads: u32,
    /// Verified messages per second against the null server.
    pub messages_per_second: f64,
    /// CPU time of the generator per message, in nanoseconds.
    pub cpu_ns_per_message: f64,
    /// CPU time of the busiest worker thread, as a share of the time. Where it is well below 1, the
    /// server or the machine was the limit, and the rate is a lower bound of the ceiling.
    pub busiest_thread: f64,
}

impl Check {
    /// `measured` is to lie within `margin` of `known`.
    pub fn within(what: &str, unit: Unit, known: f64, measured: f64, margin: f64) -> Self {
        Self {
            known: Some(known),
            ..Self::between(
                what,
                unit,
                measured,
                Some(known - margin),
                Some(known + margin),
            )
        }
    }

    /// `measured` is to be `known`, no more and no less.
    pub fn exactly(what: &str, known: u64, measured: u64) -> Self {
        Self::within(what, Unit::Count, known as f64, measured as f64, 0.0)
    }

    /// `measured` is to be at least and at most so much, where that is said.
    pub fn between(
        what: &str,
        unit: Unit,
        measured: f64,
        least: Option<f64>,
        most: Option<f64>,
    ) -> Self {
        // Written so that a figure that is no number passes nothing.
        let passes = least.is_none_or(|least| measured >= least)
            && most.is_none_or(|most| measured <= most)
            && measured.is_finite();
        Self {
            what: what.to_owned(),
            unit,
            known: None,
            measured: measured.is_finite().then_some(measured),
            least,
            most,
            verdict: if passes {
                ProofVerdict::Pass
            } else {
                ProofVerdict::Fail
            },
            reason: None,
        }
    }

    /// A failed check becomes inconclusive for this reason, if there is one.
    #[must_use]
    pub fn unless(mut self, reason: Option<String>) -> Self {
        if self.verdict == ProofVerdict::Fail && reason.is_some() {
            self.verdict = ProofVerdict::Inconclusive;
            self.reason = reason;
        }
        self
    }

    /// A passed check becomes inconclusive for this reason, if there is one: bounds so far apart
    /// that anything would have passed.
    #[must_use]
    pub fn shows_nothing(mut self, reason: Option<String>) -> Self {
        if self.verdict == ProofVerdict::Pass && reason.is_some() {
            self.verdict = ProofVerdict::Inconclusive;
            self.reason = reason;
        }
        self
    }
}

impl Certificate {
    /// Whether every part was made that was asked for.
    pub const fn is_complete(&self) -> bool {
        self.not_made.is_empty()
    }

    /// The verdict of the parts that were made; a certificate without parts says nothing.
    pub fn verdict(&self) -> ProofVerdict {
        let parts = self.parts.iter().map(|part| part.verdict);
        parts.max().unwrap_or(ProofVerdict::Inconclusive)
    }
}

impl std::fmt::Display for ProofVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_passes_within_its_bounds_and_only_there() {
        let verdict = |measured| Check::within("", Unit::Count, 10.0, measured, 2.0).verdict;
        assert_eq!([8.0, 10.0, 12.0].map(verdict), [ProofVerdict::Pass; 3]);
        assert_eq!([7.9, 12.1, f64::NAN].map(verdict), [ProofVerdict::Fail; 3]);
        assert_eq!(Check::exactly("", 3, 2).verdict, ProofVerdict::Fail);
        let no_bounds = |measured| Check::between("", Unit::Share, measured, None, None).verdict;
        assert_eq!(no_bounds(f64::INFINITY), ProofVerdict::Fail);
    }

    #[test]
    fn noise_excuses_a_failure_and_nothing_else() {
        let noisy = || Some("noise".to_owned());
        let failed = Check::exactly("", 3, 2);
        assert_eq!(failed.clone().unless(None).verdict, ProofVerdict::Fail);
        assert_eq!(failed.unless(noisy()).verdict, ProofVerdict::Inconclusive);
        let passed = Check::exactly("", 3, 3).unless(noisy());
        assert_eq!((passed.verdict, passed.reason), (ProofVerdict::Pass, None));
        let shown = |measured| {
            Check::exactly("", 3, measured)
                .shows_nothing(noisy())
                .verdict
        };
        assert_eq!(
            [shown(3), shown(2)],
            [ProofVerdict::Inconclusive, ProofVerdict::Fail]
        );
        let nothing = Check::between("", Unit::Share, f64::NAN, None, Some(1.0));
        let json = serde_json::to_string(&nothing).unwrap();
        assert_eq!(serde_json::from_str::<Check>(&json).unwrap(), nothing);
    }
}

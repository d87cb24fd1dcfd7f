//! The run that the figures of a ranking are from.

use super::rounds::Machine;
use crate::report::figures;
use crate::report::load::Run;
use plan::Workload;
use record::Ceiling;
use std::fmt;

/// By how much the ceilings of two certificates of one machine may differ: on a virtual machine that
/// nothing else used they were up to 1.11 apart.
const AS_FAST: f64 = 1.15;

/// A run of a round, on one machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    /// Name of its directory.
    pub(super) run: String,
    /// The day on which it began.
    pub(super) day: String,
    /// What the generator carried from the null server at most, in words; `None` without a
    /// certificate of the machine.
    pub(super) generator: Option<String>,
    ceilings: Vec<Ceiling>,
}

impl Origin {
    pub(super) fn new(run: &Run, machine: Option<&Machine>) -> Self {
        let certified = run
            .certificates
            .iter()
            .find(|certificate| machine.is_some_and(|of| of.has(&certificate.environment)));
        let ceilings = certified.map(|certificate| certificate.ceilings.clone());
        let ceilings = ceilings.unwrap_or_default();
        Self {
            run: run.name.clone(),
            day: run.started.chars().take(10).collect(),
            generator: most(&ceilings),
            ceilings,
        }
    }

    /// Whether the machines of both were as fast, by what their generators carried from the null
    /// server. A processor's name does not say it, nor does it say how busy a host was. Without a
    /// certificate of either it is not known.
    pub(super) fn is_as_fast(&self, other: &Self) -> bool {
        self.distance(other)
            .is_some_and(|distance| distance <= AS_FAST)
    }

    /// How many times as much the generator of the faster machine carried, in the workload in which
    /// they are farthest apart; `None` without a certificate of either.
    pub(super) fn distance(&self, other: &Self) -> Option<f64> {
        let ratios = self.ceilings.iter().filter_map(|one| {
            let is_alike = |other: &&Ceiling| {
                (one.workload, one.dialect, one.threads)
                    == (other.workload, other.dialect, other.threads)
            };
            let other = other.ceilings.iter().find(is_alike)?;
            let (one, other) = (one.messages_per_second, other.messages_per_second);
            Some((one / other).max(other / one))
        });
        ratios.reduce(f64::max)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, begun on {}", self.run, self.day)
    }
}

/// What the generator carried at most, in a sentence.
fn most(ceilings: &[Ceiling]) -> Option<String> {
    let of = |ceiling: &Ceiling| {
        let rate = figures::count(ceiling.messages_per_second.round() as u64);
        let threads = match ceiling.threads {
            1 => "one thread".to_owned(),
            several => format!("{several} threads"),
        };
        let messages = match ceiling.workload {
            Workload::Echo => "echoes",
            _ => "deliveries of broadcasts",
        };
        format!("{rate} {messages} a second with {threads}")
    };
    let rates: Vec<String> = ceilings.iter().map(of).collect();
    (!rates.is_empty()).then(|| {
        format!(
            "The ceiling of the instrument: of the null server, which answers without parsing, the \
             generator received and checked {} (selftest of this run).",
            rates.join(", and ")
        )
    })
}

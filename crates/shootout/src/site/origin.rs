//! The run that the figures of a ranking are from.

use super::rounds::Machine;
use crate::report::figures;
use crate::report::load::Run;
use run_record::{Ceiling, Workload};
use std::fmt;

/// A run of a round, on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Name of its directory.
    pub(super) run: String,
    /// The day on which it began.
    pub(super) day: String,
    /// What the generator carried from the null server at most, in words; `None` without a
    /// certificate of the machine.
    pub(super) generator: Option<String>,
}

impl Origin {
    pub(super) fn of(run: &Run, machine: Option<&Machine>) -> Self {
        let certified = run
            .certificates
            .iter()
            .find(|certificate| Some(&Machine::of(&certificate.environment)) == machine);
        Self {
            run: run.name.clone(),
            day: run.started.chars().take(10).collect(),
            generator: certified.and_then(|certificate| most(&certificate.ceilings)),
        }
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

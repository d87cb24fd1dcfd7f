//! Times that only some dialects have: of the parts of an answer, of a whole dialogue, and of requests over
//! HTTP.

use plan::{DialectFile, Meaning, Plan, Workload};
use record::{Latency, StepRecord};

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timed {
    /// From a request to the first part of its answer.
    First,
    /// From one part to the next.
    Between,
    /// From the beginning of a dialogue to its last answer.
    Dialogue,
    /// Of each request over HTTP before a connection.
    Open,
    /// Of a publication over HTTP.
    Http,
}

impl Timed {
    /// By its name in an expectation.
    pub(super) fn named(name: &str) -> Option<Self> {
        let all = [
            Self::First,
            Self::Between,
            Self::Dialogue,
            Self::Open,
            Self::Http,
        ];
        all.into_iter().find(|of| of.name() == name)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Between => "between",
            Self::Dialogue => "dialogue",
            Self::Open => "open",
            Self::Http => "http",
        }
    }

    /// Its distributions in a step, each of which is to meet an expectation; `None` for one without samples.
    pub(super) fn latencies(self, step: &StepRecord) -> Vec<Option<&Latency>> {
        let streams = step.streams.as_deref();
        let http = step.http.as_deref();
        let one = match self {
            Self::First => streams.and_then(|of| of.first.as_ref()),
            Self::Between => streams.and_then(|of| of.between.as_ref()),
            Self::Dialogue => step.dialogues.as_deref().and_then(|of| of.time.as_ref()),
            Self::Http => http.and_then(|of| of.publications.as_ref()?.took.as_ref()),
            Self::Open => {
                let all = http.map_or(&[][..], |of| &of.steps);
                // In a step of a run that has all its clients already, none makes them.
                let made = all.iter().filter(|of| of.requests > 0);
                return made.map(|of| of.took.as_ref()).collect();
            }
        };
        vec![one]
    }

    /// Why no step of a plan has it, in words.
    pub(super) fn lacks(self, plan: &Plan) -> Option<&'static str> {
        let file = plan.message.definition.as_deref();
        let has = |is_so: fn(&DialectFile) -> bool| file.is_some_and(is_so);
        let in_parts = |file: &DialectFile| {
            let mut rules = file.receive.iter();
            rules.any(|rule| rule.means == Meaning::Progress)
        };
        match self {
            Self::First | Self::Between if !has(in_parts) => {
                Some("no rule of the dialect means `progress`, so answers have no parts")
            }
            Self::Dialogue if !has(DialectFile::is_dialogue) => {
                Some("no script has `after`, so there are no dialogues")
            }
            Self::Open if !has(|file| !file.open.http.is_empty()) => {
                Some("the dialect has no [[open.http]], so no client asks over HTTP")
            }
            Self::Http if !has(|file| file.send.http.is_some()) => {
                Some("the dialect has no [send.http], so nothing is published over HTTP")
            }
            Self::Http if matches!(plan.workload(), Workload::Echo | Workload::Connect) => {
                Some("a run that publishes nothing publishes nothing over HTTP")
            }
            _ => None,
        }
    }
}

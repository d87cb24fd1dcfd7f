//! Times that only some dialects have: of the parts of an answer, and of a whole dialogue.

use plan::{DialectFile, Meaning, Plan};
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
}

impl Timed {
    /// By its name in an expectation.
    pub(super) fn named(name: &str) -> Option<Self> {
        let all = [Self::First, Self::Between, Self::Dialogue];
        all.into_iter().find(|of| of.name() == name)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Between => "between",
            Self::Dialogue => "dialogue",
        }
    }

    /// Its distribution in a step.
    pub(super) fn of(self, step: &StepRecord) -> Option<&Latency> {
        let streams = step.streams.as_deref();
        match self {
            Self::First => streams?.first.as_ref(),
            Self::Between => streams?.between.as_ref(),
            Self::Dialogue => step.dialogues.as_deref()?.time.as_ref(),
        }
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
            _ => None,
        }
    }
}

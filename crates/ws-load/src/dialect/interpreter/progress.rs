//! What the messages of an answer in parts say.

use super::{Interpreter, Malformed};
use crate::dialect::Incoming;
use crate::dialect::feed::Said;
use crate::dialect::place::StampPlace;
use crate::dialect::progress::{Progress, Whose};
use crate::dialect::rules::Match;

impl Interpreter {
    /// A part of an answer.
    ///
    /// # Errors
    /// A part that does not say whose it is.
    pub(super) fn part_of(&self, found: &Match<'_, '_>) -> Result<Incoming, Malformed> {
        let whose = match found.rule.place {
            StampPlace::Order => Some(Whose::Oldest),
            StampPlace::Sequence(_) => found.sequence().map(Whose::Sequence),
            _ => {
                let carried = found.carried(&self.body, self.stamps);
                carried.map(|(stamp, _)| Whose::Stamp(stamp))
            }
        };
        let Some(whose) = whose else {
            let words = "a part of an answer that does not say of which request";
            return Err(Malformed(words.to_owned()));
        };
        Ok(Incoming::Progress(Progress {
            whose,
            of_kind: found.rule.kind,
            part: found.part(),
        }))
    }

    /// What a message says, with the number of parts where it is the last of an answer that tells it.
    ///
    /// # Errors
    /// A message that is not understood.
    pub(super) fn counted(&self, found: &Match<'_, '_>) -> Result<Incoming, Malformed> {
        let said = self.understand(found)?;
        Ok(match found.parts() {
            Said::NotAsked => said,
            parts => Incoming::Last(Box::new(said), parts),
        })
    }
}

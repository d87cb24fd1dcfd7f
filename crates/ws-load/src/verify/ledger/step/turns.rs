//! Dialogues: which request follows an answer.

use super::StepLedger;
use crate::plan::Script;

impl StepLedger {
    /// True where requests wait for the answers before them.
    pub(crate) fn is_dialogue(&self) -> bool {
        self.script.as_deref().is_some_and(Script::is_dialogue)
    }

    /// The request that a client makes after this one, and the nanoseconds that it thinks before.
    pub(crate) fn next_turn(&self, index: u32) -> Option<(u32, u64)> {
        let script = self.script.as_deref()?;
        let draw = self.seed ^ (self.first_sample + u64::from(index));
        let (next, think_ns) = script.next(index.into(), self.clients, draw)?;
        let next = u32::try_from(next).ok().filter(|next| *next < self.len())?;
        Some((next, think_ns))
    }

    /// Requests of a client that were not sent and are waited for.
    pub(crate) fn unsent_of(&self, client: u64) -> impl Iterator<Item = u32> + '_ {
        let indices = (client..u64::from(self.len())).step_by(self.clients.max(1) as usize);
        let indices = indices.map(|index| index as u32);
        indices.filter(|index| self.is_open(*index) && self.when_sent(*index).is_none())
    }
}

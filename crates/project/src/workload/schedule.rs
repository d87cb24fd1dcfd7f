//! How many clients each step has, within what a server and the machine take.

use super::{ADD, FIRST, NamedPlan};
use plan::{Clients, Steps};

/// How many clients each step has. Of a search the first step alone is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Clients of the first step.
    pub initial_clients: u32,
    /// Clients that each further step adds.
    pub step_size: u32,
    /// Steps at most, where that is limited.
    pub total_steps: Option<u32>,
}

impl NamedPlan {
    /// The steps of a server whose manifest asks for steps of no more than `own` clients.
    ///
    /// Steps that go up to a limit only say how finely clients are counted, so that smaller ones
    /// measure the same. A plan with a number of steps of its own, and one with a search, has the
    /// clients that it names: with others it would be another workload.
    pub fn schedule(&self, own: Option<u32>) -> Schedule {
        let steps = match &self.plan.clients {
            Clients::Steps(steps) => *steps,
            Clients::Search(search) => {
                return Schedule {
                    initial_clients: search.first,
                    step_size: 0,
                    total_steps: None,
                };
            }
        };
        let bounded = |key: &str, clients: u32| match own {
            Some(own) if !self.fixed.contains(key) => clients.min(own),
            _ => clients,
        };
        Schedule {
            initial_clients: bounded(FIRST, steps.first),
            step_size: bounded(ADD, steps.add),
            total_steps: steps.count,
        }
    }
}

impl Schedule {
    /// The same with no more steps than `capacity` clients allow: 0 when not even the first fits.
    /// Steps of the same size, and a search, are not bounded: the generator ends them.
    #[must_use]
    pub fn within(self, capacity: u64) -> Self {
        let held = match capacity.checked_sub(u64::from(self.initial_clients)) {
            None => Some(0),
            Some(room) => {
                let further = room.checked_div(u64::from(self.step_size));
                further.map(|further| u32::try_from(further + 1).unwrap_or(u32::MAX))
            }
        };
        let total_steps = match (self.total_steps, held) {
            (Some(asked), Some(held)) => Some(asked.min(held)),
            (asked, held) => asked.or(held),
        };
        Self {
            total_steps,
            ..self
        }
    }

    /// True when not even the first step is left.
    pub fn is_empty(&self) -> bool {
        self.total_steps == Some(0)
    }

    /// Clients of the last step; of the first, where their number is not limited.
    pub fn last_clients(&self) -> u64 {
        let further = self.total_steps.map_or(0, |steps| steps.saturating_sub(1));
        u64::from(self.initial_clients) + u64::from(further) * u64::from(self.step_size)
    }

    pub(super) const fn steps(self) -> Steps {
        Steps {
            first: self.initial_clients,
            add: self.step_size,
            count: self.total_steps,
        }
    }
}

//! Clients carried, over repetitions of which some may have ended before the server's limit.

use run_record::{End, Measurement, RunRecord, Status};

/// Clients carried within the limit.
///
/// The median of an even number of repetitions is the lower of the two in the middle: a number
/// that was really measured, and that at least half of the repetitions carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Median over the repetitions; 0 when not even the first step was carried.
    pub median: u64,
    /// The server might carry more: what ended the run was not the server.
    pub at_least: bool,
    /// Repetition that carried least.
    pub smallest: u64,
    /// Repetition that carried most.
    pub largest: u64,
    /// Clients of the first step.
    pub first_step: u64,
}

impl Carried {
    /// What the repetitions found; `None` when none of them found anything.
    pub(super) fn of(repetitions: &[&Measurement]) -> Option<Self> {
        let mut found: Vec<(u64, bool)> = repetitions
            .iter()
            .filter_map(|measurement| found(measurement))
            .collect();
        // A repetition that the user ended counts only where there is no other.
        let complete: Vec<(u64, bool)> = repetitions
            .iter()
            .filter(|measurement| measurement.status != Status::Interrupted)
            .filter_map(|measurement| self::found(measurement))
            .collect();
        if !complete.is_empty() {
            found = complete;
        }
        found.sort_unstable();
        let (smallest, largest) = (found.first()?.0, found.last()?.0);
        let median = found[(found.len() - 1) / 2].0;
        let mut highest: Vec<u64> = found
            .iter()
            .map(|(clients, at_least)| if *at_least { u64::MAX } else { *clients })
            .collect();
        highest.sort_unstable();
        Some(Self {
            median,
            at_least: highest[(highest.len() - 1) / 2] > median,
            smallest,
            largest,
            first_step: repetitions
                .iter()
                .find_map(|measurement| measurement.run.as_ref())
                .map_or(0, |run| run.plan.clients_at(0)),
        })
    }

    /// The number of clients that was carried; `None` when not even the first step was.
    pub(crate) fn clients(&self) -> Option<u64> {
        (self.median > 0).then_some(self.median)
    }
}

/// Clients that one repetition carried, and whether something other than the server ended it.
pub(super) fn found(measurement: &Measurement) -> Option<(u64, bool)> {
    carried_by(measurement.status, measurement.run.as_ref()?)
}

/// The same of the record of one run.
pub(crate) fn carried_by(status: Status, run: &RunRecord) -> Option<(u64, bool)> {
    let outcome = &run.outcome;
    let at_least = status == Status::GeneratorLimited
        || matches!(
            outcome.end,
            End::MachineLimit | End::StepsDone | End::Interrupted
        );
    match outcome.carried_clients {
        Some(clients) => Some((clients, at_least)),
        None => (!at_least).then_some((0, false)),
    }
}

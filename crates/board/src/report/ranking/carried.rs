//! Clients carried, over repetitions of which some may have ended before the server's limit.

use crate::stats::Median;
use record::{End, Measurement, RunRecord, Status};

/// Clients carried within the limit.
///
/// The median is one that was measured ([`Median::Measured`]).
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
    pub(super) fn new(repetitions: &[&Measurement]) -> Option<Self> {
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
        let clients: Vec<f64> = found.iter().map(|(clients, _)| *clients as f64).collect();
        let most = found.iter().map(|(clients, at_least)| match at_least {
            true => f64::INFINITY,
            false => *clients as f64,
        });
        let median = Median::Measured.of(&clients)?;
        Some(Self {
            median: median as u64,
            at_least: Median::Measured.of(&most.collect::<Vec<f64>>())? > median,
            smallest: found.iter().map(|(clients, _)| *clients).min()?,
            largest: found.iter().map(|(clients, _)| *clients).max()?,
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

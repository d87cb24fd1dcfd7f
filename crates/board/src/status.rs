//! The status of a row by the record of its run, where its server went on and left nothing behind.

use crate::network;
use record::{End, NetworkUse, RunRecord, Status, StepRecord, Verdict};

/// The reason of a row that the user ended.
pub const INTERRUPTED: &str = "ended by the user before it was complete";

/// What speaks against the figures of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The status of the row.
    pub status: Status,
    /// Why it has no other.
    pub reason: String,
}

impl Objection {
    fn new(status: Status, reason: impl Into<String>) -> Self {
        Self {
            status,
            reason: reason.into(),
        }
    }
}

/// What the network says of the row that was measured over it.
///
/// # Errors
/// Where it was not what was asked for.
pub fn network(of: &NetworkUse) -> Result<(), Objection> {
    match network::objection(of) {
        Some(words) => Err(Objection::new(Status::Noisy, words)),
        None => Ok(()),
    }
}

/// The status that a record gives its row.
pub(crate) fn of(run: &RunRecord) -> Status {
    figures(run).map_or_else(|objection| objection.status, |()| Status::Ok)
}

/// What the record alone says of the row.
///
/// # Errors
/// What speaks against its figures.
pub fn figures(record: &RunRecord) -> Result<(), Objection> {
    let outcome = &record.outcome;
    match outcome.end {
        End::TimedOut => return Err(Objection::new(Status::Timeout, &outcome.detail)),
        End::Interrupted => return Err(Objection::new(Status::Interrupted, INTERRUPTED)),
        End::ServerLost | End::NotUnderstood | End::DialectContradicted => {
            return Err(Objection::new(Status::Faulty, &outcome.detail));
        }
        End::ConnectFailed if outcome.carried_clients.is_none() => {
            return Err(Objection::new(Status::Faulty, &outcome.detail));
        }
        End::WorkerLost => return Err(Objection::new(Status::GeneratorLimited, &outcome.detail)),
        End::MachineLimit if record.steps.is_empty() => {
            return Err(Objection::new(Status::GeneratorLimited, &outcome.detail));
        }
        End::ConnectFailed
        | End::OverLimit
        | End::StepsDone
        | End::EdgeFound
        | End::GeneratorLimited
        | End::MachineLimit => {}
    }
    let faults = record.faults();
    if !faults.is_empty() {
        return Err(Objection::new(Status::Faulty, format!("faults: {faults}")));
    }
    if let Some(step) = record
        .steps
        .iter()
        .find(|step| generator_was_the_limit(step))
    {
        return Err(Objection::new(
            Status::GeneratorLimited,
            format!(
                "at {} clients the generator was the limit: {}; give it more cores \
                 (--generator-cpus)",
                step.clients,
                step.verdict_reasons.join("; ")
            ),
        ));
    }
    if let Some(step) = nothing_said(record) {
        return Err(Objection::new(
            Status::Noisy,
            format!("every step was noisy: {}", step.verdict_reasons.join("; ")),
        ));
    }
    Ok(())
}

fn generator_was_the_limit(step: &StepRecord) -> bool {
    step.verdict == Verdict::GeneratorLimited
}

/// The last step of a run in which no step says anything.
fn nothing_said(record: &RunRecord) -> Option<&StepRecord> {
    let last = record.steps.last()?;
    let all_noisy = record
        .steps
        .iter()
        .all(|step| step.verdict == Verdict::Noisy);
    all_noisy.then_some(last)
}

//! The status of a row by the record of its run, where its server went on and left nothing behind.

use crate::network;
use record::{End, FaultDone, NetworkUse, RunRecord, Status, StepRecord, Verdict};

/// The reason of a row that the user ended.
pub const INTERRUPTED: &str = "ended by the user before it was complete";

/// How late a fault may begin, in nanoseconds: clients count from when it was due.
pub const LATEST_FAULT_NS: u64 = 250_000_000;

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

/// What the faults of its plan say of a row.
///
/// # Errors
/// Where one did not happen as planned.
pub fn faults(done: &[FaultDone]) -> Result<(), Objection> {
    match done.iter().find_map(failed) {
        Some(words) => Err(Objection::new(Status::FaultFailed, words)),
        None => Ok(()),
    }
}

/// What went wrong with a fault, in words.
fn failed(fault: &FaultDone) -> Option<String> {
    let why = match (&fault.failure, fault.began_ns, fault.ended_ns) {
        (Some(why), ..) => why.to_string(),
        (None, Some(began), Some(ended)) if began <= ended => {
            let late = began.checked_sub(fault.due_ns);
            match late {
                Some(late) if late <= LATEST_FAULT_NS => return None,
                Some(late) => format!("it began {} ms late", late / 1_000_000),
                None => "it began before it was due".into(),
            }
        }
        (None, ..) => "it was not done".into(),
    };
    let (deed, what) = (fault.planned.deed.name(), fault.planned.what);
    let due = fault.due_ns as f64 / 1e9;
    Some(format!(
        "the fault \"{deed} {what}\", due at {due:.1} s, did not happen as planned: {why}"
    ))
}

/// The status that a record gives its row.
pub(crate) fn judged(run: &RunRecord) -> Status {
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

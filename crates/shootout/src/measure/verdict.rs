//! The status of a row, from how server and generator ended.
//!
//! The first that applies decides: what the user did, what happened to the server's process, what
//! the generator could not do, what the figures say, and what processes were left behind.

use super::Trouble;
use crate::generator::Ended;
use crate::process::describe_exit;
use crate::supervise::StopReport;
use run_record::{End, RunRecord, Status, StepRecord, Verdict};

/// Exit codes of the generator (websocket-bench --help).
const MEASURED: i32 = 0;
const NO_STEP: i32 = 1;
const INVALID: i32 = 3;

pub(super) fn verdict(
    ended: &Ended,
    stopped: &StopReport,
    log_tail: Option<String>,
) -> Result<(), Trouble> {
    if ended.interrupted {
        return Err(Trouble::interrupted());
    }
    if let Some(crash) = stopped.crash() {
        let at = ended
            .record
            .as_ref()
            .and_then(progress_of)
            .unwrap_or_default();
        return Err(Trouble::new(Status::Crashed, format!("{crash}{at}")).with_log(log_tail));
    }
    let record = measured(ended)?;
    figures(record)
        .and_then(|()| called_invalid(record, ended))
        .map_err(|trouble| trouble.with_log(log_tail.clone()))?;
    match stopped.leak() {
        Some(leak) => Err(Trouble::new(Status::Leaked, leak).with_log(log_tail)),
        None => Ok(()),
    }
}

fn progress_of(record: &RunRecord) -> Option<String> {
    let last = record.steps.last()?;
    Some(format!("; {} clients were measured last", last.clients))
}

/// The record of a generator that came to an end of its own.
fn measured(ended: &Ended) -> Result<&RunRecord, Trouble> {
    let said = ended
        .said
        .as_deref()
        .map(|said| format!(": {}", said.replace('\n', " ")))
        .unwrap_or_default();
    if ended.silent {
        return Err(Trouble::new(
            Status::Timeout,
            format!("the generator reported nothing for two minutes and was ended{said}"),
        ));
    }
    let code = ended.status.and_then(|status| status.code());
    match (&ended.record, code) {
        (Some(record), Some(MEASURED | NO_STEP | INVALID)) => Ok(record),
        _ => {
            let how = ended
                .status
                .map_or_else(|| "it did not end".into(), describe_exit);
            Err(Trouble::new(
                Status::GeneratorLimited,
                format!("the generator could not measure ({how}){said}"),
            ))
        }
    }
}

/// What the record alone says of the row.
pub(super) fn figures(record: &RunRecord) -> Result<(), Trouble> {
    let outcome = &record.outcome;
    match outcome.end {
        End::TimedOut => return Err(Trouble::new(Status::Timeout, &outcome.detail)),
        End::Interrupted => return Err(Trouble::interrupted()),
        End::ServerLost | End::NotUnderstood | End::DialectContradicted => {
            return Err(Trouble::new(Status::Faulty, &outcome.detail));
        }
        End::ConnectFailed if outcome.carried_clients.is_none() => {
            return Err(Trouble::new(Status::Faulty, &outcome.detail));
        }
        End::WorkerLost => return Err(Trouble::new(Status::GeneratorLimited, &outcome.detail)),
        End::MachineLimit if record.steps.is_empty() => {
            return Err(Trouble::new(Status::GeneratorLimited, &outcome.detail));
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
        return Err(Trouble::new(Status::Faulty, format!("faults: {faults}")));
    }
    if let Some(step) = record
        .steps
        .iter()
        .find(|step| generator_was_the_limit(step))
    {
        return Err(Trouble::new(
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
        return Err(Trouble::new(
            Status::Noisy,
            format!("every step was noisy: {}", step.verdict_reasons.join("; ")),
        ));
    }
    Ok(())
}

/// What the generator said with its exit code.
fn called_invalid(record: &RunRecord, ended: &Ended) -> Result<(), Trouble> {
    let outcome = &record.outcome;
    let code = ended.status.and_then(|status| status.code());
    match code == Some(INVALID) && outcome.end != End::ConnectFailed {
        true => Err(Trouble::new(Status::Faulty, &outcome.detail)),
        false => Ok(()),
    }
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

#[cfg(test)]
mod tests;

//! The status of a row, from how server and generator ended.
//!
//! The first that applies decides: what the user did, what happened to the server's process, what
//! the generator could not do, which faults of the plan did not happen, what the figures say, and what
//! processes were left behind.

use super::Trouble;
use crate::generator::Ended;
use crate::process::describe_exit;
use crate::supervise::StopReport;
use board::status;
use record::{End, FaultDone, NetworkUse, ProxyUse, RunRecord, Status};

/// Exit codes of the generator (websocket-bench --help).
const MEASURED: i32 = 0;
const NO_STEP: i32 = 1;
const INVALID: i32 = 3;

pub(super) fn verdict(
    ended: &Ended,
    stopped: &StopReport,
    faults: &[FaultDone],
    log_tail: Option<String>,
) -> Result<(), Trouble> {
    // A generator that was done before the wish reached it has measured its row.
    if ended.interrupted && code(ended) != Some(MEASURED) {
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
    let by_figures = status::figures(record)
        .map_err(Trouble::from)
        .and_then(|()| called_invalid(record, ended));
    let by_faults = status::faults(faults).map_err(Trouble::from);
    // A run that ended early has a reason of its own, and came to no later fault.
    let found = match record.outcome.end {
        End::StepsDone => by_faults.and(by_figures),
        _ => by_figures.and(by_faults),
    };
    found.map_err(|trouble| trouble.with_log(log_tail.clone()))?;
    match stopped.leak() {
        Some(leak) => Err(Trouble::new(Status::Leaked, leak).with_log(log_tail)),
        None => Ok(()),
    }
}

/// The verdict on a row that was measured over a network. Where that was not as it was asked to be, no
/// figure counts, not even as a lower bound.
pub(super) fn over(
    network: Option<&NetworkUse>,
    verdict: Result<(), Trouble>,
) -> Result<(), Trouble> {
    let counts = match &verdict {
        Ok(()) => true,
        Err(trouble) => trouble.status == Status::GeneratorLimited,
    };
    match network.filter(|_| counts) {
        Some(network) => status::network(network).map_err(Trouble::from).and(verdict),
        None => verdict,
    }
}

/// The verdict on a row that was measured through a proxy: what came wrong may be of either.
pub(super) fn behind(
    proxy: Option<&ProxyUse>,
    verdict: Result<(), Trouble>,
) -> Result<(), Trouble> {
    verdict.map_err(|trouble| match (proxy, trouble.status) {
        (Some(proxy), Status::Faulty | Status::Timeout) => Trouble {
            reason: format!(
                "{}; the messages passed through {}, which may have done it",
                trouble.reason, proxy.name
            ),
            ..trouble
        },
        _ => trouble,
    })
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
    match (&ended.record, code(ended)) {
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

/// What the generator said with its exit code.
fn called_invalid(record: &RunRecord, ended: &Ended) -> Result<(), Trouble> {
    let outcome = &record.outcome;
    match code(ended) == Some(INVALID) && outcome.end != End::ConnectFailed {
        true => Err(Trouble::new(Status::Faulty, &outcome.detail)),
        false => Ok(()),
    }
}

fn code(ended: &Ended) -> Option<i32> {
    ended.status.and_then(|status| status.code())
}

#[cfg(test)]
mod tests;

//! Conformance of a running server: the checks of the `conformance` crate, with the waivers of
//! the server's manifest applied.
//!
//! Contains no check of its own.

use crate::interrupt::Interrupt;
use crate::supervise::{Death, Server};
use conformance::{CheckRun, Found, ServerMemory, Target};
use host_facts::{Tree, process};
use project::manifest::{Manifest, Variant, Waiver};
use record::{CheckOutcome, CheckVerdict, Conformance};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a check waits for one answer.
const ANSWER: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(50);

/// Why there is no verdict.
#[derive(Debug)]
pub enum VerifyError {
    /// The server, or a service of it, ended in the middle of the checks. Also the last check that
    /// was completed.
    Crashed(Death, Option<String>),
    /// The user wants to stop.
    Interrupted,
}

/// Runs every check against a running server and tells `progress` as each is done.
///
/// # Errors
/// [`VerifyError`] when the server or the user ended it. The checks then end by themselves as soon
/// as the server is gone, which the caller sees to.
pub fn verify(
    server: &mut Server,
    variant: &Variant,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(&CheckRun),
) -> Result<Vec<CheckRun>, VerifyError> {
    let target = Target {
        memory: Some(memory(server.pids())),
        ..server.target(variant, ANSWER)
    };
    let (sender, outcomes) = mpsc::channel();
    std::thread::spawn(move || {
        conformance::verify(&target, &mut |outcome| {
            // The receiver is gone when the caller has given up.
            let _ = sender.send(outcome.clone());
        });
    });
    let mut done: Vec<CheckRun> = Vec::new();
    loop {
        match outcomes.recv_timeout(POLL) {
            Ok(outcome) => {
                progress(&outcome);
                done.push(outcome);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupt.requested() {
            return Err(VerifyError::Interrupted);
        }
        if let Some(death) = server.death() {
            let last = done.last().map(|outcome| outcome.check.id.to_owned());
            return Err(VerifyError::Crashed(death, last));
        }
    }
    Ok(done)
}

/// Reads the resident memory of the trees of these processes.
fn memory(pids: Vec<u32>) -> ServerMemory {
    let tree = Mutex::new(Tree::new(&pids));
    ServerMemory::new(move || {
        let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
        let living = tree.search().into_iter().filter(|kin| !kin.zombie);
        let resident = living.filter_map(|kin| process::resident(kin.identity.pid));
        resident.reduce(|sum, of_one| sum + of_one)
    })
}

/// The outcomes as they are recorded: a failure that the manifest waives is waived.
pub fn judge(manifest: &Manifest, variant: &Variant, outcomes: &[CheckRun]) -> Conformance {
    let waived = |waiver: &Waiver| (CheckVerdict::Waived, Some(waiver.reason.clone()));
    let checks = outcomes
        .iter()
        .map(|outcome| {
            let waiver = manifest
                .waivers
                .iter()
                .find(|waiver| waiver.covers(outcome.check.id, &variant.name));
            let (verdict, detail) = match (&outcome.verdict, waiver) {
                (Found::Pass, Some(waiver)) if waiver.sometimes => waived(waiver),
                (Found::Pass, _) => (CheckVerdict::Pass, detail(outcome, None)),
                (Found::Skipped { reason }, _) => (CheckVerdict::Skipped, Some(reason.clone())),
                (Found::Fail { .. }, Some(waiver)) => waived(waiver),
                (Found::Fail { observed }, None) => {
                    (CheckVerdict::Fail, detail(outcome, Some(observed)))
                }
            };
            CheckOutcome {
                id: outcome.check.id.to_owned(),
                section: outcome.check.section.to_owned(),
                dialect: outcome.dialect.and_then(recorded),
                verdict,
                detail,
                link: waiver
                    .filter(|_| verdict == CheckVerdict::Waived)
                    .and_then(|waiver| waiver.link.clone()),
            }
        })
        .collect();
    Conformance {
        checked: None,
        checks,
    }
}

/// True when a check failed that had waited as long as for one answer: then the server may have
/// been slow and not wrong, and so may what failed after it.
pub fn ran_out(outcomes: &[CheckRun], conformance: &Conformance) -> bool {
    let judged = outcomes.iter().zip(&conformance.checks);
    judged
        .filter(|(_, judged)| judged.verdict == CheckVerdict::Fail)
        .any(|(outcome, _)| outcome.elapsed >= ANSWER)
}

/// The ids of the failed checks, each once, in order.
pub fn failed_ids(conformance: &Conformance) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for check in &conformance.checks {
        if check.verdict == CheckVerdict::Fail && !ids.contains(&check.id.as_str()) {
            ids.push(&check.id);
        }
    }
    ids
}

fn recorded(dialect: conformance::Dialect) -> Option<plan::Dialect> {
    match dialect {
        conformance::Dialect::Text => Some(plan::Dialect::Text),
        conformance::Dialect::Binary => Some(plan::Dialect::Binary),
        dialect if dialect.is_phoenix() => Some(plan::Dialect::Phoenix),
        conformance::Dialect::ActionCable => Some(plan::Dialect::ActionCable),
        conformance::Dialect::SocketIo => Some(plan::Dialect::SocketIo),
        _ => None,
    }
}

/// The detail that is recorded. Records know one dialect for both serializers of Phoenix, so the
/// detail names the serializer.
fn detail(outcome: &CheckRun, detail: Option<&String>) -> Option<String> {
    let serializer = outcome.dialect.filter(|dialect| dialect.is_phoenix());
    match (serializer, detail) {
        (Some(serializer), Some(detail)) => Some(format!("{serializer}: {detail}")),
        (Some(serializer), None) => Some(serializer.to_string()),
        (None, detail) => detail.cloned(),
    }
}

//! Runs the checks. Starts no server.

use crate::check::{Check, Outcome, Scope, Verdict};
use crate::checks::checks;
use crate::client::{Client, Incoming, OpenError};
use crate::context::Context;
use crate::target::{Dialect, Target};
use std::io;
use std::time::{Duration, Instant};

/// Why a server is not ready: the stage that failed.
#[derive(Debug, thiserror::Error)]
pub enum ReadyError {
    /// No TCP connection.
    #[error("connect: {0}")]
    Connect(#[source] io::Error),
    /// No answer to the upgrade, or another than 101.
    #[error("handshake: {0}")]
    Handshake(String),
    /// No echo, or a wrong one.
    #[error("echo: {0}")]
    Echo(String),
}

/// One handshake and one echo, in the first dialect of the target: the server is up.
///
/// The headers of a 101 answer are not judged here, that is for the checks. Each stage is bounded
/// by the target's timeout.
///
/// # Errors
/// [`ReadyError`] names the stage.
pub fn ready(target: &Target) -> Result<(), ReadyError> {
    let mut context = Context::new(target, first_dialect(target), 0);
    let key = context.key();
    let mut client = Client::open(target, &key).map_err(|error| match error {
        OpenError::Connect(error) => ReadyError::Connect(error),
        OpenError::Handshake(what) => ReadyError::Handshake(what),
    })?;
    let payload = context.payload();
    context
        .echo(&mut client, &payload)
        .map_err(|failure| ReadyError::Echo(failure.0))
}

/// Runs every check in the order of [`checks`], on every dialect of the target that it applies
/// to, and tells `on_outcome` as each is done.
///
/// When a check has failed and the server no longer opens connections, the rest is not run and
/// fails with that reason: a rule that could not be checked is not kept.
pub fn verify(target: &Target, on_outcome: &mut dyn FnMut(&Outcome)) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut gone: Option<String> = None;
    for check in checks() {
        for dialect in dialects(check, target) {
            let outcome = match (&gone, dialect) {
                (_, None) => {
                    let reason = "the server does not speak it".to_owned();
                    not_run(check, None, Verdict::Skipped { reason })
                }
                (Some(reason), dialect) => {
                    let observed = format!("not run: {reason}");
                    not_run(check, shown(check, dialect), Verdict::Fail { observed })
                }
                (None, Some(dialect)) => {
                    let run = outcomes.len() as u64 + 1;
                    run_numbered(target, check, dialect, run)
                }
            };
            if gone.is_none()
                && outcome.failed()
                && let Err(error) = settle(target)
            {
                gone = Some(format!(
                    "after {} the server opened no connection ({error})",
                    check.id
                ));
            }
            on_outcome(&outcome);
            outcomes.push(outcome);
        }
    }
    outcomes
}

/// Waits until nothing of a failed check is under way any more: it may have ended in the middle of
/// its broadcasts, which would reach the clients of the next. An error means that the server opens
/// no connection.
fn settle(target: &Target) -> Result<(), OpenError> {
    const SILENCE: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(2);
    let key = Context::new(target, first_dialect(target), 0).key();
    let mut client = Client::open(target, &key)?;
    let started = Instant::now();
    while started.elapsed() < LONGEST
        && !matches!(client.next_within(SILENCE), None | Some(Incoming::End(_)))
    {}
    Ok(())
}

/// Runs one check on one dialect, which the target must speak.
pub fn run_check(target: &Target, check: &'static Check, dialect: Dialect) -> Outcome {
    run_numbered(target, check, dialect, 1)
}

fn run_numbered(target: &Target, check: &'static Check, dialect: Dialect, run: u64) -> Outcome {
    let started = Instant::now();
    let mut context = Context::new(target, dialect, run);
    let verdict = match (check.run)(&mut context) {
        Ok(()) => Verdict::Pass,
        Err(failure) => Verdict::Fail {
            observed: failure.0,
        },
    };
    Outcome {
        check,
        dialect: shown(check, Some(dialect)),
        verdict,
        elapsed: started.elapsed(),
    }
}

fn not_run(check: &'static Check, dialect: Option<Dialect>, verdict: Verdict) -> Outcome {
    Outcome {
        check,
        dialect,
        verdict,
        elapsed: Duration::ZERO,
    }
}

/// The dialect as it belongs in the outcome.
fn shown(check: &Check, dialect: Option<Dialect>) -> Option<Dialect> {
    match check.scope {
        Scope::Once | Scope::Both => None,
        Scope::Each | Scope::Only(_) => dialect,
    }
}

/// The dialects to run a check on, or one `None` when the target speaks none that it applies to.
fn dialects(check: &Check, target: &Target) -> Vec<Option<Dialect>> {
    let speaks = |dialect| target.dialects.contains(&dialect);
    match check.scope {
        Scope::Each => target.dialects.iter().copied().map(Some).collect(),
        Scope::Once => vec![Some(first_dialect(target))],
        Scope::Only(dialect) => vec![speaks(dialect).then_some(dialect)],
        Scope::Both => {
            let both = speaks(Dialect::Text) && speaks(Dialect::Binary);
            vec![both.then_some(Dialect::Text)]
        }
    }
}

fn first_dialect(target: &Target) -> Dialect {
    target.dialects.first().copied().unwrap_or(Dialect::Text)
}

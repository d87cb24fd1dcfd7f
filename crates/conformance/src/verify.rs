//! Runs the checks. Starts no server.

use crate::check::{Check, CheckRun, Found, Scope};
use crate::checks::checks;
use crate::client::{Client, Incoming, OpenError};
use crate::context::Context;
use crate::failure::Checked;
use crate::message::{Kind, Payload};
use crate::sockets::are_visible;
use crate::target::{Dialect, ProtocolRequest, Target};
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
    /// The dialect's own opening was not accepted (a join, a subscription).
    #[error("join: {0}")]
    Join(String),
    /// No echo, or a wrong one.
    #[error("echo: {0}")]
    Echo(String),
}

/// Waits for one handshake, the dialect's opening, and one echo: then the server is ready. Where it
/// has no echo, a broadcast takes its place. The first dialect of the target is used.
///
/// The headers of a 101 answer are left to the checks. Each stage is bounded by the target's
/// timeout.
///
/// # Errors
/// [`ReadyError`] names the stage.
pub fn ready(target: &Target) -> Result<(), ReadyError> {
    let mut context = Context::new(target, first_dialect(target), 0);
    let key = context.key();
    let mut client = Client::open(target, context.dialect, &key).map_err(|error| match error {
        OpenError::Connect(error) => ReadyError::Connect(error),
        OpenError::Handshake(what) => ReadyError::Handshake(what),
        OpenError::Join(what) => ReadyError::Join(what),
    })?;
    let payload = context.payload();
    let answered = if context.has(ProtocolRequest::Echo) {
        context.echo(&mut client, &payload)
    } else {
        broadcast_once(&mut context, &mut client, &payload)
    };
    answered.map_err(|failure| ReadyError::Echo(failure.0))
}

fn broadcast_once(context: &mut Context<'_>, client: &mut Client, payload: &Payload) -> Checked {
    context.request(client, Kind::Broadcast, payload)?;
    loop {
        let reply = context.reply(client)?;
        if reply.kind == Kind::Result && reply.payload.equals(payload) {
            return Ok(());
        }
    }
}

/// Runs every check in the order of [`checks`], on every dialect of the target that it applies
/// to, and tells `on_outcome` as each is done.
///
/// When a check has failed and the server opens no connections any more, the remaining checks are
/// not run and fail with that reason: a rule that was not checked does not count as kept.
pub fn verify(target: &Target, on_outcome: &mut dyn FnMut(&CheckRun)) -> Vec<CheckRun> {
    verify_those(target, &|_| true, on_outcome)
}

/// The same, with the checks alone that are wanted.
pub fn verify_those(
    target: &Target,
    is_wanted: &dyn Fn(&Check) -> bool,
    on_outcome: &mut dyn FnMut(&CheckRun),
) -> Vec<CheckRun> {
    let mut outcomes = Vec::new();
    let mut gone: Option<String> = None;
    for check in checks().filter(|check| is_wanted(check)) {
        for run in runs(check, target) {
            let outcome = match (&gone, run) {
                (_, Run::Skip(reason)) => not_run(check, None, Found::Skipped { reason }),
                (Some(reason), Run::On(dialect)) => {
                    let observed = format!("not run: {reason}");
                    not_run(check, shown(check, dialect), Found::Fail { observed })
                }
                (None, Run::On(dialect)) => {
                    let number = outcomes.len() as u64 + 1;
                    run_numbered(target, check, dialect, number)
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

/// Waits until nothing of a failed check is in flight: it may have ended between its broadcasts,
/// which would reach the clients of the next check, or with connections whose end the server has
/// yet to see. An error means that the server opens no connection.
fn settle(target: &Target) -> Result<(), OpenError> {
    const SILENCE: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(2);
    const ATTEMPTS: usize = 4;
    let started = Instant::now();
    let mut context = Context::new(target, first_dialect(target), 0);
    for _ in 0..ATTEMPTS {
        let key = context.key();
        let mut client = Client::open(target, context.dialect, &key)?;
        while started.elapsed() < LONGEST {
            match client.next_within(SILENCE) {
                None => return Ok(()),
                Some(Incoming::End(_)) => break,
                Some(_) => {}
            }
        }
    }
    Ok(())
}

/// Runs one check on one dialect, which the target must speak.
pub fn run_check(target: &Target, check: &'static Check, dialect: Dialect) -> CheckRun {
    run_numbered(target, check, dialect, 1)
}

fn run_numbered(target: &Target, check: &'static Check, dialect: Dialect, run: u64) -> CheckRun {
    let started = Instant::now();
    let mut context = Context::new(target, dialect, run);
    let verdict = match (check.run)(&mut context) {
        Ok(()) => Found::Pass,
        Err(failure) => Found::Fail {
            // It holds what the server said.
            observed: ws_proto::escaped(&failure.0),
        },
    };
    CheckRun {
        check,
        dialect: shown(check, dialect),
        verdict,
        elapsed: started.elapsed(),
    }
}

fn not_run(check: &'static Check, dialect: Option<Dialect>, verdict: Found) -> CheckRun {
    CheckRun {
        check,
        dialect,
        verdict,
        elapsed: Duration::ZERO,
    }
}

/// The dialect as it belongs in the outcome.
fn shown(check: &Check, dialect: Dialect) -> Option<Dialect> {
    match check.scope {
        Scope::Once
        | Scope::Both
        | Scope::Deflate
        | Scope::Sockets
        | Scope::Memory
        | Scope::DeflateMemory => None,
        _ => Some(dialect),
    }
}

/// What is to be done of a check.
enum Run {
    On(Dialect),
    /// For this reason.
    Skip(String),
}

/// The runs of a check against a target; at least one, which may be skipped.
fn runs(check: &Check, target: &Target) -> Vec<Run> {
    let skip = |reason: &str| vec![Run::Skip(reason.to_owned())];
    if let Some(workload) = check.needs
        && !target.workloads.contains(&workload)
    {
        return skip(&format!("the server has no {workload}"));
    }
    let first = first_dialect(target);
    let against = |dialect: &Dialect| check.scope.reason_against(*dialect);
    match check.scope {
        Scope::Once => vec![Run::On(first)],
        Scope::Deflate | Scope::DeflateMemory if !target.compression => {
            skip("the server has no compression")
        }
        Scope::Deflate => vec![Run::On(first)],
        Scope::Memory | Scope::DeflateMemory if target.memory.is_none() => {
            skip("the memory of the server is not known")
        }
        Scope::Memory | Scope::DeflateMemory => {
            let with_topics = target.dialects.iter().find(|dialect| dialect.has_topics());
            vec![Run::On(with_topics.copied().unwrap_or(first))]
        }
        Scope::Sockets => match are_visible(target) {
            Ok(false) => skip("the server is in another network than the checks"),
            // That a server takes no connection, the check itself finds.
            Ok(true) | Err(_) => vec![Run::On(first)],
        },
        Scope::Both => {
            let both = [Dialect::Text, Dialect::Binary];
            match both.iter().all(|dialect| target.dialects.contains(dialect)) {
                true => vec![Run::On(Dialect::Text)],
                false => skip("the server does not speak both"),
            }
        }
        _ => match target.dialects.iter().find_map(against) {
            Some(reason) if target.dialects.iter().all(|d| against(d).is_some()) => skip(reason),
            _ => {
                let applies = target.dialects.iter().filter(|d| against(d).is_none());
                applies.copied().map(Run::On).collect()
            }
        },
    }
}

pub(crate) fn first_dialect(target: &Target) -> Dialect {
    target.dialects.first().copied().unwrap_or(Dialect::Text)
}

//! What a script has to have in which clients think between an answer and their next request.

use super::error::DialectError;
use super::requirements::READY;
use plan::{DialectFile, LONGEST_NS, Meaning, Nanos, Part, Rule, Turn, parts};
use std::collections::HashSet;

/// Checks the times of a script whose requests have `after`, and the values that its answers tell.
///
/// # Errors
/// The first thing that makes no sense, with its key and a remedy.
pub(super) fn check(file: &DialectFile) -> Result<(), DialectError> {
    let is_dialogue = file.is_dialogue();
    for (turn, index) in file.send.script.iter().zip(1..) {
        check_turn(turn, index, is_dialogue)?;
    }
    if is_dialogue && file.send.repeat_after.is_some() {
        return Err(DialectError::unfit(
            "send.repeat_after",
            "stands beside `after`: each client carries out a dialogue once in a step",
            "leave it out, and take more clients or more steps",
        ));
    }
    match is_dialogue {
        true => check_told(file),
        false => Ok(()),
    }
}

fn check_turn(turn: &Turn, index: usize, is_dialogue: bool) -> Result<(), DialectError> {
    let unfit = |name: &str, problem: String, remedy: &str| {
        let key = format!("send.script[{index}].{name}");
        Err(DialectError::unfit(key, problem, remedy))
    };
    if is_dialogue && turn.at != Nanos(0) {
        return unfit(
            "at",
            "stands in a script with `after`: its requests wait for answers, and not for moments"
                .to_owned(),
            "write `after` in its place, or `at` in all of them",
        );
    }
    let day = Nanos(LONGEST_NS);
    if turn.after.is_some_and(|after| after > day) {
        return unfit(
            "after",
            "is longer than a day".to_owned(),
            "write a shorter time",
        );
    }
    let Some(jitter) = turn.jitter else {
        return Ok(());
    };
    if turn.after.is_none() {
        return unfit(
            "jitter",
            "is a share of `after`, which is not there".to_owned(),
            "write `after` too, or leave it out",
        );
    }
    if index == 1 {
        return unfit(
            "jitter",
            "is of the first request, which clients send by the clock".to_owned(),
            "leave it out",
        );
    }
    match (0.0..=1.0).contains(&jitter) {
        true => Ok(()),
        false => unfit(
            "jitter",
            format!("is {jitter}"),
            "write a share from 0 to 1",
        ),
    }
}

/// True of a value that the answers of a dialogue tell for the requests behind them.
pub(super) fn is_told_by(file: &DialectFile, rule: &Rule) -> bool {
    file.is_dialogue() && rule.means == Meaning::Echo
}

/// What a request says that only answers tell was told by an answer before it.
fn check_told(file: &DialectFile) -> Result<(), DialectError> {
    let of_open: HashSet<&str> = file.captured().collect();
    let of_answers: HashSet<&str> = file.told().filter(|name| !of_open.contains(name)).collect();
    let mut told = HashSet::new();
    for (turn, index) in file.send.script.iter().zip(1..) {
        let Some(kind) = file.send.kinds.iter().find(|kind| kind.name == turn.kind) else {
            continue;
        };
        let missing = parts(&kind.message)
            .into_iter()
            .find_map(|part| match part {
                Part::Variable(name) if of_answers.contains(name) && !told.contains(name) => {
                    Some(name)
                }
                _ => None,
            });
        if let Some(name) = missing {
            return Err(DialectError::unfit(
                format!("send.script[{index}].kind"),
                format!(
                    "is `{}`, which says {{{name}}}, and no answer before it tells that",
                    kind.name
                ),
                format!(
                    "write `capture` with `{name}` in a rule for an answer before, or in [open]"
                ),
            ));
        }
        if kind.answered {
            told.extend(told_by(file, &kind.name));
        }
    }
    Ok(())
}

/// What each answer to a kind of requests tells, whichever rule it matches.
fn told_by<'f>(file: &'f DialectFile, kind: &'f str) -> impl Iterator<Item = &'f str> {
    let of_kind = move |rule: &&Rule| {
        rule.means == Meaning::Echo && rule.kind.as_deref().is_none_or(|of| of == kind)
    };
    let rules = move || file.receive.iter().filter(of_kind);
    let first = rules().next().into_iter();
    let names = first.flat_map(|rule| rule.capture.keys());
    names
        .filter(move |name| rules().all(|rule| rule.capture.contains_key(*name)))
        .map(String::as_str)
}

/// The place of a rule that tells a ready client a value which it has not had before.
pub(super) fn unknown(index: usize, name: &str) -> DialectError {
    DialectError::unfit(
        format!("{READY}[{index}].capture.{name}"),
        "is captured by no rule of [open], and a client has no value before",
        "write `capture` with that name there too, or leave it out; in a script with `after`, answers may \
         tell new values",
    )
}

//! What the script of a dialect file has to have, so that clients can carry it out.

use super::dialogue;
use super::error::DialectError;
use plan::{DialectFile, LONGEST_NS, Meaning, Nanos};
use std::collections::HashSet;

/// Most requests of a script.
const MOST_TURNS: usize = 10_000;
/// Most kinds of requests of a script.
pub(super) const MOST_KINDS: usize = 1000;
/// Longest message of a server that may be permitted, in bytes.
const MOST_LONGEST: u32 = 16 << 20;

/// Checks a file whose kinds have names and messages that make sense.
///
/// # Errors
/// The first thing that makes no sense, with its key and a remedy.
pub(super) fn check(file: &DialectFile) -> Result<(), DialectError> {
    let longest = file.longest_message;
    if !(DialectFile::ENVELOPE..=MOST_LONGEST).contains(&longest) {
        return Err(DialectError::unfit(
            "longest_message",
            format!("is {longest}"),
            format!("write {} to {MOST_LONGEST} bytes", DialectFile::ENVELOPE),
        ));
    }
    check_kinds(file)?;
    if file.send.script.is_empty() {
        return check_absence(file);
    }
    check_rules(file)?;
    check_turns(file)?;
    dialogue::check(file)
}

fn check_absence(file: &DialectFile) -> Result<(), DialectError> {
    match file.send.repeat_after {
        None => Ok(()),
        Some(_) => Err(DialectError::unfit(
            "send.repeat_after",
            "is about a script, and there is none",
            "write [[send.script]], or leave it out",
        )),
    }
}

fn check_kinds(file: &DialectFile) -> Result<(), DialectError> {
    let has_script = !file.send.script.is_empty();
    for (index, kind) in file.send.kinds.iter().enumerate() {
        let key = |name: &str| format!("send.kinds[{}].{name}", index + 1);
        if has_script && kind.weight != 1 {
            return Err(DialectError::unfit(
                key("weight"),
                "stands beside a script, which has the order of all requests",
                "leave it out",
            ));
        }
        if !has_script && !kind.answered {
            return Err(DialectError::unfit(
                key("answered"),
                "is false without a script: of a choice by weights each request has an answer",
                "write [[send.script]], or leave the kind out",
            ));
        }
    }
    Ok(())
}

/// Answers to a script belong to the requests in their order, and none to those without answers.
fn check_rules(file: &DialectFile) -> Result<(), DialectError> {
    let echoes = file.receive.iter().enumerate();
    for (index, rule) in echoes.filter(|(_, rule)| rule.means == Meaning::Echo) {
        let key = |name: &str| format!("receive[{}].{name}", index + 1);
        if !rule.in_order {
            return Err(DialectError::unfit(
                key("in_order"),
                "is false beside a script, whose requests are told apart by their order alone",
                "write `in_order = true`",
            ));
        }
        let mut kinds = file.send.kinds.iter();
        if kinds.any(|kind| !kind.answered && Some(&kind.name) == rule.kind.as_ref()) {
            return Err(DialectError::unfit(
                key("kind"),
                "is one to which no answer is awaited",
                "write `answered = true` there, or leave the rule out",
            ));
        }
    }
    Ok(())
}

fn check_turns(file: &DialectFile) -> Result<(), DialectError> {
    let script = &file.send.script;
    if script.len() > MOST_TURNS {
        return Err(DialectError::TooMuch {
            key: "send.script".to_owned(),
            count: format!("{} requests", script.len()),
            most: MOST_TURNS,
        });
    }
    let day = Nanos(LONGEST_NS);
    if file.send.repeat_after.is_some_and(|after| after > day) {
        return Err(DialectError::unfit(
            "send.repeat_after",
            "is longer than a day",
            "write a shorter time",
        ));
    }
    let names: HashSet<&str> = file.send.kinds.iter().map(|of| &*of.name).collect();
    let mut before = Nanos(0);
    for (index, turn) in script.iter().enumerate() {
        let key = |name: &str| format!("send.script[{}].{name}", index + 1);
        if !names.contains(&*turn.kind) {
            return Err(DialectError::unfit(
                key("kind"),
                "is not the name of a kind of requests",
                "write the `name` of one of [[send.kinds]]",
            ));
        }
        // In a dialogue it is refused as such.
        if !file.is_dialogue() && (turn.at < before || turn.at > day) {
            return Err(DialectError::unfit(
                key("at"),
                format!("is {}, the one before it is at {before}", turn.at),
                "write times that rise, of at most a day",
            ));
        }
        before = turn.at;
    }
    Ok(())
}

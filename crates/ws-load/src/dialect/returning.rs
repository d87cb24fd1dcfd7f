//! What a file says of clients that come back.

use super::error::DialectError;
use super::place::OPEN;
use plan::{DialectFile, Meaning, Part, Rule, parts};

/// # Errors
/// A client that comes back would never send what it is to send then, or could not say when what it missed
/// has come.
pub(super) fn check(file: &DialectFile) -> Result<(), DialectError> {
    let idle = |rule: &&Rule| rule.returning.is_some() && rule.means != Meaning::Send;
    if file
        .open
        .receive
        .iter()
        .chain(&file.receive)
        .any(|rule| idle(&rule))
    {
        return Err(DialectError::unfit(
            "returning",
            "is in a rule that has no use for `returning`",
            "write it in a rule of [[open.receive]] that means `send`, or under [open]",
        ));
    }
    let rules = file.open.receive.iter().enumerate();
    let of_rules = rules.map(|(index, rule)| {
        let key = format!("{OPEN}[{}].returning", index + 1);
        (key, rule.returning.as_deref())
    });
    let first = ("open.returning".to_owned(), file.open.returning.as_deref());
    if first.1.is_some() && file.open.send.is_none() {
        return Err(DialectError::unfit(
            "open.returning",
            "stands in the place of `send`, and there is none",
            "write `send` under [open] for clients that come for the first time",
        ));
    }
    let kept = file.kept();
    let is_kept = |part: Part<'_>| matches!(part, Part::Variable(name) if kept.contains(&name));
    for (key, text) in std::iter::once(first).chain(of_rules) {
        let Some(text) = text else { continue };
        if !parts(text).into_iter().any(is_kept) {
            return Err(DialectError::unfit(
                key,
                "names no value that a rule captures, so that all clients would send it",
                "write `capture` in a rule, and the name in braces",
            ));
        }
    }
    check_missed(file)
}

/// What a client missed is counted when it is ready, which the message says that makes it ready.
fn check_missed(file: &DialectFile) -> Result<(), DialectError> {
    let has = |means| file.open.receive.iter().any(|rule| rule.means == means);
    if !has(Meaning::Missed) {
        return Ok(());
    }
    let mut last = file.open.receive.iter();
    let sends = last.any(|rule| rule.means == Meaning::Ready && rule.send.is_some());
    match sends || file.open.ready_after.is_some() {
        false => Ok(()),
        true => Err(DialectError::unfit(
            OPEN,
            "has a rule that means `missed` where no message says that a client is ready",
            "leave it out, or `ready_after` and the `send` of the rule that means `ready`",
        )),
    }
}

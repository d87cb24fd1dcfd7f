//! One variant: started, checked, stopped, and told of.

use super::{Choice, painted};
use crate::build::{self, Built};
use crate::commands::Context;
use crate::conform::{self, VerifyError};
use crate::passed::Subject;
use crate::rows::Wanted;
use crate::supervise::{self, Spec, StartError};
use anstyle::AnsiColor;
use board::conformance_table::Line;
use conformance::{CheckRun, Found};
use project::contestant;
use project::manifest::{Manifest, Variant};
use record::{CheckVerdict, Conformance};
use std::fmt::Write as _;
use std::time::SystemTime;

/// What follows on a row that does not count.
const AGAIN: &str = "; a wait ran out, so it is verified again at the end, alone";

/// Appends a line.
macro_rules! put {
    ($said:expr, $($line:tt)*) => {
        let _ = writeln!($said, $($line)*);
    };
}

/// A variant that was built.
pub(super) struct Row<'a> {
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) variant: &'a Variant,
    pub(super) built: Built,
}

/// What shares the machine with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    Nothing,
    /// Other rows, or builds.
    Others,
}

/// The result of one variant.
#[derive(Default)]
pub(super) struct Verified {
    pub(super) passed: bool,
    /// A wait ran out while others took of the machine: what was found does not count.
    pub(super) again: bool,
    /// For the table; absent where the server ended before the last check.
    pub(super) line: Option<Box<Line>>,
}

/// `None` when the user has ended it.
pub(super) fn verify(
    context: &Context<'_>,
    choice: &Choice,
    row: &Row<'_>,
    threads: usize,
    beside: Beside,
    said: &mut String,
) -> Option<Verified> {
    let (entry, manifest, variant) = (row.wanted.entry, row.wanted.manifest, row.variant);
    if context.interrupt.requested() {
        return None;
    }
    let name = contestant(&entry.name, &variant.name);
    let bin = context.project.bin();
    let log =
        build::logs(&context.project, &entry.name).join(format!("verify-{}.log", variant.name));
    let place = (entry.dir.as_path(), bin.as_path());
    let spec = Spec::new(manifest, variant, place, (threads, &[]), &log);
    let subject = Subject {
        project: &context.project,
        entry,
        variant,
        built: &row.built,
        threads,
    };
    let before = subject.passed();
    let mut server = match supervise::start(&spec, context.interrupt) {
        Ok(server) => server,
        Err((StartError::Interrupted, _)) => return None,
        Err((error, tail)) => {
            let again = beside == Beside::Others && error.is_late();
            let then = if again { AGAIN } else { "" };
            put!(said, "{name}: {error}{then}");
            put_tail(said, tail.as_deref());
            return Some(Verified {
                again,
                ..Verified::default()
            });
        }
    };
    let checked = conform::verify(&mut server, variant, context.interrupt, &mut |outcome| {
        if choice.all && outcome.verdict == Found::Pass {
            let pass = painted(AnsiColor::Green, "pass");
            let took = outcome.elapsed.as_secs_f64();
            put!(said, "  {pass} {}, {took:.2} s", heading(outcome));
        }
    });
    let tail = server.log_tail();
    let stopped = server.stop();
    let outcomes = match checked {
        Ok(outcomes) => outcomes,
        Err(VerifyError::Interrupted) => return None,
        Err(VerifyError::Crashed(death, last)) => {
            let after = last.map(|id| format!("after {id} ")).unwrap_or_default();
            put!(said, "{name}: {after}{death}");
            put_tail(said, tail.as_deref());
            return Some(Verified::default());
        }
    };
    let conformance = conform::judge(manifest, variant, &outcomes);
    let leak = stopped.leak();
    // What a server leaves behind when it ends by itself is its fault at any pace.
    let is_late = match leak {
        None => conform::ran_out(&outcomes, &conformance),
        Some(_) => stopped.is_late(),
    };
    let again = beside == Beside::Others && is_late;
    put_failures(said, &outcomes, &conformance, again);
    let in_detail = choice.is_named() || choice.all;
    put_waivers(said, manifest, variant, &conformance, in_detail);
    if let Some(leak) = &leak {
        put!(said, "  {} {leak}", painted(AnsiColor::Red, "LEAK"));
    }
    let then = if again { AGAIN } else { "" };
    put!(said, "{name}: {}{then}", summary(&outcomes, &conformance));
    let version = &row.built.version;
    let line = Line::new(manifest, &variant.name, version, &today(), &conformance);
    let passed = conformance.passed() && leak.is_none();
    match before {
        Some(before) if passed => before.keep(&subject, &conformance),
        Some(before) => before.forget(),
        None => {}
    }
    Some(Verified {
        passed,
        again,
        line: Some(Box::new(line)),
    })
}

/// The day, UTC.
fn today() -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    now.chars()
        .take_while(|character| *character != 'T')
        .collect()
}

/// `late`: a wait ran out, and what follows may follow from that.
fn put_failures(said: &mut String, outcomes: &[CheckRun], conformance: &Conformance, late: bool) {
    let label = match late {
        true => painted(AnsiColor::Yellow, "LATE"),
        false => painted(AnsiColor::Red, "FAIL"),
    };
    for (outcome, judged) in outcomes.iter().zip(&conformance.checks) {
        let Found::Fail { observed } = &outcome.verdict else {
            continue;
        };
        if judged.verdict == CheckVerdict::Fail {
            put!(said, "  {label} {}", heading(outcome));
            put!(said, "       {}", outcome.check.description);
            put!(said, "       expected: {}", outcome.check.expectation);
            put!(said, "       observed: {observed}");
        }
    }
}

/// The waivers that were used, with `used_too`, and in any case those that are not needed.
fn put_waivers(
    said: &mut String,
    manifest: &Manifest,
    variant: &Variant,
    conformance: &Conformance,
    used_too: bool,
) {
    let waivers = manifest
        .waivers
        .iter()
        .filter(|waiver| waiver.variants.covers(&variant.name));
    for (number, waiver) in waivers.enumerate() {
        let used = conformance
            .checks
            .iter()
            .any(|check| check.id == waiver.check && check.verdict == CheckVerdict::Waived);
        if used && !used_too {
            continue;
        }
        let link = waiver
            .link
            .as_ref()
            .map(|l| format!(" <{l}>"))
            .unwrap_or_default();
        let date = waiver
            .date
            .as_ref()
            .map(|d| format!(", {d}"))
            .unwrap_or_default();
        let needed = if used { "waived" } else { "no longer needed" };
        put!(
            said,
            "  [{}] {needed}: {}: {}{link}{date}",
            number + 1,
            waiver.check,
            waiver.reason
        );
    }
}

fn summary(outcomes: &[CheckRun], conformance: &Conformance) -> String {
    let count = |verdict| {
        conformance
            .checks
            .iter()
            .filter(|c| c.verdict == verdict)
            .count()
    };
    let words = [
        (CheckVerdict::Pass, "passed"),
        (CheckVerdict::Fail, "failed"),
        (CheckVerdict::Waived, "waived"),
        (CheckVerdict::Skipped, "skipped"),
    ]
    .map(|(verdict, word)| (count(verdict), word))
    .into_iter()
    .filter(|(count, word)| *count > 0 || *word == "passed")
    .map(|(count, word)| format!("{count} {word}"))
    .collect::<Vec<_>>()
    .join(", ");
    let elapsed: f64 = outcomes.iter().map(|o| o.elapsed.as_secs_f64()).sum();
    format!("{words} in {elapsed:.1} s")
}

fn heading(outcome: &CheckRun) -> String {
    let dialect = outcome
        .dialect
        .map(|d| format!(", {d}"))
        .unwrap_or_default();
    format!("{} ({}{dialect})", outcome.check.id, outcome.check.section)
}

fn put_tail(said: &mut String, tail: Option<&str>) {
    for line in tail.unwrap_or_default().lines() {
        put!(said, "    {line}");
    }
}

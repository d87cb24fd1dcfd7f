//! `shootout verify`: every check against every variant, with what was seen where it fails.

use super::Context;
use super::build::{order, tell};
use super::tally::Tally;
use crate::build;
use crate::conform::{self, VerifyError};
use crate::conformance_table::{self, Files, Line};
use crate::exit::{Exit, Refusal};
use crate::machine;
use crate::manifest::{Manifest, Variant, suggestion};
use crate::options::Pin;
use crate::rows::{Wanted, contestant};
use crate::supervise::{self, Spec, StartError};
use anstyle::{AnsiColor, Style};
use conformance::{Outcome, Verdict};
use run_record::{CheckVerdict, Conformance, Environment};

/// What is verified and how much is told.
pub(super) struct Choice {
    pub(super) servers: Vec<String>,
    pub(super) variants: Vec<String>,
    pub(super) all: bool,
    pub(super) skip_build: bool,
    /// What is to be done with the documentation's table.
    pub(super) table: Option<Table>,
}

/// What is done with the documentation's table.
#[derive(Clone, Copy)]
pub(super) enum Table {
    /// It takes over what was seen.
    Write,
    /// It must say what was seen.
    Check,
}

pub(super) fn verify(context: &Context<'_>, choice: &Choice) -> Result<Exit, Refusal> {
    let entries = context.project.select(&choice.servers)?;
    let readable = context.readable(&entries);
    let named = !choice.servers.is_empty();
    let mut tally = Tally::default();
    tally.unreadable(entries.len() - readable.len());
    check_variants(&readable, &choice.variants)?;
    let mut lines: Vec<Line> = Vec::new();
    for mut wanted in readable {
        if !choice.variants.is_empty() {
            wanted.variants.retain(|v| choice.variants.contains(v));
        }
        if wanted.variants.is_empty() {
            continue;
        }
        anstream::eprintln!("{}: building", wanted.entry.name);
        let order = order(context, &wanted);
        let builds = if choice.skip_build {
            order.receipts()
        } else {
            order.build(false, &mut |_| {})
        };
        if builds.interrupted() {
            return Ok(Exit::Interrupted);
        }
        tell(context, &wanted, &builds);
        for (name, outcome) in &builds.0 {
            let server = &wanted.entry.name;
            let built = match outcome {
                Ok(built) => built,
                Err(why) => {
                    tally.not_built(server, name, why, named);
                    continue;
                }
            };
            let Some(variant) = wanted.manifest.variant(name) else {
                continue;
            };
            let in_detail = named || choice.all;
            let verified = verify_variant(context, &wanted, variant, choice.all, in_detail)?;
            if verified.passed {
                tally.ok();
            } else {
                tally.failed(server, name);
            }
            lines.extend(verified.conformance.map(|conformance| {
                let version = &built.version;
                Line::new(wanted.manifest, name, version, &today(), &conformance)
            }));
        }
    }
    let exit = tally.finish();
    let kept = match choice.table {
        None => true,
        Some(table) => keep(context, table, lines)?,
    };
    Ok(if kept { exit } else { Exit::Failed })
}

/// Writes the table, or compares it with the results. False where they differ.
fn keep(context: &Context<'_>, table: Table, fresh: Vec<Line>) -> Result<bool, Refusal> {
    let project = &context.project;
    let files = Files::of(project.root());
    let stored = files.read()?;
    let entries = project.select(&[])?;
    let all = Wanted::all(&entries);
    let variants: Vec<(&str, &str)> = all
        .iter()
        .flat_map(|w| {
            w.variants
                .iter()
                .map(|v| (w.entry.name.as_str(), v.as_str()))
        })
        .collect();
    match table {
        Table::Write => {
            let lines = conformance_table::merged(stored, fresh, &variants);
            files.write(&lines)?;
            say!("{}", project.shown(&files.page));
            Ok(true)
        }
        Table::Check => {
            let mut found = conformance_table::differences(&stored, &fresh, &variants);
            if !files.page_is_current(&stored) {
                let page = project.shown(&files.page);
                found.push(format!("{page}: not the page that its lines make"));
            }
            for difference in &found {
                say!("{} {difference}", painted(AnsiColor::Red, "DRIFT"));
            }
            if !found.is_empty() {
                say!(
                    "bring the table up to date with: {}",
                    conformance_table::REMEDY
                );
            }
            Ok(found.is_empty())
        }
    }
}

/// The day, UTC.
fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

fn check_variants(readable: &[Wanted<'_>], names: &[String]) -> Result<(), Refusal> {
    let known: Vec<&str> = readable
        .iter()
        .flat_map(|wanted| wanted.variants.iter().map(String::as_str))
        .collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Refusal::new(format!(
            "no selected server has a variant \"{name}\"{}",
            suggestion(name, known)
        ))),
        None => Ok(()),
    }
}

/// The result of one variant; without conformance where the server ended before the last check.
#[derive(Default)]
struct Verified {
    passed: bool,
    conformance: Option<Conformance>,
}

fn verify_variant(
    context: &Context<'_>,
    wanted: &Wanted<'_>,
    variant: &Variant,
    all: bool,
    in_detail: bool,
) -> Result<Verified, Refusal> {
    let (entry, manifest) = (wanted.entry, wanted.manifest);
    let name = contestant(&entry.name, &variant.name);
    let bin = context.project.bin();
    let log =
        build::logs(&context.project, &entry.name).join(format!("verify-{}.log", variant.name));
    let cores = machine::cores(&Pin::Auto, &Environment::collect())?;
    let place = (entry.dir.as_path(), bin.as_path());
    // At least two, so that messages between loops or processes are checked, too.
    let threads = cores.server_threads.max(2);
    let spec = Spec::new(manifest, variant, place, (threads, &[]), &log);
    let mut server = match supervise::start(&spec, context.interrupt) {
        Ok(server) => server,
        Err((StartError::Interrupted, _)) => return Err(Refusal::new("interrupted")),
        Err((error, tail)) => {
            say!("{name}: {error}");
            print_tail(tail.as_deref());
            return Ok(Verified::default());
        }
    };
    let checked = conform::verify(&mut server, variant, context.interrupt, &mut |outcome| {
        if all && outcome.verdict == Verdict::Pass {
            say!(
                "  {} {}",
                painted(AnsiColor::Green, "pass"),
                heading(outcome)
            );
        }
    });
    let tail = server.log_tail();
    let stopped = server.stop();
    let outcomes = match checked {
        Ok(outcomes) => outcomes,
        Err(VerifyError::Interrupted) => return Err(Refusal::new("interrupted")),
        Err(VerifyError::Crashed(death, last)) => {
            let after = last.map(|id| format!("after {id} ")).unwrap_or_default();
            say!("{name}: {after}{death}");
            print_tail(tail.as_deref());
            return Ok(Verified::default());
        }
    };
    let conformance = conform::judge(manifest, variant, &outcomes);
    print_failures(&outcomes, &conformance);
    print_waivers(manifest, variant, &conformance, in_detail);
    let leak = stopped.leak();
    if let Some(leak) = &leak {
        say!("  {} {leak}", painted(AnsiColor::Red, "LEAK"));
    }
    say!("{name}: {}", summary(&outcomes, &conformance));
    Ok(Verified {
        passed: conformance.passed() && leak.is_none(),
        conformance: Some(conformance),
    })
}

fn print_failures(outcomes: &[Outcome], conformance: &Conformance) {
    for (outcome, judged) in outcomes.iter().zip(&conformance.checks) {
        let Verdict::Fail { observed } = &outcome.verdict else {
            continue;
        };
        if judged.verdict == CheckVerdict::Fail {
            say!("  {} {}", painted(AnsiColor::Red, "FAIL"), heading(outcome));
            say!("       {}", outcome.check.description);
            say!("       expected: {}", outcome.check.expectation);
            say!("       observed: {observed}");
        }
    }
}

/// Prints the waivers that were used, with `used_too`, and in any case those that are not needed.
fn print_waivers(
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
        say!(
            "  [{}] {needed}: {}: {}{link}{date}",
            number + 1,
            waiver.check,
            waiver.reason
        );
    }
}

fn summary(outcomes: &[Outcome], conformance: &Conformance) -> String {
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

fn heading(outcome: &Outcome) -> String {
    let dialect = outcome
        .dialect
        .map(|d| format!(", {d}"))
        .unwrap_or_default();
    format!("{} ({}{dialect})", outcome.check.id, outcome.check.section)
}

fn print_tail(tail: Option<&str>) {
    for line in tail.unwrap_or_default().lines() {
        say!("    {line}");
    }
}

fn painted(color: AnsiColor, word: &str) -> String {
    let style: Style = color.on_default().bold();
    format!("{style}{word}{style:#}")
}

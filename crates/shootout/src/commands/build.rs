//! `shootout build`: builds servers one after the other and prints their versions.

use super::Context;
use super::tally::Tally;
use crate::build::{BuildError, BuildOutcome, Builds, Order};
use crate::exit::Exit;
use crate::rows::{Wanted, alike};
use project::{Refusal, contestants};

pub(super) fn build(
    context: &Context<'_>,
    servers: &[String],
    force: bool,
) -> Result<Exit, Refusal> {
    let entries = context.project.select(servers)?;
    let readable = context.readable(&entries);
    let mut tally = Tally::default();
    tally.unreadable(entries.len() - readable.len());
    for (wanted, number) in readable.iter().zip(1..) {
        let (name, all) = (&wanted.entry.name, readable.len());
        anstream::eprintln!("{name}: building ({number} of {all})");
        let builds = order(context, wanted).build(force, &mut |_| {});
        if builds.interrupted() {
            return Ok(Exit::Interrupted);
        }
        say!("{}", told(context, wanted, &builds));
        for (variant, outcome) in &builds.0 {
            match outcome {
                Ok(_) => tally.ok(),
                Err(why) => {
                    tally.not_built(&wanted.entry.name, variant, why, !servers.is_empty());
                }
            }
        }
    }
    Ok(tally.finish())
}

pub(super) fn order<'a>(context: &'a Context<'_>, wanted: &'a Wanted<'_>) -> Order<'a> {
    Order {
        project: &context.project,
        entry: wanted.entry,
        manifest: wanted.manifest,
        variants: &wanted.variants,
        interrupt: context.interrupt,
    }
}

/// What became of the variants, in lines: in one where they are alike.
pub(super) fn told(context: &Context<'_>, wanted: &Wanted<'_>, builds: &Builds) -> String {
    let told = builds.0.iter().map(|(variant, outcome)| {
        let text = in_words(context, &wanted.manifest.library, outcome);
        (variant.as_str(), text)
    });
    let of = wanted.manifest.variants.len();
    let lines = alike(told).into_iter().map(|(variants, text)| {
        let who = contestants(&wanted.entry.name, &variants, of);
        format!("{who}: {text}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The version, or the reason with the last lines of the log indented below it.
fn in_words(context: &Context<'_>, library: &str, outcome: &BuildOutcome) -> String {
    let error = match outcome {
        Ok(built) => {
            let how = if built.reused { " (unchanged)" } else { "" };
            let runtime = built.runtime.iter();
            let runtime: String = runtime.map(|runtime| format!(", {runtime}")).collect();
            return format!("{library} {}{runtime}{how}", built.version);
        }
        Err(error) => error,
    };
    let mut text = error.reason(&context.project);
    if let BuildError::Failed {
        tail: Some(tail), ..
    } = error
    {
        for line in tail.lines() {
            text.push_str("\n    ");
            text.push_str(line);
        }
    }
    text
}

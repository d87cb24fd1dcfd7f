//! `shootout build`: builds servers one after the other and prints their versions.

use super::Context;
use crate::build::{self, BuildError};
use crate::exit::{Exit, Refusal};

pub(super) fn build(
    context: &Context<'_>,
    servers: &[String],
    force: bool,
) -> Result<Exit, Refusal> {
    let entries = context.project.select(servers)?;
    let readable = context.readable(&entries);
    let mut failed = readable.len() < entries.len();
    for (entry, manifest) in readable {
        anstream::eprintln!("{}: building", entry.name);
        let built = build::build(
            &context.project,
            entry,
            manifest,
            force,
            context.interrupt,
            &mut |_| {},
        );
        match built {
            Ok(built) => {
                let how = if built.reused { " (unchanged)" } else { "" };
                anstream::println!(
                    "{}: {} {}{how}",
                    entry.name,
                    manifest.library,
                    built.version
                );
            }
            Err(BuildError::Interrupted) => return Ok(Exit::Interrupted),
            Err(error) => {
                failed = true;
                anstream::println!("{}: {}", entry.name, told(context, &error));
            }
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Ok })
}

/// The reason, with the last lines of the log indented below it.
pub(super) fn told(context: &Context<'_>, error: &BuildError) -> String {
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

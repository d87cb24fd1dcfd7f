//! `shootout setup`: installs what is missing, with the user's consent.

use super::Context;
use crate::exit::{Exit, Refusal};
use crate::project::Entry;
use crate::toolchain::{apt, packages};
use std::io::{BufRead as _, IsTerminal as _, Write as _};

/// What became of the request to install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Installed {
    /// Nothing was missing that Debian packages bring.
    Nothing,
    /// It was installed.
    Done,
    /// The user did not consent; the command was printed.
    Declined,
}

pub(super) fn setup(context: &Context<'_>, servers: &[String], yes: bool) -> Result<Exit, Refusal> {
    let entries = context.project.select(servers)?;
    context.readable(&entries);
    let installed = install_missing(context, &entries, yes)?;
    if installed == Installed::Declined {
        return Ok(Exit::Failed);
    }
    let left = context.missing(&entries);
    for missing in &left {
        anstream::eprintln!(
            "still missing: {}: {}; remedy: {}",
            missing.what,
            missing.found,
            missing.remedy()
        );
    }
    if left.is_empty() {
        anstream::println!("everything is there");
        return Ok(Exit::Ok);
    }
    Ok(Exit::Failed)
}

/// Installs the Debian packages that these servers lack: with `yes` at once, on a terminal after
/// asking, elsewhere not at all.
///
/// # Errors
/// When the installation fails.
pub(super) fn install_missing(
    context: &Context<'_>,
    entries: &[Entry],
    yes: bool,
) -> Result<Installed, Refusal> {
    let packages = packages(&context.missing(entries));
    context.stop_if_interrupted()?;
    if packages.is_empty() {
        return Ok(Installed::Nothing);
    }
    let command = apt::install_command(&packages);
    if !yes && !consent(&command) {
        anstream::eprintln!("not installed; the command is:\n  {command}");
        return Ok(Installed::Declined);
    }
    let cache = context.project.cache();
    std::fs::create_dir_all(&cache)
        .map_err(|error| Refusal::new(format!("{}: {error}", cache.display())))?;
    apt::install(&packages, &cache, context.interrupt, &mut |line| {
        anstream::eprintln!(
            "setup: {line} (log: {})",
            context.project.shown(&cache.join("logs/setup.log"))
        );
    })?;
    Ok(Installed::Done)
}

fn consent(command: &str) -> bool {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    anstream::eprint!("Missing Debian packages. Run this now?\n  {command}\n[y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

//! `shootout setup`: installs what is missing, with the user's consent.

use super::Context;
use crate::exit::Exit;
use crate::rows::{Row, Wanted};
use crate::toolchain::{Missing, apt, missing, packages};
use project::{ProxyFolder, Refusal, contestants};
use std::io::{BufRead as _, IsTerminal as _, Write as _};

/// Something that is missing, and for whom.
struct Lack {
    what: Missing,
    who: Vec<String>,
}

pub(super) fn setup(context: &Context<'_>, servers: &[String], yes: bool) -> Result<Exit, Refusal> {
    let entries = context.project.select(servers)?;
    let wanted = context.readable(&entries);
    let mut lacks = lacking(context, &wanted);
    let packages = packages(lacks.iter().map(|lack| &lack.what));
    context.stop_if_interrupted()?;
    if !may_install(&packages, yes) {
        return Ok(Exit::Failed);
    }
    if !packages.is_empty() {
        let failed = fetch(context, &packages)?;
        // All requirements again: a probe may have failed because another requirement was missing.
        lacks = lacking(context, &wanted);
        for failed in failed {
            say!("cannot be installed: {failed}");
        }
    }
    context.stop_if_interrupted()?;
    let (packaged, others): (Vec<&Lack>, Vec<&Lack>) =
        lacks.iter().partition(|lack| !lack.what.debian.is_empty());
    for lack in &packaged {
        tell("still missing", lack);
    }
    if lacks.is_empty() {
        say!("everything is there");
    } else if packaged.is_empty() {
        say!("everything is there that Debian packages bring");
    }
    for lack in others {
        tell("not in Debian", lack);
    }
    Ok(if packaged.is_empty() {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

/// Debian packages that these variants lack.
pub(super) fn lacking_packages(context: &Context<'_>, wanted: &[Wanted<'_>]) -> Vec<String> {
    packages(lacking(context, wanted).iter().map(|lack| &lack.what))
}

/// Installs the Debian packages that the proxies of these rows lack, with `yes` or the user's consent.
///
/// # Errors
/// When nothing can be installed here.
pub(super) fn install_proxies(
    context: &Context<'_>,
    rows: &[Row],
    yes: bool,
) -> Result<(), Refusal> {
    let mut asked: Vec<&ProxyFolder> = Vec::new();
    for folder in rows.iter().filter_map(|row| row.proxy.as_deref()) {
        if !asked.iter().any(|other| other.dir == folder.dir) {
            asked.push(folder);
        }
    }
    let log = context.project.cache().join("logs/probe.log");
    let missing = asked
        .into_iter()
        .flat_map(|of| missing(&of.proxy.requires, &of.dir, &log, context.interrupt));
    let packages = packages(&missing.collect::<Vec<_>>());
    context.stop_if_interrupted()?;
    if !packages.is_empty() && may_install(&packages, yes) {
        install(context, &packages)?;
    }
    Ok(())
}

/// Whether these packages may be installed: with `yes`, or when the user says so on a terminal.
/// Otherwise the command is printed.
pub(super) fn may_install(packages: &[String], yes: bool) -> bool {
    if packages.is_empty() {
        return true;
    }
    let command = apt::install_command(packages);
    let may = yes || consent(&command);
    if !may {
        anstream::eprintln!("not installed; the command is:\n  {command}");
    }
    may
}

/// Installs these packages. Those that cannot be installed are named on stderr.
///
/// # Errors
/// When nothing can be installed here.
pub(super) fn install(context: &Context<'_>, packages: &[String]) -> Result<(), Refusal> {
    for failed in fetch(context, packages)? {
        anstream::eprintln!("cannot be installed: {failed}");
    }
    Ok(())
}

fn lacking(context: &Context<'_>, wanted: &[Wanted<'_>]) -> Vec<Lack> {
    let mut lacks: Vec<Lack> = Vec::new();
    for wanted in wanted {
        let survey = context.survey(wanted);
        let mut told: Vec<&Missing> = Vec::new();
        for what in survey.all_missing() {
            if told.contains(&what) {
                continue;
            }
            told.push(what);
            let variants: Vec<&str> = wanted
                .variants
                .iter()
                .map(String::as_str)
                .filter(|variant| survey.missing(variant).contains(what))
                .collect();
            let of = wanted.manifest.variants.len();
            let who = contestants(&wanted.entry.name, &variants, of);
            match lacks.iter_mut().find(|lack| lack.what == *what) {
                Some(lack) => lack.who.push(who),
                None => lacks.push(Lack {
                    what: what.clone(),
                    who: vec![who],
                }),
            }
        }
    }
    lacks
}

fn fetch(context: &Context<'_>, packages: &[String]) -> Result<Vec<apt::Failed>, Refusal> {
    let cache = context.project.cache();
    std::fs::create_dir_all(&cache)
        .map_err(|error| Refusal::new(format!("{}: {error}", cache.display())))?;
    let log = context.project.shown(&cache.join("logs/setup.log"));
    anstream::eprintln!("setup: the log is {log}");
    apt::install(packages, &cache, context.interrupt, &mut |line| {
        anstream::eprintln!("setup: {line}");
    })
}

fn tell(how: &str, lack: &Lack) {
    say!(
        "{how}: {}, for {}: {}; remedy: {}",
        lack.what.what,
        lack.who.join(", "),
        lack.what.found,
        lack.what.remedy()
    );
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

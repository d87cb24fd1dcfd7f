//! `shootout doctor`: what is missing for which server, and what this machine allows.

use super::Context;
use crate::exit::Exit;
use crate::generator;
use crate::machine;
use crate::rows::{Wanted, alike};
use crate::toolchain::{Missing, Probed, Survey, apt, packages};
use anstyle::{AnsiColor, Style};
use board::terminal::listed;
use project::manifest::lines;
use project::{Refusal, contestants};
use record::Environment;

/// Length of the accept queue that servers ask for; the kernel cuts it to somaxconn.
const ACCEPT_QUEUE: u32 = 4096;

pub(super) fn doctor(context: &Context<'_>, servers: &[String]) -> Result<Exit, Refusal> {
    let entries = context.project.select(servers)?;
    let mut missing: Vec<Missing> = Vec::new();
    let mut broken = false;
    for entry in &entries {
        if let Err(problems) = &entry.manifest {
            broken = true;
            say!("{} {}", bad("broken "), lines(problems));
        }
        for wanted in Wanted::all(std::slice::from_ref(entry)) {
            let survey = context.survey(&wanted);
            tell(&wanted, &survey, !servers.is_empty());
            missing.extend(survey.all_missing().cloned());
        }
        context.stop_if_interrupted()?;
    }
    limits(context);
    let packages = packages(&missing);
    if !packages.is_empty() {
        say!(
            "\nThe one command that installs all Debian packages that are missing:\n  {}\n\
             or: shootout setup",
            apt::install_command(&packages)
        );
    }
    Ok(if broken || !missing.is_empty() {
        Exit::Failed
    } else {
        Exit::Ok
    })
}

/// A line for the variants that are alike, and what they miss; with `all`, what they have too.
fn tell(wanted: &Wanted<'_>, survey: &Survey, all: bool) {
    let variants = wanted.variants.iter().map(String::as_str);
    let of = wanted.manifest.variants.len();
    for (variants, missing) in alike(variants.map(|v| (v, survey.missing(v)))) {
        let who = contestants(&wanted.entry.name, &variants, of);
        let word = match missing.as_slice() {
            [] => good("ok     "),
            _ => bad("missing"),
        };
        say!("{word} {who}");
        if all {
            let mut told: Vec<&Probed> = Vec::new();
            for probed in variants.iter().flat_map(|v| survey.of_variant(v)) {
                let Ok(said) = &probed.result else { continue };
                if !told.iter().any(|other| std::ptr::eq(*other, probed)) {
                    told.push(probed);
                    say!("          has {} ({said})", probed.what);
                }
            }
            if wanted.manifest.requires.is_empty() {
                say!("          needs nothing");
            }
        }
        for what in missing {
            say!("          misses {}: {}", what.what, what.found);
            say!("          remedy: {}", what.remedy());
        }
    }
}

fn limits(context: &Context<'_>) {
    let here = Environment::collect();
    let capacity = machine::capacity(&here);
    say!("\nthis machine");
    say!(
        "  cores          {} of {} may be used: {}",
        here.allowed_cpus.len(),
        here.cores,
        listed(&here.allowed_cpus)
    );
    if here.allowed_cpus.len() < 2 {
        say!("                 server and generator share one core: figures will be poor");
    }
    say!(
        "  open files     {} (raised to {} for each process)",
        here.file_limit.soft,
        here.file_limit.hard
    );
    if let Some((first, last)) = here.local_ports {
        say!(
            "  outgoing ports {first} to {last} on each of {} addresses",
            capacity.local_addrs.len()
        );
    }
    say!(
        "  clients        {} at most: {}",
        capacity.clients,
        capacity.limit
    );
    if let Some(queue) = here.somaxconn {
        let advice = if queue < ACCEPT_QUEUE {
            format!("; better: sysctl -w net.core.somaxconn={ACCEPT_QUEUE}")
        } else {
            String::new()
        };
        say!("  accept queue   {queue}{advice}");
    }
    let program = context.project.bin().join(generator::PROGRAM);
    if !program.is_file() {
        say!(
            "  generator      {} is missing; run the project's ./shootout script, or make",
            context.project.shown(&program)
        );
    }
}

fn good(word: &str) -> String {
    painted(AnsiColor::Green.on_default(), word)
}

fn bad(word: &str) -> String {
    painted(AnsiColor::Red.on_default().bold(), word)
}

fn painted(style: Style, word: &str) -> String {
    format!("{style}{word}{style:#}")
}

//! `shootout doctor`: what is missing for which server, and what this machine allows.

use super::Context;
use crate::exit::{Exit, Refusal};
use crate::generator;
use crate::machine;
use crate::project::lines;
use crate::toolchain::{Missing, apt, packages, probe};
use anstyle::{AnsiColor, Style};
use run_record::Environment;

/// Servers open their accept queue this long; the kernel cuts it to somaxconn.
const ACCEPT_QUEUE: u32 = 4096;

pub(super) fn doctor(context: &Context<'_>, servers: &[String]) -> Result<Exit, Refusal> {
    let entries = context.project.select(servers)?;
    let log = context.project.cache().join("logs/probe.log");
    let mut missing: Vec<Missing> = Vec::new();
    let mut broken = false;
    for entry in &entries {
        anstream::println!("{}", entry.name);
        let manifest = match &entry.manifest {
            Ok(manifest) => manifest,
            Err(problems) => {
                broken = true;
                anstream::println!("  {} {}", bad("manifest"), lines(problems));
                continue;
            }
        };
        for requirement in &manifest.requires {
            let probed = probe(requirement, &entry.dir, &log, context.interrupt);
            match probed.result {
                Ok(said) => anstream::println!("  {}      {} ({said})", good("ok"), probed.what),
                Err(what) => {
                    anstream::println!("  {} {}: {}", bad("missing"), what.what, what.found);
                    anstream::println!("          remedy: {}", what.remedy());
                    missing.push(what);
                }
            }
        }
        if manifest.requires.is_empty() {
            anstream::println!("  {}      needs nothing", good("ok"));
        }
        context.stop_if_interrupted()?;
    }
    limits(context);
    let packages = packages(&missing);
    if !packages.is_empty() {
        anstream::println!(
            "\nThe one command that installs all Debian packages that are missing:\n  {}\n\
             or: shootout setup",
            apt::install_command(&packages)
        );
    }
    for other in missing.iter().filter(|missing| missing.debian.is_empty()) {
        anstream::println!("\nNot in Debian: {}: {}", other.what, other.remedy());
    }
    Ok(if broken || !missing.is_empty() {
        Exit::Failed
    } else {
        Exit::Ok
    })
}

fn limits(context: &Context<'_>) {
    let here = Environment::collect();
    let capacity = machine::capacity(&here);
    anstream::println!("\nthis machine");
    anstream::println!(
        "  cores          {} of {} may be used: {}",
        here.allowed_cpus.len(),
        here.cores,
        machine::list(&here.allowed_cpus)
    );
    if here.allowed_cpus.len() < 2 {
        anstream::println!(
            "                 server and generator share one core: figures will be poor"
        );
    }
    anstream::println!(
        "  open files     {} (raised to {} for each process)",
        here.file_limit.soft,
        here.file_limit.hard
    );
    if let Some((first, last)) = here.local_ports {
        anstream::println!(
            "  outgoing ports {first} to {last} on each of {} addresses",
            capacity.local_addrs.len()
        );
    }
    anstream::println!(
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
        anstream::println!("  accept queue   {queue}{advice}");
    }
    let program = context.project.bin().join(generator::PROGRAM);
    if !program.is_file() {
        anstream::println!(
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

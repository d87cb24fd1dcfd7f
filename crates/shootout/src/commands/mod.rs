//! The commands, one file each.
//!
//! A command prints for people and returns an exit code; what it does is done by other modules.

mod autobahn;
mod build;
mod check;
mod compare;
mod doctor;
mod explain;
mod list;
mod pack;
mod read_again;
mod report;
mod run;
mod setup;
mod site;
mod tally;
mod verify;

use crate::cli::{Cli, Command};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::rows::Wanted;
use crate::stdout;
use crate::toolchain::Survey;
use project::Refusal;
use project::manifest::lines;
use project::manifest::suggestion;
use project::{Project, ServerFolder};

/// What every command works with.
pub(crate) struct Context<'a> {
    pub(crate) project: Project,
    pub(crate) interrupt: &'a Interrupt,
}

/// Executes a command and says on stderr why it could not.
pub fn execute(cli: Cli, interrupt: &Interrupt) -> Exit {
    let result = Project::find(cli.root.as_deref()).and_then(|project| {
        let context = Context { project, interrupt };
        match cli.command {
            Command::List {
                workloads: true,
                json,
            } => list::workloads(&context, json),
            Command::List { json, .. } => list::list(&context, json),
            Command::Doctor { servers } => doctor::doctor(&context, &servers),
            Command::Setup { servers, yes } => setup::setup(&context, &servers, yes),
            Command::Build { servers, force } => build::build(&context, &servers, force),
            Command::Verify {
                servers,
                variants,
                one_each,
                within,
                all,
                skip_build,
                jobs,
                write_table,
                check_table,
            } => verify::verify(
                &context,
                &verify::Choice {
                    servers,
                    variants,
                    one_each,
                    within: within.map(Into::into),
                    all,
                    skip_build,
                    jobs,
                    table: match (write_table, check_table) {
                        (true, _) => Some(verify::Table::Write),
                        (false, true) => Some(verify::Table::Check),
                        (false, false) => None,
                    },
                },
            ),
            Command::Autobahn { servers, variants } => {
                autobahn::autobahn(&context, &servers, &variants)
            }
            Command::Run(args) => run::run(&context, &args),
            Command::Report {
                dirs,
                html,
                markdown,
            } => report::report(&context, dirs, html, markdown),
            Command::Site { results, out } => site::site(&context, results, out),
            Command::Check { dirs } => check::check(&context, dirs),
            Command::Pack { dirs } => pack::pack(&context, &dirs),
            Command::Compare(args) => compare::compare(&context, &args),
            Command::Explain(args) => explain::explain(&context, &args),
        }
    });
    match result {
        Ok(_) if interrupt.requested() => Exit::Interrupted,
        Ok(exit) => stdout::exit(exit),
        Err(refusal) => {
            anstream::eprintln!("shootout: {refusal}");
            if interrupt.requested() {
                Exit::Interrupted
            } else {
                Exit::Failed
            }
        }
    }
}

impl Context<'_> {
    /// Every variant of those servers whose manifest can be read; the problems of the others are
    /// told on stderr.
    fn readable<'e>(&self, entries: &'e [ServerFolder]) -> Vec<Wanted<'e>> {
        for problems in entries.iter().filter_map(|e| e.manifest.as_ref().err()) {
            anstream::eprintln!("{}", lines(problems));
        }
        Wanted::all(entries)
    }

    /// What these variants of a server need, and whether it is there.
    fn survey(&self, wanted: &Wanted<'_>) -> Survey {
        let log = self.project.cache().join("logs/probe.log");
        Survey::new(
            wanted.manifest,
            &wanted.variants,
            &wanted.entry.dir,
            |_| log.clone(),
            self.interrupt,
        )
    }

    fn stop_if_interrupted(&self) -> Result<(), Refusal> {
        if self.interrupt.requested() {
            return Err(Refusal::new("interrupted"));
        }
        Ok(())
    }
}

/// Leaves the variants of these names alone; all where none is named.
fn only(readable: &mut Vec<Wanted<'_>>, names: &[String]) -> Result<(), Refusal> {
    if names.is_empty() {
        return Ok(());
    }
    let known: Vec<&str> = readable
        .iter()
        .flat_map(|wanted| wanted.variants.iter().map(String::as_str))
        .collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Refusal::new(format!(
            "no selected server has a variant \"{name}\"{}",
            suggestion(name, known)
        )));
    }
    for wanted in &mut *readable {
        wanted.variants.retain(|variant| names.contains(variant));
    }
    readable.retain(|wanted| !wanted.variants.is_empty());
    Ok(())
}

//! The program: command line in, exit code out. Everything else is in the library.

use clap::Parser as _;
use shootout::cli::{Cli, Command, GUARD};
use shootout::commands;
use shootout::exit::Exit;
use shootout::interrupt::Interrupt;
use shootout::process;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Where stdout is closed there is nobody to tell.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Failed
            } else {
                Exit::Ok
            }
            .into();
        }
    };
    if matches!(cli.command, Command::Guard) {
        process::guard_main();
        return Exit::Ok.into();
    }
    process::become_subreaper();
    let started = Interrupt::install().and_then(|interrupt| {
        process::start_guard(GUARD)?;
        Ok(interrupt)
    });
    let exit = match started {
        Ok(interrupt) => commands::execute(cli, &interrupt),
        Err(error) => {
            anstream::eprintln!("shootout: cannot supervise processes: {error}");
            Exit::Failed
        }
    };
    process::end_guard();
    exit.into()
}

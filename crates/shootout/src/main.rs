//! The program: command line in, exit code out. Everything else is in the library.

use clap::Parser as _;
use shootout::cli::Cli;
use shootout::commands;
use shootout::exit::Exit;
use shootout::interrupt::Interrupt;
use shootout::process;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Fails only where the output is closed, and then there is nowhere to report it.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Failed
            } else {
                Exit::Ok
            }
            .into();
        }
    };
    let started = process::guard().and_then(|code| match code {
        Some(code) => Ok(Err(code)),
        None => Interrupt::install(process::kill_all).map(Ok),
    });
    let exit = match started {
        Ok(Err(code)) => return ExitCode::from(code),
        Ok(Ok(interrupt)) => {
            process::become_subreaper();
            commands::execute(cli, &interrupt)
        }
        Err(error) => {
            anstream::eprintln!("shootout: cannot supervise processes: {error}");
            Exit::Failed
        }
    };
    exit.into()
}

//! `websocket-bench`: finds how many connections a WebSocket server carries before its broadcasts
//! become too slow.
//!
//! This binary turns arguments into a plan, lets `ws-load` carry it out, and writes what comes
//! back. It measures nothing itself.

mod args;
mod bench;
mod distributed;
mod exit;
mod expect;
mod format;
mod output;
mod planning;
mod proving;

use args::{Cli, Command};
use clap::{CommandFactory as _, Parser as _};
use exit::Exit;
use run_record::redacted;
use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            return refused(&error).into();
        }
    };
    let done = match cli.command {
        Command::Broadcast(args) => planning::plan(&args.common, planning::broadcast(&args.load))
            .map_err(Into::into)
            .and_then(|plan| {
                bench::bench(
                    plan,
                    &args.common.connections,
                    &args.common.sites,
                    &args.common.output,
                )
            }),
        Command::Echo(args) => planning::plan(&args.common, planning::echo(&args.load))
            .map_err(Into::into)
            .and_then(|plan| {
                bench::bench(
                    plan,
                    &args.common.connections,
                    &args.common.sites,
                    &args.common.output,
                )
            }),
        Command::Connect(args) => planning::connect(&args)
            .map_err(Into::into)
            .and_then(|plan| bench::bench(plan, &args.connections, &args.sites, &args.output)),
        Command::Worker(args) => distributed::worker(&args),
        Command::Selftest(args) => proving::selftest(&args),
        Command::Completions { shell } => completions(shell)
            .map(|()| Exit::Measured)
            .map_err(Into::into),
        Command::Man { directory } => clap_mangen::generate_to(Cli::command(), &directory)
            .map(|()| Exit::Measured)
            .map_err(|error| {
                format!("cannot write man pages to {}: {error}", directory.display()).into()
            }),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(error) if error.downcast_ref().is_some_and(is_closed) => Exit::Closed.into(),
        Err(error) => {
            // It may hold words of a server, a worker or a coordinator.
            let words = ws_proto::escaped(&redacted(&error.to_string()));
            let _ = writeln!(io::stderr(), "websocket-bench: {words}");
            Exit::Usage.into()
        }
    }
}

/// Prints what is wrong with the arguments, or the help that they ask for.
fn refused(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            Err(error) if is_closed(&error) => Exit::Closed,
            _ => Exit::Measured,
        };
    }
    let words = error.render().ansi().to_string();
    let _ = write!(anstream::stderr().lock(), "{}", redacted(&words));
    Exit::Usage
}

/// Writes the completions of a shell to stdout.
fn completions(shell: clap_complete::Shell) -> io::Result<()> {
    // The library panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "websocket-bench", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()
}

/// The reader went away.
fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

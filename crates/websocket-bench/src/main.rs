//! `websocket-bench`: finds how many connections a WebSocket server carries before its broadcasts
//! become too slow.
//!
//! This binary turns arguments into a plan, lets `ws-load` carry it out, and writes what comes
//! back. It measures nothing itself.

mod args;
mod bench;
mod churn_format;
mod distributed;
mod draft;
mod drop_format;
mod exit;
mod expect;
mod feed_format;
mod flags;
mod format;
mod from_file;
mod http_format;
mod import;
mod output;
mod planning;
mod proving;
mod refused;
mod secrets;
mod streams_format;
mod watch_format;

use args::{Cli, Command, ImportArgs, Output, Sites};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use draft::Draft;
use exit::Exit;
use flags::Flags;
use plan::{redacted, redacted_url};
use record::{Json, RunRecord};
use refused::Refused;
use std::error::Error;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            return refused(&error).into();
        }
    };
    let flags = Flags::new(&cli.command);
    let done = match cli.command {
        Command::Broadcast(args) => run(
            planning::plan(&args.url, &args.common, planning::broadcast(&args.load)),
            &args.common.sites,
            &args.common.output,
            &flags,
        ),
        Command::Echo(args) => run(
            planning::plan(&args.url, &args.common, planning::echo(&args.load)),
            &args.common.sites,
            &args.common.output,
            &flags,
        ),
        Command::Connect(args) => run(planning::connect(&args), &args.sites, &args.output, &flags),
        Command::Run(args) => run(from_file::draft(&args), &args.sites, &args.output, &flags),
        Command::Import(args) => imported(&args).map(|()| Exit::Measured),
        Command::Page { record } => page(&record).map(|()| Exit::Measured),
        Command::Schema => schema().map(|()| Exit::Measured),
        Command::Worker(args) => distributed::worker(&args),
        Command::Selftest(args) => proving::selftest(&args),
        Command::Completions { shell } => completions(shell)
            .map(|()| Exit::Measured)
            .map_err(Into::into),
        Command::Man { directory } => std::fs::create_dir_all(&directory)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), &directory))
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
            let _ = writeln!(io::stderr(), "websocket-bench: {}", flags.beside(&words));
            Exit::Usage.into()
        }
    }
}

/// Carries out a plan, or prints it when that is asked for.
fn run(
    draft: Result<Draft, Refused>,
    sites: &Sites,
    output: &Output,
    flags: &Flags,
) -> Result<Exit, Box<dyn Error>> {
    let draft = draft?;
    for note in &draft.notes {
        let _ = writeln!(io::stderr(), "websocket-bench: {}", ws_proto::escaped(note));
    }
    if output.print_plan {
        draft.plan.validate()?;
        ws_load::check_message(&draft.plan)?;
        secrets::check_printed(&draft.plan)?;
        write_out(from_file::printed(&draft)?.as_bytes())?;
        return Ok(Exit::Measured);
    }
    bench::bench(draft.resolved(sites, output)?, sites, output, flags)
}

/// Writes the plan of a capture to stdout, and what its user has to know to stderr.
fn imported(args: &ImportArgs) -> Result<(), Box<dyn Error>> {
    let made = import::import(args)?;
    for note in &made.notes {
        let words = ws_proto::escaped(&redacted(note));
        let _ = writeln!(io::stderr(), "websocket-bench: {words}");
    }
    Ok(write_out(made.plan.as_bytes())?)
}

/// Longest record that is read.
const LONGEST_RECORD: u64 = 64 << 20;

/// Writes the page of a record to stdout.
fn page(path: &Path) -> Result<(), Box<dyn Error>> {
    let unread = |words: String| format!("cannot read {}: {words}", path.display());
    let mut text = String::new();
    let read = File::open(path)
        .and_then(|file| file.take(LONGEST_RECORD + 1).read_to_string(&mut text))
        .map_err(|error| unread(error.to_string()))?;
    if read as u64 > LONGEST_RECORD {
        let most = LONGEST_RECORD >> 20;
        return Err(unread(format!("it is longer than {most} MiB, and no record is")).into());
    }
    let read: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| unread(error.to_string()))?;
    // A measurement holds the record of its run.
    let record = match read.get("run").filter(|run| run.is_object()) {
        Some(run) => RunRecord::from_json(&run.to_string()),
        None => RunRecord::from_json(&text),
    };
    let record = record.map_err(|error| unread(format!("it is no run record: {error}")))?;
    Ok(write_out(run_page::page(&record, &[])?.as_bytes())?)
}

/// Writes the JSON Schema of a plan to stdout.
fn schema() -> Result<(), Box<dyn Error>> {
    let mut schema = serde_json::to_string_pretty(&plan::plan_schema())?;
    schema.push('\n');
    Ok(write_out(schema.as_bytes())?)
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Prints what is wrong with the arguments, or the help that they ask for.
fn refused(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            Err(error) if is_closed(&error) => Exit::Closed,
            _ => Exit::Measured,
        };
    }
    let mut words = error.render().ansi().to_string();
    if let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue)
        && flag.starts_with("--set")
    {
        words = words.replace(value.as_str(), &plan_file::shown_key(value));
    }
    if let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) {
        words = words.replace(value.as_str(), &redacted_url(value));
    }
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg)
        && !is_flag(argument)
        && secrets::are_given(std::env::args())
    {
        words = words.replace(argument.as_str(), plan::REDACTED_VALUE);
        words.push_str(&format!("\n  note: {}\n", secrets::IN_QUOTES));
    }
    let _ = write!(anstream::stderr().lock(), "{}", redacted(&words));
    Exit::Usage
}

fn is_flag(argument: &str) -> bool {
    let name = argument.strip_prefix("--").unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Writes the completions of a shell to stdout.
fn completions(shell: clap_complete::Shell) -> io::Result<()> {
    // The library panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "websocket-bench", &mut script);
    // Of a name with a hyphen the labels of the cases for bash are not the states that it sets (clap
    // issue 6421).
    let script = String::from_utf8_lossy(&script);
    let script = script.replace("websocket__subcmd__bench", "websocket__bench");
    write_out(script.as_bytes())
}

/// The reader of stdout closed it.
fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

//! `rust-ws-server` speaks the text and binary dialects of the shoot-out protocol with the crate
//! `ws`.
//!
//! This file holds the command line and the thread pools. It does not know the protocol
//! (`protocol`), connections (`connection`) or the library's command queue (`commands`).

mod commands;
mod connection;
mod protocol;
mod strand;
mod topics;

use clap::{Parser, ValueEnum};
use connection::Server;
use std::process::ExitCode;
use strand::Job;

/// WebSocket server on the crate ws, for the shoot-out
#[derive(Parser)]
#[command(name = "rust-ws-server", disable_version_flag = true)]
struct Arguments {
    /// Who answers messages
    #[arg(value_enum, default_value = "ws")]
    mode: Mode,
    /// Host to listen on
    #[arg(
        short = 'a',
        long,
        visible_alias = "address",
        default_value = "127.0.0.1"
    )]
    host: String,
    /// TCP port to listen on
    #[arg(short, long, default_value_t = 3334)]
    port: u16,
    /// Threads of the pool [default: one per core that this process may use]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Send every message back as it came, and nothing else (for Autobahn|Testsuite)
    #[arg(long)]
    raw_echo: bool,
    /// Print the version of the crate ws
    #[arg(long)]
    version: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// The event loop itself
    Ws,
    /// Threads of the crate threadpool
    ThreadpoolWs,
    /// Threads of the crate scoped-pool
    ScopedpoolWs,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.version {
        println!("ws {}", library_version());
        return ExitCode::SUCCESS;
    }
    let Err(error) = run(&arguments);
    // The library's words for an I/O error leave out which.
    let cause = match error.kind {
        ws::ErrorKind::Io(cause) => cause.to_string(),
        _ => error.to_string(),
    };
    eprintln!(
        "rust-ws-server: {}:{}: {cause}; choose another with --host or --port",
        arguments.host, arguments.port
    );
    ExitCode::FAILURE
}

fn run(arguments: &Arguments) -> Result<std::convert::Infallible, ws::Error> {
    let perform = if arguments.raw_echo {
        protocol::echo
    } else {
        protocol::answer
    };
    let rooms = !arguments.raw_echo;
    let address = (arguments.host.as_str(), arguments.port);
    let threads = arguments.threads.map_or_else(available, usize::from);
    match arguments.mode {
        Mode::Ws => Server::new(perform, rooms, None).listen(address),
        Mode::ThreadpoolWs => {
            let pool = threadpool::ThreadPool::new(threads);
            let execute = |job: Job| pool.execute(job);
            Server::new(perform, rooms, Some(&execute)).listen(address)
        }
        Mode::ScopedpoolWs => scoped_pool::Pool::new(threads).scoped(|scope| {
            let execute = |job: Job| scope.execute(job);
            Server::new(perform, rooms, Some(&execute)).listen(address)
        }),
    }
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The version in the lock file that this program was built with; the crate does not tell its own.
fn library_version() -> &'static str {
    include_str!("../Cargo.lock")
        .split_once("name = \"ws\"\nversion = \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version)
}

//! `rust-actix-server` speaks the text and binary dialects of the shoot-out protocol with the crates
//! `actix-web` and `actix-ws`.
//!
//! This file holds the command line and the HTTP server. It does not know the protocol
//! (`protocol`), one connection (`connection`) or who is connected (`clients`).

mod clients;
mod connection;
mod outbox;
mod protocol;
mod topics;

use actix_web::web::{self, Data};
use actix_web::{App, HttpServer};
use clap::Parser;
use connection::{Server, upgrade};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The kernel makes it as long as it permits.
const BACKLOG: u32 = 65_535;

/// WebSocket server on the crates actix-web and actix-ws, for the shoot-out
#[derive(Parser)]
#[command(name = "rust-actix-server", disable_version_flag = true)]
struct Arguments {
    /// Host to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// TCP port to listen on
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Workers, a thread each [default: one per core that this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Send every message back as it came, and nothing else (for Autobahn|Testsuite)
    #[arg(long)]
    raw_echo: bool,
    /// Print the versions of the crates actix-ws and actix-web
    #[arg(long)]
    version: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.version {
        println!(
            "actix-ws {}, actix-web {}",
            version_of("actix-ws"),
            version_of("actix-web")
        );
        return ExitCode::SUCCESS;
    }
    if let Err(error) = run(&arguments) {
        eprintln!(
            "rust-actix-server: {}:{}: {error}; choose another with --host or --port",
            arguments.host, arguments.port
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[actix_web::main]
async fn run(arguments: &Arguments) -> io::Result<()> {
    // The soft limit stays where it is when the hard one cannot be read.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let server = Data::new(Server {
        clients: Arc::default(),
        perform: if arguments.raw_echo {
            protocol::echo
        } else {
            protocol::answer
        },
    });
    // Every path is the WebSocket's.
    let app = move || {
        App::new()
            .app_data(server.clone())
            .default_service(web::to(upgrade))
    };
    let mut server = HttpServer::new(app)
        .backlog(BACKLOG)
        .max_connections(usize::MAX)
        .tcp_nodelay(true)
        // After the end of a response the library would read for up to a second more.
        .client_disconnect_timeout(Duration::ZERO)
        // A signal ends the process at once.
        .disable_signals();
    if let Some(threads) = arguments.threads {
        server = server.workers(threads.into());
    }
    server
        .bind((arguments.host.as_str(), arguments.port))?
        .run()
        .await
}

/// The version in the lock file that this program was built with; the crates do not tell theirs.
fn version_of(library: &str) -> &'static str {
    include_str!("../Cargo.lock")
        .split_once(&format!("name = \"{library}\"\nversion = \""))
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version)
}

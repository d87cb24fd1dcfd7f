//! `rust-axum-server` speaks the text and binary dialects of the shoot-out protocol
//! with the crate `axum`.
//!
//! This file holds the command line, the run-time, the listener and the route. It does not know the
//! protocol (`protocol`), one connection (`connection`) or who is connected (`clients`).

mod clients;
mod connection;
mod outbox;
mod protocol;

use axum::Router;
use axum::routing::any;
use axum::serve::ListenerExt;
use clap::Parser;
use connection::{Server, upgrade};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::runtime::Builder;

/// The kernel makes it as long as it permits.
const BACKLOG: u32 = 65_535;

/// WebSocket server on the crate axum, for the shoot-out
#[derive(Parser)]
#[command(name = "rust-axum-server", disable_version_flag = true)]
struct Arguments {
    /// Host to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// TCP port to listen on
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Worker threads [default: one per core that this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Send every message back as it came, and nothing else (for Autobahn|Testsuite)
    #[arg(long)]
    raw_echo: bool,
    /// Print the version of the crate axum
    #[arg(long)]
    version: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.version {
        println!("axum {}", library_version());
        return ExitCode::SUCCESS;
    }
    if let Err(error) = run(&arguments) {
        eprintln!(
            "rust-axum-server: {}:{}: {error}; choose another with --host or --port",
            arguments.host, arguments.port
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run(arguments: &Arguments) -> io::Result<()> {
    // The soft limit stays where it is when the hard one cannot be read.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let mut builder = Builder::new_multi_thread();
    if let Some(threads) = arguments.threads {
        builder.worker_threads(threads.into());
    }
    let server = Server {
        clients: Arc::default(),
        perform: if arguments.raw_echo {
            protocol::echo
        } else {
            protocol::answer
        },
    };
    // Every path is the WebSocket's.
    let app = Router::new().fallback(any(upgrade)).with_state(server);
    let runtime = builder.enable_all().build()?;
    runtime.block_on(async {
        let listener = listen(&arguments.host, arguments.port)
            .await?
            .tap_io(|stream| {
                // Fails when the connection is gone already.
                let _ = stream.set_nodelay(true);
            });
        // On a worker, so that this thread adds none to them.
        tokio::spawn(axum::serve(listener, app).into_future()).await?
    })
}

/// Listens on the first address of the host, with a longer backlog than `TcpListener::bind` asks for.
async fn listen(host: &str, port: u16) -> io::Result<TcpListener> {
    let address = lookup_host((host, port))
        .await?
        .next()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host has no address"))?;
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The version in the lock file that this program was built with; the crate does not tell its own.
fn library_version() -> &'static str {
    include_str!("../Cargo.lock")
        .split_once("name = \"axum\"\nversion = \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version)
}

//! `rust-wtx-server` speaks the text and binary dialects of the shoot-out protocol
//! with the crate `wtx`.
//!
//! This file holds the command line, the run-time and the listener. It does not know the protocol
//! (`protocol`), one connection (`connection`) or who is connected (`clients`).

mod clients;
mod connection;
mod outbox;
mod protocol;
mod topics;

use clap::Parser;
use connection::Server;
use std::convert::Infallible;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::runtime::Builder;

/// The kernel makes it as long as it permits.
const BACKLOG: u32 = 65_535;

/// WebSocket server on the crate wtx, for the shoot-out
#[derive(Parser)]
#[command(name = "rust-wtx-server", disable_version_flag = true)]
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
    /// Print the version of the crate wtx
    #[arg(long)]
    version: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.version {
        println!("wtx {}", library_version());
        return ExitCode::SUCCESS;
    }
    let Err(error) = run(&arguments);
    eprintln!(
        "rust-wtx-server: {}:{}: {error}; choose another with --host or --port",
        arguments.host, arguments.port
    );
    ExitCode::FAILURE
}

fn run(arguments: &Arguments) -> io::Result<Infallible> {
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
    let runtime = builder.enable_all().build()?;
    runtime.block_on(async {
        let listener = listen(&arguments.host, arguments.port).await?;
        // On a worker, so that this thread adds none to them.
        match tokio::spawn(accept(listener, Arc::new(server))).await {
            Ok(never) => match never {},
            Err(error) => Err(error.into()),
        }
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

async fn accept(listener: TcpListener, server: Arc<Server>) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let server = Arc::clone(&server);
                tokio::spawn(async move { server.serve(stream).await });
            }
            // Out of files, as a rule. Another connection's end brings one back.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// The version in the lock file that this program was built with; the crate does not tell its own.
fn library_version() -> &'static str {
    include_str!("../Cargo.lock")
        .split_once("name = \"wtx\"\nversion = \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version)
}

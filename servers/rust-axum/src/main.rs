//! `rust-axum-server` speaks the text and binary dialects of the shoot-out protocol
//! with the crate `axum`.
//!
//! This file holds the command line, the run-time, the listener and the route. It does not know the
//! protocol (`protocol`), one connection (`connection`) or who is connected (`clients`).

mod clients;
mod connection;
mod outbox;
mod protocol;
mod topics;

use axum::Router;
use axum::routing::any;
use axum::serve::ListenerExt;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use clap::Parser;
use connection::{Server, upgrade};
use rustls::ServerConfig;
use std::io;
use std::path::{Path, PathBuf};
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
    /// Serve TLS: PEM file with the certificate
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// PEM file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
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
        let listener = listen(&arguments.host, arguments.port).await?;
        if let (Some(cert), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) {
            let acceptor = RustlsAcceptor::new(tls(cert, key).await?).acceptor(NoDelayAcceptor);
            let server = axum_server::from_tcp(listener.into_std()?)?.acceptor(acceptor);
            return tokio::spawn(server.serve(app.into_make_service())).await?;
        }
        let listener = listener.tap_io(|stream| {
            // Fails when the connection is gone already.
            let _ = stream.set_nodelay(true);
        });
        // On a worker, so that this thread adds none to them.
        tokio::spawn(axum::serve(listener, app).into_future()).await?
    })
}

/// TLS for HTTP/1.1 alone: the library would offer HTTP/2 too, which this server has no route for.
async fn tls(cert: &Path, key: &Path) -> io::Result<RustlsConfig> {
    // Fails when there is one already, which would do as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let read = RustlsConfig::from_pem_file(cert, key).await;
    let read = read.map_err(|error| io::Error::other(format!("--tls-cert, --tls-key: {error}")))?;
    let mut config = ServerConfig::clone(&read.get_inner());
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(RustlsConfig::from_config(Arc::new(config)))
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

//! `reference-fanout-server` speaks the text and binary dialects of the shoot-out protocol with
//! code of its own, made for broadcasts alone.
//!
//! This file holds the command line and the listener.

mod clients;
mod frame;
mod handshake;
mod log;
mod outbox;
mod protocol;
mod ring;
mod rooms;
mod server;

use clap::{Parser, ValueEnum};
use ring::Ring;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};
use rustix::process::{Resource, getrlimit, setrlimit};
use server::Server;
use std::io;
use std::net::{TcpListener, ToSocketAddrs};
use std::process::ExitCode;

/// The kernel makes it as long as it permits.
const BACKLOG: i32 = 65_535;

/// WebSocket server made for broadcasts, for the shoot-out
#[derive(Parser)]
#[command(name = "reference-fanout-server", disable_version_flag = true)]
struct Arguments {
    /// Host to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// TCP port to listen on
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Clients that are served between two looks for what has come
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    turn: u32,
    /// How broadcasts are sent
    #[arg(long, value_enum, default_value_t = Sends::Auto)]
    sends: Sends,
    /// Send every message back as it came, and nothing else (for Autobahn|Testsuite)
    #[arg(long)]
    raw_echo: bool,
    /// Print the version
    #[arg(long)]
    version: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sends {
    /// By io_uring where it can be had
    Auto,
    /// By io_uring, or not at all
    Uring,
    /// By one system call for each client
    Calls,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.version {
        println!("reference-fanout {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let listener = match listener(&arguments.host, arguments.port) {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!(
                "reference-fanout-server: {}:{}: {error}; choose another with --host or --port",
                arguments.host, arguments.port
            );
            return ExitCode::FAILURE;
        }
    };
    raise_limit_of_files();
    let ring = match arguments.sends {
        Sends::Calls => None,
        Sends::Auto => Ring::new().ok(),
        Sends::Uring => match Ring::new() {
            Ok(ring) => Some(ring),
            Err(error) => {
                eprintln!("reference-fanout-server: no io_uring here: {error}; use --sends calls");
                return ExitCode::FAILURE;
            }
        },
    };
    let served = Server::new(listener, ring, arguments.turn, arguments.raw_echo)
        .and_then(|mut server| server.run());
    if let Err(error) = served {
        eprintln!("reference-fanout-server: the sockets cannot be waited for: {error}");
    }
    ExitCode::FAILURE
}

/// Listens on the first address of the host, with a longer backlog than `TcpListener` asks for.
fn listener(host: &str, port: u16) -> io::Result<TcpListener> {
    let address = (host, port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host has no address"))?;
    let family = match address.is_ipv4() {
        true => AddressFamily::INET,
        false => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// The soft limit stays where it is when it cannot be raised.
fn raise_limit_of_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

//! A server that makes one fault, as a program, for tests of load generators. See `test_servers::fault`.

use clap::Parser;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use test_servers::fault::{Fault, FaultServer};

/// Speaks the protocol and makes one fault in it.
#[derive(Parser)]
struct Args {
    /// The fault
    #[arg(long, value_enum)]
    fault: Fault,
    /// How often, or after how many requests (each fault says which)
    #[arg(long, default_value_t = 1)]
    count: u64,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let address = SocketAddr::new(args.address, args.port);
    let server = FaultServer::start_on(address, args.fault, args.count)?;
    writeln!(io::stdout(), "listening on {}", server.addr())?;
    server.wait();
    Ok(())
}

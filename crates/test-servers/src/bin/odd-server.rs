//! A misbehaving server as a program, for tests of load generators. See `test_servers::odd`.

use clap::Parser;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use test_servers::odd::{Behaviour, OddServer};

/// Misbehaves in one way.
#[derive(Parser)]
struct Args {
    /// What it does wrong
    #[arg(long, value_enum)]
    behaviour: Behaviour,
    /// How often, or after how many requests (see each behaviour)
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
    let server = OddServer::start_on(address, args.behaviour, args.count)?;
    writeln!(io::stdout(), "listening on {}", server.addr())?;
    server.wait();
    Ok(())
}

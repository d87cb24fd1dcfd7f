//! A server that breaks one rule of choice, as a program. See `test_servers::liar`.

use clap::Parser;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use test_servers::Framework;
use test_servers::liar::{LiarServer, Lie};

/// Speaks the protocol and breaks one rule of it.
#[derive(Parser)]
struct Args {
    /// The rule to break
    #[arg(long, value_enum, default_value = "none")]
    lie: Lie,
    /// The message format
    #[arg(long, value_enum, default_value = "plain")]
    framework: Framework,
    /// Print each lie with the conformance check that it must trip, and end
    #[arg(long)]
    list: bool,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let mut out = io::stdout();
    if args.list {
        for lie in Lie::all_in(args.framework) {
            let trips = lie.trips(args.framework).unwrap_or_default();
            writeln!(out, "{} {trips}", lie.id())?;
        }
        return Ok(());
    }
    let address = SocketAddr::new(args.address, args.port);
    let server = LiarServer::start_on(address, args.lie, args.framework)?;
    writeln!(out, "listening on {}", server.addr())?;
    server.wait();
    Ok(())
}

//! The null server as a program. It is a yardstick that cheats on purpose and no contestant: see
//! `test_servers::NullServer`.

use clap::Parser;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use test_servers::{NullOptions, NullServer};

/// Serves echo and broadcast as fast as one thread can, without really parsing them.
#[derive(Parser)]
struct Args {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Send every message back as it came, whatever is in it
    #[arg(long)]
    echo_raw: bool,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let server = NullServer::start(NullOptions {
        address: SocketAddr::new(args.address, args.port),
        echo_raw: args.echo_raw,
    })?;
    writeln!(io::stdout(), "listening on {}", server.addr())?;
    server.wait()
}

//! The null server as a program. It is the reference that the generator is measured against, does
//! not really parse, and is no contestant: see `test_servers::NullServer`.

use clap::Parser;
use std::io::{self, Read as _, Write};
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use test_servers::{NullOptions, NullServer, NullServers};

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
    #[arg(long, visible_alias = "raw-echo")]
    echo_raw: bool,
    /// Compress every message (RFC 7692), once for all that hear it. A client must offer it
    #[arg(long, conflicts_with_all = ["processes", "share_port"])]
    deflate: bool,
    /// Processes that share the port, each with as many open files as a process may have. A
    /// broadcast reaches the connections of one process alone
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    processes: u32,
    /// Be one of several processes on a port, and end with standard input
    #[arg(long, hide = true)]
    share_port: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let address = SocketAddr::new(args.address, args.port);
    let Err(error) = serve(&args, address) else {
        return ExitCode::SUCCESS;
    };
    let remedy = match error.kind() {
        io::ErrorKind::AddrInUse => "; choose another --port, or 0 for a free one",
        _ => "",
    };
    let _ = writeln!(io::stderr(), "null-server: {address}: {error}{remedy}");
    ExitCode::FAILURE
}

fn serve(args: &Args, address: SocketAddr) -> io::Result<()> {
    if args.processes > 1 {
        let program = std::env::current_exe()?;
        let servers = NullServers::start(&program, address, args.echo_raw, args.processes)?;
        writeln!(io::stdout(), "listening on {}", servers.addr())?;
        return servers.wait();
    }
    let server = NullServer::start(NullOptions {
        address,
        echo_raw: args.echo_raw,
        deflate: args.deflate,
        share_port: args.share_port,
    })?;
    writeln!(io::stdout(), "listening on {}", server.addr())?;
    if args.share_port {
        let ended = io::stdin().read(&mut [0]);
        return ended.map(|_| ());
    }
    server.wait()
}

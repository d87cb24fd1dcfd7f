//! A server that breaks one rule of choice, as a program. See `test_servers::liar`.

use clap::Parser;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
    /// Serve TLS, and tell no lie: PEM file with the certificate
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with_all = ["lie", "framework"])]
    tls_cert: Option<PathBuf>,
    /// PEM file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
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
    let server = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => LiarServer::start_tls(address, Arc::new(tls(cert, key)?))?,
        _ => LiarServer::start_on(address, args.lie, args.framework)?,
    };
    writeln!(out, "listening on {}", server.addr())?;
    server.wait();
    Ok(())
}

fn tls(cert: &Path, key: &Path) -> io::Result<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(cert).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(io::Error::other)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(vec![certificate], key)
        })
        .map_err(io::Error::other)
}

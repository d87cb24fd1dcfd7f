//! Why metrics cannot be served or pushed.

use std::io;
use std::net::SocketAddr;

/// The reason, with the flag.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MetricsError {
    #[error("--metrics {addr}: {source}{}", remedy(source))]
    Endpoint { addr: SocketAddr, source: io::Error },
    #[error(
        "--otlp: expected http://HOST:PORT; what is pushed over TLS goes through a collector on this machine"
    )]
    PushOverTls,
    #[error(
        "--otlp: expected http://HOST:PORT, without a user, a path and a query: OTLP over gRPC (port 4317) sends none of them"
    )]
    NoCollector,
    /// The first push failed. `why` has no secret of the URL.
    #[error(
        "--otlp {place}: {why}; is a collector listening there for OTLP over gRPC (port 4317)?"
    )]
    Push { place: String, why: String },
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; name another port, or end what listens there",
        io::ErrorKind::AddrNotAvailable => "; name an address of this machine",
        _ => "",
    }
}

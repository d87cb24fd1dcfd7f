//! A connection for requests over HTTP, by the same way as the clients' own: source address, proxy, Unix
//! socket, TLS.

use super::exchange::Sender;
use crate::net::{Endpoint, HttpFailure, Offered, Tls};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::io;
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpSocket, UnixStream};
use tokio_rustls::TlsConnector;
use ws_proto::parse_connect;

/// Longest answer of a proxy in bytes.
const LONGEST_ANSWER: usize = 16 * 1024;

/// How a server is reached.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) endpoint: Endpoint,
    pub(super) local: Option<IpAddr>,
    /// What a proxy is asked for.
    pub(super) tunnel: Option<Vec<u8>>,
    pub(super) tls: Option<Tls>,
    pub(super) offered: Offered,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Opens a connection.
pub(super) async fn dial(way: &Way) -> Result<Sender, HttpFailure> {
    let stream = open(way).await?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| HttpFailure::Broken {
            why: error.to_string(),
        })?;
    tokio::spawn(async move {
        // The request that waits for an answer gets the same error.
        let _ = connection.await;
    });
    Ok(sender)
}

async fn open(way: &Way) -> Result<Box<dyn Stream>, HttpFailure> {
    let failed = |error: io::Error| failure(&error);
    let mut stream: Box<dyn Stream> = match &way.endpoint {
        Endpoint::Tcp(addr) | Endpoint::Proxy(addr) => {
            Box::new(tcp(*addr, way.local).await.map_err(failed)?)
        }
        Endpoint::Unix(path) => Box::new(UnixStream::connect(path).await.map_err(failed)?),
    };
    if let Some(request) = &way.tunnel {
        tunnel(&mut stream, request).await?;
    }
    let Some(tls) = &way.tls else {
        return Ok(stream);
    };
    let connector = TlsConnector::from(tls.config.clone());
    let spoken = connector.connect(tls.name.clone(), stream).await;
    Ok(Box::new(
        spoken.map_err(|error| tls_failure(&error, way.offered))?,
    ))
}

async fn tcp(addr: SocketAddr, local: Option<IpAddr>) -> io::Result<tokio::net::TcpStream> {
    let socket = match addr {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_nodelay(true)?;
    if let Some(local) = local {
        socket.bind((local, 0).into())?;
    }
    socket.connect(addr).await
}

async fn tunnel(stream: &mut Box<dyn Stream>, request: &[u8]) -> Result<(), HttpFailure> {
    let failed = |error: io::Error| failure(&error);
    let broken = |why: &str| HttpFailure::Broken {
        why: why.to_owned(),
    };
    stream.write_all(request).await.map_err(failed)?;
    let mut answer = Vec::new();
    while answer.len() < LONGEST_ANSWER {
        if stream.read_buf(&mut answer).await.map_err(failed)? == 0 {
            return Err(broken(
                "the proxy closed the connection before it answered CONNECT",
            ));
        }
        if parse_connect(&answer).map_err(HttpFailure::Proxy)? {
            return Ok(());
        }
    }
    Err(broken("the proxy's answer has no end"))
}

fn failure(error: &io::Error) -> HttpFailure {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => HttpFailure::Files,
        _ => HttpFailure::Broken {
            why: error.to_string(),
        },
    }
}

fn tls_failure(error: &io::Error, offered: Offered) -> HttpFailure {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match cause.cloned() {
        Some(source) => HttpFailure::Tls { source, offered },
        None => failure(error),
    }
}

//! A TCP connection with or without TLS on it, with the time-outs of the socket.

use crate::target::{Target, Tls};
use rustls::{ClientConnection, StreamOwned};
use socket2::SockRef;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Least time that one write may take.
pub(crate) const WRITE: Duration = Duration::from_secs(10);

/// A connection to a server.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Connects; of TLS the handshake is over then.
    pub(crate) fn connect(target: &Target) -> io::Result<Self> {
        let tcp = TcpStream::connect_timeout(&target.addr, target.timeout)?;
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(target.timeout))?;
        tcp.set_write_timeout(Some(target.timeout.max(WRITE)))?;
        match &target.tls {
            None => Ok(Self::Plain(tcp)),
            Some(tls) => Self::secured(tcp, tls, target),
        }
    }

    fn secured(mut tcp: TcpStream, tls: &Tls, target: &Target) -> io::Result<Self> {
        let name = target.addr.ip().into();
        let mut session = ClientConnection::new(tls.config(), name).map_err(io::Error::other)?;
        while session.is_handshaking() {
            session.complete_io(&mut tcp)?;
        }
        Ok(Self::Tls(Box::new(StreamOwned::new(session, tcp))))
    }

    /// Sends all, unless the server reads nothing for the time of a write.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(tcp) => tcp.write_all(bytes),
            // A write that leaves records behind tells so at the flush.
            Self::Tls(tls) => tls.write_all(bytes).and_then(|()| tls.flush()),
        }
    }

    /// Sends what the kernel takes at once. Of TLS, [`Self::send`] sends what is left behind.
    pub(crate) fn send_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.set_nonblocking(true);
        let sent = match self {
            Self::Plain(tcp) => tcp.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        };
        self.set_nonblocking(false);
        sent
    }

    pub(crate) fn set_read_timeout(&self, timeout: Duration) {
        let _ = self.tcp().set_read_timeout(Some(timeout));
    }

    pub(crate) fn set_nonblocking(&self, nonblocking: bool) {
        let _ = self.tcp().set_nonblocking(nonblocking);
    }

    /// The port of this end.
    pub(crate) fn port(&self) -> io::Result<u16> {
        Ok(self.tcp().local_addr()?.port())
    }

    /// The socket, for its options.
    pub(crate) fn socket(&self) -> SockRef<'_> {
        self.tcp().into()
    }

    fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            Self::Tls(tls) => &tls.sock,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.read(buffer),
            Self::Tls(tls) => match tls.read(buffer) {
                // The end of the connection without one of TLS: what ended is told by frames.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
                read => read,
            },
        }
    }
}

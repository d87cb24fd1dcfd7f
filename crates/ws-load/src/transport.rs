//! A socket with or without TLS on it.
//!
//! Bytes come in from the backend and go out to the kernel here. What the kernel does not take is
//! kept and written when the socket takes bytes again.

mod records;

use crate::target::Target;
use records::Records;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd as _, RawFd};

/// One connection's socket.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: Socket,
    tls: Option<Box<rustls::ClientConnection>>,
    /// Of TLS: where its records end.
    records: Records,
    /// Bytes that the kernel has not taken yet; empty almost always.
    unsent: Vec<u8>,
}

impl Transport {
    /// Starts to connect, from `local` if given. The attempt ends later.
    pub(crate) fn connect(target: &Target, local: Option<IpAddr>) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(target.addr), Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        if let Some(local) = local {
            bind_address_alone(&socket)?;
            socket.bind(&SockAddr::from(SocketAddr::new(local, 0)))?;
        }
        match socket.connect(&SockAddr::from(target.addr)) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        let tls = match &target.tls {
            None => None,
            Some(tls) => Some(Box::new(
                rustls::ClientConnection::new(tls.config.clone(), tls.name.clone())
                    .map_err(io::Error::other)?,
            )),
        };
        Ok(Self {
            socket,
            tls,
            records: Records::default(),
            unsent: Vec::new(),
        })
    }

    pub(crate) fn raw(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// How the connection attempt ended.
    pub(crate) fn connected(&self) -> io::Result<()> {
        match self.socket.take_error()? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// True while bytes wait for the socket to take them.
    pub(crate) fn wants_write(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Sends bytes, now or as soon as the kernel takes them.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.tls {
            None => self.send_raw(bytes),
            Some(tls) => {
                tls.writer().write_all(bytes)?;
                self.flush_tls()
            }
        }
    }

    /// Sends what is waiting.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.unsent);
        self.send_raw(&waiting)?;
        self.flush_tls()
    }

    /// Decrypts what has arrived and hands it on; without TLS it is handed on as it is. `on_plain`
    /// is told whether the last byte it gets is surely the last of `bytes`, or is decrypted from it.
    #[inline]
    pub(crate) fn receive<E: From<io::Error>>(
        &mut self,
        bytes: &[u8],
        mut on_plain: impl FnMut(&[u8], bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(tls) = &mut self.tls else {
            return on_plain(bytes, true);
        };
        self.records.advance(bytes);
        let is_whole = self.records.is_between();
        let mut encrypted = bytes;
        let mut plain = [0; 16 * 1024];
        while !encrypted.is_empty() {
            tls.read_tls(&mut encrypted)?;
            tls.process_new_packets().map_err(io::Error::other)?;
            loop {
                match tls.reader().read(&mut plain) {
                    Ok(0) => break,
                    Ok(read) => {
                        // One that fills the buffer may not be all that there is.
                        let is_all = encrypted.is_empty() && read < plain.len();
                        on_plain(&plain[..read], is_all && is_whole)?;
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(self.flush_tls()?)
    }

    /// The socket, to be closed.
    pub(crate) fn into_socket(self) -> Socket {
        self.socket
    }

    /// The socket, to be closed so that the kernel keeps nothing of it: no TIME_WAIT, no late data.
    pub(crate) fn abort(self) -> Socket {
        let _ = self.socket.set_linger(Some(std::time::Duration::ZERO));
        self.socket
    }

    fn flush_tls(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            return Ok(());
        };
        let mut encrypted = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut encrypted)?;
        }
        if encrypted.is_empty() {
            return Ok(());
        }
        self.send_raw(&encrypted)
    }

    #[inline]
    fn send_raw(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.wants_write() {
            self.unsent.extend_from_slice(bytes);
            return Ok(());
        }
        while !bytes.is_empty() {
            match self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.unsent.extend_from_slice(bytes);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Lets the kernel choose the port only when the destination is known, so that a port is taken
/// per destination and not for all of them.
fn bind_address_alone(socket: &Socket) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option takes a C int, which outlives the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

//! A socket with or without TLS on it.
//!
//! Bytes come from the backend and go to the kernel. What the kernel does not take is kept and written
//! when the socket takes bytes again. The caller limits how much is kept, by [`Transport::unsent`].

mod records;

use super::Endpoint;
use records::Records;
use rustls::pki_types::ServerName;
use rustls::{CipherSuite, ClientConfig, HandshakeKind, ProtocolVersion};
use socket2::{SockAddr, Socket, Type};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd as _, RawFd};
use std::sync::Arc;

/// Where the kernel's answer has the number of segments with data that came (`tcpi_data_segs_in` of
/// tcp_info in linux/tcp.h, since Linux 4.6).
const DATA_SEGMENTS: std::ops::Range<usize> = 152..156;

/// One connection's socket.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: Socket,
    tls: Option<Box<Tls>>,
    /// What the kernel has not taken yet; absent almost always.
    waiting: Option<Box<Waiting>>,
}

#[derive(Debug)]
struct Tls {
    session: rustls::ClientConnection,
    /// Bytes that the session has taken since the kernel last had all of its records.
    within: usize,
    /// Where the records that arrive end.
    records: Records,
    /// The end of the handshake has been told.
    told: bool,
}

/// What a TLS handshake has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Secured {
    pub(crate) agreed: (ProtocolVersion, CipherSuite),
    pub(crate) resumed: bool,
}

/// Bytes that wait for the socket, in the order of their sending.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// So many of `bytes` have gone.
    gone: usize,
    /// So many at the end of `bytes` are answers to what the server asked.
    answers: usize,
    /// A frame to be sent after all others. A later one replaces it.
    last: Vec<u8>,
}

impl Transport {
    /// Starts to connect, from `local` if given. The attempt ends later. The kernel keeps about
    /// `receive_buffer` bytes that are not read yet, if given, and else as many as it chooses; a
    /// window that was offered to the peer cannot be taken back, hence before the attempt.
    pub(crate) fn connect(
        endpoint: &Endpoint,
        local: Option<IpAddr>,
        receive_buffer: Option<usize>,
    ) -> io::Result<Self> {
        let socket = Socket::new(endpoint.domain(), Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        if !matches!(endpoint, Endpoint::Unix(_)) {
            socket.set_tcp_nodelay(true)?;
        }
        if let Some(bytes) = receive_buffer {
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(local) = local {
            bind_address_alone(&socket)?;
            socket.bind(&SockAddr::from(SocketAddr::new(local, 0)))?;
        }
        match socket.connect(&endpoint.sock_addr()?) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        Ok(Self {
            socket,
            tls: None,
            waiting: None,
        })
    }

    /// Speaks TLS from now on. Not before the connection is established: what begins a handshake
    /// uses up a ticket.
    pub(crate) fn secure(
        &mut self,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> io::Result<()> {
        let session = rustls::ClientConnection::new(config, name).map_err(io::Error::other)?;
        self.tls = Some(Box::new(Tls {
            session,
            within: 0,
            records: Records::default(),
            told: false,
        }));
        Ok(())
    }

    /// A connection that stands, without TLS.
    #[cfg(test)]
    pub(crate) fn established(socket: std::os::fd::OwnedFd) -> Self {
        Self {
            socket: socket.into(),
            tls: None,
            waiting: None,
        }
    }

    pub(crate) fn raw(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// TCP segments with data that came so far; the count goes round. `None` of a Unix socket, and
    /// where the kernel does not tell.
    pub(crate) fn received_segments(&self) -> Option<u32> {
        let mut info = [0u8; DATA_SEGMENTS.end];
        let mut length = info.len() as libc::socklen_t;
        // SAFETY: the buffer is as long as is said, and outlives the call.
        let done = unsafe {
            libc::getsockopt(
                self.raw(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        let is_told = done == 0 && length as usize == info.len();
        let bytes = is_told.then(|| info[DATA_SEGMENTS].first_chunk().copied());
        Some(u32::from_ne_bytes(bytes??))
    }

    /// What the TLS handshake has come to, told once, when it has ended.
    pub(crate) fn take_secured(&mut self) -> Option<Secured> {
        let tls = self.tls.as_mut().filter(|tls| !tls.told)?;
        if tls.session.is_handshaking() {
            return None;
        }
        tls.told = true;
        let session = &tls.session;
        Some(Secured {
            agreed: (
                session.protocol_version()?,
                session.negotiated_cipher_suite()?.suite(),
            ),
            resumed: session.handshake_kind() == Some(HandshakeKind::Resumed),
        })
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
        match &self.tls {
            None => self.waiting.is_some(),
            // What is sent before the end of the handshake waits for the peer, not for the socket.
            Some(tls) => {
                tls.session.wants_write() || self.waiting.is_some() && !tls.session.is_handshaking()
            }
        }
    }

    /// How many of the bytes that were sent the kernel has not taken yet. With TLS at most: bytes
    /// of records that are under way count until all of these are taken, 64 KiB of records at most.
    pub(crate) fn unsent(&self) -> usize {
        let waiting = self.waiting.as_ref().map_or(0, |waiting| waiting.len());
        waiting + self.tls.as_ref().map_or(0, |tls| tls.within)
    }

    /// Sends bytes, now or as soon as the kernel takes them. True when it has taken all of them,
    /// and all before.
    ///
    /// # Errors
    /// When the connection is broken.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<bool> {
        if self.waiting.is_some() {
            self.keep(bytes);
            return Ok(false);
        }
        let taken = match &mut self.tls {
            None => send_now(&self.socket, bytes)?,
            Some(tls) => tls.send(&self.socket, bytes)?,
        };
        if taken < bytes.len() {
            self.keep(&bytes[taken..]);
        }
        Ok(self.unsent() == 0)
    }

    /// Sends a frame if nothing waits. Otherwise keeps it behind the waiting bytes, in place of the one
    /// that was kept in this way before: for a peer that sends pings and does not read, one answer is
    /// kept.
    ///
    /// # Errors
    /// As [`Transport::send`].
    pub(crate) fn send_latest(&mut self, frame: &[u8]) -> io::Result<bool> {
        if self.waiting.is_none() && !self.wants_write() {
            return self.send(frame);
        }
        let last = &mut self.waiting.get_or_insert_default().last;
        last.clear();
        last.extend_from_slice(frame);
        Ok(false)
    }

    /// Sends the answer to a question behind all that waits.
    ///
    /// # Errors
    /// As [`Transport::send`].
    pub(crate) fn send_answer(&mut self, frame: &[u8]) -> io::Result<bool> {
        let taken = self.send(frame)?;
        if let Some(waiting) = &mut self.waiting {
            let left = waiting.bytes.len() - waiting.gone;
            waiting.answers = (waiting.answers + frame.len()).min(left);
        }
        Ok(taken)
    }

    /// True where nothing waits but answers to what the server asked.
    pub(crate) fn has_answers_alone(&self) -> bool {
        let within = self.tls.as_ref().map_or(0, |tls| tls.within);
        let waiting = self.waiting.as_ref();
        within == 0 && waiting.is_none_or(|of| of.bytes.len() - of.gone <= of.answers)
    }

    /// Sends what is waiting. True when nothing waits any more.
    ///
    /// # Errors
    /// As [`Transport::send`].
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        if let Some(tls) = &mut self.tls
            && !tls.flush(&self.socket)?
        {
            return Ok(false);
        }
        while let Some(waiting) = &mut self.waiting {
            let next = waiting.next();
            let taken = match &mut self.tls {
                None => send_now(&self.socket, next)?,
                Some(tls) => tls.send(&self.socket, next)?,
            };
            let is_blocked = taken < next.len();
            waiting.gone += taken;
            if waiting.len() == 0 {
                self.waiting = None;
            } else if is_blocked {
                break;
            }
        }
        Ok(self.unsent() == 0)
    }

    /// Decrypts what has arrived and passes it on; without TLS it is passed on unchanged. True when the
    /// peer has sent close_notify (RFC 8446, 6.1), after which nothing more comes.
    /// `on_plain` is told whether the last byte that it gets is surely the last of `bytes`, or is
    /// decrypted from it.
    #[inline]
    pub(crate) fn receive<E: From<io::Error>>(
        &mut self,
        bytes: &[u8],
        mut on_plain: impl FnMut(&[u8], bool) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(tls) = &mut self.tls else {
            return on_plain(bytes, true).map(|()| false);
        };
        tls.records.advance(bytes);
        let is_whole = tls.records.is_between();
        let session = &mut tls.session;
        let mut encrypted = bytes;
        let mut plain = [0; 16 * 1024];
        let mut has_ended = false;
        // After its end a session takes nothing more.
        while !encrypted.is_empty() && !has_ended {
            session.read_tls(&mut encrypted)?;
            match session.process_new_packets() {
                Ok(state) => has_ended = state.peer_has_closed(),
                Err(error) => {
                    // Sends the alert with the reason. The connection ends even if that fails.
                    let _ = tls.flush(&self.socket);
                    return Err(io::Error::other(error).into());
                }
            }
            loop {
                match session.reader().read(&mut plain) {
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
        if tls.session.wants_write() || self.waiting.is_some() {
            self.flush()?;
        }
        Ok(has_ended)
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

    #[cold]
    fn keep(&mut self, bytes: &[u8]) {
        self.waiting.get_or_insert_default().push(bytes);
    }
}

impl Tls {
    /// Encrypts bytes and writes them; returns how many of them need not be given again.
    fn send(&mut self, socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        loop {
            // Less than all when the session is full: it keeps 64 KiB of records.
            let more = self.session.writer().write(&bytes[taken..])?;
            taken += more;
            self.within += more;
            if !self.flush(socket)? || more == 0 || taken == bytes.len() {
                return Ok(taken);
            }
        }
    }

    /// Writes the records that there are; true when none is left.
    fn flush(&mut self, socket: &Socket) -> io::Result<bool> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Unsignalled(socket)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        // Before the end of the handshake the session keeps what has no key yet.
        if !self.session.is_handshaking() {
            self.within = 0;
        }
        Ok(true)
    }
}

impl Waiting {
    fn len(&self) -> usize {
        self.bytes.len() - self.gone + self.last.len()
    }

    /// Half of it may be bytes that have gone: moving the others costs no more than what has been
    /// sent.
    fn push(&mut self, bytes: &[u8]) {
        if self.gone > self.bytes.len() / 2 {
            self.bytes.drain(..self.gone);
            self.gone = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// What is to be sent next. A frame of which a part has gone cannot be replaced any more.
    fn next(&mut self) -> &[u8] {
        if self.gone == self.bytes.len() {
            self.bytes = std::mem::take(&mut self.last);
            self.gone = 0;
            self.answers = self.bytes.len();
        }
        &self.bytes[self.gone..]
    }
}

/// A socket whose end raises no SIGPIPE.
struct Unsignalled<'a>(&'a Socket);

impl io::Write for Unsignalled<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_with_flags(bytes, libc::MSG_NOSIGNAL)
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        self.0.send_vectored_with_flags(parts, libc::MSG_NOSIGNAL)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends as much as the kernel takes; returns how much that is.
#[inline]
fn send_now(socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    let mut taken = 0;
    while taken < bytes.len() {
        match socket.send_with_flags(&bytes[taken..], libc::MSG_NOSIGNAL) {
            Ok(sent) => taken += sent,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}

/// Has the kernel choose the port only when the destination is known, so that a port is in use for
/// one destination and not for all.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn pair() -> (UnixStream, Transport) {
        let (near, far) = UnixStream::pair().unwrap();
        far.set_nonblocking(true).unwrap();
        near.set_nonblocking(true).unwrap();
        (near, Transport::established(far.into()))
    }

    /// Sends until the socket takes no more; returns what was sent.
    fn fill(transport: &mut Transport) -> Vec<u8> {
        let mut sent = Vec::new();
        loop {
            let part: Vec<u8> = (sent.len()..sent.len() + 5_000).map(|i| i as u8).collect();
            sent.extend_from_slice(&part);
            if !transport.send(&part).unwrap() {
                return sent;
            }
        }
    }

    fn read_all(peer: &mut UnixStream, transport: &mut Transport) -> Vec<u8> {
        let mut read = Vec::new();
        loop {
            let _ = peer.read_to_end(&mut read);
            if transport.flush().unwrap() {
                let _ = peer.read_to_end(&mut read);
                return read;
            }
        }
    }

    #[test]
    fn what_the_kernel_does_not_take_is_counted_kept_and_sent_in_order() {
        let (mut peer, mut transport) = pair();
        let mut sent = fill(&mut transport);
        assert!(transport.wants_write());
        let before = transport.unsent();
        assert!((1..=5_000).contains(&before), "{before}");
        for byte in 0..200_u8 {
            assert!(!transport.send(&[byte; 1000]).unwrap());
            sent.extend([byte; 1000]);
        }
        assert_eq!(transport.unsent(), before + 200_000);
        assert_eq!(read_all(&mut peer, &mut transport), sent);
        assert_eq!((transport.unsent(), transport.wants_write()), (0, false));
        assert!(transport.send(b"again").unwrap());
    }

    #[test]
    fn of_answers_that_wait_the_latest_is_kept() {
        let (mut peer, mut transport) = pair();
        assert!(transport.send_latest(b"at once").unwrap());
        let mut expected = b"at once".to_vec();
        expected.extend(fill(&mut transport));
        let before = transport.unsent();
        for number in 0..100_000_u32 {
            transport.send_latest(&number.to_be_bytes()).unwrap();
        }
        assert_eq!(transport.unsent(), before + 4);
        transport.send(b"before it").unwrap();
        expected.extend(b"before it");
        expected.extend(99_999_u32.to_be_bytes());
        assert_eq!(read_all(&mut peer, &mut transport), expected);
    }
}

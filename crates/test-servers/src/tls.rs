//! The protocol over TLS, for tests of `wss://`. Checks no client certificate.

use crate::threaded::{Honest, Server, Wire};
use rustls::{ServerConfig, ServerConnection};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Longest TLS record, so that one read never outgrows what rustls keeps.
const READ_SIZE: usize = 16 * 1024;

/// A correct echo and broadcast server over TLS; dropping it ends it and all its connections.
pub struct TlsServer(Server);

impl TlsServer {
    /// Starts a server on `address` (port 0 takes a free one) with the given certificate.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn start(address: SocketAddr, config: Arc<ServerConfig>) -> io::Result<Self> {
        let make_wire = Box::new(move |stream| {
            Ok(Arc::new(TlsWire::new(stream, Arc::clone(&config))?) as Arc<dyn Wire>)
        });
        Ok(Self(Server::start(address, Arc::new(Honest), make_wire)?))
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.0.addr()
    }
}

impl fmt::Debug for TlsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TlsServer").field(&self.addr()).finish()
    }
}

pub(crate) struct TlsWire {
    stream: TcpStream,
    state: Mutex<State>,
}

struct State {
    tls: ServerConnection,
    /// Decrypted and not yet asked for.
    plaintext: Vec<u8>,
}

impl TlsWire {
    pub(crate) fn new(stream: TcpStream, config: Arc<ServerConfig>) -> io::Result<Self> {
        stream.set_write_timeout(Some(crate::threaded::WRITE_TIMEOUT))?;
        let mut tls = ServerConnection::new(config).map_err(io::Error::other)?;
        tls.set_buffer_limit(None);
        Ok(Self {
            stream,
            state: Mutex::new(State {
                tls,
                plaintext: Vec::new(),
            }),
        })
    }

    /// Ends TLS in this direction, and not the connection below it.
    pub(crate) fn close_notify(&self) -> io::Result<()> {
        let mut state = self.lock();
        state.tls.send_close_notify();
        self.flush(&mut state)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush(&self, state: &mut State) -> io::Result<()> {
        while state.tls.wants_write() {
            state.tls.write_tls(&mut &self.stream)?;
        }
        Ok(())
    }
}

impl Wire for TlsWire {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        state.tls.writer().write_all(bytes)?;
        self.flush(&mut state)
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut raw = [0; READ_SIZE];
        loop {
            {
                let plaintext = &mut self.lock().plaintext;
                if !plaintext.is_empty() {
                    let count = plaintext.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&plaintext[..count]);
                    plaintext.drain(..count);
                    return Ok(count);
                }
            }
            // Unlocked: others must be able to send while this thread waits.
            let count = (&self.stream).read(&mut raw)?;
            if count == 0 {
                return Ok(0);
            }
            let mut state = self.lock();
            let State { tls, plaintext } = &mut *state;
            let mut bytes = &raw[..count];
            while !bytes.is_empty() {
                tls.read_tls(&mut bytes)?;
                let processed = tls.process_new_packets();
                match tls.reader().read_to_end(plaintext) {
                    Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                    _ => {}
                }
                if let Err(error) = processed {
                    // The alert that tells the client why.
                    let _ = self.flush(&mut state);
                    return Err(io::Error::new(ErrorKind::InvalidData, error));
                }
            }
            self.flush(&mut state)?;
        }
    }

    fn finish(&self) {
        let mut state = self.lock();
        state.tls.send_close_notify();
        let _ = self.flush(&mut state);
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    fn end(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn reset(&self) {
        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(std::time::Duration::ZERO));
        let _ = self.stream.shutdown(Shutdown::Read);
    }
}

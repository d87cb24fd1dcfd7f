//! A connection as bytes: read by one thread, written by many.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A client that takes no bytes for this long is disconnected, so that a broadcast does not wait
/// for it any longer.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// One connection, plain or over TLS.
pub(crate) trait Wire: Send + Sync {
    /// Sends all bytes, not mixed with those of other threads.
    fn send(&self, bytes: &[u8]) -> io::Result<()>;
    /// Waits for bytes; 0 means that the client ended its side.
    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Ends the sending side; what was sent still arrives.
    fn finish(&self);
    /// Ends both directions and wakes the reader.
    fn end(&self);
    /// The connection ends with a reset as soon as its last user drops it.
    fn reset(&self);
    /// The client's close frame, of so many bytes, has come, and is not answered yet.
    fn closing(&self, _frame: usize) {}
}

/// TCP without more.
pub(crate) struct PlainWire {
    stream: TcpStream,
    writing: Mutex<()>,
    /// From now on nothing may be sent, not even a FIN: only the reset.
    resetting: AtomicBool,
    /// Set when a writer got the error of the client's reset: the kernel reports it once, and the
    /// reader would see an ordinary end.
    was_reset: AtomicBool,
}

impl PlainWire {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self::patient(stream))
    }

    /// One whose sends wait until the client takes them or the connection ends.
    pub(crate) fn patient(stream: TcpStream) -> Self {
        Self {
            stream,
            writing: Mutex::new(()),
            resetting: AtomicBool::new(false),
            was_reset: AtomicBool::new(false),
        }
    }

    /// Sends what the kernel takes at once, and says how much that was.
    pub(crate) fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        const FLAGS: i32 = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.resetting.load(Ordering::SeqCst) {
            return Ok(bytes.len());
        }
        let socket = socket2::SockRef::from(&self.stream);
        let mut sent = 0;
        while sent < bytes.len() {
            match socket.send_with_flags(&bytes[sent..], FLAGS) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.noted(error)),
            }
        }
        Ok(sent)
    }

    fn noted(&self, error: io::Error) -> io::Error {
        if error.kind() == ErrorKind::ConnectionReset {
            self.was_reset.store(true, Ordering::SeqCst);
        }
        error
    }

    /// True when a writer was told of a reset, which the reader is then not told of. A socket without a
    /// peer makes no writer wait, so one that was told notes it soon.
    fn met_reset(&self) -> bool {
        if self.stream.peer_addr().is_err() {
            drop(self.writing.lock().unwrap_or_else(PoisonError::into_inner));
        }
        self.was_reset.load(Ordering::SeqCst)
    }

    fn shutdown(&self, how: Shutdown) {
        if !self.resetting.load(Ordering::SeqCst) {
            let _ = self.stream.shutdown(how);
        }
    }
}

impl Wire for PlainWire {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.resetting.load(Ordering::SeqCst) {
            return Ok(());
        }
        let sent = (&self.stream).write_all(bytes);
        sent.map_err(|error| self.noted(error))
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match (&self.stream).read(buffer) {
            Ok(0) if self.met_reset() => Err(ErrorKind::ConnectionReset.into()),
            read => read,
        }
    }

    fn finish(&self) {
        self.shutdown(Shutdown::Write);
    }

    fn end(&self) {
        self.shutdown(Shutdown::Both);
    }

    fn reset(&self) {
        self.resetting.store(true, Ordering::SeqCst);
        let socket = socket2::SockRef::from(&self.stream);
        let _ = socket.set_linger(Some(Duration::ZERO));
        // Wakes the reader, which drops the socket.
        let _ = self.stream.shutdown(Shutdown::Read);
    }
}

//! A correct server, with permessage-deflate for a client that offers it, that has the kernel count the
//! bytes of each connection.
//!
//! The count is taken when the client's close frame has come and is not answered yet. All that was sent
//! is acknowledged then, since that frame left after it was read, and of what was received only the
//! upgrade and the close frame are no messages.

use crate::liar::{DeflatedWire, Lie};
use crate::threaded::{Honest, PlainWire, Server, Wire};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where the two counters stand in what the kernel answers, and its length up to there (tcp_info in
/// linux/tcp.h).
const ACKED: usize = 120;
const RECEIVED: usize = 128;
const INFO: usize = 136;

/// Bytes of frames, counted by the kernel, of all connections whose clients have closed them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Connections.
    pub connections: u64,
    /// Sent to the clients, and acknowledged by their kernel.
    pub sent: u64,
    /// Received from the clients, without their close frames.
    pub received: u64,
    /// Connections that the kernel told nothing of.
    pub unknown: u64,
}

/// A running server that counts; dropping it ends it and all its connections.
pub struct CountedServer {
    server: Server,
    counted: Arc<Mutex<Counted>>,
}

impl CountedServer {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start() -> io::Result<Self> {
        let counted = Arc::<Mutex<Counted>>::default();
        let all = Arc::clone(&counted);
        let make_wire = Box::new(move |stream: TcpStream| {
            let wire = CountedWire {
                stream: stream.try_clone()?,
                wire: PlainWire::new(stream)?,
                heads: Mutex::default(),
                all: Arc::clone(&all),
            };
            let wire = DeflatedWire::new(Lie::None, Arc::new(wire));
            Ok(Arc::new(wire) as Arc<dyn Wire>)
        });
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Ok(Self {
            server: Server::start(address, Arc::new(Honest), make_wire)?,
            counted,
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// What was counted since the last call.
    pub fn take(&self) -> Counted {
        std::mem::take(&mut *lock(&self.counted))
    }
}

impl fmt::Debug for CountedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CountedServer").field(&self.addr()).finish()
    }
}

struct CountedWire {
    wire: PlainWire,
    /// The same socket.
    stream: TcpStream,
    heads: Mutex<Heads>,
    all: Arc<Mutex<Counted>>,
}

/// Bytes of the upgrade.
#[derive(Default)]
struct Heads {
    /// The request. The client sends nothing else until it is answered.
    request: u64,
    /// The answer; `None` until it was sent.
    answer: Option<u64>,
}

impl Wire for CountedWire {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut heads = lock(&self.heads);
        if heads.answer.is_none() {
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
            heads.answer = Some(end.map_or(bytes.len(), |at| at + 4) as u64);
        }
        drop(heads);
        self.wire.send(bytes)
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.wire.recv(buffer)?;
        let mut heads = lock(&self.heads);
        if heads.answer.is_none() {
            heads.request += count as u64;
        }
        Ok(count)
    }

    fn finish(&self) {
        self.wire.finish();
    }

    fn end(&self) {
        self.wire.end();
    }

    fn reset(&self) {
        self.wire.reset();
    }

    fn closing(&self, frame: usize) {
        let heads = lock(&self.heads);
        let counts = kernel_counts(&self.stream);
        let mut all = lock(&self.all);
        all.connections += 1;
        match counts {
            Ok((acked, received)) => {
                all.sent += acked.saturating_sub(heads.answer.unwrap_or(0));
                all.received += received.saturating_sub(heads.request + frame as u64);
            }
            Err(_) => all.unknown += 1,
        }
    }
}

/// Bytes of a connection that its peer has acknowledged, and that it has received.
fn kernel_counts(stream: &TcpStream) -> io::Result<(u64, u64)> {
    let mut info = [0u8; INFO];
    let mut length = INFO as libc::socklen_t;
    // SAFETY: the buffer is as long as is said, and outlives the call.
    let done = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    if (length as usize) < INFO {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let at = |place: usize| {
        let bytes = info[place..].first_chunk();
        u64::from_ne_bytes(*bytes.expect("both counters are within the buffer"))
    };
    Ok((at(ACKED), at(RECEIVED)))
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

//! The delay server: answers after a time that is known beforehand, and keeps the time that it
//! really took, so that what a load generator reports can be held against the truth.
//!
//! Echo and broadcast by the protocol, in the message formats of any framework, every request really parsed, one thread. A request is
//! answered a drawn delay after the kernel stamped its arrival; requests do not wait for one
//! another, unless a [`Pace`] puts them into one queue. All its times are of the realtime clock,
//! which the stamps are of, and are subtracted from that clock only: a clock that is stepped
//! spoils the truth of that moment.
//!
//! No contestant, and no model of a real server.

mod clock;
mod connection;
mod delays;
mod queue;
mod reactor;
mod stamped;
mod truth;

pub use delays::{Delay, Pace};
pub use truth::{Answer, Truth, Write};

use crate::Framework;
use crate::listen::{listen, raise_file_limit};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How a [`DelayServer`] is started; the default answers at once on a free port of 127.0.0.1.
#[derive(Clone, Debug)]
pub struct DelayOptions {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// Time from the arrival of a request to its answer.
    pub delay: Delay,
    /// Seed of the delays: the n-th request of a server gets the same delay each time.
    pub seed: u64,
    /// Once, nothing is read or written for a while.
    pub freeze: Option<Freeze>,
    /// The copy of a broadcast for the connection that opened last leaves this much later than
    /// the others and the result.
    pub last_listener: Duration,
    /// The copies of a broadcast leave one after the other, evenly over this time, in the order in
    /// which their connections opened.
    pub spread: Duration,
    /// The result of a broadcast leaves this much later than its first copy.
    pub result: Duration,
    /// The message formats that it speaks.
    pub framework: Framework,
    /// The server refuses to be faster than this.
    pub pace: Option<Pace>,
}

/// A stop of the whole server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// From the arrival of the first request to the stop.
    pub after: Duration,
    /// How long it lasts.
    pub length: Duration,
}

impl Default for DelayOptions {
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            delay: Delay::Constant(Duration::ZERO),
            seed: 1,
            freeze: None,
            last_listener: Duration::ZERO,
            spread: Duration::ZERO,
            result: Duration::ZERO,
            framework: Framework::Plain,
            pace: None,
        }
    }
}

/// A running delay server on a thread of its own; dropping it ends it and all its connections.
pub struct DelayServer {
    addr: SocketAddr,
    truth: Arc<Mutex<Truth>>,
    wake: UnixStream,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl DelayServer {
    /// Starts listening and serving. Any path is served.
    ///
    /// # Errors
    /// When the address cannot be bound or the kernel denies a descriptor.
    pub fn start(options: DelayOptions) -> io::Result<Self> {
        raise_file_limit();
        let listener = listen(options.address)?;
        let addr = listener.local_addr()?;
        let (wake, woken) = UnixStream::pair()?;
        let truth = Arc::new(Mutex::new(Truth::default()));
        let mut reactor = reactor::Reactor::new(listener, &woken, options, Arc::clone(&truth))?;
        let thread = std::thread::Builder::new()
            .name("delay-server".into())
            .spawn(move || {
                let result = reactor.run();
                drop(woken);
                result
            })?;
        Ok(Self {
            addr,
            truth,
            wake,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What it has done so far.
    pub fn truth(&self) -> Truth {
        let truth = self.truth.lock();
        truth.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves until the process is ended.
    ///
    /// # Errors
    /// When the loop itself fails; a failing connection is only closed.
    pub fn wait(mut self) -> io::Result<()> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(io::Error::other("the server thread panicked")),
        }
    }
}

impl Drop for DelayServer {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.wake.shutdown(std::net::Shutdown::Both);
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for DelayServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DelayServer").field(&self.addr).finish()
    }
}

//! The delay server: answers after a known delay, and keeps the time that each answer really took,
//! so that the report of a load generator can be compared with the truth.
//!
//! It follows the protocol in the message formats of any framework, parses every request and has one
//! thread. The answer leaves a drawn delay after the kernel stamped the request's arrival; requests
//! do not wait for one another, unless a [`Pace`] puts them into one queue. The kernel stamps with
//! the realtime clock, so all times here are of that clock: where it is stepped, the times kept of
//! that moment are wrong.
//!
//! It is no contestant, and does not behave like a real server.

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
use crate::serving::Serving;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// A single pause in which nothing is read or written.
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
    serving: Serving,
    truth: Arc<Mutex<Truth>>,
}

impl DelayServer {
    /// Starts listening and serving. Any path is served.
    ///
    /// # Errors
    /// When the address cannot be bound or the kernel denies a descriptor.
    pub fn start(options: DelayOptions) -> io::Result<Self> {
        raise_file_limit();
        let listener = listen(options.address)?;
        let truth = Arc::new(Mutex::new(Truth::default()));
        let kept = Arc::clone(&truth);
        let serving = Serving::start("delay-server", listener, |listener, wake| {
            let mut reactor = reactor::Reactor::new(listener, wake, options, kept)?;
            Ok(move || reactor.run())
        })?;
        Ok(Self { serving, truth })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.serving.addr()
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
    pub fn wait(self) -> io::Result<()> {
        self.serving.wait()
    }
}

impl fmt::Debug for DelayServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DelayServer").field(&self.addr()).finish()
    }
}

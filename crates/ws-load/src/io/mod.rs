//! The contract between a worker loop and the kernel.
//!
//! A backend watches sockets and hands over what arrives on them; it knows neither WebSocket nor
//! TLS. Sibling files implement it; a worker is generic over which one runs.
//!
//! What every backend promises:
//! - The caller owns the sockets. A socket is watched from [`Control::connecting`] until it is
//!   given up with [`Control::close`], and its descriptor stays open while events are handled:
//!   otherwise another thread could get the same number, and its bytes would be read here.
//! - Bytes are handed over in order and at most once, in a buffer that is shared by all sockets of
//!   the backend and is valid during the call only.
//! - Every [`Event::Data`] carries the time at which the last of its bytes arrived, by the kernel's
//!   stamp where stamps are on and the read had one, and the time at which they were read; both in
//!   nanoseconds of the clock of [`crate::clock`], the first never after the second.
//! - After [`Event::End`] or [`Event::Failed`] a socket gives no further event. After
//!   [`Control::close`] it may still give those of the same report.
//! - A turn ends, whatever arrives meanwhile: it hands over a bounded number of bytes, and sockets
//!   that have more are read on in the turns that follow, none of them before the others.
//! - A socket that is paused gives no event but [`Event::Writable`] and what had been read of it
//!   before; what else happened to it is told when it is resumed.
//! - Writing is the caller's: it writes to the socket itself, and asks for
//!   [`Event::Writable`] when the kernel takes no more.

mod epoll;
mod looks;
mod stamping;
#[cfg(test)]
mod tests;
mod uring;

pub(crate) use epoll::Epoll;
pub use stamping::NoStamps;
pub(crate) use stamping::{
    keep_on as keep_stamps_on, lead_ns as realtime_lead_ns, probe as probe_kernel_stamps,
};
pub use uring::NoUring;
pub(crate) use uring::{Uring, probe as probe_uring};

use plan::Timestamps;
use socket2::Socket;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

/// The caller's name for a socket.
pub(crate) type Token = u32;

/// Something that happened on a socket.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// The connection attempt has ended, well or not, or the socket takes bytes again.
    Writable,
    /// Bytes have arrived.
    Data {
        /// The bytes, valid during the call.
        bytes: &'a [u8],
        /// When the last of them arrived, as far as is known.
        at_ns: u64,
        /// When they were surely there already: `at_ns` with the kernel's stamps, the report of
        /// the kernel without them.
        there_ns: u64,
        /// None of them arrived before this time: when the kernel was asked for the sockets that
        /// have bytes, it did not tell of this one. Zero where nothing is known.
        since_ns: u64,
        /// When they were read.
        read_ns: u64,
        /// `at_ns` is the kernel's stamp of the last of them, and whatever of this socket is read
        /// later arrived at that time or after it. Not so where there is no stamp to believe, and
        /// where a read was as long as its buffer: it may have ended within a run of segments that
        /// the kernel keeps under the stamp of the last of them.
        stamped: bool,
    },
    /// The peer has finished writing.
    End,
    /// The connection is broken.
    Failed(io::Error),
}

/// Receives the events of one turn.
pub(crate) trait Handler<C: Control> {
    /// Called for each event, in the order of the kernel's report.
    fn on_event(&mut self, control: &mut C, token: Token, event: Event<'_>);
}

/// The part of a backend that may be used while events are being handled.
pub(crate) trait Control {
    /// Watches a connection attempt: [`Event::Writable`] when it has ended.
    fn connecting(&mut self, token: Token, socket: RawFd) -> io::Result<()>;
    /// Watches an established connection for bytes, and for room to write if `writable`.
    fn established(&mut self, token: Token, socket: RawFd, writable: bool) -> io::Result<()>;
    /// Reads no more of an established connection until it is resumed, whatever
    /// [`Control::established`] is told meanwhile. Watches it for room to write if `writable`.
    fn pause(&mut self, token: Token, socket: RawFd, writable: bool) -> io::Result<()>;
    /// Reads a connection again that was paused. A read takes no more than there is at its time.
    /// Watches it for room to write if `writable`.
    fn resume(&mut self, token: Token, socket: RawFd, writable: bool) -> io::Result<()>;
    /// So many messages can come at most before more is asked for, as far as is known: a backend that
    /// waits for several at once asks for fewer.
    fn under_way(&mut self, _messages: u64) {}
    /// Stops watching a socket and closes it once no event can name it any more.
    fn close(&mut self, socket: Socket);
}

/// What a turn did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// Reads that brought bytes.
    pub(crate) reads: u64,
    /// Those of them that had no stamp although stamps are on.
    pub(crate) unstamped: u64,
    /// The realtime clock was stepped before this turn, so that no stamp was believed.
    pub(crate) clock_stepped: bool,
    /// When the kernel reported the events, in nanoseconds.
    pub(crate) woke_ns: u64,
}

/// A way to wait for many sockets.
pub(crate) trait Backend: Sized {
    /// Its [`Control`].
    type Control: Control;

    /// Sets up the backend.
    fn new(timestamps: Timestamps) -> io::Result<Self>;
    /// Makes the calling thread the one that uses the backend from now on. Called once, before
    /// [`Backend::control`] and [`Backend::turn`].
    fn begin(&mut self) -> io::Result<()>;
    /// A handle that ends a wait from another thread.
    fn waker(&self) -> Waker;
    /// Access between turns.
    fn control(&mut self) -> &mut Self::Control;
    /// Waits until something happens, `timeout` passes or a waker is used; handles what happened.
    fn turn<H: Handler<Self::Control>>(
        &mut self,
        timeout: Duration,
        handler: &mut H,
    ) -> io::Result<Turn>;
}

/// Ends the wait of one backend from any thread.
#[derive(Clone, Debug)]
pub(crate) struct Waker(Arc<std::fs::File>);

impl Waker {
    /// Wakes the backend now, or at once when it next waits.
    pub(crate) fn wake(&self) {
        // An eventfd refuses a write only when its counter is full: then the wake is already due.
        let _ = io::Write::write(&mut &*self.0, &1u64.to_ne_bytes());
    }
}

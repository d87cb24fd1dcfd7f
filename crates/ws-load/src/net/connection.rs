//! One client's connection: from the TCP connect to the last close frame.
//!
//! ```text
//! Asking, where requests over HTTP come first
//!     v
//! Connecting --established--> Upgrading --101--> Subscribing --confirmed--> Ready <--> Between
//!     |                           |                  |                        |          |
//!     +---------- failed ---------+------------------+                 close sent: Closing
//!                    v                                                        v
//!                  Gone <------------------- lost, or closed ----------------+
//! ```

use super::{Asked, Codecs, Stage, Transport};
use ws_proto::{Decoder, Sender};

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) transport: Option<Transport>,
    pub(crate) decoder: Decoder,
    pub(crate) phase: Phase,
    /// Whatever is read from now on arrived at this time or after it.
    pub(crate) stamped_ns: u64,
    /// Present where compression was negotiated.
    pub(crate) codecs: Option<Box<Codecs>>,
}

/// How far a connection has come.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Its requests over HTTP are under way.
    Asking,
    Connecting,
    /// A proxy was asked for a way to the server.
    Tunnelling(Box<Tunnelling>),
    Upgrading(Box<Upgrade>),
    Subscribing,
    /// Nothing is awaited but this time.
    Settling {
        until_ns: u64,
    },
    Ready,
    /// It leaves a room, or is in none, or enters the next.
    Between,
    Closing,
    Gone,
}

/// A way that a proxy was asked for.
#[derive(Debug, Default)]
pub(crate) struct Tunnelling {
    pub(crate) response: Vec<u8>,
}

/// An upgrade that was asked for.
#[derive(Debug)]
pub(crate) struct Upgrade {
    pub(crate) key: String,
    pub(crate) asked: Asked,
    /// When the connection to the server was established.
    pub(crate) connected_ns: u64,
    pub(crate) response: Vec<u8>,
}

impl Connection {
    /// One whose peer may send messages of at most `longest_message` bytes.
    pub(crate) const fn connecting(transport: Transport, longest_message: u32) -> Self {
        Self {
            transport: Some(transport),
            decoder: Decoder::new(Sender::Server, longest_message),
            phase: Phase::Connecting,
            stamped_ns: 0,
            codecs: None,
        }
    }

    /// One that could not even be tried.
    pub(crate) const fn gone() -> Self {
        Self::without(Phase::Gone)
    }

    const fn without(phase: Phase) -> Self {
        Self {
            transport: None,
            decoder: Decoder::new(Sender::Server, 0),
            phase,
            stamped_ns: 0,
            codecs: None,
        }
    }

    /// One that is to be made after requests over HTTP.
    pub(crate) const fn asking() -> Self {
        Self::without(Phase::Asking)
    }

    /// The stage that a failure now belongs to.
    pub(crate) const fn stage(&self) -> Stage {
        match self.phase {
            Phase::Asking | Phase::Connecting => Stage::Connect,
            Phase::Tunnelling(_) => Stage::Tunnel,
            Phase::Upgrading(_) => Stage::Upgrade,
            Phase::Subscribing | Phase::Settling { .. } => Stage::Subscribe,
            Phase::Ready | Phase::Between | Phase::Closing | Phase::Gone => Stage::Ready,
        }
    }

    /// True of a client whose messages are verified.
    pub(crate) const fn is_in_use(&self) -> bool {
        matches!(self.phase, Phase::Ready | Phase::Between)
    }

    /// True until the client is ready or has failed.
    pub(crate) const fn is_opening(&self) -> bool {
        matches!(
            self.phase,
            Phase::Asking
                | Phase::Connecting
                | Phase::Tunnelling(_)
                | Phase::Upgrading(_)
                | Phase::Subscribing
                | Phase::Settling { .. }
        )
    }
}

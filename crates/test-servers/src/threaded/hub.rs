//! Who is connected, and delivery to all of them.

use super::wire::Wire;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use ws_proto::{Opcode, encode_frame};

/// An open connection.
pub(crate) struct Peer {
    /// Unique within the server, in the order of the accepts.
    pub(crate) id: u64,
    pub(crate) wire: Arc<dyn Wire>,
}

impl Peer {
    /// Sends ready frames. A failure is left to the reader of the connection, who sees the end.
    pub(crate) fn send(&self, frames: &[u8]) {
        if self.wire.send(frames).is_err() {
            self.wire.end();
        }
    }

    /// Sends one frame.
    pub(crate) fn send_frame(&self, opcode: Opcode, payload: &[u8]) {
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, None, payload);
        self.send(&frame);
    }
}

/// All open connections of a server, in the order in which they opened.
#[derive(Default)]
pub(crate) struct Hub {
    peers: Mutex<Vec<Arc<Peer>>>,
}

impl Hub {
    /// The connections, locked: while the caller holds them, nobody joins, leaves or broadcasts.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection and sends it `greeting`, ahead of any broadcast.
    pub(crate) fn join(&self, peer: &Arc<Peer>, greeting: &[u8]) {
        let mut peers = self.lock();
        peers.push(Arc::clone(peer));
        peer.send(greeting);
    }

    pub(crate) fn leave(&self, id: u64) {
        self.lock().retain(|peer| peer.id != id);
    }
}

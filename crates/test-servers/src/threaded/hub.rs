//! Who is connected, and delivery to all of them.

use super::speech::{Speaker, Speech};
use super::wire::Wire;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use ws_proto::{Opcode, encode_frame};

/// An open connection.
pub(crate) struct Peer {
    /// Unique within the server, in the order of the accepts.
    pub(crate) id: u64,
    pub(crate) wire: Arc<dyn Wire>,
    pub(crate) speech: Speech,
    member: AtomicBool,
    topics: Mutex<Vec<String>>,
}

impl Peer {
    pub(crate) fn new(id: u64, wire: Arc<dyn Wire>, speech: Speech) -> Self {
        Self {
            id,
            wire,
            speech,
            member: AtomicBool::new(speech.is_member_at_once()),
            topics: Mutex::default(),
        }
    }

    /// True when broadcasts are for it.
    pub(crate) fn is_member(&self) -> bool {
        self.member.load(Ordering::SeqCst)
    }

    /// The topics that it is subscribed to, each once unless the server miscounts.
    pub(crate) fn topics(&self) -> MutexGuard<'_, Vec<String>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is subscribed to the topic.
    pub(crate) fn follows(&self, topic: &str) -> bool {
        self.topics().iter().any(|other| other == topic)
    }

    /// What its messages are read with.
    pub(crate) fn speaker(&self) -> Speaker {
        Speaker {
            speech: self.speech,
            member: self.is_member(),
        }
    }

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
    /// The connections, locked: while the caller holds them, no client joins, leaves or broadcasts.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection and sends it `greeting`, ahead of any broadcast.
    pub(crate) fn join(&self, peer: &Arc<Peer>, greeting: &[u8]) {
        let mut peers = self.lock();
        peers.push(Arc::clone(peer));
        peer.send(greeting);
    }

    /// The connections that broadcasts are for.
    pub(crate) fn members(&self) -> Vec<Arc<Peer>> {
        let peers = self.lock();
        let members = peers.iter().filter(|peer| peer.is_member());
        members.cloned().collect()
    }

    /// Makes a connection a listener or ends that, between two broadcasts, and confirms it.
    pub(crate) fn set_member(&self, peer: &Peer, member: bool, confirmation: Option<&[u8]>) {
        let _between = self.lock();
        peer.member.store(member, Ordering::SeqCst);
        if let Some(frame) = confirmation {
            peer.send(frame);
        }
    }

    pub(crate) fn leave(&self, id: u64) {
        self.lock().retain(|peer| peer.id != id);
    }
}

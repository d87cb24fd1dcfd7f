//! Who is connected. Does not know what they say.

use crate::outbox::{Outbox, Outgoing};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

#[derive(Default)]
pub(crate) struct Clients(RwLock<Entries>);

#[derive(Default)]
struct Entries {
    outboxes: HashMap<u64, Arc<Outbox>>,
    next: u64,
}

impl Clients {
    pub(crate) fn enter(self: &Arc<Self>, outbox: Outbox) -> Client {
        let outbox = Arc::new(outbox);
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let id = entries.next;
        entries.next += 1;
        entries.outboxes.insert(id, Arc::clone(&outbox));
        Client {
            clients: Arc::clone(self),
            id,
            outbox,
        }
    }

    /// Returns when the message is in every client's queue, which is what the ack rule of
    /// docs/protocol.md asks for. The clones share its bytes.
    pub(crate) fn broadcast(&self, message: &Outgoing) {
        let entries = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for outbox in entries.outboxes.values() {
            outbox.push(message.clone());
        }
    }

    fn remove(&self, id: u64) {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        entries.outboxes.remove(&id);
    }
}

/// A place among the clients, until it is dropped.
pub(crate) struct Client {
    clients: Arc<Clients>,
    id: u64,
    outbox: Arc<Outbox>,
}

impl Client {
    pub(crate) fn broadcast(&self, message: &Outgoing) {
        self.clients.broadcast(message);
    }

    /// Gets no broadcasts any more.
    pub(crate) fn leave(&self) {
        self.clients.remove(self.id);
    }
}

impl Deref for Client {
    type Target = Outbox;

    fn deref(&self) -> &Outbox {
        &self.outbox
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.leave();
    }
}

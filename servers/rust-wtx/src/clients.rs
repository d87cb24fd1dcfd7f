//! Who is connected. Does not know what they say.

use crate::outbox::{Message, Outbox};
use crate::topics::{Topic, Topics};
use std::collections::{HashMap, HashSet};
use std::mem;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

#[derive(Default)]
pub(crate) struct Clients {
    entries: RwLock<Entries>,
    topics: Topics,
}

#[derive(Default)]
struct Entries {
    outboxes: HashMap<u64, Arc<Outbox>>,
    next: u64,
}

impl Clients {
    pub(crate) fn enter(self: &Arc<Self>, outbox: Outbox) -> Client {
        let outbox = Arc::new(outbox);
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let id = entries.next;
        entries.next += 1;
        entries.outboxes.insert(id, Arc::clone(&outbox));
        Client {
            clients: Arc::clone(self),
            id,
            outbox,
            topics: Mutex::default(),
        }
    }

    /// Returns when the message is in every client's queue, which is what the ack rule of
    /// docs/protocol.md asks for. The clones share its bytes.
    pub(crate) fn broadcast(&self, message: &Message) {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        for outbox in entries.outboxes.values() {
            outbox.push(message.clone());
        }
    }

    fn remove(&self, id: u64) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.outboxes.remove(&id);
    }
}

/// A place among the clients, until it is dropped.
pub(crate) struct Client {
    clients: Arc<Clients>,
    id: u64,
    outbox: Arc<Outbox>,
    topics: Mutex<HashSet<Topic>>,
}

impl Client {
    pub(crate) fn broadcast(&self, message: &Message) {
        self.clients.broadcast(message);
    }

    /// Nothing of the topic comes before the reply.
    pub(crate) fn subscribe(&self, topic: Topic, reply: Message) {
        if self.topics().insert(topic.clone()) {
            let topics = &self.clients.topics;
            topics.subscribe(topic, self.id, &self.outbox, reply);
        } else {
            self.push(reply);
        }
    }

    /// Nothing of the topic comes after the reply.
    pub(crate) fn unsubscribe(&self, topic: &Topic, reply: Message) {
        if self.topics().remove(topic) {
            self.clients.topics.unsubscribe([topic], self.id);
        }
        self.push(reply);
    }

    pub(crate) fn publish(&self, topic: &Topic, message: &Message) {
        self.clients.topics.publish(topic, message);
    }

    /// Gets no broadcasts any more, and nothing of any topic.
    pub(crate) fn leave(&self) {
        self.clients.remove(self.id);
        let topics = mem::take(&mut *self.topics());
        if !topics.is_empty() {
            self.clients.topics.unsubscribe(&topics, self.id);
        }
    }

    /// What the client is subscribed to.
    fn topics(&self) -> MutexGuard<'_, HashSet<Topic>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
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

//! Who is subscribed to what. Does not know connections.

use crate::outbox::{Message, Outbox};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Characters in a name (docs/protocol.md, "Rooms").
const LONGEST: usize = 64;

/// A topic's name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Topic(Arc<str>);

impl Topic {
    pub(crate) fn new(name: &str) -> Option<Self> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        let valid = (1..=LONGEST).contains(&name.len()) && name.bytes().all(known);
        valid.then(|| Topic(name.into()))
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

/// The subscribers of each topic that has any, by the client's number.
#[derive(Default)]
pub(crate) struct Topics(RwLock<HashMap<Topic, HashMap<u64, Arc<Outbox>>>>);

impl Topics {
    /// Both under the lock, so that nothing of the topic comes before the reply.
    pub(crate) fn subscribe(&self, topic: Topic, id: u64, outbox: &Arc<Outbox>, reply: Message) {
        let mut topics = self.0.write().unwrap_or_else(PoisonError::into_inner);
        outbox.push(reply);
        topics
            .entry(topic)
            .or_default()
            .insert(id, Arc::clone(outbox));
    }

    pub(crate) fn unsubscribe<'a>(&self, from: impl IntoIterator<Item = &'a Topic>, id: u64) {
        let mut topics = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for topic in from {
            let Some(outboxes) = topics.get_mut(topic) else {
                continue;
            };
            outboxes.remove(&id);
            if outboxes.is_empty() {
                topics.remove(topic);
            }
        }
    }

    /// Returns when the message is in every subscriber's queue, as a broadcast does.
    pub(crate) fn publish(&self, topic: &Topic, message: &Message) {
        let topics = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for outbox in topics.get(topic).into_iter().flat_map(HashMap::values) {
            outbox.push(message.clone());
        }
    }
}

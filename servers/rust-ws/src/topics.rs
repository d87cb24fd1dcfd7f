//! Who is subscribed to what. A subscription begins and ends when the answer to its request passes on
//! its way to the client: so nothing of the topic is before the one or behind the other.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use ws::Sender;

/// The subscribers of each topic that has any, by the connection's number.
#[derive(Default)]
pub(crate) struct Topics(Mutex<HashMap<String, HashMap<u32, Sender>>>);

impl Topics {
    pub(crate) fn enter(&self, topic: &str, subscriber: &Sender) {
        let mut topics = self.topics();
        let subscribers = topics.entry(topic.to_owned()).or_default();
        subscribers.insert(subscriber.connection_id(), subscriber.clone());
    }

    pub(crate) fn leave(&self, topic: &str, subscriber: &Sender) {
        let mut topics = self.topics();
        if let Some(subscribers) = topics.get_mut(topic) {
            subscribers.remove(&subscriber.connection_id());
            if subscribers.is_empty() {
                topics.remove(topic);
            }
        }
    }

    /// A copy: to send may block, and the lock must not be held meanwhile.
    pub(crate) fn subscribers(&self, topic: &str) -> Vec<Sender> {
        let topics = self.topics();
        let subscribers = topics.get(topic).into_iter().flat_map(HashMap::values);
        subscribers.cloned().collect()
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<String, HashMap<u32, Sender>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a message to a client means for its subscriptions.
pub(crate) enum Passing<'a> {
    Subscribed(&'a str),
    Unsubscribed(&'a str),
    Published(&'a str),
    Other,
}

impl<'a> Passing<'a> {
    /// Looks at the beginning, as `protocol` writes it.
    pub(crate) fn of(message: &'a [u8]) -> Self {
        let topic = |rest: &'a [u8]| {
            let rest = rest.strip_prefix(b"\",\"topic\":\"")?;
            let end = rest.iter().position(|&byte| byte == b'"')?;
            std::str::from_utf8(&rest[..end]).ok()
        };
        let passing = |word: &[u8], make: fn(&'a str) -> Self| {
            let rest = message.strip_prefix(b"{\"type\":\"")?.strip_prefix(word)?;
            topic(rest).map(make)
        };
        passing(b"message", Passing::Published)
            .or_else(|| passing(b"subscribed", Passing::Subscribed))
            .or_else(|| passing(b"unsubscribed", Passing::Unsubscribed))
            .unwrap_or(Passing::Other)
    }
}

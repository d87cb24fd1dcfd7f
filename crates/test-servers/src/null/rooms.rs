//! Topics: who subscribes to what, and what was published in a round.

use std::collections::HashMap;

/// The subscribers of each topic.
#[derive(Debug, Default)]
pub(super) struct Topics {
    subscribers: HashMap<Box<[u8]>, Vec<usize>>,
}

/// What a client asked for about a topic, of which the bytes are kept until the round ends.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) connection: usize,
    pub(super) what: What,
    pub(super) topic: Box<[u8]>,
    /// The frame for each subscriber of a publication.
    pub(super) message: Vec<u8>,
    /// The frame for the one that asked.
    pub(super) answer: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Subscribe,
    Unsubscribe,
    Publish,
}

impl What {
    /// The words of the answer, and of the messages to subscribers.
    pub(super) const fn words(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::Subscribe => (b"subscribed", b""),
            Self::Unsubscribe => (b"unsubscribed", b""),
            Self::Publish => (b"publishResult", b"message"),
        }
    }
}

impl Topics {
    /// Enters a subscription, or takes it out.
    pub(super) fn change(&mut self, asked: &Asked) {
        let is_ours = |other: &usize| *other == asked.connection;
        match asked.what {
            What::Subscribe => {
                let of = self.subscribers.entry(asked.topic.clone()).or_default();
                if !of.iter().any(is_ours) {
                    of.push(asked.connection);
                }
            }
            What::Unsubscribe => {
                if let Some(of) = self.subscribers.get_mut(&asked.topic) {
                    of.retain(|other| !is_ours(other));
                    if of.is_empty() {
                        self.subscribers.remove(&asked.topic);
                    }
                }
            }
            What::Publish => {}
        }
    }

    /// The subscribers of a topic.
    pub(super) fn subscribers(&self, topic: &[u8]) -> &[usize] {
        self.subscribers.get(topic).map_or(&[], Vec::as_slice)
    }

    /// A connection has ended.
    pub(super) fn forget(&mut self, connection: usize) {
        self.subscribers.retain(|_, of| {
            of.retain(|other| *other != connection);
            !of.is_empty()
        });
    }
}

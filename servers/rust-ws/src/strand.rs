//! Keeps the messages of one connection in order on a pool of threads. Does not know what they say.

use crate::protocol::{Answer, Others};
use crate::topics::Topics;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use ws::{Message, Sender};

/// Work for a thread of a pool.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Bytes that may wait for a thread, the same as for a slow client (docs/protocol.md, "Limits").
const MAX_WAITING: usize = 64 << 20;

/// What a waiting message costs beside its payload, rounded up: its place in the queue and its
/// allocation.
const OVERHEAD: usize = 64;

/// Messages that wait for a thread of the pool. One job at a time works through them, since two
/// threads could overtake each other.
#[derive(Default)]
pub(crate) struct Strand(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    messages: VecDeque<Message>,
    bytes: usize,
    working: bool,
}

impl Strand {
    /// Adds a message; false when too much is waiting already.
    pub(crate) fn push(
        self: &Arc<Self>,
        message: Message,
        perform: fn(Message) -> Answer,
        topics: &Arc<Topics>,
        out: &Sender,
        execute: &dyn Fn(Job),
    ) -> bool {
        let mut waiting = self.waiting();
        if waiting.bytes > MAX_WAITING {
            return false;
        }
        waiting.bytes += message.len() + OVERHEAD;
        waiting.messages.push_back(message);
        if !waiting.working {
            waiting.working = true;
            let (strand, topics, out) = (Arc::clone(self), Arc::clone(topics), out.clone());
            execute(Box::new(move || strand.work(perform, &topics, &out)));
        }
        true
    }

    fn work(&self, perform: fn(Message) -> Answer, topics: &Topics, out: &Sender) {
        while let Some(message) = self.next() {
            let answer = perform(message);
            // Sending fails when the event loop is gone, and the process with it.
            let sent = match answer.others {
                Others::None => Ok(()),
                Others::All(message) => out.broadcast(message),
                Others::Subscribers(topic, message) => topics
                    .subscribers(&topic)
                    .iter()
                    .try_for_each(|subscriber| subscriber.send(message.clone())),
            };
            if sent.and_then(|()| out.send(answer.reply)).is_err() {
                return;
            }
        }
    }

    fn next(&self) -> Option<Message> {
        let mut waiting = self.waiting();
        let message = waiting.messages.pop_front();
        match &message {
            Some(message) => waiting.bytes -= message.len() + OVERHEAD,
            None => waiting.working = false,
        }
        message
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

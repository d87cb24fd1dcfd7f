//! What one client has still to be sent, bounded in bytes. Does not know connections.

use axum::extract::ws::Message;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Bytes for one slow client (docs/protocol.md, "Limits").
pub(crate) const MAX_KEPT: usize = 64 << 20;

/// Bytes from which on the client's own messages wait until it has read. The rest is for broadcasts
/// of others.
const HIGH_WATER: usize = MAX_KEPT / 2;

/// What `kept` becomes by a message that would exceed the bound: more than any sum of sizes, so
/// that none is taken afterwards and the client never sees a gap.
const OVERFLOWN: usize = usize::MAX / 2;

/// What a message costs beside its payload, rounded up: its place in the queue, its allocations.
const OVERHEAD: usize = 128;

/// The sending end of one client's queue. No push waits.
pub(crate) struct Outbox {
    queue: UnboundedSender<Message>,
    kept: AtomicUsize,
    overflow: Notify,
    room: Notify,
}

impl Outbox {
    pub(crate) fn new() -> (Self, UnboundedReceiver<Message>) {
        let (queue, receiver) = unbounded_channel();
        let outbox = Outbox {
            queue,
            kept: AtomicUsize::new(0),
            overflow: Notify::new(),
            room: Notify::new(),
        };
        (outbox, receiver)
    }

    pub(crate) fn push(&self, message: Message) {
        let size = size(&message);
        if self.kept.fetch_add(size, Ordering::Relaxed) + size > MAX_KEPT {
            self.kept.fetch_max(OVERFLOWN, Ordering::Relaxed);
            self.overflow.notify_one();
        } else {
            // Fails when the writer has ended, and the connection with it.
            let _ = self.queue.send(message);
        }
    }

    /// These many bytes, as `size` counts them, have been sent.
    pub(crate) fn release(&self, bytes: usize) {
        let before = self.kept.fetch_sub(bytes, Ordering::Relaxed);
        if before > HIGH_WATER && before - bytes <= HIGH_WATER {
            self.room.notify_one();
        }
    }

    /// Waits until the queue is below the high-water mark.
    pub(crate) async fn room(&self) {
        while self.kept.load(Ordering::Relaxed) > HIGH_WATER {
            self.room.notified().await;
        }
    }

    /// Waits until a message did not fit in.
    pub(crate) async fn overflown(&self) {
        self.overflow.notified().await;
    }
}

pub(crate) fn size(message: &Message) -> usize {
    let payload = match message {
        Message::Text(text) => text.len(),
        Message::Binary(data) | Message::Ping(data) | Message::Pong(data) => data.len(),
        Message::Close(_) => 0,
    };
    payload + OVERHEAD
}

//! What a worker knows of the messages of a watched step: what its clients sent, when they had a
//! connection, and when each message came.

use serde::{Deserialize, Serialize};

/// A worker's part. Times are microseconds since the first message was due.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WatchPart {
    /// Messages that its clients sent.
    pub(crate) sent: Vec<SentMessage>,
    /// Its clients.
    pub(crate) watchers: Vec<Watcher>,
    /// Messages that came once more on the same connection.
    pub(crate) duplicate: u64,
    /// Messages that came once more on another connection.
    pub(crate) repeated: u64,
    /// Messages that came for the first time after a later one of the same publisher.
    pub(crate) reordered: u64,
    /// Messages that the server refused to publish.
    pub(crate) refused: u64,
}

/// A message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentMessage {
    pub(crate) index: u32,
    pub(crate) at_us: u32,
    /// The node that its publisher was connected to.
    pub(crate) node: u32,
    /// The publisher got its result.
    pub(crate) is_confirmed: bool,
}

/// A client and all that came to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Watcher {
    /// Its number in the run.
    pub(crate) client: u64,
    /// The times in which it had a connection and was ready, in their order.
    pub(crate) stays: Vec<Stay>,
    /// By message: when it first came; [`NEVER`] if it did not.
    pub(crate) heard: Vec<u32>,
}

/// The time of something that did not happen.
pub(crate) const NEVER: u32 = u32::MAX;

/// A time in which a client was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stay {
    pub(crate) from_us: u32,
    /// [`NEVER`] where it lasted to the end.
    pub(crate) until_us: u32,
    /// When the first message came within it; [`NEVER`] where none did.
    pub(crate) first_us: u32,
    /// The node that it was connected to.
    pub(crate) node: u32,
}

impl WatchPart {
    /// Adds the part of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sent.extend(other.sent);
        self.watchers.extend(other.watchers);
        self.duplicate += other.duplicate;
        self.repeated += other.repeated;
        self.reordered += other.reordered;
        self.refused += other.refused;
    }
}

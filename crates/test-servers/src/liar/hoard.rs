//! What a liar keeps although nothing needs it any more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shared by the connections of a server.
#[derive(Clone, Default)]
pub(super) struct Hoard(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    heaps: Vec<Vec<u8>>,
    bytes: u64,
}

impl Hoard {
    /// Keeps so many bytes more, which the process really has.
    pub(super) fn keep(&self, bytes: usize) {
        let mut kept = self.kept();
        kept.heaps.push(vec![1; bytes]);
        kept.bytes += bytes as u64;
    }

    /// All that is kept.
    pub(super) fn bytes(&self) -> u64 {
        self.kept().bytes
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

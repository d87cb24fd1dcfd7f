//! The beginnings of messages that go on in the next message of WebSocket, by client.

use std::borrow::Cow;
use std::collections::HashMap;

/// Clients that have such a beginning. A codec says which bytes are one; it bounds their length.
#[derive(Debug, Default)]
pub(crate) struct Begun(HashMap<u32, Vec<u8>>);

impl Begun {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A message of a client, behind the beginning that came before it.
    pub(crate) fn joined<'m>(&mut self, slot: u32, message: &'m [u8]) -> Cow<'m, [u8]> {
        match self.0.remove(&slot) {
            None => Cow::Borrowed(message),
            Some(mut begun) => {
                begun.extend_from_slice(message);
                Cow::Owned(begun)
            }
        }
    }

    /// Keeps the last bytes of what was joined, if any.
    pub(crate) fn keep_end(&mut self, slot: u32, joined: Cow<'_, [u8]>, count: usize) {
        if count == 0 {
            return;
        }
        let before = joined.len() - count;
        let kept = match joined {
            Cow::Borrowed(bytes) => bytes[before..].to_vec(),
            // Nothing is moved where all of it is kept: bytes that come one by one are copied once.
            Cow::Owned(mut bytes) => {
                bytes.drain(..before);
                bytes
            }
        };
        self.0.insert(slot, kept);
    }

    /// The connection of a client is another one, or none.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.0.remove(&slot);
    }
}

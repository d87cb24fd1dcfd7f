//! What clients missed and are sent before they are ready again.

use crate::io::Token;
use std::collections::HashMap;
use ws_proto::Opcode;

/// Most bytes of them that one client keeps until it is ready.
const MOST: usize = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Missed(HashMap<Token, Kept>);

#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    messages: Vec<(Opcode, Vec<u8>)>,
}

impl Missed {
    /// Keeps a message until its client is ready.
    ///
    /// # Errors
    /// The client keeps too much, in words.
    pub(super) fn keep(
        &mut self,
        slot: Token,
        opcode: Opcode,
        message: &[u8],
    ) -> Result<(), String> {
        let kept = self.0.entry(slot).or_default();
        kept.bytes += message.len();
        if kept.bytes > MOST {
            return Err("it sends more than 64 MiB before the client is ready".to_owned());
        }
        kept.messages.push((opcode, message.to_vec()));
        Ok(())
    }

    /// What a client has kept, in its order.
    pub(super) fn take(&mut self, slot: Token) -> Vec<(Opcode, Vec<u8>)> {
        self.0.remove(&slot).unwrap_or_default().messages
    }

    /// The connection of a client is another one.
    pub(super) fn forget(&mut self, slot: Token) {
        self.0.remove(&slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_kept_by_client_in_their_order_up_to_a_bound() {
        let mut missed = Missed::default();
        for (slot, message) in [(1, "a"), (2, "b"), (1, "c")] {
            let kept = missed.keep(slot, Opcode::Text, message.as_bytes());
            assert_eq!(kept, Ok(()));
        }
        let of_first: Vec<_> = missed.take(1).into_iter().map(|(_, of)| of).collect();
        assert_eq!(of_first, [b"a", b"c"]);
        assert!(missed.take(1).is_empty());
        missed.forget(2);
        assert!(missed.take(2).is_empty());
        let half = vec![0; MOST / 2];
        for is_kept in [true, true, false] {
            assert_eq!(missed.keep(3, Opcode::Text, &half).is_ok(), is_kept);
        }
    }
}

//! Messages of a dialect that come in several messages of WebSocket, and messages of another opcode.
//!
//! While a client has the beginning of a message, no opcode is the one that is due: every message then
//! takes the way of the unusual ones, and the usual way needs no question for it.

use super::Verifier;
use crate::dialect::Malformed;
use ws_proto::Opcode;

/// An opcode that no message has.
const NONE: Opcode = Opcode::Close;

impl Verifier {
    /// Verifies a message whose opcode is not the one that is due.
    #[cold]
    pub(super) fn unusual(&mut self, slot: u32, opcode: Opcode, payload: &[u8], at_ns: u64) {
        let due = self.codec.opcode();
        if opcode != due {
            if !self.codec.ignores_other_opcodes() {
                let why = format!("a {opcode:?} message where {due:?} was due");
                self.malformed_message(slot, payload, &Malformed(why), at_ns);
            }
            return;
        }
        let joined = self.begun.joined(slot, payload);
        let count = match self.recognise(slot, &joined, at_ns) {
            true => 0,
            false => self.take_apart(slot, &joined, at_ns),
        };
        self.begun.keep_end(slot, joined, count);
        self.note_begun();
    }

    /// Keeps the last bytes of a message, which go on in the next one of its client.
    #[cold]
    pub(super) fn keep_end(&mut self, slot: u32, payload: &[u8], count: usize) {
        self.begun.keep_end(slot, payload.into(), count);
        self.note_begun();
    }

    /// The client in `slot` has another connection, or none.
    pub(crate) fn forget_begun(&mut self, slot: u32) {
        self.begun.forget(slot);
        self.note_begun();
    }

    fn note_begun(&mut self) {
        self.opcode = match self.begun.is_empty() {
            true => self.codec.opcode(),
            false => NONE,
        };
    }
}

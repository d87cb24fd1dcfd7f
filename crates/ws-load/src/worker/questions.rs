//! Answers to what the server asks its clients.

use super::clients::Session;
use crate::io::Token;
use crate::net::{ConnectError, Transport};
use ws_proto::{Opcode, encode_frame};

/// Most bytes that wait for a server which asks and does not read.
const MOST_WAITING: usize = 256 * 1024;

impl Session<'_> {
    /// Answers a question, behind what was sent before.
    pub(super) fn answer_question(&mut self, slot: Token, opcode: Opcode, payload: &[u8]) {
        let transport = self.table.get(slot).transport.as_ref();
        let waiting = transport.map_or(0, Transport::unsent);
        if waiting > MOST_WAITING {
            return self.leave_flood(slot);
        }
        let mask = (self.table.draw() as u32).to_ne_bytes();
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, Some(mask), payload);
        self.write(slot, |transport| transport.send_answer(&frame));
    }

    /// The server asks, and reads no answer, or asks for more at once than is answered.
    pub(super) fn leave_flood(&mut self, slot: Token) {
        let addr = self.table.endpoint(slot);
        let words = "it asks again and does not read what it was answered".to_owned();
        self.lose(slot, ConnectError::Turned { addr, words });
    }
}

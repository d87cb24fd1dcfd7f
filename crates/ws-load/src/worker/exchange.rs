//! What clients say between their handshakes and their first requests.

use super::clients::Session;
use super::leaving::OfClient;
use crate::dialect;
use crate::io::Token;
use crate::net::{ConnectError, Phase};

impl Session<'_> {
    /// The dialect's next moves for a client that is not ready yet. True when it is ready now.
    pub(super) fn on_opening(
        &mut self,
        slot: Token,
        opening: dialect::Opening,
        at_ns: u64,
    ) -> bool {
        let transport = self.table.get(slot).transport.as_ref();
        let is_answer_unread = transport.is_some_and(|transport| transport.unsent() > 0);
        let moves = match opening {
            dialect::Opening::Several(moves) => moves,
            one => vec![one],
        };
        moves.into_iter().fold(false, |is_ready, next| {
            is_ready | self.on_move(slot, next, is_answer_unread, at_ns)
        })
    }

    fn on_move(
        &mut self,
        slot: Token,
        opening: dialect::Opening,
        is_answer_unread: bool,
        at_ns: u64,
    ) -> bool {
        if self.table.get(slot).transport.is_none() {
            return false;
        }
        let addr = self.table.endpoint(slot);
        match opening {
            dialect::Opening::Await | dialect::Opening::Keep | dialect::Opening::Several(_) => {}
            dialect::Opening::ReadyLater => self.table.note_settling(slot),
            dialect::Opening::SendAsIs(_)
            | dialect::Opening::SubscribeToOwn
            | dialect::Opening::Introduce
            | dialect::Opening::Send(_)
            | dialect::Opening::Fill(_)
            | dialect::Opening::Returning(..)
                if is_answer_unread =>
            {
                let words = "it asks again and does not read what it was answered".to_owned();
                self.lose(slot, ConnectError::Turned { addr, words });
            }
            dialect::Opening::SendAsIs(message) => {
                let opcode = self.table.codec.opcode();
                self.send_frame(slot, opcode, &message);
            }
            dialect::Opening::SubscribeToOwn => {
                let message = self.table.codec.own_subscription(self.table.client(slot));
                let opcode = self.table.codec.opcode();
                self.send_frame(slot, opcode, &message);
            }
            dialect::Opening::Introduce => {
                let table = &*self.table;
                let next = table.codec.introduction(&OfClient { table, slot });
                return self.on_move(slot, next, is_answer_unread, at_ns);
            }
            dialect::Opening::Send(text) => {
                let opcode = self.table.codec.opcode();
                let message = self.table.filled(slot, &text);
                self.send_frame(slot, opcode, &message);
            }
            dialect::Opening::Fill(fill) => {
                let opcode = self.table.codec.opcode();
                let message = self.table.filled_in(slot, &fill);
                self.send_frame(slot, opcode, &message);
            }
            dialect::Opening::Returning(first, again) => {
                if !self.table.captured.returns(slot) {
                    return self.on_move(slot, *first, is_answer_unread, at_ns);
                }
                let opcode = self.table.codec.opcode();
                let message = self.table.returning(slot, &again);
                self.send_frame(slot, opcode, &message);
            }
            dialect::Opening::Refused(words) => {
                self.lose(slot, ConnectError::Turned { addr, words });
            }
            dialect::Opening::Ready => {
                if let Some(words) = self.table.untold(slot) {
                    self.lose(slot, ConnectError::Turned { addr, words });
                    return false;
                }
                if matches!(self.table.get(slot).phase, Phase::Settling { .. }) {
                    self.table.note_settled(slot);
                }
                match self.table.lives.as_mut().filter(|of| of.is_trying(slot)) {
                    Some(lives) => lives.returned(slot, at_ns),
                    None => self.table.opening.note_ready(slot, at_ns),
                }
                self.table.note_ready(slot);
                return true;
            }
        }
        false
    }
}

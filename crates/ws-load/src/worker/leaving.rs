//! Clients that leave and come back: what [`Lives`] says is done with their connections.
//!
//! [`Lives`]: super::lives::Lives

use super::clients::{ClientTable, Session};
use super::lives::{ACTS, Act};
use super::opening::Attempt;
use crate::clock;
use crate::dialect::Variables;
use crate::io::Token;
use crate::net::{Phase, Stage};
use crate::scenario::Deed;
use ws_proto::{CloseFrame, Opcode};

/// "Going away", as of a browser that navigates to another page (RFC 6455, 7.4.1).
const GOING_AWAY: u16 = 1001;

impl ClientTable {
    /// True while clients come back.
    pub(super) fn has_returning(&self) -> bool {
        let lives = self.lives.as_ref();
        lives.is_some_and(|lives| lives.has_attempts())
    }
}

impl Session<'_> {
    /// Has clients leave and come back whose time it is.
    pub(super) fn live_on(&mut self) {
        if self.table.lives.is_none() {
            return;
        }
        let now_ns = clock::now_ns();
        for _ in 0..ACTS {
            let next = self.table.lives.as_mut().and_then(|of| of.next(now_ns));
            match next {
                None => return,
                Some(Act::Cut(slot)) => self.cut(slot, now_ns),
                Some(Act::Leave(slot)) => self.leave(slot, now_ns),
                Some(Act::EndUnclosed(slot)) => self.end_silently(slot),
                Some(Act::Try(slot)) => self.try_again(slot),
                Some(Act::LeaveRoom(slot)) => self.leave_room(slot, now_ns),
                Some(Act::JoinRoom(slot)) => self.join_room(slot),
                Some(Act::EndUnanswered(slot)) => {
                    self.end_silently(slot);
                    self.table.note_done(slot, Deed::WasNotAnswered);
                }
                Some(Act::GiveUp(slot)) => {
                    let stage = self.table.get(slot).stage();
                    let error = self.table.late(slot, stage);
                    self.lose(slot, error);
                }
            }
        }
    }

    /// A step's schedule begins.
    pub(super) fn begin_lives(&mut self, start_ns: u64) {
        let ready = self.table.ready_slots();
        if let Some(lives) = &mut self.table.lives {
            lives.begin(start_ns, &ready);
        }
    }

    /// The step ends, whatever attempts are under way.
    pub(super) fn end_lives(&mut self) {
        let open = self.table.lives.as_mut().map(|lives| lives.end());
        for slot in open.into_iter().flatten() {
            self.end_silently(slot);
        }
    }

    /// A reset: the peer learns at once that the connection is over, whatever it is doing, and is not
    /// told why; and no port is kept here for a minute (RFC 9293, 3.6.1), so that tens of thousands can
    /// come back.
    fn cut(&mut self, slot: Token, now_ns: u64) {
        self.end_silently(slot);
        self.table.note_left(slot, now_ns);
    }

    fn leave(&mut self, slot: Token, now_ns: u64) {
        self.table.note_closing(slot);
        self.table.note_left(slot, now_ns);
        let close = CloseFrame {
            code: GOING_AWAY,
            reason: String::new(),
        };
        self.send_frame(slot, Opcode::Close, &close.encode());
    }

    /// Asks to be unsubscribed from the topic of the client's room.
    fn leave_room(&mut self, slot: Token, now_ns: u64) {
        self.table.get(slot).phase = Phase::Between;
        self.table.note_left(slot, now_ns);
        if let Some(room) = self.table.leave_room(slot) {
            self.table.note_done(slot, Deed::LeavesRoom { room });
            self.ask(slot, room, false);
        }
    }

    /// Asks to be subscribed to that of its next one.
    fn join_room(&mut self, slot: Token) {
        if let Some(room) = self.table.room(slot) {
            self.table.note_done(slot, Deed::JoinsRoom { room });
            self.ask(slot, room, true);
        }
    }

    fn ask(&mut self, slot: Token, room: u32, wanted: bool) {
        let codec = &self.table.codec;
        let opcode = codec.opcode();
        let variables = OfClient {
            table: self.table,
            slot,
        };
        if let Some(message) = codec.subscription(room, wanted, &variables) {
            self.table.sequences.end(slot);
            self.send_frame(slot, opcode, &message);
        }
    }

    /// Ends a connection by a reset, and counts nothing.
    fn end_silently(&mut self, slot: Token) {
        let connection = self.table.get(slot);
        let Some(transport) = connection.transport.take() else {
            return;
        };
        let phase = std::mem::replace(&mut connection.phase, Phase::Gone);
        self.control.close(transport.abort());
        if matches!(phase, Phase::Closing) {
            self.table.note_closed(slot);
        }
    }

    /// Sends a close frame on every connection. Returns until when the peers have time to answer.
    pub(super) fn close(&mut self) -> u64 {
        self.table.opening.stop();
        self.end_lives();
        let close = CloseFrame {
            code: 1000,
            reason: String::new(),
        };
        let end_ns = clock::now_ns() + clock::nanos(super::CLOSE_PATIENCE);
        for slot in 0..self.table.len() as Token {
            if !self.table.get(slot).is_in_use() {
                continue;
            }
            self.table.note_closing(slot);
            self.send_frame(slot, Opcode::Close, &close.encode());
        }
        end_ns
    }

    fn try_again(&mut self, slot: Token) {
        if let Err(error) = self.connect(slot, Attempt::Again) {
            let error = self.table.explain(error, Stage::Connect, slot);
            self.table.attempt_failed(slot, error);
        }
    }
}

/// The variables of a client.
pub(super) struct OfClient<'a> {
    pub(super) table: &'a ClientTable,
    pub(super) slot: Token,
}

impl Variables for OfClient<'_> {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        let mut value = String::new();
        self.table.write_variable(self.slot, name, &mut value);
        out.extend_from_slice(value.as_bytes());
    }
}

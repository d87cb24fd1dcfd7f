//! What a scenario sees of the clients of a worker.

use super::Session;
use crate::clock;
use crate::dialect::Told;
use crate::message::{Command, Report};
use crate::net::{ConnectError, Phase, Transport};
use crate::scenario::{Clients, Deed, Slot};
use ws_proto::{Opcode, encode_frame};

impl Clients for Session<'_> {
    #[inline]
    fn now_ns(&self) -> u64 {
        clock::now_ns()
    }

    fn slots(&self) -> Slot {
        self.table.len() as Slot
    }

    #[inline]
    fn is_ready(&self, slot: Slot) -> bool {
        let connection = self.table.connections.get(slot as usize);
        connection.is_some_and(|connection| matches!(connection.phase, Phase::Ready))
    }

    fn ready_count(&self) -> u32 {
        self.table.ready
    }

    fn is_opening(&self) -> bool {
        self.table.opening.is_under_way()
    }

    #[inline]
    fn is_blocked(&self, slot: Slot) -> bool {
        let transport = &self.table.connections[slot as usize].transport;
        transport.as_ref().is_some_and(Transport::wants_write)
    }

    fn deflate(&mut self, slot: Slot, message: &[u8], out: &mut Vec<u8>) -> bool {
        let (connection, deflate) = self.table.get_with_deflate(slot);
        let codecs = connection.codecs.as_mut();
        let deflated = codecs.map(|codecs| deflate.deflate(codecs, message, out));
        deflated.is_some()
    }

    fn write_variable(&self, slot: Slot, name: &str, out: &mut Vec<u8>) {
        self.table.write_variable(slot, name, out);
    }

    fn silent(&self, slot: Slot, words: &str) -> String {
        self.table.silent(slot, words)
    }

    fn end_message(&mut self, slot: Slot) -> Option<u64> {
        self.table.sequences.end(slot)
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Option<bool> {
        self.write(slot, |transport| transport.send(bytes))
    }

    fn send_latest(&mut self, slot: Slot, opcode: Opcode, payload: &[u8]) {
        let mask = self.table.draw_mask();
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, Some(mask), payload);
        self.write(slot, |transport| transport.send_latest(&frame));
    }

    fn answer(&mut self, slot: Slot, opcode: Opcode, payload: &[u8]) {
        self.answer_question(slot, opcode, payload);
    }

    fn keep_told(&mut self, slot: Slot, values: Vec<Told>) {
        self.table.keep_told(slot, values);
    }

    fn end_flooded(&mut self, slot: Slot) {
        self.leave_flood(slot);
    }

    fn has_gone(&self, slot: Slot) -> bool {
        let transport = &self.table.connections[slot as usize].transport;
        transport.as_ref().is_none_or(Transport::has_answers_alone)
    }

    fn end(&mut self, slot: Slot, error: ConnectError) {
        self.lose(slot, error);
    }

    #[inline]
    fn take_lost(&mut self) -> Option<(Slot, ConnectError)> {
        self.table.drops.next_lost()
    }

    fn take_done(&mut self) -> Option<(Slot, Deed)> {
        self.table.done.pop_front()
    }

    fn node(&self, slot: Slot) -> u32 {
        self.table.node(slot)
    }

    fn has_left_room(&mut self, slot: Slot) {
        if let Some(lives) = &mut self.table.lives {
            lives.closed(slot, clock::now_ns());
        }
    }

    fn has_joined_room(&mut self, slot: Slot, at_ns: u64) {
        // The same read may have brought the end of the connection.
        if !matches!(self.table.get(slot).phase, Phase::Between) {
            return;
        }
        if let Some(lives) = &mut self.table.lives {
            lives.returned(slot, at_ns);
        }
        self.table.note_ready(slot);
    }

    fn heartbeat_answered(&mut self, slot: Slot, at_ns: u64) {
        self.table.beat_answered(slot, at_ns);
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        self.table.draw()
    }

    fn report(&mut self, report: Report) {
        self.table.report(report);
    }

    fn tell(&mut self, worker: usize, command: Command) {
        self.table.peers[worker].tell(command);
    }
}

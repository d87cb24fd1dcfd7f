//! What clients ask for, and what is queued for them and for others because of it.

use super::Server;
use crate::clients::{Gone, State};
use crate::frame::{self, Decoder, Head};
use crate::protocol::{self, Request, about, envelope, error, publication};
use std::mem;

/// Topics of one client.
const MOST_TOPICS: usize = 65_536;

impl Server {
    /// Takes what an open client has sent.
    pub(super) fn take(&mut self, place: u32, mut input: &mut [u8]) -> Result<(), Gone> {
        let client = self.clients.get(place).ok_or(Gone)?;
        let mut decoder = mem::take(&mut client.rest.decoder);
        loop {
            match decoder.next(&mut input) {
                Ok(Some(incoming)) => self.answer(place, incoming.opcode, &incoming.payload)?,
                Ok(None) => break,
                Err(code) => {
                    self.close(place, Some(code));
                    return Ok(());
                }
            }
            match self.clients.get(place) {
                None => return Err(Gone),
                Some(client) if client.state != State::Open => return Ok(()),
                Some(_) => {}
            }
        }
        if let Some(client) = self.clients.get(place) {
            client.rest.decoder = decoder;
        }
        Ok(())
    }

    fn answer(&mut self, place: u32, opcode: u8, payload: &[u8]) -> Result<(), Gone> {
        match opcode {
            frame::CLOSE => self.close(place, frame::close_answer(payload)),
            frame::PING => self.reply(place, frame::PONG, &[payload]),
            frame::PONG => {}
            _ if self.raw_echo => self.reply(place, opcode, &[payload]),
            frame::TEXT => return self.answer_text(place, payload),
            _ => match payload.split_first() {
                Some((b'e', _)) => self.reply(place, opcode, &[payload]),
                Some((b'b', rest)) => {
                    self.broadcast(opcode, &[payload]);
                    self.reply(place, opcode, &[b"r", rest]);
                }
                Some(_) => self.reply(place, frame::TEXT, &error("byte 0 is neither e nor b")),
                None => self.reply(place, frame::TEXT, &error("the binary message is empty")),
            },
        }
        Ok(())
    }

    fn answer_text(&mut self, place: u32, payload: &[u8]) -> Result<(), Gone> {
        const TEXT: u8 = frame::TEXT;
        match protocol::text(payload) {
            Request::Echo(payload) => self.reply(place, TEXT, &envelope("echo", payload)),
            Request::Broadcast(payload) => {
                self.broadcast(TEXT, &envelope("broadcast", payload));
                self.reply(place, TEXT, &envelope("broadcastResult", payload));
            }
            Request::Subscribe(topic) => {
                let client = self.clients.get(place).ok_or(Gone)?;
                if client.rest.topics.len() >= MOST_TOPICS {
                    self.reply(place, TEXT, &error("too many topics"));
                    return Ok(());
                }
                client.rest.topics.insert(self.rooms.join(&topic, place));
                self.reply(place, TEXT, &about("subscribed", &topic));
            }
            Request::Unsubscribe(topic) => {
                let client = self.clients.get(place).ok_or(Gone)?;
                if client.rest.topics.remove(&*topic) {
                    self.rooms.leave(&topic, place);
                }
                self.reply(place, TEXT, &about("unsubscribed", &topic));
            }
            Request::Publish(topic, payload) => {
                self.publish(&topic, &publication("message", &topic, payload));
                let result = publication("publishResult", &topic, payload);
                self.reply(place, TEXT, &result);
            }
            Request::Error(words) => self.reply(place, TEXT, &error(words)),
        }
        Ok(())
    }

    fn reply(&mut self, place: u32, opcode: u8, payload: &[&[u8]]) {
        if let Some(client) = self.clients.get(place) {
            let head = Head::new(opcode, payload.iter().map(|part| part.len()).sum());
            client.push(&self.log, &[&[head.bytes()], payload].concat());
        }
    }

    /// With the frame in the log it is queued for every client.
    fn broadcast(&mut self, opcode: u8, payload: &[&[u8]]) {
        let size = payload.iter().map(|part| part.len()).sum();
        self.log.append(Head::new(opcode, size).bytes());
        payload.iter().for_each(|part| self.log.append(part));
        self.fresh += size;
        self.left = self.clients.places();
    }

    fn publish(&mut self, topic: &str, payload: &[&[u8]]) {
        let Some(room) = self.rooms.get(topic) else {
            return;
        };
        let size = payload.iter().map(|part| part.len()).sum();
        let head = Head::new(frame::TEXT, size);
        let frame = [&[head.bytes()], payload].concat().concat();
        let place = room.log.append(&frame);
        self.fresh += size;
        let mut gone = Vec::new();
        for &member in &room.members {
            let Some(client) = self.clients.get(member) else {
                continue;
            };
            if client.push_shared(&self.log, &place).is_err() {
                gone.push(member);
            } else if !client.is_ready {
                client.is_ready = true;
                self.ready.push_back(member);
            }
        }
        gone.into_iter().for_each(|member| self.remove(member));
    }

    /// Queues the last frame of a client, behind what waits for it. Nothing is added to that any more.
    fn close(&mut self, place: u32, code: Option<u16>) {
        let code = code.map(u16::to_be_bytes);
        self.reply(place, frame::CLOSE, &[code.as_ref().map_or(&[], |c| c)]);
        self.leave_rooms(place);
        if let Some(client) = self.clients.get(place) {
            client.state = State::Closing;
            client.rest.decoder = Decoder::default();
            let serial = client.rest.serial;
            self.expect_end(place, serial);
        }
    }
}

//! What was said on a connection: the texts of both sides and their times, without control frames and
//! without the heartbeats that a dialect answers by itself.

use super::har::{Connection, Message};

/// Most messages of a client.
const MOST_SENDS: usize = 10_000;
/// Longest message of a client in bytes: what a dialect's template has at most.
const LONGEST_SEND: usize = 4096;
/// Longest message of a server that a plan permits, in bytes.
const LONGEST_HEARD: usize = 8 << 20;

/// A message of a conversation.
#[derive(Debug)]
pub(super) struct Said<'c> {
    /// Its number in the capture's list, from 1 on.
    pub(super) number: usize,
    /// Nanoseconds since the first message of the connection.
    pub(super) at_ns: u64,
    pub(super) is_sent: bool,
    pub(super) text: &'c str,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Conversation<'c> {
    pub(super) said: Vec<Said<'c>>,
    /// The server's heartbeats of Engine.IO (`2`), which are answered with `3`.
    pub(super) heartbeats: usize,
    /// Close frames, pings, pongs, and errors that the browser noted.
    pub(super) left_out: usize,
}

impl<'c> Conversation<'c> {
    /// # Errors
    /// In words, when a message cannot be carried by a plan.
    pub(super) fn of(connection: &'c Connection) -> Result<Self, String> {
        let mut conversation = Self {
            said: Vec::new(),
            heartbeats: 0,
            left_out: 0,
        };
        let first = connection.messages.first().map_or(0.0, |of| of.time);
        let mut at_ns = 0;
        for (message, number) in connection.messages.iter().zip(1..) {
            let place = format!("message {number} of connection {}", connection.number);
            let is_sent = match message.direction.as_str() {
                "send" => true,
                "receive" => false,
                _ => {
                    conversation.left_out += 1;
                    continue;
                }
            };
            if message.opcode == 2.0 {
                return Err(format!(
                    "{place} is binary (opcode 2), and a plan of a capture sends and reads text: \
                     take such messages out of the capture, or choose another connection (--entry)"
                ));
            }
            if message.opcode != 1.0 {
                conversation.left_out += 1;
                continue;
            }
            check_length(message, is_sent, &place)?;
            // A float above a day's nanoseconds becomes one that no plan has, and is refused there.
            let since = ((message.time - first).max(0.0) * 1e6).round() as u64;
            at_ns = since.saturating_mul(1000).max(at_ns);
            conversation.said.push(Said {
                number,
                at_ns,
                is_sent,
                text: &message.data,
            });
        }
        conversation.take_heartbeats();
        let sends = conversation.sends().count();
        if sends == 0 {
            return Err(format!(
                "connection {} has no message of the client to replay: choose another connection \
                 (--entry), or hold connections with `websocket-bench connect`",
                connection.number
            ));
        }
        if sends > MOST_SENDS {
            return Err(format!(
                "connection {} has {sends} messages of the client; at most {MOST_SENDS} are taken: \
                 record a shorter session",
                connection.number
            ));
        }
        Ok(conversation)
    }

    pub(super) fn sends(&self) -> impl Iterator<Item = &Said<'c>> {
        self.said.iter().filter(|said| said.is_sent)
    }

    pub(super) fn longest_heard(&self) -> usize {
        let heard = self.said.iter().filter(|said| !said.is_sent);
        heard.map(|said| said.text.len()).max().unwrap_or(0)
    }

    /// Engine.IO 4: the server says `2` and the client answers `3`.
    fn take_heartbeats(&mut self) {
        let is_question = |said: &Said<'_>| !said.is_sent && said.text == "2";
        self.heartbeats = self.said.iter().filter(|said| is_question(said)).count();
        if self.heartbeats > 0 {
            self.said
                .retain(|said| !(is_question(said) || said.is_sent && said.text == "3"));
        }
    }
}

fn check_length(message: &Message, is_sent: bool, place: &str) -> Result<(), String> {
    let (length, most) = match is_sent {
        true => (message.data.len(), LONGEST_SEND),
        false => (message.data.len(), LONGEST_HEARD),
    };
    match length > most {
        true => Err(format!(
            "{place} has {length} bytes, and {most} is the most that a plan {}: take it out of the \
             capture, or choose another connection (--entry)",
            if is_sent { "sends" } else { "reads" }
        )),
        false => Ok(()),
    }
}

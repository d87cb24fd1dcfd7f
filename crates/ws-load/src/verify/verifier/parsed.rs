//! Messages that were not recognised: each is parsed in full, and noted if it is not of the dialect.

use super::Verifier;
use crate::dialect::{Incoming, Malformed, Said, shown};
use crate::verify::first_answers::Answers;

impl Verifier {
    #[cold]
    pub(super) fn parse(&mut self, slot: u32, payload: &[u8], at_ns: u64) {
        let tells = (self.codec.renews() && self.note_renewed(slot, payload))
            | self.acknowledge(slot, payload);
        let (incoming, parts) = match self.codec.parse(payload) {
            Ok(Incoming::Last(answer, parts)) => (Ok(*answer), parts),
            incoming => (incoming, Said::NotAsked),
        };
        self.reading.parts_said = parts;
        match incoming {
            Ok(Incoming::Message {
                kind,
                stamp,
                intact,
                topic,
            }) => {
                self.first_answers.understood(kind.into());
                let room = self.room(slot);
                if !intact {
                    self.tally.faults.corrupt += 1;
                } else if !tells && self.streams.is_none() && topic.is_none_or(|of| of == room) {
                    self.envelopes
                        .learn(room, payload, kind, stamp, &*self.codec);
                }
                self.account_last(slot, kind, stamp, topic, at_ns);
            }
            Ok(Incoming::InOrder(kind)) => {
                self.first_answers.understood(Answers::TOLD);
                self.answered_in_order(slot, kind, at_ns);
            }
            Ok(Incoming::Numbered {
                kind,
                sequence,
                of_kind,
                topic,
            }) => {
                self.first_answers.understood(kind.into());
                self.numbered(slot, kind, (sequence, of_kind), topic, at_ns);
            }
            Ok(Incoming::Acknowledged(identifier)) => {
                self.first_answers.understood(Answers::RESULT);
                self.acknowledged(slot, identifier, at_ns);
            }
            Ok(Incoming::SubscribedAs(identifier)) => {
                self.subscription_as(slot, identifier, true, at_ns);
            }
            Ok(Incoming::UnsubscribedAs(identifier)) => {
                self.subscription_as(slot, identifier, false, at_ns);
            }
            Ok(Incoming::Refused) => {
                self.first_answers.understood(Answers::ALL);
                self.refused_message(slot, payload);
            }
            Ok(Incoming::Subscribed(room)) => self.subscription(slot, room, true, at_ns),
            Ok(Incoming::Unsubscribed(room)) => self.subscription(slot, room, false, at_ns),
            Ok(Incoming::Ignored) => {}
            Ok(Incoming::KeepAlive(answer)) => self.asides().keep_alive = Some((slot, answer)),
            Ok(Incoming::Question(answer)) => self.asides().ask(slot, answer),
            Ok(Incoming::Heartbeat) => self.asides().heartbeats.push((slot, at_ns)),
            Ok(Incoming::Feed(message)) => self.feed(slot, &message, payload, at_ns),
            Ok(Incoming::Progress(part)) => self.part(slot, part, payload, at_ns),
            Ok(Incoming::Last(..)) => {}
            Err(why) => self.malformed_message(slot, payload, &why, at_ns),
        }
    }

    /// Notes a message that is not of the dialect.
    pub(super) fn malformed_message(
        &mut self,
        slot: u32,
        payload: &[u8],
        why: &Malformed,
        at_ns: u64,
    ) {
        if self.steps.now.is_some() && !self.steps.given_up {
            self.first_answers.not_understood(at_ns);
        }
        self.note_unasked(slot);
        self.note_malformed(slot, payload, why);
    }

    pub(super) fn note_malformed(&mut self, slot: u32, payload: &[u8], why: &Malformed) {
        self.tally.faults.malformed += 1;
        if self.tally.first.malformed.is_none() {
            self.tally.first.malformed = Some(self.silent(slot, &why.words(payload)));
        }
    }

    /// Notes an answer that refuses a request.
    fn refused_message(&mut self, slot: u32, payload: &[u8]) {
        self.tally.faults.refused += 1;
        if self.tally.first.refused.is_none() {
            self.tally.first.refused = Some(self.silent(slot, &shown(payload)));
        }
    }

    /// Words of the server to the client in `slot`, without its secrets.
    fn silent(&self, slot: u32, words: &str) -> String {
        let client = self.crowd.number(slot);
        self.asks.silent(client, [], words)
    }
}

//! MQTT 3.1.1 and 5 (OASIS) over WebSocket: the packets that the requests take, one in each message.

use super::{Asked, Rejected, Speaker, Speech};
use crate::threaded::request::{Rejection, Reply, Request};
use crate::threaded::rooms::{Act, RoomRequest};
use serde_json::{Value, json};

/// What all topics begin with; the topic of every client, and that of one alone.
const TOPICS: &str = "websocket-bench/";
const ALL: &str = "all";
const OWN: &str = "echo/";

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    is_5: bool,
    /// The QoS of deliveries, 0 or 1.
    qos: u8,
}

/// A packet of a client: its type, its flags, what is behind its length.
struct Packet<'m> {
    kind: u8,
    flags: u8,
    body: &'m [u8],
}

impl Terms {
    /// Version 5 by `mqtt=5` in the query of the URL, and deliveries with QoS 1 by `qos=1`.
    pub(super) fn new(target: &str) -> Self {
        Self {
            is_5: target.contains("mqtt=5"),
            qos: target.contains("qos=1").into(),
        }
    }

    /// No properties (MQTT 5: 2.2.2), which 3.1.1 does not have.
    const fn no_properties(self) -> &'static [u8] {
        if self.is_5 { &[0] } else { &[] }
    }

    fn behind_properties(self, bytes: &[u8]) -> Option<&[u8]> {
        match self.is_5 {
            true => variable_length(bytes).and_then(|(length, behind)| behind.get(length..)),
            false => Some(bytes),
        }
    }

    /// PUBLISH (3.3) of a payload to one subscriber.
    pub(super) fn publish(self, topic: &str, payload: &Value) -> Vec<u8> {
        let text = |name: &str| payload[name].as_str().unwrap_or_default();
        let stamp = u64::from_str_radix(text("stamp"), 16).unwrap_or_default();
        let identifier = ((stamp % 0xFFFF) as u16 + 1).to_be_bytes();
        let topic = format!("{TOPICS}{topic}");
        let length = (topic.len() as u16).to_be_bytes();
        let body: [&[u8]; 6] = [
            &length,
            topic.as_bytes(),
            if self.qos == 0 { &[] } else { &identifier },
            self.no_properties(),
            &stamp.to_be_bytes(),
            text("padding").as_bytes(),
        ];
        packet(0x30 | self.qos << 1, &body.concat())
    }

    /// The reply around a payload; `[topic, identifier]` is the reference of its request.
    pub(super) fn wrap(self, reply: Reply, payload: &Value, reference: &Value) -> Vec<u8> {
        match reply {
            Reply::Echo | Reply::Broadcast => {
                self.publish(reference[0].as_str().unwrap_or_default(), payload)
            }
            Reply::Result | Reply::Error => pub_ack(&reference[1]),
        }
    }

    /// SUBACK (3.9), UNSUBACK (3.11) or PUBACK (3.4).
    pub(super) fn room_answer(self, request: &RoomRequest) -> Vec<u8> {
        let identifier = &request.reference()[1];
        match request.act {
            Act::Subscribe => self.sub_ack(identifier),
            Act::Publish(_) => pub_ack(identifier),
            Act::Unsubscribe => {
                let code: &[u8] = if self.is_5 { &[0] } else { &[] };
                let body = [&bytes_of(identifier), self.no_properties(), code];
                packet(0xB0, &body.concat())
            }
        }
    }

    fn sub_ack(self, identifier: &Value) -> Vec<u8> {
        let body = [&bytes_of(identifier), self.no_properties(), &[self.qos]];
        packet(0x90, &body.concat())
    }
}

/// PUBACK (3.4).
fn pub_ack(identifier: &Value) -> Vec<u8> {
    packet(0x40, &bytes_of(identifier))
}

fn bytes_of(identifier: &Value) -> [u8; 2] {
    (identifier.as_u64().unwrap_or_default() as u16).to_be_bytes()
}

/// Understands a packet of a client.
pub(super) fn read(from: Speaker, terms: Terms, message: &[u8]) -> Result<Asked, Rejected> {
    let asked = asked(from.speech, terms, message);
    asked.ok_or_else(|| from.speech.refuse(Rejection::UnknownByte, &Value::Null))
}

fn asked(speech: Speech, terms: Terms, message: &[u8]) -> Option<Asked> {
    const PINGRESP: [u8; 2] = [0xD0, 0];
    let Packet { kind, flags, body } = whole(message)?;
    match kind {
        1 => {
            let accepted = [&[0, 0], terms.no_properties()].concat();
            let accepted = speech.frame(&packet(0x20, &accepted));
            Some(Asked::Member(false, Some(accepted)))
        }
        3 => publication(speech, terms, flags, body),
        4 => Some(Asked::Nothing),
        8 | 10 => {
            let (identifier, rest) = two_bytes(body)?;
            let (topic, _) = topic(terms.behind_properties(rest)?)?;
            let reference = json!([topic, identifier]);
            let act = match kind {
                8 if topic == ALL || topic.starts_with(OWN) => {
                    let confirmed = speech.frame(&terms.sub_ack(&reference[1]));
                    return Some(Asked::Member(true, Some(confirmed)));
                }
                8 => Act::Subscribe,
                _ => Act::Unsubscribe,
            };
            let request = RoomRequest::new(speech, topic.to_owned(), act);
            Some(Asked::Room(RoomRequest {
                reference,
                ..request
            }))
        }
        12 => Some(Asked::Heartbeat(speech.frame(&PINGRESP))),
        _ => None,
    }
}

fn publication(speech: Speech, terms: Terms, flags: u8, body: &[u8]) -> Option<Asked> {
    const QOS_1: u8 = 0b10;
    let (topic, rest) = topic(body)?;
    let (identifier, rest) = match flags & QOS_1 {
        0 => (0, rest),
        _ => two_bytes(rest)?,
    };
    let payload = terms.behind_properties(rest)?;
    let (stamp, padding) = payload.split_first_chunk()?;
    let stamp = format!("{:016x}", u64::from_be_bytes(*stamp));
    let payload = json!({"stamp": stamp, "padding": std::str::from_utf8(padding).ok()?});
    let reference = json!([topic, identifier]);
    if topic == ALL || topic.starts_with(OWN) {
        let request = Request::wrapped(speech, topic == ALL, payload, reference);
        return Some(Asked::Request(request));
    }
    let request = RoomRequest::new(speech, topic.to_owned(), Act::Publish(payload));
    Some(Asked::Room(RoomRequest {
        reference,
        ..request
    }))
}

/// The one packet of a message.
fn whole(message: &[u8]) -> Option<Packet<'_>> {
    let (first, rest) = message.split_first()?;
    let (length, body) = variable_length(rest)?;
    (body.len() == length).then_some(Packet {
        kind: first >> 4,
        flags: first & 0xF,
        body,
    })
}

/// A length of 1 to 4 bytes (2.2.3), and what is behind it.
fn variable_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().take(4).position(|byte| byte & 0x80 == 0)?;
    let length = bytes[..=end]
        .iter()
        .rfold(0, |length, byte| length << 7 | usize::from(byte & 0x7F));
    Some((length, &bytes[end + 1..]))
}

fn two_bytes(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (two, behind) = bytes.split_first_chunk()?;
    Some((u16::from_be_bytes(*two), behind))
}

/// A topic without what all begin with, and what is behind it.
fn topic(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = two_bytes(bytes)?;
    let (topic, behind) = rest.split_at_checked(length.into())?;
    let topic = std::str::from_utf8(topic).ok()?;
    Some((topic.strip_prefix(TOPICS)?, behind))
}

fn packet(first: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![first];
    let mut length = body.len();
    while length > 0x7F {
        packet.push(length as u8 | 0x80);
        length >>= 7;
    }
    packet.push(length as u8);
    packet.extend_from_slice(body);
    packet
}

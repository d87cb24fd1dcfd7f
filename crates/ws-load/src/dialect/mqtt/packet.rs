//! MQTT packets: those that a client writes, and what those of a broker hold. Sections are those of
//! MQTT 3.1.1 (OASIS, 2014) and of MQTT 5 (OASIS, 2019).

use super::Version;
use super::introduction::Introduction;
use crate::dialect::Malformed;

/// Most bytes of a remaining length (2.2.3; MQTT 5: 1.5.5).
const MOST_LENGTH_BYTES: usize = 4;
/// The longest time without a packet of the client in seconds, which CONNECT promises: that of most
/// client libraries. A broker closes after one and a half of it (3.1.2.10). With 0, for never, some
/// brokers refuse a client.
pub(super) const KEEP_ALIVE: u16 = 60;
/// PINGREQ (3.12).
pub(super) const PINGREQ: [u8; 2] = [0xC0, 0];
/// The flags of a PUBLISH with QoS 1 (3.3.1), and those with DUP.
const QOS_1: u8 = 0b0010;
const QOS_1_AGAIN: u8 = 0b1010;
/// The first return and reason code that is an error.
const FAILURE: u8 = 0x80;

/// A packet of a broker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet<'m> {
    /// The answer to CONNECT, with its return or reason code.
    ConnAck(u8),
    Publish {
        topic: &'m [u8],
        /// 0 with QoS 0.
        identifier: u16,
        payload: &'m [u8],
    },
    /// The broker has taken the message with this identifier.
    PubAck(u16),
    SubAck(u16),
    UnsubAck(u16),
    /// One of the three, or DISCONNECT, with the code of an error.
    Refusal(u8),
    PingResp,
}

/// The first packet, and what follows it. Whatever is no whole packet is left together.
pub(super) fn cut(message: &[u8]) -> (&[u8], &[u8]) {
    match whole_length(message).filter(|end| (1..=message.len()).contains(end)) {
        Some(end) => message.split_at(end),
        None => (message, &[]),
    }
}

/// The length of the first packet, as far as it can be told: `None` of bytes that end within the
/// length, and 0 of those that begin no packet.
pub(super) fn whole_length(message: &[u8]) -> Option<usize> {
    let Some((_, rest)) = message.split_first() else {
        return Some(0);
    };
    match variable_length(rest) {
        Some((length, behind)) => Some(message.len() - behind.len() + length),
        None if rest.len() < MOST_LENGTH_BYTES => None,
        None => Some(0),
    }
}

/// Reads one packet, which is all of `message`.
///
/// # Errors
/// What is no packet of a broker to a client that subscribes with this QoS and publishes with QoS 0 or 1.
pub(super) fn read(version: Version, qos: u8, message: &[u8]) -> Result<Packet<'_>, Malformed> {
    let Some((&first, rest)) = message.split_first() else {
        return Err(bad("an empty message"));
    };
    let Some((length, body)) = variable_length(rest) else {
        return Err(bad("an MQTT packet without a length of 1 to 4 bytes"));
    };
    if body.len() < length {
        return Err(bad(
            "a part of an MQTT packet that is longer than any that is due: what goes on in the next \
             WebSocket message is put together up to the length of a request and 32 KiB",
        ));
    }
    match (first >> 4, first & 0xF) {
        (2, 0) => conn_ack(version, body),
        (3, 0) if qos == 0 => publish(version, body, false),
        // What was delivered before is known by its stamp, with DUP or without.
        (3, QOS_1 | QOS_1_AGAIN) if qos == 1 => publish(version, body, true),
        (3, _) => Err(Malformed(format!(
            "a PUBLISH with RETAIN, or with another QoS than the subscription's, which is {qos}"
        ))),
        (4, 0) => pub_ack(version, body),
        (9, 0) => sub_ack(version, qos, body),
        (11, 0) => unsub_ack(version, body),
        (13, 0) if body.is_empty() => Ok(Packet::PingResp),
        (14, 0) if version == Version::V5 => {
            Ok(Packet::Refusal(body.first().copied().unwrap_or(0)))
        }
        (kind, flags) => Err(Malformed(format!(
            "an MQTT packet of type {kind} with flags {flags}"
        ))),
    }
}

fn bad(what: &str) -> Malformed {
    Malformed(what.to_owned())
}

/// A length of 1 to 4 bytes, and what is behind it.
fn variable_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut length = 0;
    for (at, byte) in bytes.iter().take(MOST_LENGTH_BYTES).enumerate() {
        length |= usize::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((length, &bytes[at + 1..]));
        }
    }
    None
}

/// A string or an identifier begins with two bytes, the higher one first (1.5.2).
fn two_bytes(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (two, behind) = bytes.split_first_chunk()?;
    Some((u16::from_be_bytes(*two), behind))
}

/// What is behind the properties, which MQTT 5 alone has (MQTT 5: 2.2.2). What they say is not asked for.
fn behind_properties(version: Version, bytes: &[u8]) -> Option<&[u8]> {
    if version == Version::V3 {
        return Some(bytes);
    }
    let (length, behind) = variable_length(bytes)?;
    behind.get(length..)
}

/// 3.2: flags, code, properties.
fn conn_ack(version: Version, body: &[u8]) -> Result<Packet<'_>, Malformed> {
    let code = match body {
        [_, code, rest @ ..] => behind_properties(version, rest)
            .filter(|rest| rest.is_empty())
            .map(|_| *code),
        _ => None,
    };
    code.map(Packet::ConnAck)
        .ok_or_else(|| bad("a CONNACK of another length than it says"))
}

/// The time that a broker gives in place of what CONNECT promised, in seconds: the property Server Keep
/// Alive of CONNACK (MQTT 5: 3.2.2.3.14). 0 is none.
pub(super) fn server_keep_alive(message: &[u8]) -> Option<u16> {
    const CONNACK: u8 = 0x20;
    const KEEP_ALIVE: u8 = 0x13;
    let (first, rest) = message.split_first()?;
    let (_, body) = variable_length(rest).filter(|_| *first == CONNACK)?;
    let (length, properties) = variable_length(body.get(2..)?)?;
    let mut properties = properties.get(..length)?;
    while let Some((name, rest)) = properties.split_first() {
        if *name == KEEP_ALIVE {
            return two_bytes(rest)
                .map(|(seconds, _)| seconds)
                .filter(|seconds| *seconds > 0);
        }
        properties = behind_property(*name, rest)?;
    }
    None
}

/// What follows a property of CONNACK (MQTT 5: 2.2.2.2).
fn behind_property(name: u8, value: &[u8]) -> Option<&[u8]> {
    let behind_text = |value| {
        let (length, behind) = two_bytes(value)?;
        behind.get(length.into()..)
    };
    match name {
        0x24 | 0x25 | 0x28..=0x2A => value.get(1..),
        0x21 | 0x22 => value.get(2..),
        0x11 | 0x27 => value.get(4..),
        0x12 | 0x15 | 0x16 | 0x1A | 0x1C | 0x1F => behind_text(value),
        0x26 => behind_text(value).and_then(behind_text),
        _ => None,
    }
}

/// 3.3: topic, an identifier with QoS 1, properties, payload.
fn publish(version: Version, body: &[u8], is_numbered: bool) -> Result<Packet<'_>, Malformed> {
    let read = || {
        let (length, rest) = two_bytes(body)?;
        let (topic, rest) = rest.split_at_checked(length.into())?;
        let (identifier, rest) = match is_numbered {
            true => two_bytes(rest).filter(|(identifier, _)| *identifier > 0)?,
            false => (0, rest),
        };
        let payload = behind_properties(version, rest)?;
        Some(Packet::Publish {
            topic,
            identifier,
            payload,
        })
    };
    read().ok_or_else(|| {
        bad("a PUBLISH that is shorter than its lengths say, or has the identifier 0")
    })
}

/// 3.4: identifier, and in MQTT 5 a reason and properties, which may be left out.
fn pub_ack(version: Version, body: &[u8]) -> Result<Packet<'_>, Malformed> {
    let read = || {
        let (identifier, rest) = two_bytes(body)?;
        match (version, rest) {
            (_, []) => Some(Packet::PubAck(identifier)),
            (Version::V3, _) => None,
            (Version::V5, [reason, rest @ ..]) => {
                let end = match rest {
                    [] => rest,
                    _ => behind_properties(version, rest)?,
                };
                end.is_empty()
                    .then(|| refused(*reason).unwrap_or(Packet::PubAck(identifier)))
            }
        }
    };
    read().ok_or_else(|| bad("a PUBACK of another length than it says"))
}

/// 3.9: identifier, properties, and the code of the one topic: its QoS, or an error.
fn sub_ack(version: Version, qos: u8, body: &[u8]) -> Result<Packet<'_>, Malformed> {
    let read = || {
        let (identifier, rest) = two_bytes(body)?;
        match behind_properties(version, rest)? {
            [code] if *code == qos => Some(Packet::SubAck(identifier)),
            [code] => refused(*code),
            _ => None,
        }
    };
    let wrong = || {
        let words = "a SUBACK that grants something else for one topic than what was asked for";
        Malformed(format!("{words}, which is QoS {qos}"))
    };
    read().ok_or_else(wrong)
}

/// 3.11: identifier, and in MQTT 5 properties and a reason.
fn unsub_ack(version: Version, body: &[u8]) -> Result<Packet<'_>, Malformed> {
    let read = || {
        let (identifier, rest) = two_bytes(body)?;
        match (version, behind_properties(version, rest)?) {
            (Version::V3, []) => Some(Packet::UnsubAck(identifier)),
            (Version::V5, [code]) => Some(refused(*code).unwrap_or(Packet::UnsubAck(identifier))),
            _ => None,
        }
    };
    read().ok_or_else(|| bad("an UNSUBACK of another length than it says"))
}

fn refused(code: u8) -> Option<Packet<'static>> {
    (code >= FAILURE).then_some(Packet::Refusal(code))
}

/// Appends a packet: its first byte, its length, and what `body` holds.
fn write(first: u8, body: &[&[u8]], out: &mut Vec<u8>) {
    out.push(first);
    let mut length = body.iter().map(|part| part.len()).sum::<usize>();
    while length > 0x7F {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    for part in body {
        out.extend_from_slice(part);
    }
}

/// No properties.
const fn none(version: Version) -> &'static [u8] {
    match version {
        Version::V3 => &[],
        Version::V5 => &[0],
    }
}

fn length_of(topic: &str) -> [u8; 2] {
    (topic.len() as u16).to_be_bytes()
}

/// CONNECT (3.1) of a clean session.
pub(super) fn connect(version: Version, own: &Introduction) -> Vec<u8> {
    const CLEAN: u8 = 2;
    const USERNAME: u8 = 0x80;
    const PASSWORD: u8 = 0x40;
    let given = |text: &Option<Vec<u8>>, flag| if text.is_some() { flag } else { 0 };
    let flags = CLEAN | given(&own.username, USERNAME) | given(&own.password, PASSWORD);
    let level = match version {
        Version::V3 => 4,
        Version::V5 => 5,
    };
    let [high, low] = KEEP_ALIVE.to_be_bytes();
    let mut out = Vec::new();
    let fixed = [0, 4, b'M', b'Q', b'T', b'T', level, flags, high, low];
    let mut texts = Vec::new();
    let identifier = own.client_id.as_ref();
    let others = [&own.username, &own.password].into_iter().flatten();
    for text in identifier.into_iter().chain(others) {
        texts.extend((text.len() as u16).to_be_bytes());
        texts.extend(text);
    }
    let unnamed: &[u8] = if own.client_id.is_some() {
        &[]
    } else {
        &[0, 0]
    };
    write(0x10, &[&fixed, none(version), unnamed, &texts], &mut out);
    out
}

/// PUBACK (3.4) without a reason, which is success.
pub(super) fn pub_ack_of(identifier: u16) -> Box<[u8]> {
    let [high, low] = identifier.to_be_bytes();
    Box::new([0x40, 2, high, low])
}

/// SUBSCRIBE (3.8) to one topic.
pub(super) fn subscribe(version: Version, identifier: u16, topic: &str, qos: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let (identifier, length) = (identifier.to_be_bytes(), length_of(topic));
    let body: [&[u8]; 5] = [
        &identifier,
        none(version),
        &length,
        topic.as_bytes(),
        &[qos],
    ];
    write(0x82, &body, &mut out);
    out
}

/// UNSUBSCRIBE (3.10).
pub(super) fn unsubscribe(version: Version, identifier: u16, topic: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let (identifier, length) = (identifier.to_be_bytes(), length_of(topic));
    let body: [&[u8]; 4] = [&identifier, none(version), &length, topic.as_bytes()];
    write(0xA2, &body, &mut out);
    out
}

/// PUBLISH (3.3), with an identifier and QoS 1, or with QoS 0.
pub(super) fn publish_to(
    version: Version,
    topic: &str,
    identifier: Option<u16>,
    payload: [&[u8]; 2],
    out: &mut Vec<u8>,
) {
    let (first, identifier) = match identifier {
        Some(identifier) => (0x32, identifier.to_be_bytes()),
        None => (0x30, [0; 2]),
    };
    let identifier = if first == 0x32 { &identifier[..] } else { &[] };
    let length = length_of(topic);
    let [stamp, padding] = payload;
    let topic = topic.as_bytes();
    let body = [&length, topic, identifier, none(version), stamp, padding];
    write(first, &body, out);
}

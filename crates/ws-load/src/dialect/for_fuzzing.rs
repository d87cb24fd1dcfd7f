//! Access for the laws of the fuzz targets. Not part of the interface.

use super::Stamps;
use super::interpreter::Interpreter;
use super::mqtt::{Mqtt, Terms, Version};
use super::payload::Body;
use super::{Codec, Incoming, Kind, Progress, Said, Whose, check_dialect};
use plan::{DialectFile, Message, MqttTerms, Workload};
use serde_json::json;

/// The padding of the requests whose answers are looked for.
pub const PADDING: &str = "1234567890";

/// An answer that was found intact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intact {
    /// The dialect of the answer.
    pub dialect: String,
    /// The stamp that it carries.
    pub stamp: u64,
    /// The JSON pointer at which the file says that the payload stands.
    pub payload: String,
}

/// The built-in dialects for which a message is an intact answer.
pub fn intact_answers(message: &[u8]) -> Vec<Intact> {
    thread_local! {
        static DIALECTS: Vec<Interpreter> = plan::built_in_dialects()
            .map(|file| {
                let body = Body::new(PADDING.to_owned());
                Interpreter::compile(file, body, "ws://h/", Stamps::of_run(1))
                    .expect("the files of dialects/ make sense")
            })
            .collect();
    }
    DIALECTS.with(|dialects| {
        let each = plan::built_in_dialects().zip(dialects);
        each.filter_map(|(file, dialect)| {
            drop(dialect.opened(message, Some(1)));
            drop(dialect.heard_before_ready(message));
            let Ok(Incoming::Message {
                stamp,
                intact: true,
                ..
            }) = dialect.parse(message)
            else {
                return None;
            };
            let rule = dialect.rule_of(message)?;
            Some(Intact {
                dialect: file.name.clone(),
                stamp,
                payload: file.receive[rule].payload.clone()?,
            })
        })
        .collect()
    })
}

/// Where [`feed_number`] looks for the number of a message.
pub const FEED_NUMBER: &str = "/data/seq";
/// Where it looks for the key of its sequence.
pub const FEED_KEY: &str = "/data/symbol";

/// The number of a message of a feed, if it can be read.
pub fn feed_number(message: &[u8]) -> Option<u64> {
    thread_local! {
        static FED: Interpreter = {
            let file = json!({
                "name": "fed",
                "summary": "A feed.",
                "receive": [{
                    "means": "feed",
                    "sequence": FEED_NUMBER,
                    "key": FEED_KEY,
                    "sent_at": "/data/sent",
                    "sent_unit": "iso",
                }],
            });
            let file: DialectFile = serde_json::from_value(file).expect("it is a dialect file");
            let body = Body::new(PADDING.to_owned());
            Interpreter::compile(&file, body, "ws://h/", Stamps::of_run(1))
                .expect("the file makes sense")
        };
    }
    match FED.with(|fed| fed.parse(message)) {
        Ok(Incoming::Feed(message)) => match message.number {
            Said::This(of) => Some(of.number),
            Said::NotAsked | Said::Unreadable => None,
        },
        _ => None,
    }
}

/// Has a text be the pattern of a rule of a file in bytes, and the message that it answers. Returns the
/// file's refusal, or nothing.
pub fn pattern_in_bytes(text: &str) -> Option<String> {
    let file = json!({
        "name": "bytes",
        "summary": "Any pattern.",
        "opcode": "binary",
        "form": "hex",
        "packed": text.len().is_multiple_of(2),
        "send": {"echo": text},
        "receive": [
            {"means": "echo", "pattern": text, "example": text},
            {"means": "keep-alive", "pattern": text, "send": text},
        ],
    });
    let file: DialectFile = serde_json::from_value(file).expect("it is a dialect file");
    check_dialect(&file).err().map(|error| error.to_string())
}

/// Cuts a message into those of a file in bytes that is packed. Returns them, each with its stamp if it
/// is an intact answer: `"M" {any} 00 {length:varint}( 09 {stamp:le8} 12 {length:be2}( {padding} ) ) ff`.
pub fn messages_in_bytes(message: &[u8]) -> Vec<(&[u8], Option<u64>)> {
    const SHAPE: &str =
        r#""M" 41 00 {length:varint}( 09 {stamp:le8} 12 {length:be2}( {padding} ) ) ff"#;
    thread_local! {
        static PACKED: Interpreter = {
            let file = json!({
                "name": "packed",
                "summary": "Messages in bytes.",
                "opcode": "binary",
                "form": "hex",
                "packed": true,
                "send": {"echo": SHAPE},
                "receive": [{
                    "means": "echo",
                    "pattern": SHAPE.replace("41", "{any}"),
                    "example": SHAPE,
                }],
            });
            let file: DialectFile = serde_json::from_value(file).expect("it is a dialect file");
            let body = Body::new(PADDING.to_owned());
            Interpreter::compile(&file, body, "ws://h/", Stamps::of_run(1))
                .expect("the file makes sense")
        };
    }
    PACKED.with(|packed| {
        let (mut messages, mut rest) = (Vec::new(), message);
        while !rest.is_empty() {
            let (first, behind) = packed.cut(rest);
            messages.push((
                first,
                match packed.parse(first) {
                    Ok(Incoming::Message {
                        stamp,
                        intact: true,
                        ..
                    }) => Some(stamp),
                    _ => None,
                },
            ));
            rest = behind;
        }
        messages
    })
}

/// Where [`part_of_answer`] looks for the stamp of the request.
pub const PART_STAMP: &str = "/data/id";
/// Where it looks for the number of the part.
pub const PART_NUMBER: &str = "/data/part";

/// The stamp and the number of a part of an answer, if both can be read.
pub fn part_of_answer(message: &[u8]) -> Option<(u64, u64)> {
    thread_local! {
        static STREAMED: Interpreter = {
            let file = json!({
                "name": "streamed",
                "summary": "Answers in parts.",
                "send": {"echo": "{stamp}"},
                "receive": [{
                    "means": "echo",
                    "text": "end",
                    "in_order": true,
                    "example": "end",
                }, {
                    "means": "progress",
                    "stamp": PART_STAMP,
                    "part": PART_NUMBER,
                    "example": r#"{"data":{"id":"{stamp}","part":1}}"#,
                }],
            });
            let file: DialectFile = serde_json::from_value(file).expect("it is a dialect file");
            let body = Body::new(PADDING.to_owned());
            Interpreter::compile(&file, body, "ws://h/", Stamps::of_run(1))
                .expect("the file makes sense")
        };
    }
    match STREAMED.with(|streamed| streamed.parse(message)) {
        Ok(Incoming::Progress(Progress {
            whose: Whose::Stamp(stamp),
            part: Said::This(part),
            ..
        })) => Some((stamp, part)),
        _ => None,
    }
}

/// A packet of MQTT, and of a message the stamp and the name of its kind.
pub type MqttPacket<'m> = (&'m [u8], Option<(u64, &'static str)>);

/// Cuts a message of a broker into packets, and has each read by a client that is ready and by one that
/// opens. Returns the packets, each with its stamp and with its kind in words if it is an intact answer.
/// The clients subscribe with this QoS.
pub fn mqtt_packets(message: &[u8], is_5: bool, qos: u8) -> Vec<MqttPacket<'_>> {
    let version = if is_5 { Version::V5 } else { Version::V3 };
    let message_of = Message {
        padding: PADDING.len() as u32,
        mqtt: Some(MqttTerms {
            subscribe_qos: qos,
            ..MqttTerms::default()
        }),
        ..Message::default()
    };
    let body = Body::new(PADDING.to_owned());
    let terms = Terms::new(&message_of, None);
    let mqtt = Mqtt::new(version, Workload::Broadcast, body, terms);
    let mut packets = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let (packet, behind) = mqtt.cut(rest);
        drop(mqtt.opened(packet, Some(1)));
        drop(mqtt.acknowledgement(packet));
        assert!(!mqtt.goes_on(packet) || behind.is_empty());
        let answer = match mqtt.parse(packet) {
            Ok(Incoming::Message {
                kind,
                stamp,
                intact: true,
                ..
            }) => match kind {
                Kind::Echo => Some((stamp, "echo")),
                Kind::Broadcast => Some((stamp, "broadcast")),
                _ => Some((stamp, "message")),
            },
            _ => None,
        };
        packets.push((packet, answer));
        rest = behind;
    }
    packets
}

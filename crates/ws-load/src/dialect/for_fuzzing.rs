//! Access for the laws of the fuzz targets. Not part of the interface.

use super::Stamps;
use super::interpreter::Interpreter;
use super::mqtt::{Mqtt, Version};
use super::payload::Body;
use super::{Codec, Incoming, Kind, Progress, Said, Whose};
use plan::{DialectFile, Workload};
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
            .iter()
            .map(|file| {
                let body = Body::new(PADDING.to_owned());
                Interpreter::compile(file, body, "ws://h/", Stamps::of_run(1))
                    .expect("the files of dialects/ make sense")
            })
            .collect();
    }
    DIALECTS.with(|dialects| {
        let each = plan::built_in_dialects().iter().zip(dialects);
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
pub fn mqtt_packets(message: &[u8], is_5: bool) -> Vec<MqttPacket<'_>> {
    let version = if is_5 { Version::V5 } else { Version::V3 };
    let mqtt = Mqtt::new(version, Workload::Broadcast, Body::new(PADDING.to_owned()));
    let mut packets = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let (packet, behind) = mqtt.cut(rest);
        drop(mqtt.opened(packet, Some(1)));
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

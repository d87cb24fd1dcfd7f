//! MQTT 3.1.1 and 5 over WebSocket, with as much of it as the requests take.
//!
//! A broadcast is published with QoS 1 to a topic that every client subscribes to with QoS 0 or 1; its
//! result is the broker's PUBACK. A room is a topic. An echo is published with QoS 0 to a topic that its
//! client alone subscribes to. Clients send PINGREQ within the keep alive. Not here: QoS 2, retained
//! messages, sessions that stay, wills.

mod introduction;
mod packet;
mod terms;
#[cfg(test)]
mod tests;

use super::payload::Body;
use super::topic::{room_of, topic_of};
use super::{
    Beat, Codec, Every, Heartbeat, Incoming, Kind, Malformed, NoVariables, Opening, StampForm,
    Told, Variables, identifier,
};
use crate::lines::Lines;
use packet::Packet;
use plan::{Dialect, Workload};
pub(super) use terms::Terms;
use ws_proto::Opcode;

/// What all topics begin with, so that they are no other client's.
const TOPICS: &str = "websocket-bench/";
const ALL: &str = "all";
const OWN: &str = "echo/";
/// The name of what a broker of MQTT 5 says in place of the keep alive.
const KEEP_ALIVE: &str = "server keep alive";
/// The identifier of the subscriptions that are no room's.
const FIRST: u16 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// 3.1.1.
    V3,
    V5,
}

impl Version {
    /// That of a dialect which is one.
    pub(super) const fn new(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::Mqtt => Some(Self::V3),
            Dialect::Mqtt5 => Some(Self::V5),
            _ => None,
        }
    }
}

pub(super) struct Mqtt {
    version: Version,
    workload: Workload,
    body: Body,
    terms: Terms,
}

impl Mqtt {
    pub(super) const fn new(
        version: Version,
        workload: Workload,
        body: Body,
        terms: Terms,
    ) -> Self {
        Self {
            version,
            workload,
            body,
            terms,
        }
    }

    fn subscribe(&self, identifier: u16, topic: &str) -> Vec<u8> {
        let topic = format!("{TOPICS}{topic}");
        packet::subscribe(self.version, identifier, &topic, self.terms.subscribe_qos())
    }

    fn read<'m>(&self, message: &'m [u8]) -> Result<Packet<'m>, Malformed> {
        packet::read(self.version, self.terms.subscribe_qos(), message)
    }

    /// What a message is that was published.
    fn published(&self, topic: &[u8], payload: &[u8]) -> Result<Incoming, Malformed> {
        let topic = std::str::from_utf8(topic).ok();
        let topic = topic.and_then(|topic| topic.strip_prefix(TOPICS));
        let room = topic.and_then(room_of);
        let kind = match topic {
            _ if room.is_some() => Kind::Message,
            Some(ALL) => Kind::Broadcast,
            Some(topic) if topic.starts_with(OWN) => Kind::Echo,
            _ => {
                return Err(Malformed("a topic that no client subscribes to".to_owned()));
            }
        };
        let form = self.stamp_form();
        let Some(stamp) = form.read(payload) else {
            return Err(Malformed("a PUBLISH without a stamp".to_owned()));
        };
        Ok(Incoming::Message {
            kind,
            stamp,
            intact: payload[form.width()..] == *self.body.padding(stamp).text.as_bytes(),
            topic: room,
        })
    }
}

impl Codec for Mqtt {
    fn subprotocol(&self) -> Option<&str> {
        Some("mqtt")
    }

    fn opcode(&self) -> Opcode {
        Opcode::Binary
    }

    fn stamp_form(&self) -> StampForm {
        StampForm::Binary
    }

    fn open(&self, _room: Option<u32>) -> Opening {
        Opening::Introduce
    }

    fn opened(&self, message: &[u8], room: Option<u32>) -> Opening {
        let what = match self.read(message) {
            Ok(Packet::ConnAck(0)) => {
                return match (room, self.workload) {
                    (Some(room), _) => match self.subscription(room, true, &NoVariables) {
                        Some(subscribe) => Opening::SendAsIs(subscribe),
                        None => Opening::Ready,
                    },
                    (None, Workload::Connect) => Opening::Ready,
                    (None, Workload::Echo) => Opening::SubscribeToOwn,
                    (None, _) => Opening::SendAsIs(self.subscribe(FIRST, ALL)),
                };
            }
            Ok(Packet::SubAck(named)) => {
                let asked = room.map_or(FIRST, |room| identifier(room.into()));
                match named == asked {
                    true => return Opening::Ready,
                    false => "the broker confirms a subscription that was not asked for".to_owned(),
                }
            }
            Ok(Packet::ConnAck(code)) => {
                format!(
                    "the broker refused the connection, with code {code:#04x}{}",
                    words(code, self.terms.names_user())
                )
            }
            Ok(Packet::Refusal(code)) => {
                format!("the broker refused the subscription, with code {code:#04x}")
            }
            Ok(_) => "the broker answers to what was not asked".to_owned(),
            Err(why) => format!("not MQTT: {}", why.words(message)),
        };
        Opening::Refused(what)
    }

    /// PINGREQ whatever else is sent, each within the second half of the keep alive.
    fn heartbeat(&self) -> Option<Heartbeat> {
        const SECOND_NS: u64 = 1_000_000_000;
        Some(Heartbeat {
            every: Every::Told {
                name: KEEP_ALIVE.to_owned(),
                unit_ns: SECOND_NS,
                otherwise_ns: Some(u64::from(packet::KEEP_ALIVE) * SECOND_NS),
            },
            jitter: 0.5,
            message: Beat::AsIs(packet::PINGREQ.to_vec()),
            is_answered: true,
            within_ns: None,
        })
    }

    fn captured(&self, message: &[u8]) -> Vec<Told> {
        let told = match self.version {
            Version::V3 => None,
            Version::V5 => packet::server_keep_alive(message),
        };
        told.map(|seconds| (KEEP_ALIVE.to_owned(), seconds.to_string().into_bytes()))
            .into_iter()
            .collect()
    }

    fn own_subscription(&self, client: u64) -> Vec<u8> {
        self.subscribe(FIRST, &format!("{OWN}{client}"))
    }

    fn cut<'m>(&self, message: &'m [u8]) -> (&'m [u8], &'m [u8]) {
        packet::cut(message)
    }

    /// Of a packet that is longer than any that is due, nothing is kept.
    fn goes_on(&self, message: &[u8]) -> bool {
        packet::whole_length(message)
            .is_none_or(|whole| message.len() < whole && whole <= self.terms.longest_packet())
    }

    fn introduction(&self, variables: &dyn Variables) -> Opening {
        match self.terms.introduction(variables) {
            Ok(own) => Opening::SendAsIs(packet::connect(self.version, &own)),
            Err(error) => Opening::Refused(error.to_string()),
        }
    }

    fn acknowledgement(&self, message: &[u8]) -> Option<Box<[u8]>> {
        match (self.terms.subscribe_qos(), self.read(message)) {
            (1, Ok(Packet::Publish { identifier, .. })) => Some(packet::pub_ack_of(identifier)),
            _ => None,
        }
    }

    fn subscription(&self, room: u32, wanted: bool, _variables: &dyn Variables) -> Option<Vec<u8>> {
        let (identifier, topic) = (identifier(room.into()), topic_of(room));
        Some(match wanted {
            true => self.subscribe(identifier, &topic),
            false => packet::unsubscribe(self.version, identifier, &format!("{TOPICS}{topic}")),
        })
    }

    fn request(
        &self,
        workload: Workload,
        room: u32,
        stamp: u64,
        variables: &dyn Variables,
        out: &mut Vec<u8>,
    ) {
        let mut topic = TOPICS.to_owned();
        match workload {
            Workload::Rooms => topic.push_str(&topic_of(room)),
            Workload::Broadcast => topic.push_str(ALL),
            Workload::Echo | Workload::Connect => {
                let mut client = Vec::new();
                variables.write("client", &mut client);
                topic.push_str(OWN);
                topic.push_str(&String::from_utf8_lossy(&client));
            }
        }
        let is_echo = matches!(workload, Workload::Echo | Workload::Connect);
        let identifier = (!is_echo).then(|| identifier(stamp));
        let payload = [
            &stamp.to_be_bytes()[..],
            self.body.padding(stamp).text.as_bytes(),
        ];
        packet::publish_to(self.version, &topic, identifier, payload, out);
    }

    fn answers_by_identifier(&self) -> bool {
        matches!(self.workload, Workload::Broadcast | Workload::Rooms)
    }

    fn variant(&self, stamp: u64) -> Option<u32> {
        self.body.size(stamp)
    }

    fn lines(&self) -> Option<&Lines> {
        self.body.lines()
    }

    fn says_size(&self) -> bool {
        true
    }

    fn expects(&self, workload: Workload) -> String {
        let other = match workload {
            Workload::Echo | Workload::Connect => "",
            Workload::Broadcast | Workload::Rooms => " or a PUBACK",
        };
        format!("a PUBLISH to a topic that begins with `{TOPICS}`{other}, in a binary message")
    }

    fn parse(&self, message: &[u8]) -> Result<Incoming, Malformed> {
        match self.read(message)? {
            Packet::Publish { topic, payload, .. } => self.published(topic, payload),
            Packet::PubAck(identifier) => Ok(Incoming::Acknowledged(identifier)),
            Packet::SubAck(identifier) => Ok(Incoming::SubscribedAs(identifier)),
            Packet::UnsubAck(identifier) => Ok(Incoming::UnsubscribedAs(identifier)),
            Packet::Refusal(_) => Ok(Incoming::Refused),
            Packet::PingResp => Ok(Incoming::Heartbeat),
            Packet::ConnAck(_) => Err(Malformed("a second CONNACK".to_owned())),
        }
    }
}

/// What the usual reasons of a refused connection mean (3.2.2.3; MQTT 5: 3.2.2.2).
const fn words(code: u8, names_user: bool) -> &'static str {
    match code {
        0x01 | 0x84 => ": it does not speak this version of MQTT",
        0x02 | 0x85 => ": it gives no name to a client without one",
        0x03 | 0x88 => ": it is not available",
        0x04 | 0x05 | 0x86 | 0x87 if names_user => {
            ": it does not take message.mqtt.username and message.mqtt.password of this client: compare \
             its row of the data file with the users of the broker"
        }
        0x04 | 0x05 | 0x86 | 0x87 => {
            ": it does not let clients in without name and password: give message.mqtt.username and \
             message.mqtt.password"
        }
        _ => "",
    }
}

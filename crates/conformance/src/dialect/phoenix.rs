//! Phoenix channels (docs/protocol.md, Phoenix), one topic joined.

use super::topics::no_names;
use super::{Fault, Heard, Opening, Owed, Speech, Topics, Wish, Word, kind};
use crate::message::{Kind, Payload, Reply, Unread, json as read_json};
use serde_json::{Value, json};
use ws_proto::Opcode;

pub(crate) const TOPIC: &str = "room:lobby";

/// `join_ref` and `ref` of the join.
pub(crate) const JOIN_REF: &str = "1";

/// A socket process that fails, as on a message that its serializer cannot read, closes with 1011.
const CODES: &[u16] = &[1003, 1007, 1008, 1011];

/// What stands before the name of a topic.
const ROOM: &str = "room:";

/// The refs of a request, of the join of the topic of a room, and of its end.
const REF: &str = "2";
const ROOM_JOIN_REF: &str = "3";
const ROOM_LEAVE_REF: &str = "4";

/// Serializer 1.0.0 (objects) or 2.0.0 (arrays).
pub(crate) struct Phoenix {
    pub(crate) arrays: bool,
}

/// What both serializers carry. Serializer 1.0.0 has no `join_ref`.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) join_ref: Value,
    pub(crate) reference: Value,
    pub(crate) topic: String,
    pub(crate) event: String,
    pub(crate) payload: Value,
}

impl Phoenix {
    /// A message with any parts; the payload as it stands.
    pub(crate) fn message(
        &self,
        reference: &str,
        topic: &str,
        event: &str,
        payload: &str,
    ) -> String {
        self.joined_by([JOIN_REF, reference], topic, event, payload)
    }

    /// The same with the `join_ref` and the `ref` of another join.
    fn joined_by(&self, refs: [&str; 2], topic: &str, event: &str, payload: &str) -> String {
        let [join_ref, reference] = refs.map(|part| json!(part));
        let [topic, event] = [topic, event].map(|part| json!(part));
        if self.arrays {
            format!(r#"[{join_ref},{reference},{topic},{event},{payload}]"#)
        } else {
            format!(r#"{{"topic":{topic},"event":{event},"payload":{payload},"ref":{reference}}}"#)
        }
    }

    /// A message on the topic of a room.
    fn on_topic(&self, reference: &str, topic: &str, event: &str, payload: &str) -> String {
        let topic = format!("{ROOM}{topic}");
        self.joined_by([ROOM_JOIN_REF, reference], &topic, event, payload)
    }

    /// A heartbeat as Phoenix's own client sends it: outside of any join.
    pub(crate) fn heartbeat(&self, reference: &str) -> String {
        let reference = json!(reference);
        if self.arrays {
            format!(r#"[null,{reference},"phoenix","heartbeat",{{}}]"#)
        } else {
            format!(r#"{{"topic":"phoenix","event":"heartbeat","payload":{{}},"ref":{reference}}}"#)
        }
    }

    /// Reads a message of the server; an error says what is wrong with it.
    pub(crate) fn read(&self, message: &[u8]) -> Result<Message, Unread> {
        let mut value = read_json(message)?;
        let mut part = |index: usize, name: &str| {
            let found = match (&mut value, self.arrays) {
                (Value::Array(parts), true) if parts.len() == 5 => parts.get_mut(index),
                (Value::Object(parts), false) => parts.get_mut(name),
                _ => None,
            };
            found.map(Value::take)
        };
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let parts = (
            text(part(2, "topic")),
            text(part(3, "event")),
            part(4, "payload"),
        );
        let (Some(topic), Some(event), Some(payload)) = parts else {
            let what = match self.arrays {
                true => "not a message of serializer 2.0.0",
                false => "not a message of serializer 1.0.0",
            };
            return Err(Unread::wrong(what, message));
        };
        Ok(Message {
            join_ref: part(0, "join_ref").unwrap_or_default(),
            reference: part(1, "ref").unwrap_or_default(),
            topic,
            event,
            payload,
        })
    }

    fn push(&self, event: &str, payload: &str) -> String {
        self.message(REF, TOPIC, event, payload)
    }
}

impl Topics for Phoenix {
    fn ask(&self, wish: Wish, topic: &str) -> String {
        match wish {
            Wish::Subscribe => self.on_topic(ROOM_JOIN_REF, topic, "phx_join", "{}"),
            Wish::Unsubscribe => self.on_topic(ROOM_LEAVE_REF, topic, "phx_leave", "{}"),
        }
    }

    fn publish(&self, topic: &str, payload: &Value) -> String {
        self.on_topic(REF, topic, "publish", &json!({"body": payload}).to_string())
    }

    /// A second join closes the first channel, and a second leave has none to close.
    fn answers(&self, wish: Wish, again: bool) -> &'static [Word] {
        match (wish, again) {
            (Wish::Subscribe, false) => &[Word::Subscribed],
            (Wish::Subscribe, true) => &[Word::Subscribed, Word::Closed],
            (Wish::Unsubscribe, false) => &[Word::Leaving, Word::Closed, Word::Unsubscribed],
            (Wish::Unsubscribe, true) => &[Word::Leaving],
        }
    }

    fn serves_outsiders(&self) -> bool {
        false
    }

    fn read(&self, message: &[u8]) -> Result<Heard, Unread> {
        let mut got = Self::read(self, message)?;
        let topic = got.topic.strip_prefix(ROOM).filter(|_| got.topic != TOPIC);
        let topic = topic.ok_or_else(|| Unread::other(message))?.to_owned();
        let is_ok = got.payload["status"] == "ok";
        let reply = got.reference.as_str().filter(|_| is_ok);
        let (word, mut inner) = match (got.event.as_str(), reply) {
            ("phx_reply", Some(ROOM_JOIN_REF)) => (Word::Subscribed, Value::Null),
            ("phx_reply", Some(ROOM_LEAVE_REF)) => (Word::Leaving, Value::Null),
            ("phx_reply", Some(REF)) => (Word::Published, got.payload["response"].take()),
            ("phx_close", _) => (Word::Closed, Value::Null),
            ("unsubscribed", _) => (Word::Unsubscribed, Value::Null),
            ("message", _) => (Word::Message, got.payload),
            _ => return Err(Unread::other(message)),
        };
        let name = inner["type"].as_str();
        if matches!(word, Word::Message | Word::Published)
            && name != Some(word.to_string().as_str())
        {
            return Err(Unread::wrong("a message without its type", message));
        }
        Ok(Heard {
            word,
            topic,
            payload: inner.get_mut("body").map(Value::take),
        })
    }

    fn faulty(&self) -> Vec<(Option<&'static str>, String)> {
        let bad = no_names();
        let joins = bad
            .iter()
            .map(|name| (None, self.ask(Wish::Subscribe, name)));
        let mut all: Vec<_> = joins.collect();
        let empty = self.on_topic(REF, "a", "publish", "{}");
        all.push((Some("a"), empty));
        all.push((None, self.publish("a", &json!(1))));
        all
    }
}

impl Speech for Phoenix {
    /// With the serializer's own `vsn`, whatever the path says.
    fn path(&self, path: &str) -> String {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut parts: Vec<&str> = query
            .split('&')
            .filter(|part| !part.is_empty() && !part.starts_with("vsn="))
            .collect();
        if self.arrays {
            parts.push("vsn=2.0.0");
        }
        match parts[..] {
            [] => path.to_owned(),
            _ => format!("{path}?{}", parts.join("&")),
        }
    }

    fn open(&self) -> Opening {
        Opening::Send(self.message(JOIN_REF, TOPIC, "phx_join", "{}"))
    }

    fn opened(&self, message: &[u8]) -> Opening {
        match self.read(message) {
            Ok(reply) if reply.topic == TOPIC && reply.event == "phx_reply" => {
                if reply.payload["status"] == "ok" {
                    Opening::Ready
                } else {
                    Opening::Refused(format!(
                        "the join of {TOPIC} was answered {}",
                        reply.payload
                    ))
                }
            }
            Ok(_) => Opening::Await,
            Err(what) => Opening::Refused(format!("got {what}")),
        }
    }

    fn topics(&self) -> Option<&dyn Topics> {
        Some(self)
    }

    fn leave(&self) -> Option<String> {
        Some(self.message("3", TOPIC, "phx_leave", "{}"))
    }

    fn json_request(&self, kind: Kind, payload: &str) -> String {
        self.push(kind.word(), &format!(r#"{{"body":{payload}}}"#))
    }

    fn odd_spellings(&self) -> Vec<(String, &'static str)> {
        const INNER: &str = r#"{"topic":"room:lobby","event":"broadcast","payload":{"body":1}}"#;
        const QUOTED: &str = r#""\"broadcast\",{\"body\":1}]""#;
        let spelled: &[(&str, &str)] = if self.arrays {
            &[
                (
                    "\r\n [ \"1\" ,\t\"2\" ,\n \"room:lobby\" , \"echo\" , { \"body\" : [ 1 , 2 ] } ] \n",
                    "[1,2]",
                ),
                (
                    r#"["1","2","ro\u006fm:lobby","\u0065ch\u006f",{"b\u006fdy":1}]"#,
                    "1",
                ),
            ]
        } else {
            &[
                (
                    r#"{"payload":{"body":"order"},"ref":"2","event":"echo","topic":"room:lobby"}"#,
                    r#""order""#,
                ),
                (
                    "\r\n { \"topic\" :\t\"room:lobby\" ,\n \"event\" : \"echo\" , \"payload\" : { \"body\" : [ 1 , 2 ] } , \"ref\" : \"2\" } \n",
                    "[1,2]",
                ),
                (
                    r#"{"t\u006fpic":"ro\u006fm:lobby","event":"\u0065ch\u006f","payload":{"b\u006fdy":1},"ref":"2"}"#,
                    "1",
                ),
            ]
        };
        let mut all: Vec<_> = spelled
            .iter()
            .map(|(message, payload)| ((*message).to_owned(), *payload))
            .collect();
        for payload in [INNER, QUOTED] {
            all.push((self.json_request(Kind::Echo, payload), payload));
        }
        all
    }

    fn parse(&self, opcode: Opcode, message: &[u8]) -> Result<Reply, Unread> {
        if opcode != Opcode::Text {
            return Err(Unread::Binary(message.len()));
        }
        let mut got = self.read(message)?;
        let reply = |kind, payload| Reply {
            kind,
            payload: Payload::Json(payload),
            len: message.len(),
        };
        let failed = got.payload["status"] == "error";
        let mut inner = match got.event.as_str() {
            "phx_reply" if failed => {
                return Ok(reply(Kind::Error, got.payload["response"].take()));
            }
            "phx_error" => return Ok(reply(Kind::Error, got.payload)),
            _ if got.topic != TOPIC => {
                return Err(Unread::wrong("a message of another topic", message));
            }
            "phx_reply" => got.payload["response"].take(),
            "broadcast" => got.payload,
            _ => return Err(Unread::wrong("an unknown event", message)),
        };
        // Only a broadcast is an event of its own, and only the rest are replies.
        let kind = kind(inner["type"].as_str())
            .filter(|kind| (*kind == Kind::Broadcast) == (got.event == "broadcast"));
        match (kind, inner.get_mut("body").map(Value::take)) {
            (Some(kind), Some(body)) => Ok(reply(kind, body)),
            (None, _) => Err(Unread::wrong("a message without its type", message)),
            (_, None) => Err(Unread::wrong("a message without a body", message)),
        }
    }

    fn faulty(&self, fault: Fault) -> Vec<String> {
        let body = r#"{"body":1}"#;
        let texts = |messages: &[&str]| messages.iter().map(|text| (*text).to_owned()).collect();
        match (fault, self.arrays) {
            (Fault::MalformedJson, true) => texts(&[
                "",
                "[",
                r#"["1","2","room:lobby","echo",{"body":}]"#,
                "echo",
                r#"["1","2","room:lobby","echo",{"body":1}]]"#,
            ]),
            (Fault::MalformedJson, false) => texts(&[
                "",
                "{",
                r#"{"topic":"room:lobby","event":"echo","payload":{"body":},"ref":"2"}"#,
                "echo",
                r#"{"topic":"room:lobby","event":"echo","payload":{"body":1},"ref":"2"}}"#,
            ]),
            (Fault::NotAnObject, true) => texts(&[
                "[]",
                r#"["1","2","room:lobby"]"#,
                r#"{"topic":"room:lobby","event":"echo","payload":{"body":1},"ref":"2"}"#,
                r#""echo""#,
                "1",
                "null",
            ]),
            (Fault::NotAnObject, false) => texts(&[
                "[]",
                r#"["1","2","room:lobby","echo",{"body":1}]"#,
                r#""echo""#,
                "1",
                "null",
            ]),
            (Fault::MissingType, true) => texts(&[
                r#"["1","2","room:lobby",null,{"body":1}]"#,
                r#"["1","2","room:lobby",{"body":1}]"#,
            ]),
            (Fault::MissingType, false) => texts(&[
                "{}",
                r#"{"topic":"room:lobby","payload":{"body":1},"ref":"2"}"#,
            ]),
            (Fault::UnknownType, _) => ["shout", "", "Echo", "broadcastResult"]
                .map(|event| self.push(event, body))
                .into(),
            (Fault::MissingPayload, _) => ["echo", "broadcast"]
                .map(|event| self.push(event, "{}"))
                .into(),
            (Fault::UnknownTopic, _) => vec![
                self.message("2", "room:attic", "echo", body),
                self.message("2", "", "echo", body),
                self.message("2", "nowhere:at-all", "phx_join", "{}"),
            ],
        }
    }

    fn owed(&self, _fault: Fault) -> Owed {
        Owed::Answer(CODES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Phoenix; 2] = [Phoenix { arrays: false }, Phoenix { arrays: true }];

    fn wire(phoenix: &Phoenix, event: &str, payload: &Value) -> Vec<u8> {
        phoenix
            .message("2", TOPIC, event, &payload.to_string())
            .into_bytes()
    }

    #[test]
    fn messages_are_those_of_the_protocol() {
        let [objects, arrays] = BOTH;
        assert_eq!(
            objects.json_request(Kind::Echo, "1"),
            r#"{"topic":"room:lobby","event":"echo","payload":{"body":1},"ref":"2"}"#
        );
        assert_eq!(
            arrays.json_request(Kind::Echo, "1"),
            r#"["1","2","room:lobby","echo",{"body":1}]"#
        );
        assert_eq!(objects.path("/socket/websocket"), "/socket/websocket");
        assert_eq!(arrays.path("/s"), "/s?vsn=2.0.0");
        assert_eq!(arrays.path("/s?a=b"), "/s?a=b&vsn=2.0.0");
        assert_eq!(arrays.path("/s?vsn=1.0.0&a=b"), "/s?a=b&vsn=2.0.0");
        assert_eq!(objects.path("/s?vsn=2.0.0"), "/s");
    }

    #[test]
    fn replies_broadcasts_and_errors_are_told_apart() {
        for phoenix in BOTH {
            let parse = |event: &str, payload: Value| {
                let parsed = phoenix.parse(Opcode::Text, &wire(&phoenix, event, &payload));
                parsed.map(|reply| reply.kind)
            };
            let answer = |kind| json!({"status": "ok", "response": {"type": kind, "body": 1}});
            assert_eq!(parse("phx_reply", answer("echo")), Ok(Kind::Echo));
            assert_eq!(
                parse("phx_reply", answer("broadcastResult")),
                Ok(Kind::Result)
            );
            assert_eq!(
                parse("broadcast", json!({"type": "broadcast", "body": 1})),
                Ok(Kind::Broadcast)
            );
            let refusal = json!({"status": "error", "response": {"reason": "no"}});
            assert_eq!(parse("phx_reply", refusal), Ok(Kind::Error));
            assert_eq!(parse("phx_error", json!({})), Ok(Kind::Error));
            assert!(parse("phx_reply", answer("broadcast")).is_err());
            assert!(parse("broadcast", json!({"type": "echo", "body": 1})).is_err());
            assert!(parse("phx_reply", json!({"status": "ok", "response": {}})).is_err());
            assert!(parse("presence_state", json!({})).is_err());
        }
    }

    #[test]
    fn a_join_is_answered_by_its_reply() {
        for phoenix in BOTH {
            let reply = |status| json!({"status": status, "response": {}});
            let opened = |event, payload| phoenix.opened(&wire(&phoenix, event, &payload));
            assert_eq!(opened("phx_reply", reply("ok")), Opening::Ready);
            assert!(matches!(
                opened("phx_reply", reply("error")),
                Opening::Refused(_)
            ));
            assert_eq!(opened("presence_state", json!({})), Opening::Await);
        }
    }
}

//! Socket.IO 4 over WebSocket alone (docs/protocol.md, Socket.IO), the namespace `/`.

use super::topics::no_names;
use super::{Fault, Heard, Opening, Owed, Speech, Topics, Wish, Word, kind};
use crate::message::{Kind, Payload, Reply, Unread, abbreviated};
use serde_json::{Value, json};
use std::borrow::Cow;
use ws_proto::Opcode;

/// Codes that a server may close with (docs/protocol.md, Errors). 1005: the library's close frames
/// have none (RFC 6455, 7.1.5).
const CODES: &[u16] = &[1003, 1005, 1007, 1008];

// Types of packets: Engine.IO's, and those of Socket.IO behind its 4.
const OPEN: &str = "0";
const PING: &str = "2";
const CONNECT: &str = "40";
const DISCONNECT: &str = "41";
const EVENT: &str = "42";
const CONNECT_ERROR: &str = "44";

pub(super) struct SocketIo;

fn event(arguments: &str) -> String {
    format!("{EVENT}{arguments}")
}

/// The arguments of an event.
fn arguments_of(text: &str) -> Result<Vec<Value>, Unread> {
    serde_json::from_str(text).map_err(|error| Unread::NoArray {
        reason: error.to_string(),
        shown: abbreviated(&event(text)),
    })
}

/// Milliseconds since 1970 and a number, as Redis has them.
fn is_offset(text: &str) -> bool {
    let is_number = |of: &str| !of.is_empty() && of.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.split_once('-');
    parts.is_some_and(|(time, number)| time.len() >= 13 && is_number(time) && is_number(number))
}

impl Topics for SocketIo {
    fn ask(&self, wish: Wish, topic: &str) -> String {
        event(&json!([wish.to_string(), topic]).to_string())
    }

    fn publish(&self, topic: &str, payload: &Value) -> String {
        event(&json!(["publish", topic, payload]).to_string())
    }

    fn read(&self, message: &[u8]) -> Result<Heard, Unread> {
        let text = String::from_utf8_lossy(message);
        let arguments = text
            .strip_prefix(EVENT)
            .ok_or_else(|| Unread::other(message))?;
        let arguments = arguments_of(arguments)?;
        let (name, topic, payload) = match &arguments[..] {
            [name, topic] => (name, topic, None),
            [name, topic, payload] => (name, topic, Some(payload.clone())),
            _ => return Err(Unread::other(message)),
        };
        let word = match (name.as_str(), payload.is_some()) {
            (Some("subscribed"), false) => Word::Subscribed,
            (Some("unsubscribed"), false) => Word::Unsubscribed,
            (Some("message"), true) => Word::Message,
            (Some("publishResult"), true) => Word::Published,
            _ => return Err(Unread::other(message)),
        };
        Ok(Heard {
            word,
            topic: topic
                .as_str()
                .ok_or_else(|| Unread::other(message))?
                .to_owned(),
            payload,
        })
    }

    fn faulty(&self) -> Vec<(Option<&'static str>, String)> {
        let mut bad = vec![
            json!(["subscribe"]),
            json!(["unsubscribe"]),
            json!(["publish"]),
            json!(["publish", "a"]),
        ];
        let others = [json!(7), json!(null), json!(["a"])];
        for topic in no_names().map(Value::from).into_iter().chain(others) {
            bad.push(json!(["subscribe", topic]));
            bad.push(json!(["publish", topic, 1]));
        }
        bad.iter()
            .map(|bad| (None, event(&bad.to_string())))
            .collect()
    }
}

impl Speech for SocketIo {
    fn topics(&self) -> Option<&dyn Topics> {
        Some(self)
    }

    fn path(&self, path: &str) -> String {
        if path.contains("EIO=") {
            return path.to_owned();
        }
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}EIO=4&transport=websocket")
    }

    fn open(&self) -> Opening {
        Opening::Await
    }

    fn opened(&self, message: &[u8]) -> Opening {
        let text = String::from_utf8_lossy(message);
        if text.starts_with(CONNECT) {
            Opening::Ready
        } else if text.starts_with(OPEN) {
            Opening::Send(CONNECT.to_owned())
        } else if text == PING {
            Opening::Await
        } else {
            let shown = abbreviated(&text);
            Opening::Refused(format!(
                "the connection to the namespace was answered {shown}"
            ))
        }
    }

    /// With connection state recovery a client is told a `pid`, and each event has an offset behind its
    /// arguments.
    fn adds(&self, message: &[u8]) -> bool {
        let session = message.strip_prefix(CONNECT.as_bytes());
        let session = session.and_then(|of| serde_json::from_slice::<Value>(of).ok());
        session.is_some_and(|of| of["pid"].is_string())
    }

    fn without_added<'m>(&self, message: &'m [u8]) -> Cow<'m, [u8]> {
        let text = std::str::from_utf8(message).ok();
        let end = text.and_then(|text| text.strip_suffix("\"]")?.rsplit_once(",\""));
        match end {
            Some((arguments, offset)) if is_offset(offset) => {
                Cow::Owned(format!("{arguments}]").into_bytes())
            }
            _ => Cow::Borrowed(message),
        }
    }

    fn leave(&self) -> Option<String> {
        Some(DISCONNECT.to_owned())
    }

    fn is_noise(&self, message: &[u8]) -> bool {
        message == PING.as_bytes()
    }

    fn json_request(&self, kind: Kind, payload: &str) -> String {
        event(&format!(r#"["{}",{payload}]"#, kind.word()))
    }

    fn odd_spellings(&self) -> Vec<(String, &'static str)> {
        let mut all = vec![
            (event(r#"["\u0065cho",1]"#), "1"),
            (event("[\r\n \"echo\" ,\t[ 1 , 2 ]\n]  "), "[1,2]"),
        ];
        for payload in [
            r#"["broadcast","no"]"#,
            r#""],42[\"broadcast\",1]""#,
            r#"{"_placeholder":false,"num":0}"#,
        ] {
            all.push((self.json_request(Kind::Echo, payload), payload));
        }
        all
    }

    fn parse(&self, opcode: Opcode, message: &[u8]) -> Result<Reply, Unread> {
        let text = String::from_utf8_lossy(message);
        if opcode != Opcode::Text {
            return Err(Unread::Binary(message.len()));
        }
        let reply = |kind, payload| Reply {
            kind,
            payload: Payload::Json(payload),
            len: message.len(),
        };
        if text.starts_with(CONNECT_ERROR) {
            return Ok(reply(Kind::Error, Value::Null));
        }
        let Some(arguments) = text.strip_prefix(EVENT) else {
            return Err(Unread::wrong("a packet that is no event", message));
        };
        let arguments = arguments_of(arguments)?;
        let Ok([name, payload]) = <[Value; 2]>::try_from(arguments) else {
            return Err(Unread::wrong("an event without one argument", message));
        };
        match kind(name.as_str()) {
            Some(kind) => Ok(reply(kind, payload)),
            None => Err(Unread::wrong("an unknown event", message)),
        }
    }

    fn faulty(&self, fault: Fault) -> Vec<String> {
        let messages: &[&str] = match fault {
            Fault::MalformedJson => &[
                "",
                "{",
                "echo",
                "42echo",
                r#"42["echo",}"#,
                r#"42["echo",1"#,
            ],
            Fault::NotAnObject => &["42{}", r#"42"echo""#, "42null", "42true"],
            Fault::MissingType => &["42[]", "42[null,1]", "42[{},1]"],
            Fault::UnknownType => &[
                r#"42["shout",1]"#,
                r#"42["Echo",1]"#,
                "42[7,1]",
                r#"42["broadcastResult",1]"#,
            ],
            Fault::MissingPayload => &[r#"42["echo"]"#, r#"42["broadcast"]"#],
            Fault::UnknownTopic => &[r#"42/attic,["echo",1]"#, "40/attic,{}"],
        };
        messages.iter().map(|&message| message.to_owned()).collect()
    }

    /// An event without a listener is no error; a packet that cannot be read ends the connection.
    fn owed(&self, _fault: Fault) -> Owed {
        Owed::AnswerOrNothing(CODES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(message: &str) -> Result<(Kind, Value), Unread> {
        let reply = SocketIo.parse(Opcode::Text, message.as_bytes())?;
        match reply.payload {
            Payload::Json(value) => Ok((reply.kind, value)),
            Payload::Bytes(_) => Err(Unread::Other("bytes".to_owned())),
        }
    }

    #[test]
    fn requests_and_replies_are_events_with_one_argument() {
        let echo = SocketIo.json_request(Kind::Echo, "1");
        assert_eq!(echo, r#"42["echo",1]"#);
        assert_eq!(parsed(&echo), Ok((Kind::Echo, json!(1))));
        let result = r#"42["broadcastResult",{"a":[]}]"#;
        assert_eq!(parsed(result), Ok((Kind::Result, json!({"a": []}))));
        let refused = r#"44/attic,{"message":"Invalid namespace"}"#;
        assert_eq!(parsed(refused), Ok((Kind::Error, Value::Null)));
        for other in [
            "2",
            "43[1]",
            "42",
            "42[]",
            r#"42["echo"]"#,
            r#"42["echo",1,2]"#,
            r#"42["shout",1]"#,
        ] {
            assert!(parsed(other).is_err(), "{other}");
        }
        assert!(SocketIo.parse(Opcode::Binary, b"42").is_err());
    }

    #[test]
    fn what_is_said_of_topics_has_its_topic_and_payload() {
        let heard = |message: &str| Topics::read(&SocketIo, message.as_bytes());
        let subscribed = heard(r#"42["subscribed","a"]"#).unwrap();
        assert_eq!(
            (subscribed.word, subscribed.topic.as_str()),
            (Word::Subscribed, "a")
        );
        assert_eq!(SocketIo.publish("a", &json!(1)), r#"42["publish","a",1]"#);
        let message = heard(r#"42["message","a",null]"#).unwrap();
        assert_eq!(message.payload, Some(Value::Null));
        for other in [
            r#"42["message","a"]"#,
            r#"42["subscribed","a",1]"#,
            r#"42["message",1,1]"#,
            r#"42["echo",1]"#,
            "42[",
            "2",
        ] {
            assert!(heard(other).is_err(), "{other}");
        }
    }

    #[test]
    fn the_namespace_is_joined_behind_the_session() {
        let opened = |message: &str| SocketIo.opened(message.as_bytes());
        assert_eq!(SocketIo.open(), Opening::Await);
        assert_eq!(opened(r#"0{"sid":"a"}"#), Opening::Send("40".to_owned()));
        assert_eq!(opened(r#"40{"sid":"b"}"#), Opening::Ready);
        assert_eq!(opened("2"), Opening::Await);
        assert!(matches!(
            opened(r#"44{"message":"no"}"#),
            Opening::Refused(_)
        ));
        assert_eq!(
            SocketIo.path("/socket.io/"),
            "/socket.io/?EIO=4&transport=websocket"
        );
        assert_eq!(SocketIo.path("/s?a=b"), "/s?a=b&EIO=4&transport=websocket");
    }

    #[test]
    fn an_offset_behind_the_arguments_is_left_out_where_the_client_was_told_a_pid() {
        assert!(!SocketIo.adds(br#"40{"sid":"a"}"#));
        assert!(!SocketIo.adds(br#"0{"sid":"a","pid":"b"}"#));
        assert!(SocketIo.adds(br#"40{"sid":"a","pid":"b"}"#));
        for (message, left) in [
            (r#"42["echo",1,"1795889274259-0"]"#, r#"42["echo",1]"#),
            (
                r#"42["echo","1-0","1795889274259-12"]"#,
                r#"42["echo","1-0"]"#,
            ),
            (r#"42["echo",1]"#, r#"42["echo",1]"#),
            (r#"42["subscribed","1-0"]"#, r#"42["subscribed","1-0"]"#),
            (r#"42["echo","a"]"#, r#"42["echo","a"]"#),
            (r#"42["echo",""]"#, r#"42["echo",""]"#),
            ("2", "2"),
        ] {
            assert_eq!(
                *SocketIo.without_added(message.as_bytes()),
                *left.as_bytes()
            );
        }
    }

    #[test]
    fn only_the_ping_is_noise() {
        assert!(SocketIo.is_noise(b"2"));
        assert!(!SocketIo.is_noise(b"20"));
        assert!(!SocketIo.is_noise(b"42[\"echo\",2]"));
    }
}

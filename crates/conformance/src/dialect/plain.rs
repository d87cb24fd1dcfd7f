//! Text and binary, told apart by the opcode (docs/protocol.md, Text and Binary).

use super::topics::no_names;
use super::{Fault, Heard, Owed, Speech, Topics, Wish, Word, kind};
use crate::message::{Kind, Payload, Reply, Unread, json as read_json};
use serde_json::{Value, json};
use ws_proto::Opcode;

/// Codes that a server may close with (docs/protocol.md, Errors).
const CODES: &[u16] = &[1003, 1007, 1008];

pub(super) struct Plain;

pub(super) fn binary_request(kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![kind.byte()];
    message.extend_from_slice(bytes);
    message
}

fn parse_text(message: &[u8]) -> Result<Reply, Unread> {
    let mut value = read_json(message)?;
    let Some(kind) = kind(value["type"].as_str()) else {
        return Err(Unread::wrong("a message without a known type", message));
    };
    let Some(payload) = value.get_mut("payload").map(Value::take) else {
        return Err(Unread::wrong("a message without a payload", message));
    };
    if kind == Kind::Error && !payload.is_string() {
        return Err(Unread::wrong(
            "an error whose payload is not a string",
            message,
        ));
    }
    Ok(Reply {
        kind,
        payload: Payload::Json(payload),
        len: message.len(),
    })
}

impl Speech for Plain {
    fn topics(&self) -> Option<&dyn Topics> {
        Some(self)
    }

    fn json_request(&self, kind: Kind, payload: &str) -> String {
        format!(r#"{{"type":"{}","payload":{payload}}}"#, kind.word())
    }

    fn odd_spellings(&self) -> Vec<(String, &'static str)> {
        [
            (r#"{"payload":"order","type":"echo"}"#, r#""order""#),
            (
                "\r\n { \"type\" :\t\"echo\" ,\n \"payload\" : [ 1 , 2 ] } \n",
                "[1,2]",
            ),
            (r#"{"\u0074ype":"\u0065ch\u006f","payload":1}"#, "1"),
            (
                r#"{"payload":{"type":"broadcast","payload":"no"},"type":"echo"}"#,
                r#"{"type":"broadcast","payload":"no"}"#,
            ),
            (
                r#"{"type":"echo","payload":"\"type\":\"broadcast\""}"#,
                r#""\"type\":\"broadcast\"""#,
            ),
            (
                r#"{"payload":"}{\"type\":\"broadcast\"","type":"echo"}"#,
                r#""}{\"type\":\"broadcast\"""#,
            ),
        ]
        .map(|(message, payload)| (message.to_owned(), payload))
        .into()
    }

    fn parse(&self, opcode: Opcode, message: &[u8]) -> Result<Reply, Unread> {
        if opcode != Opcode::Binary {
            return parse_text(message);
        }
        let (kind, rest) = match message {
            [b'e', rest @ ..] => (Kind::Echo, rest),
            [b'b', rest @ ..] => (Kind::Broadcast, rest),
            [b'r', rest @ ..] => (Kind::Result, rest),
            // The error answer is JSON on every dialect.
            _ => return parse_text(message),
        };
        Ok(Reply {
            kind,
            payload: Payload::Bytes(rest.to_vec()),
            len: message.len(),
        })
    }

    fn faulty(&self, fault: Fault) -> Vec<String> {
        let messages: &[&str] = match fault {
            Fault::MalformedJson => &[
                "",
                "{",
                r#"{"type":"echo","payload":}"#,
                "echo",
                r#"{"type":"echo","payload":1}}"#,
            ],
            Fault::NotAnObject => &["[]", r#"["echo",1]"#, r#""echo""#, "1", "true", "null"],
            Fault::MissingType => &["{}", r#"{"payload":1}"#, r#"{"payload":{"type":"echo"}}"#],
            Fault::UnknownType => &[
                r#"{"type":"shout","payload":1}"#,
                r#"{"type":"","payload":1}"#,
                r#"{"type":"Echo","payload":1}"#,
                r#"{"type":7,"payload":1}"#,
                r#"{"type":null,"payload":1}"#,
                r#"{"type":"broadcastResult","payload":1}"#,
            ],
            Fault::MissingPayload => &[r#"{"type":"echo"}"#, r#"{"type":"broadcast"}"#],
            Fault::UnknownTopic => &[],
        };
        messages.iter().map(|text| (*text).to_owned()).collect()
    }

    fn owed(&self, _fault: Fault) -> Owed {
        Owed::Answer(CODES)
    }
}

impl Topics for Plain {
    fn ask(&self, wish: Wish, topic: &str) -> String {
        json!({"type": wish.to_string(), "topic": topic}).to_string()
    }

    fn publish(&self, topic: &str, payload: &Value) -> String {
        json!({"type": "publish", "topic": topic, "payload": payload}).to_string()
    }

    fn read(&self, message: &[u8]) -> Result<Heard, Unread> {
        let mut value = read_json(message)?;
        let word = match value["type"].as_str() {
            Some("subscribed") => Word::Subscribed,
            Some("unsubscribed") => Word::Unsubscribed,
            Some("message") => Word::Message,
            Some("publishResult") => Word::Published,
            _ => return Err(Unread::other(message)),
        };
        Ok(Heard {
            word,
            topic: value["topic"]
                .as_str()
                .ok_or_else(|| Unread::other(message))?
                .to_owned(),
            payload: value.get_mut("payload").map(Value::take),
        })
    }

    fn faulty(&self) -> Vec<(Option<&'static str>, String)> {
        let mut bad = vec![
            json!({"type": "subscribe"}),
            json!({"type": "unsubscribe"}),
            json!({"type": "publish", "payload": 1}),
            json!({"type": "publish", "topic": "a"}),
        ];
        let others = [json!(7), json!(null), json!(["a"])];
        for topic in no_names().map(Value::from).into_iter().chain(others) {
            bad.push(json!({"type": "subscribe", "topic": topic}));
            bad.push(json!({"type": "publish", "topic": topic, "payload": 1}));
        }
        bad.iter().map(|bad| (None, bad.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Dialect;

    #[test]
    fn tags_survive_both_dialects() {
        for dialect in [Dialect::Text, Dialect::Binary] {
            let payload = Payload::tagged(dialect, 77, 3);
            let (opcode, message) = Plain.request(Kind::Broadcast, &payload);
            let reply = Plain.parse(opcode, &message).unwrap();
            assert_eq!(reply.kind, Kind::Broadcast);
            assert_eq!(reply.payload.tag(), Some(77));
            assert!(reply.payload.equals(&payload));
            assert_eq!(reply.len, message.len());
        }
    }

    #[test]
    fn what_is_no_reply_is_named() {
        let error = |text: &str| {
            Plain
                .parse(Opcode::Text, text.as_bytes())
                .unwrap_err()
                .to_string()
        };
        assert!(error("{").contains("not JSON"));
        assert!(error(r#"{"type":"x"}"#).contains("known type"));
        assert!(error(r#"{"type":"echo"}"#).contains("without a payload"));
        assert!(error(r#"{"type":"error","payload":1}"#).contains("not a string"));
        assert!(Plain.parse(Opcode::Binary, b"").is_err());
    }
}

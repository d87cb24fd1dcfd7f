//! Action Cable (docs/protocol.md, Action Cable): a subscription to the channel, and one for each topic.

use super::topics::no_names;
use super::{Fault, Heard, Opening, Owed, Speech, Topics, Wish, Word, kind};
use crate::message::{Kind, Payload, Reply, Unread, abbreviated, json as read_json};
use serde_json::{Value, json};
use ws_proto::Opcode;

const IDENTIFIER: &str = r#"{"channel":"BenchmarkChannel"}"#;

/// Codes that a server may close with (docs/protocol.md, Errors).
const CODES: &[u16] = &[1003, 1007, 1008];

/// Longest message that can be noise: a type and a time stamp or an identifier.
const LONGEST_NOISE: usize = 128;

pub(super) struct ActionCable;

fn command(command: &str, identifier: &str, data: &str) -> String {
    let [command, identifier, data] = [command, identifier, data].map(|part| json!(part));
    format!(r#"{{"command":{command},"identifier":{identifier},"data":{data}}}"#)
}

fn perform(data: &str) -> String {
    command("message", IDENTIFIER, data)
}

fn subscription(command: &str, identifier: &str) -> String {
    json!({"command": command, "identifier": identifier}).to_string()
}

/// The identifier of a subscription to the channel with a topic.
fn identifier_of(topic: &str) -> String {
    format!(
        r#"{{"channel":"BenchmarkChannel","topic":{}}}"#,
        json!(topic)
    )
}

/// The topic of such an identifier.
fn topic_of(identifier: &Value) -> Option<String> {
    let identifier: Value = serde_json::from_str(identifier.as_str()?).ok()?;
    let topic = identifier["topic"].as_str()?;
    (identifier["channel"] == "BenchmarkChannel").then(|| topic.to_owned())
}

impl Topics for ActionCable {
    fn ask(&self, wish: Wish, topic: &str) -> String {
        subscription(&wish.to_string(), &identifier_of(topic))
    }

    fn publish(&self, topic: &str, payload: &Value) -> String {
        let data = json!({"action": "publish", "payload": payload}).to_string();
        command("message", &identifier_of(topic), &data)
    }

    /// Action Cable passes over a subscription that there is, and the end of one that there is not.
    fn answers(&self, wish: Wish, again: bool) -> &'static [Word] {
        match wish {
            _ if again => &[],
            Wish::Subscribe => &[Word::Subscribed],
            Wish::Unsubscribe => &[Word::Unsubscribed],
        }
    }

    fn serves_outsiders(&self) -> bool {
        false
    }

    fn read(&self, message: &[u8]) -> Result<Heard, Unread> {
        let mut value = read_json(message)?;
        let topic = topic_of(&value["identifier"]).ok_or_else(|| Unread::other(message))?;
        let word = match (value["type"].as_str(), value["message"]["action"].as_str()) {
            (Some("confirm_subscription"), _) => Word::Subscribed,
            (None, Some("unsubscribed")) => Word::Unsubscribed,
            (None, Some("message")) => Word::Message,
            (None, Some("publishResult")) => Word::Published,
            _ => return Err(Unread::other(message)),
        };
        let payload = value["message"].get_mut("payload").map(Value::take);
        Ok(Heard {
            word,
            topic,
            payload,
        })
    }

    fn faulty(&self) -> Vec<(Option<&'static str>, String)> {
        let of_channel = |topic: Value| json!({"channel": "BenchmarkChannel", "topic": topic});
        let others = [json!(7), json!(["a"])];
        let topics = no_names().map(Value::from).into_iter().chain(others);
        let identifiers = topics.map(|topic| of_channel(topic).to_string());
        let mut all: Vec<_> = identifiers
            .map(|identifier| (None, subscription("subscribe", &identifier)))
            .collect();
        let empty = command("message", &identifier_of("a"), r#"{"action":"publish"}"#);
        all.push((Some("a"), empty));
        all.push((None, self.publish("a", &json!(1))));
        all.push((None, perform(r#"{"action":"publish","payload":1}"#)));
        all
    }
}

impl Speech for ActionCable {
    fn subprotocol(&self) -> Option<&'static str> {
        Some("actioncable-v1-json")
    }

    fn needs_origin(&self) -> bool {
        true
    }

    fn open(&self) -> Opening {
        Opening::Await
    }

    fn opened(&self, message: &[u8]) -> Opening {
        let value: Value = serde_json::from_slice(message).unwrap_or_default();
        match value["type"].as_str() {
            Some("welcome") => Opening::Send(subscription("subscribe", IDENTIFIER)),
            Some("confirm_subscription") if value["identifier"] == IDENTIFIER => Opening::Ready,
            Some("ping") => Opening::Await,
            _ => {
                let shown = abbreviated(&String::from_utf8_lossy(message));
                Opening::Refused(format!("the subscription was answered {shown}"))
            }
        }
    }

    fn topics(&self) -> Option<&dyn Topics> {
        Some(self)
    }

    fn leave(&self) -> Option<String> {
        Some(subscription("unsubscribe", IDENTIFIER))
    }

    /// Pings, and the confirmation once more: two of Action Cable's threads may send it
    /// (`ensure_confirmation_sent` looks and sends without a lock).
    fn is_noise(&self, message: &[u8]) -> bool {
        if message.len() > LONGEST_NOISE {
            return false;
        }
        let value: Value = serde_json::from_slice(message).unwrap_or_default();
        match value["type"].as_str() {
            Some("ping") => true,
            Some("confirm_subscription") => value["identifier"] == IDENTIFIER,
            _ => false,
        }
    }

    /// The worker pool handles the messages of one connection at the same time.
    fn is_ordered(&self) -> bool {
        false
    }

    fn json_request(&self, kind: Kind, payload: &str) -> String {
        perform(&format!(
            r#"{{"action":"{}","payload":{payload}}}"#,
            kind.word()
        ))
    }

    fn odd_spellings(&self) -> Vec<(String, &'static str)> {
        let mut all = vec![
            (
                r#"{"data":"{\"payload\":\"order\",\"action\":\"echo\"}","identifier":"{\"channel\":\"BenchmarkChannel\"}","command":"message"}"#
                    .to_owned(),
                r#""order""#,
            ),
            (
                r#"{"c\u006fmmand":"m\u0065ssage","identifier":"{\u0022channel\u0022:\u0022BenchmarkChannel\u0022}","data":"{\u0022\\u0061ction\u0022:\u0022\\u0065cho\u0022,\u0022payload\u0022:1}"}"#
                    .to_owned(),
                "1",
            ),
            (
                perform("\r\n { \"action\" :\t\"echo\" ,\n \"payload\" : [ 1 , 2 ] } \n"),
                "[1,2]",
            ),
        ];
        for payload in [
            r#"{"action":"broadcast","payload":"no"}"#,
            r#""\"action\":\"broadcast\"""#,
            r#""}{\"action\":\"broadcast\"""#,
        ] {
            all.push((self.json_request(Kind::Echo, payload), payload));
        }
        all
    }

    fn parse(&self, opcode: Opcode, message: &[u8]) -> Result<Reply, Unread> {
        if opcode != Opcode::Text {
            return Err(Unread::Binary(message.len()));
        }
        let mut value = read_json(message)?;
        let error = |payload| Reply {
            kind: Kind::Error,
            payload: Payload::Json(payload),
            len: message.len(),
        };
        if value["type"] == "reject_subscription" {
            return Ok(error(value["identifier"].take()));
        }
        let is_error = value["message"]["action"] == "error";
        if is_error && topic_of(&value["identifier"]).is_some() {
            return Ok(error(value["message"]["payload"].take()));
        }
        if value["identifier"] != IDENTIFIER || value.get("type").is_some() {
            return Err(Unread::wrong("not a message of the subscription", message));
        }
        let kind = kind(value["message"]["action"].as_str());
        let payload = value["message"].get_mut("payload").map(Value::take);
        match (kind, payload) {
            (Some(kind), Some(payload)) => Ok(Reply {
                kind,
                payload: Payload::Json(payload),
                len: message.len(),
            }),
            (None, _) => Err(Unread::wrong("a message without a known action", message)),
            (_, None) => Err(Unread::wrong("a message without a payload", message)),
        }
    }

    fn faulty(&self, fault: Fault) -> Vec<String> {
        let echo = r#"{"action":"echo","payload":1}"#;
        match fault {
            Fault::MalformedJson => vec![
                String::new(),
                "{".to_owned(),
                "echo".to_owned(),
                perform(r#"{"action":"echo","payload":}"#),
                perform("echo"),
            ],
            Fault::NotAnObject => vec![
                "[]".to_owned(),
                r#""message""#.to_owned(),
                "1".to_owned(),
                "null".to_owned(),
                perform(r#"["echo",1]"#),
                perform("1"),
            ],
            Fault::MissingType => vec![
                "{}".to_owned(),
                json!({"identifier": IDENTIFIER, "data": echo}).to_string(),
                subscription("message", IDENTIFIER),
                perform(r#"{"payload":1}"#),
            ],
            Fault::UnknownType => vec![
                command("shout", IDENTIFIER, echo),
                perform(r#"{"action":"shout","payload":1}"#),
                perform(r#"{"action":"Echo","payload":1}"#),
                perform(r#"{"action":7,"payload":1}"#),
                perform(r#"{"action":"broadcastResult","payload":1}"#),
            ],
            Fault::MissingPayload => {
                vec![
                    perform(r#"{"action":"echo"}"#),
                    perform(r#"{"action":"broadcast"}"#),
                ]
            }
            Fault::UnknownTopic => vec![
                command("message", r#"{"channel":"AtticChannel"}"#, echo),
                command("message", "", echo),
                subscription("subscribe", r#"{"channel":"AtticChannel"}"#),
                subscription("unsubscribe", r#"{"channel":"AtticChannel"}"#),
            ],
        }
    }

    /// Action Cable writes the error to its log and tells the client nothing.
    fn owed(&self, _fault: Fault) -> Owed {
        Owed::AnswerOrNothing(CODES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(message: &Value) -> Result<Kind, Unread> {
        let parsed = ActionCable.parse(Opcode::Text, message.to_string().as_bytes());
        parsed.map(|reply| reply.kind)
    }

    #[test]
    fn a_request_is_json_in_a_string() {
        let text = ActionCable.json_request(Kind::Echo, r#"{"é":"\u0001"}"#);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["command"], "message");
        assert_eq!(value["identifier"], IDENTIFIER);
        assert_eq!(
            value["data"],
            r#"{"action":"echo","payload":{"é":"\u0001"}}"#
        );
    }

    #[test]
    fn replies_are_those_of_the_subscription() {
        for kind in [Kind::Echo, Kind::Broadcast, Kind::Result, Kind::Error] {
            let message = json!({"action": kind.word(), "payload": null});
            let of = |identifier| json!({"identifier": identifier, "message": message});
            assert_eq!(parse(&of(IDENTIFIER)), Ok(kind));
            assert!(parse(&of("{}")).is_err());
        }
        assert!(parse(&json!({"identifier": IDENTIFIER, "type": "confirm_subscription"})).is_err());
        assert!(parse(&json!({"identifier": IDENTIFIER, "message": {"action": "echo"}})).is_err());
    }

    #[test]
    fn pings_and_a_second_confirmation_are_noise_and_nothing_else_is() {
        assert!(ActionCable.is_noise(br#"{"type":"ping","message":1700000000}"#));
        let confirms = |identifier: &str| {
            let message = json!({"type": "confirm_subscription", "identifier": identifier});
            ActionCable.is_noise(message.to_string().as_bytes())
        };
        assert!(confirms(IDENTIFIER));
        assert!(!confirms(&identifier_of("a")));
        assert!(!ActionCable.is_noise(br#"{"type":"welcome"}"#));
        assert!(!ActionCable.is_noise(br#"{"identifier":"ping","message":{"type":"ping"}}"#));
    }

    #[test]
    fn the_client_subscribes_after_the_welcome() {
        let opened = |message: Value| ActionCable.opened(message.to_string().as_bytes());
        assert!(matches!(
            opened(json!({"type": "welcome"})),
            Opening::Send(_)
        ));
        assert_eq!(
            opened(json!({"type": "ping", "message": 1})),
            Opening::Await
        );
        let confirmed = json!({"type": "confirm_subscription", "identifier": IDENTIFIER});
        assert_eq!(opened(confirmed), Opening::Ready);
        let rejected = json!({"type": "reject_subscription", "identifier": IDENTIFIER});
        assert!(matches!(opened(rejected), Opening::Refused(_)));
    }
}

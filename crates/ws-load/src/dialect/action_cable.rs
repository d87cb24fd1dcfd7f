//! Action Cable: one subscription, actions in a string inside a string.

use super::json::{Body, message, parse, request_name};
use super::{Codec, Incoming, Malformed, Opening, either};
use run_record::Workload;
use serde::Deserialize;
use serde_json::Value;
use ws_proto::printable;

/// The channel's identifier as it stands inside a JSON string.
const IDENTIFIER: &str = r#"{\"channel\":\"BenchmarkChannel\"}"#;

pub(super) struct ActionCable {
    body: Body,
    origin: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<Value>,
    reason: Option<String>,
}

impl ActionCable {
    pub(super) fn new(padding: String, url: &str) -> Self {
        let url = url::Url::parse(url).ok();
        let own = url.map(|url| url.origin().ascii_serialization());
        Self {
            body: Body::new(padding),
            // A browser's: http of ws, https of wss.
            origin: own.map(|own| own.replacen("ws", "http", 1)),
        }
    }
}

impl Codec for ActionCable {
    fn subprotocol(&self) -> Option<&'static str> {
        Some("actioncable-v1-json")
    }

    /// The worker pool takes up the messages of one connection at the same time.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Action Cable answers 404 to a client without one; the server's own is what a page of it
    /// would send.
    fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    fn open(&self) -> Opening {
        Opening::Await
    }

    fn opened(&self, bytes: &[u8]) -> Opening {
        let envelope: Envelope = match parse(bytes) {
            Ok(envelope) => envelope,
            Err(why) => {
                let words = why.of(bytes);
                return Opening::Refused(format!("not an Action Cable message: {words}"));
            }
        };
        match envelope.kind.as_deref() {
            Some("welcome") => Opening::Send(format!(
                r#"{{"command":"subscribe","identifier":"{IDENTIFIER}"}}"#
            )),
            Some("confirm_subscription") => Opening::Ready,
            Some("reject_subscription") => {
                Opening::Refused("the server rejected BenchmarkChannel".to_owned())
            }
            Some("disconnect") => Opening::Refused(format!(
                "the server disconnected the client: {}",
                envelope.reason.map_or_else(
                    || "no reason given".to_owned(),
                    |reason| printable(reason.as_bytes(), 100)
                )
            )),
            _ => Opening::Await,
        }
    }

    fn request(&self, workload: Workload, stamp: u64, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        self.body.write(stamp, &mut body);
        let action = request_name(workload);
        out.extend_from_slice(
            format!(
                r#"{{"command":"message","identifier":"{IDENTIFIER}","data":"{{\"action\":\"{action}\",\"payload\":"#
            )
            .as_bytes(),
        );
        for byte in body {
            if byte == b'"' {
                out.push(b'\\');
            }
            out.push(byte);
        }
        out.extend_from_slice(br#"}"}"#);
    }

    fn expects(&self, workload: Workload) -> String {
        either(workload, |name| {
            format!(
                r#"{{"identifier":...,"message":{{"action":"{name}","payload":{{"stamp":...}}}}}}"#
            )
        })
    }

    fn parse(&self, bytes: &[u8]) -> Result<Incoming, Malformed> {
        let envelope: Envelope = parse(bytes)?;
        match (envelope.kind.as_deref(), envelope.message) {
            (Some("disconnect" | "reject_subscription"), _) => Ok(Incoming::Refused),
            (Some(_), _) => Ok(Incoming::Ignored),
            (None, Some(inner)) => {
                let name = inner["action"].as_str().unwrap_or("nothing");
                message(name, &inner["payload"], &self.body)
            }
            (None, None) => Err(Malformed("neither a type nor a message".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Kind;
    use serde_json::json;

    #[test]
    fn the_client_subscribes_after_the_welcome() {
        let codec = ActionCable::new(String::new(), "ws://h:1/cable");
        assert_eq!(codec.origin(), Some("http://h:1"));
        assert_eq!(codec.open(), Opening::Await);
        let Opening::Send(subscribe) = codec.opened(br#"{"type":"welcome"}"#) else {
            panic!("a subscription is sent");
        };
        let subscribe: Value = serde_json::from_str(&subscribe).unwrap();
        let identifier = subscribe["identifier"].as_str().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(identifier).unwrap(),
            json!({"channel": "BenchmarkChannel"})
        );
        let ping = br#"{"type":"ping","message":1480000000}"#;
        assert_eq!(codec.opened(ping), Opening::Await);
        let confirm = json!({"type": "confirm_subscription", "identifier": identifier});
        assert_eq!(codec.opened(confirm.to_string().as_bytes()), Opening::Ready);
        assert!(matches!(
            codec.opened(br#"{"type":"reject_subscription"}"#),
            Opening::Refused(_)
        ));
    }

    #[test]
    fn an_action_is_json_in_a_string_and_its_answers_are_understood() {
        let codec = ActionCable::new("42".into(), "wss://h/cable");
        assert_eq!(codec.origin(), Some("https://h"));
        let mut out = Vec::new();
        codec.request(Workload::Echo, 5, &mut out);
        let command: Value = serde_json::from_slice(&out).unwrap();
        let data: Value = serde_json::from_str(command["data"].as_str().unwrap()).unwrap();
        assert_eq!(data["action"], "echo");
        for (action, kind) in [
            ("echo", Kind::Echo),
            ("broadcast", Kind::Broadcast),
            ("broadcastResult", Kind::Result),
        ] {
            let answer = json!({
                "identifier": command["identifier"],
                "message": {"action": action, "payload": data["payload"]},
            });
            assert_eq!(
                codec.parse(answer.to_string().as_bytes()),
                Ok(Incoming::Message {
                    kind,
                    stamp: 5,
                    intact: true
                })
            );
        }
        assert_eq!(
            codec.parse(br#"{"type":"ping","message":1}"#),
            Ok(Incoming::Ignored)
        );
    }
}

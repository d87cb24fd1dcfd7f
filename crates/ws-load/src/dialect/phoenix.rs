//! Phoenix channels, serializers 1.0.0 (objects) and 2.0.0 (arrays).

use super::json::{Body, message, parse, request_name};
use super::{Codec, Incoming, Malformed, Opening, either};
use run_record::Workload;
use serde::Deserialize;
use serde_json::Value;

const TOPIC: &str = "room:lobby";

pub(super) struct Phoenix {
    body: Body,
    arrays: bool,
}

/// What both serializers carry, in either shape.
struct Push {
    topic: String,
    event: String,
    payload: Value,
}

impl Phoenix {
    /// The serializer follows from the parameter `vsn` of the URL's query, as in Phoenix itself.
    pub(super) fn new(padding: String, url: &str) -> Self {
        let arrays = url::Url::parse(url).is_ok_and(|url| {
            url.query_pairs()
                .any(|(key, value)| key == "vsn" && value.starts_with("2."))
        });
        Self {
            body: Body::new(padding),
            arrays,
        }
    }

    fn read(&self, bytes: &[u8]) -> Result<Push, Malformed> {
        if self.arrays {
            type Array = (Option<String>, Option<String>, String, String, Value);
            let (_, _, topic, event, payload) = parse::<Array>(bytes)?;
            return Ok(Push {
                topic,
                event,
                payload,
            });
        }
        #[derive(Deserialize)]
        struct Object {
            topic: String,
            event: String,
            payload: Value,
        }
        let object: Object = parse(bytes)?;
        Ok(Push {
            topic: object.topic,
            event: object.event,
            payload: object.payload,
        })
    }
}

impl Codec for Phoenix {
    fn open(&self) -> Opening {
        Opening::Send(if self.arrays {
            format!(r#"["1","1","{TOPIC}","phx_join",{{}}]"#)
        } else {
            format!(r#"{{"topic":"{TOPIC}","event":"phx_join","payload":{{}},"ref":"1"}}"#)
        })
    }

    fn opened(&self, bytes: &[u8]) -> Opening {
        match self.read(bytes) {
            Ok(push) if push.topic == TOPIC && push.event == "phx_reply" => {
                if push.payload["status"] == "ok" {
                    Opening::Ready
                } else {
                    Opening::Refused(format!("the server refused to join {TOPIC}"))
                }
            }
            Ok(_) => Opening::Await,
            Err(why) => Opening::Refused(format!("not a Phoenix message: {}", why.of(bytes))),
        }
    }

    fn request(&self, workload: Workload, stamp: u64, out: &mut Vec<u8>) {
        let event = request_name(workload);
        // The same ref every time, so that all replies have the same shape.
        let (before, after) = if self.arrays {
            (
                format!(r#"["1","2","{TOPIC}","{event}",{{"body":"#),
                "}]".to_owned(),
            )
        } else {
            (
                format!(r#"{{"topic":"{TOPIC}","event":"{event}","payload":{{"body":"#),
                r#"},"ref":"2"}"#.to_owned(),
            )
        };
        out.extend_from_slice(before.as_bytes());
        self.body.write(stamp, out);
        out.extend_from_slice(after.as_bytes());
    }

    fn expects(&self, workload: Workload) -> String {
        either(workload, |name| {
            let body = format!(r#"{{"type":"{name}","body":{{"stamp":...}}}}"#);
            let (event, payload) = match name {
                "broadcast" => ("broadcast", body),
                _ => (
                    "phx_reply",
                    format!(r#"{{"status":"ok","response":{body}}}"#),
                ),
            };
            if self.arrays {
                format!(r#"["1","2","{TOPIC}","{event}",{payload}]"#)
            } else {
                format!(r#"{{"topic":"{TOPIC}","event":"{event}","payload":{payload},"ref":...}}"#)
            }
        })
    }

    fn parse(&self, bytes: &[u8]) -> Result<Incoming, Malformed> {
        let push = self.read(bytes)?;
        let inner = match (push.topic.as_str(), push.event.as_str()) {
            (TOPIC, "phx_reply") if push.payload["status"] == "ok" => &push.payload["response"],
            (TOPIC, "phx_reply" | "phx_error" | "phx_close") => return Ok(Incoming::Refused),
            (TOPIC, "broadcast") => &push.payload,
            _ => return Ok(Incoming::Ignored),
        };
        let name = inner["type"].as_str().unwrap_or("nothing");
        message(name, &inner["body"], &self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Kind;
    use serde_json::json;

    fn both() -> [Phoenix; 2] {
        [
            Phoenix::new("1".into(), "ws://h/socket/websocket"),
            Phoenix::new("1".into(), "ws://h/socket/websocket?vsn=2.0.0"),
        ]
    }

    fn wire(codec: &Phoenix, event: &str, payload: Value) -> Vec<u8> {
        if codec.arrays {
            json!(["1", "2", TOPIC, event, payload])
        } else {
            json!({"topic": TOPIC, "event": event, "payload": payload, "ref": "2"})
        }
        .to_string()
        .into_bytes()
    }

    #[test]
    fn the_join_and_its_reply_open_the_channel() {
        for codec in both() {
            let Opening::Send(join) = codec.open() else {
                panic!("a join is sent first");
            };
            assert!(
                codec
                    .read(join.as_bytes())
                    .is_ok_and(|p| p.event == "phx_join")
            );
            let reply = |status| {
                wire(
                    &codec,
                    "phx_reply",
                    json!({"status": status, "response": {}}),
                )
            };
            assert_eq!(codec.opened(&reply("ok")), Opening::Ready);
            assert!(matches!(codec.opened(&reply("error")), Opening::Refused(_)));
            assert_eq!(
                codec.opened(&wire(&codec, "presence_state", json!({}))),
                Opening::Await
            );
        }
    }

    #[test]
    fn replies_and_broadcasts_carry_the_body_that_was_pushed() {
        for codec in both() {
            let mut out = Vec::new();
            codec.request(Workload::Broadcast, 9, &mut out);
            let pushed = codec.read(&out).unwrap();
            assert_eq!(pushed.event, "broadcast");
            let body = &pushed.payload["body"];
            let got = |kind| {
                Ok(Incoming::Message {
                    kind,
                    stamp: 9,
                    intact: true,
                })
            };
            let broadcast = wire(
                &codec,
                "broadcast",
                json!({"type": "broadcast", "body": body}),
            );
            assert_eq!(codec.parse(&broadcast), got(Kind::Broadcast));
            for (name, kind) in [("echo", Kind::Echo), ("broadcastResult", Kind::Result)] {
                let response = json!({"type": name, "body": body});
                let reply = wire(
                    &codec,
                    "phx_reply",
                    json!({"status": "ok", "response": response}),
                );
                assert_eq!(codec.parse(&reply), got(kind));
            }
            let refusal = wire(
                &codec,
                "phx_reply",
                json!({"status": "error", "response": {}}),
            );
            assert_eq!(codec.parse(&refusal), Ok(Incoming::Refused));
        }
    }

    #[test]
    fn a_broadcast_of_serializer_2_may_have_null_refs() {
        let [_, arrays] = both();
        let text = br#"[null,null,"room:lobby","broadcast",{"type":"broadcast","body":{"stamp":"0000000000000009","padding":"1"}}]"#;
        assert!(arrays.parse(text).is_ok());
    }
}

//! The dialects of `dialects/` as a plan has them, and files that users may write.

mod bytes;
mod dialogue;
mod feed;
mod files;
mod heartbeat;
mod http;
mod others;
mod own;
mod progress;
mod pusher;
mod questions;
mod ready;
mod returning;
mod topics;

use super::payload::Body;
use super::*;
use plan::{Dialect, Plan};
use serde_json::{Value, json};

const PHOENIX: [&str; 2] = [
    "ws://h/socket/websocket",
    "ws://h/socket/websocket?vsn=2.0.0",
];

/// The codec of a dialect whose requests carry the digits from 1 to `padding`.
fn of(dialect: Dialect, url: &str, padding: u32) -> std::sync::Arc<dyn Codec> {
    codec_of_all(&crate::test_plan(url).with(|plan| {
        plan.message.dialect = dialect;
        plan.message.padding = padding;
    }))
}

fn text() -> std::sync::Arc<dyn Codec> {
    of(Dialect::Text, "ws://h/ws", 3)
}

fn request(codec: &dyn Codec, workload: Workload, stamp: u64) -> Value {
    let mut out = Vec::new();
    codec.request(workload, 0, stamp, &NoVariables, &mut out);
    serde_json::from_slice(&out).unwrap()
}

fn message(kind: Kind, stamp: u64, intact: bool) -> Result<Incoming, Malformed> {
    Ok(Incoming::Message {
        topic: None,
        kind,
        stamp,
        intact,
    })
}

fn parse(codec: &dyn Codec, message: &Value) -> Result<Incoming, Malformed> {
    codec.parse(message.to_string().as_bytes())
}

/// Answers have longer type names, and a server may write JSON with spaces.
#[test]
#[cfg_attr(miri, ignore = "sixteen megabytes take Miri minutes")]
fn a_request_with_the_most_padding_leaves_room_within_16_mib() {
    for (dialect, url) in [
        (Dialect::Text, "ws://h/ws"),
        (Dialect::Binary, "ws://h/ws"),
        (Dialect::Phoenix, PHOENIX[0]),
        (Dialect::Phoenix, PHOENIX[1]),
        (Dialect::ActionCable, "ws://h/cable"),
    ] {
        let mut request = Vec::new();
        let codec = of(dialect, url, plan::MOST_PADDING);
        codec.request(Workload::Broadcast, 0, u64::MAX, &NoVariables, &mut request);
        let room = (16_usize << 20).checked_sub(request.len());
        assert!(
            room.is_some_and(|room| room >= 512),
            "{dialect:?}: {room:?}"
        );
    }
}

#[test]
fn requests_are_json_of_the_protocol() {
    assert_eq!(
        request(&*text(), Workload::Broadcast, 0xAB),
        json!({"type": "broadcast", "payload": {"stamp": "00000000000000ab", "padding": "123"}})
    );
    let mut bare = Vec::new();
    of(Dialect::Text, "ws://h/", 0).request(Workload::Echo, 0, 1, &NoVariables, &mut bare);
    assert_eq!(
        bare,
        br#"{"type":"echo","payload":{"stamp":"0000000000000001"}}"#
    );
}

#[test]
fn answers_are_understood_whatever_their_spelling() {
    let reordered =
        br#" {"payload" : {"padding":"1\u0032\u0033","stamp":"00000000000000ab"}, "type":"broadcastResult"}"#;
    assert_eq!(text().parse(reordered), message(Kind::Result, 0xAB, true));
}

#[test]
fn a_changed_payload_is_not_intact() {
    for payload in [
        r#"{"stamp": "00000000000000ab", "padding": "124"}"#,
        r#"{"stamp": "00000000000000ab"}"#,
        r#"{"stamp": "00000000000000ab", "padding": "123", "more": 1}"#,
        r#"{"stamp": "00000000000000ab", "padding": 123}"#,
        r#"{"stamp": "00000000000000ab", "padding": "123", "padding": "123"}"#,
        r#"{"stamp": "00000000000000aa", "padding": "123", "stamp": "00000000000000ab"}"#,
    ] {
        let text_message = format!(r#"{{"type":"echo","payload":{payload}}}"#);
        let verdict = text().parse(text_message.as_bytes());
        assert_eq!(verdict, message(Kind::Echo, 0xAB, false), "{payload}");
    }
}

#[test]
fn refusals_and_nonsense_are_told_apart() {
    let parse = |message: &str| text().parse(message.as_bytes());
    let why = |message: &str| parse(message).unwrap_err().0;
    assert_eq!(
        parse(r#"{"type":"error","payload":"no"}"#),
        Ok(Incoming::Refused)
    );
    assert_eq!(
        why(r#"{"type":"hello","payload":{}}"#),
        "no rule matches: `/type` is `hello`"
    );
    assert_eq!(why("[]"), "no rule matches: there is no `/type`");
    assert_eq!(why(r#"{"type":"echo""#), "not JSON");
    assert_eq!(text().parse(b"\xff").unwrap_err().0, "not UTF-8");
    for payload in [r#"{"stamp":"zz"}"#, r#"{"stamp":"00000000000000ab0"}"#, "1"] {
        assert_eq!(
            why(&format!(r#"{{"type":"echo","payload":{payload}}}"#)),
            "an echo without a readable stamp"
        );
    }
    let twice = why(r#"{"type":"echo","type":"broadcast"}"#);
    assert!(twice.starts_with("the name `type` stands twice"), "{twice}");
}

#[test]
fn what_was_expected_is_an_example_of_each_answer() {
    assert_eq!(
        text().expects(Workload::Broadcast),
        r#"{"type":"broadcast","payload":{"stamp":...}} or {"type":"broadcastResult","payload":{"stamp":...}}"#
    );
    let arrays = of(Dialect::Phoenix, PHOENIX[1], 3);
    assert_eq!(
        arrays.expects(Workload::Echo),
        r#"["1","2","room:lobby","phx_reply",{"status":"ok","response":{"type":"echo","body":{"stamp":...}}}]"#
    );
}

/// A Phoenix message in the shape of its serializer.
fn push(arrays: bool, event: &str, payload: &Value) -> Value {
    match arrays {
        true => json!(["1", "2", "room:lobby", event, payload]),
        false => json!({"topic": "room:lobby", "event": event, "payload": payload, "ref": "2"}),
    }
}

fn opened(codec: &dyn Codec, message: &Value) -> Opening {
    codec.opened(message.to_string().as_bytes(), None)
}

#[test]
fn the_join_and_its_reply_open_the_channel() {
    for (arrays, url) in [false, true].into_iter().zip(PHOENIX) {
        let codec = &*of(Dialect::Phoenix, url, 1);
        let Opening::Send(join) = codec.open(None) else {
            panic!("a join is sent first");
        };
        let join: Value = serde_json::from_str(&join).unwrap();
        let event = if arrays { &join[3] } else { &join["event"] };
        assert_eq!(event, "phx_join");
        let reply = |status: &str| {
            let payload = json!({"status": status, "response": {}});
            opened(codec, &push(arrays, "phx_reply", &payload))
        };
        assert_eq!(reply("ok"), Opening::Ready);
        let words = "the server refused to join room:lobby".to_owned();
        assert_eq!(reply("error"), Opening::Refused(words));
        let presence = push(arrays, "presence_state", &json!({}));
        assert_eq!(opened(codec, &presence), Opening::Await);
        let Opening::Refused(words) = codec.opened(b"hello", None) else {
            panic!("that is no message of Phoenix");
        };
        assert!(words.ends_with("`hello` (not JSON)"), "{words}");
    }
}

#[test]
fn replies_and_broadcasts_carry_the_body_that_was_pushed() {
    for (arrays, url) in [false, true].into_iter().zip(PHOENIX) {
        let codec = &*of(Dialect::Phoenix, url, 1);
        let pushed = request(codec, Workload::Broadcast, 9);
        let at = if arrays { "/3" } else { "/event" };
        assert_eq!(pushed.pointer(at).unwrap(), "broadcast");
        let at = if arrays { "/4/body" } else { "/payload/body" };
        let body = pushed.pointer(at).unwrap();
        let broadcast = json!({"type": "broadcast", "body": body});
        assert_eq!(
            parse(codec, &push(arrays, "broadcast", &broadcast)),
            message(Kind::Broadcast, 9, true)
        );
        for (name, kind) in [("echo", Kind::Echo), ("broadcastResult", Kind::Result)] {
            let response = json!({"type": name, "body": body});
            let reply = json!({"status": "ok", "response": response});
            let reply = parse(codec, &push(arrays, "phx_reply", &reply));
            assert_eq!(reply, message(kind, 9, true));
        }
        // A delivery is no reply to anything.
        let reply = json!({"status": "ok", "response": broadcast});
        assert!(parse(codec, &push(arrays, "phx_reply", &reply)).is_err());
        let refusal = json!({"status": "error", "response": {}});
        for event in ["phx_reply", "phx_error", "phx_close"] {
            let verdict = parse(codec, &push(arrays, event, &refusal));
            assert_eq!(verdict, Ok(Incoming::Refused), "{event}");
        }
        let presence = push(arrays, "presence_state", &json!({}));
        assert_eq!(parse(codec, &presence), Ok(Incoming::Ignored));
    }
}

#[test]
fn messages_of_another_shape_are_not_phoenix() {
    let [objects, arrays] = PHOENIX.map(|url| of(Dialect::Phoenix, url, 1));
    let body = r#"{"type":"broadcast","body":{"stamp":"0000000000000009","padding":"1"}}"#;
    let parse = |text: &str| arrays.parse(text.replace('B', body).as_bytes());
    let null_refs = r#"[null,null,"room:lobby","broadcast",B]"#;
    assert_eq!(parse(null_refs), message(Kind::Broadcast, 9, true));
    for text in [
        r#"[null,null,"room:lobby","broadcast",B,1]"#,
        r#"[null,null,"room:lobby","broadcast"]"#,
        r#"[1,null,"room:lobby","broadcast",B]"#,
        r#"[null,null,"room:lobby",1,B]"#,
        r#"{"topic":"room:lobby","event":"broadcast","payload":B}"#,
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    let untold = br#"{"topic":"room:lobby","event":"phx_error"}"#;
    assert_eq!(
        objects.parse(untold).unwrap_err().0,
        "there is no `/payload`"
    );
}

fn cable(padding: u32) -> std::sync::Arc<dyn Codec> {
    of(Dialect::ActionCable, "wss://h/cable", padding)
}

#[test]
fn the_client_subscribes_after_the_welcome() {
    let codec = of(Dialect::ActionCable, "ws://h:1/cable", 0);
    assert_eq!(codec.origin(), Some("http://h:1"));
    assert_eq!(cable(0).origin(), Some("https://h"));
    assert_eq!(codec.subprotocol(), Some("actioncable-v1-json"));
    assert!(!codec.keeps_order());
    assert_eq!(codec.open(None), Opening::Await);
    let Opening::Send(subscribe) = codec.opened(br#"{"type":"welcome"}"#, None) else {
        panic!("a subscription is sent");
    };
    let subscribe: Value = serde_json::from_str(&subscribe).unwrap();
    let identifier = subscribe["identifier"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(identifier).unwrap(),
        json!({"channel": "BenchmarkChannel"})
    );
    let ping = br#"{"type":"ping","message":1480000000}"#;
    assert_eq!(codec.opened(ping, None), Opening::Await);
    let confirm = json!({"type": "confirm_subscription", "identifier": identifier});
    assert_eq!(opened(&*codec, &confirm), Opening::Ready);
}

#[test]
fn a_client_that_is_turned_away_is_told_why() {
    for (message, words) in [
        (
            r#"{"type":"reject_subscription"}"#,
            "the server rejected BenchmarkChannel",
        ),
        (
            r#"{"type":"disconnect","reason":"server\u001b_restart"}"#,
            r"the server disconnected the client: server\x1b_restart",
        ),
        (
            r#"{"type":"disconnect"}"#,
            "the server disconnected the client: no reason given",
        ),
        (
            "{",
            "not a message of the dialect actioncable: `{` (not JSON)",
        ),
    ] {
        let turned = cable(0).opened(message.as_bytes(), None);
        assert_eq!(turned, Opening::Refused(words.to_owned()));
    }
}

#[test]
fn an_action_is_json_in_a_string_and_its_answers_are_understood() {
    let codec = &*cable(2);
    let command = request(codec, Workload::Echo, 5);
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
        assert_eq!(parse(codec, &answer), message(kind, 5, true));
    }
    let ping = br#"{"type":"ping","message":1}"#;
    assert_eq!(codec.parse(ping), Ok(Incoming::Ignored));
    let untyped = codec.parse(b"{}").unwrap_err().0;
    assert_eq!(untyped, "no rule matches: there is no `/type`");
}

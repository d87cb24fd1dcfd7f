//! Topics in the dialects of frameworks, where a client joins one thing and then the topic of its room.

use super::super::{check_dialect, read_dialect};
use super::*;
use plan::built_in_dialect;

const ROOM: u32 = 17;

fn sent(codec: &dyn Codec, wanted: bool) -> Value {
    serde_json::from_slice(&codec.subscription(ROOM, wanted, &NoVariables).unwrap()).unwrap()
}

fn published(codec: &dyn Codec) -> Value {
    let mut out = Vec::new();
    codec.request(Workload::Rooms, ROOM, 9, &NoVariables, &mut out);
    serde_json::from_slice(&out).unwrap()
}

fn of_room(kind: Kind) -> Result<Incoming, Malformed> {
    Ok(Incoming::Message {
        kind,
        stamp: 9,
        intact: true,
        topic: Some(ROOM),
    })
}

/// A message of Phoenix on the topic of room 17.
fn of_topic(arrays: bool, refs: [&Value; 2], event: &str, payload: &Value) -> Value {
    let [join_ref, reference] = refs;
    match arrays {
        true => json!([join_ref, reference, "room:room-17", event, payload]),
        false => {
            json!({"topic": "room:room-17", "event": event, "payload": payload, "ref": reference})
        }
    }
}

#[test]
fn a_room_of_phoenix_is_a_topic_that_is_joined_behind_the_lobby() {
    for (arrays, url) in [false, true].into_iter().zip(PHOENIX) {
        let codec = &*of(Dialect::Phoenix, url, 1);
        let opened = |message: &Value| codec.opened(message.to_string().as_bytes(), Some(ROOM));
        let answer = |status: &str| json!({"status": status, "response": {}});
        let Opening::SendAsIs(join) = opened(&push(arrays, "phx_reply", &answer("ok"))) else {
            panic!("the topic of the room is joined next");
        };
        let three = &json!("3");
        let refs = [three, three];
        let join: Value = serde_json::from_slice(&join).unwrap();
        assert_eq!(join, of_topic(arrays, refs, "phx_join", &json!({})));
        assert_eq!(join, sent(codec, true));
        let reply = of_topic(arrays, refs, "phx_reply", &answer("ok"));
        assert_eq!(opened(&reply), Opening::Ready);
        let refusal = of_topic(arrays, refs, "phx_reply", &answer("error"));
        let words = "the server refused to join the topic of a room".to_owned();
        assert_eq!(opened(&refusal), Opening::Refused(words));
        let other = reply.to_string().replace("room-17", "room-18");
        assert!(matches!(
            codec.opened(other.as_bytes(), Some(ROOM)),
            Opening::Refused(_)
        ));
    }
}

#[test]
fn what_phoenix_says_on_the_topic_of_a_room_is_understood() {
    for (arrays, url) in [false, true].into_iter().zip(PHOENIX) {
        let codec = &*of(Dialect::Phoenix, url, 1);
        let [two, three, four] = ["2", "3", "4"].map(|reference| json!(reference));
        let body = json!({"body": {"stamp": "0000000000000009", "padding": "1"}});
        assert_eq!(
            published(codec),
            of_topic(arrays, [&three, &two], "publish", &body)
        );
        assert_eq!(
            sent(codec, false),
            of_topic(arrays, [&three, &four], "phx_leave", &json!({}))
        );
        let said = |name: &str| json!({"type": name, "body": body["body"]});
        let ok = |response: Value| json!({"status": "ok", "response": response});
        let null = &Value::Null;
        for (refs, event, payload, means) in [
            (
                [null, null],
                "message",
                said("message"),
                of_room(Kind::Message),
            ),
            (
                [&three, &two],
                "phx_reply",
                ok(said("publishResult")),
                of_room(Kind::Published),
            ),
            (
                [&three, &three],
                "phx_reply",
                ok(json!({})),
                Ok(Incoming::Subscribed(ROOM)),
            ),
            // The server's own word follows, and says that the client is out.
            (
                [&three, &four],
                "phx_reply",
                ok(json!({})),
                Ok(Incoming::Ignored),
            ),
            (
                [&three, &three],
                "phx_close",
                json!({}),
                Ok(Incoming::Ignored),
            ),
            (
                [null, null],
                "unsubscribed",
                json!({}),
                Ok(Incoming::Unsubscribed(ROOM)),
            ),
            (
                [&three, &two],
                "phx_reply",
                json!({"status": "error", "response": {}}),
                Ok(Incoming::Refused),
            ),
            (
                [&three, &three],
                "phx_error",
                json!({}),
                Ok(Incoming::Refused),
            ),
            (
                [null, null],
                "presence_state",
                json!({}),
                Ok(Incoming::Ignored),
            ),
        ] {
            let heard = of_topic(arrays, refs, event, &payload);
            assert_eq!(parse(codec, &heard), means, "{heard}");
        }
        let heard = of_topic(arrays, [null, null], "message", &said("message"));
        let other = heard.to_string().replace("room:room-17", "attic");
        assert!(codec.parse(other.as_bytes()).is_err());
    }
}

const IDENTIFIER: &str = r#"{"channel":"BenchmarkChannel","topic":"room-17"}"#;

#[test]
fn a_room_of_action_cable_is_a_subscription_with_a_topic() {
    let codec = &*cable(1);
    let base =
        json!({"type": "confirm_subscription", "identifier": r#"{"channel":"BenchmarkChannel"}"#});
    let opened = |message: &Value| codec.opened(message.to_string().as_bytes(), Some(ROOM));
    let Opening::SendAsIs(subscribe) = opened(&base) else {
        panic!("the room is subscribed to next");
    };
    let subscribe: Value = serde_json::from_slice(&subscribe).unwrap();
    assert_eq!(
        subscribe,
        json!({"command": "subscribe", "identifier": IDENTIFIER})
    );
    let confirm = json!({"type": "confirm_subscription", "identifier": IDENTIFIER});
    assert_eq!(opened(&confirm), Opening::Ready);
    assert_eq!(parse(codec, &confirm), Ok(Incoming::Subscribed(ROOM)));
    assert_eq!(
        sent(codec, false),
        json!({"command": "unsubscribe", "identifier": IDENTIFIER})
    );
    let command = published(codec);
    assert_eq!(command["identifier"], IDENTIFIER);
    let data: Value = serde_json::from_str(command["data"].as_str().unwrap()).unwrap();
    assert_eq!(data["action"], "publish");
    let says = |message: Value| {
        parse(
            codec,
            &json!({"identifier": IDENTIFIER, "message": message}),
        )
    };
    assert_eq!(
        says(json!({"action": "message", "payload": data["payload"]})),
        of_room(Kind::Message)
    );
    assert_eq!(
        says(json!({"action": "publishResult", "payload": data["payload"]})),
        of_room(Kind::Published)
    );
    assert_eq!(
        says(json!({"action": "unsubscribed"})),
        Ok(Incoming::Unsubscribed(ROOM))
    );
}

#[test]
fn a_topic_in_a_string_is_found_in_any_spelling_and_only_there() {
    let codec = &*cable(0);
    let confirmed = |identifier: &str| {
        parse(
            codec,
            &json!({"type": "confirm_subscription", "identifier": identifier}),
        )
    };
    assert_eq!(
        confirmed(r#" {"topic" : "room\u002d17", "channel":"BenchmarkChannel"} "#),
        Ok(Incoming::Subscribed(ROOM))
    );
    // Action Cable may confirm a subscription twice.
    let base = r#"{"channel":"BenchmarkChannel"}"#;
    assert_eq!(confirmed(base), Ok(Incoming::Ignored));
    for identifier in [
        r#"{"channel":"AtticChannel"}"#,
        r#"{"topic":17}"#,
        r#"{"topic":"room-017"}"#,
        r#"{"topic":"attic"}"#,
        r#"{"topic":"room-1","topic":"room-17"}"#,
        r#"{"topic":"room-17""#,
        r#"["room-17"]"#,
        "room-17",
        "",
        &"[".repeat(100_000),
    ] {
        assert!(confirmed(identifier).is_err(), "{identifier:.40}");
    }
}

#[test]
fn a_pointer_within_a_string_belongs_to_a_topic() {
    let of_name = |name| built_in_dialect(name).unwrap().clone();
    let mut file = of_name("actioncable");
    let mut rules = file.receive.iter_mut();
    let rule = rules.find(|rule| rule.topic_in_string.is_some()).unwrap();
    rule.topic_in_string = Some("topic".to_owned());
    let error = check_dialect(&file).unwrap_err().to_string();
    assert!(
        error.contains(".topic_in_string` has `topic`, which is no JSON pointer"),
        "{error}"
    );
    let text = "name = \"a\"\nsummary = \"A.\"\n[send]\necho = '{payload}'\n[[receive]]\nmeans = \"echo\"\npayload = \"\"\n\
                topic_in_string = \"/a\"\nexample = '{payload}'";
    let error = check_dialect(&read_dialect(text).unwrap()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.starts_with("`receive[1]` has no use for `topic_in_string`"),
        "{error}"
    );
}

//! Pusher's protocol: a signature of what the server tells, and messages that do not reach their sender.

use super::super::{check_dialect, check_message};
use super::*;
use plan::{Audience, DialectFile, Measure, Rooms, built_in_dialect};

fn file() -> DialectFile {
    built_in_dialect("pusher").unwrap().clone()
}

fn plan() -> Plan {
    crate::test_plan("ws://h/app/key?protocol=7").with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file()));
        plan.message.padding = 0;
    })
}

/// What a server says first; JSON within a string.
fn established(data: &Value) -> Vec<u8> {
    let data = match data {
        Value::String(text) => text.clone(),
        data => data.to_string(),
    };
    let message = json!({"event": "pusher:connection_established", "data": data});
    message.to_string().into_bytes()
}

fn subscribed(channel: &str) -> Vec<u8> {
    let event = "pusher_internal:subscription_succeeded";
    let message = json!({"event": event, "channel": channel, "data": "{}"});
    message.to_string().into_bytes()
}

#[test]
fn a_client_signs_for_the_channel_of_all_and_then_for_that_of_its_room() {
    let codec = codec_of_all(&plan());
    let told = established(&json!({"socket_id": "12.34", "activity_timeout": 120}));
    assert_eq!(
        codec.captured(&told),
        [("socket_id", "12.34"), ("timeout", "120")]
            .map(|(name, value)| (name.to_owned(), value.into()))
    );
    let asks = |channel: &str, signature: &str| {
        Opening::Send(format!(
            r#"{{"event":"pusher:subscribe","data":{{"channel":"{channel}","auth":"{{key}}:{{{signature}}}"}}}}"#
        ))
    };
    let of_room = Some(7);
    assert_eq!(codec.open(of_room), Opening::Await);
    for room in [None, of_room] {
        assert_eq!(codec.opened(&told, room), asks("private-all", "signature"));
    }
    let all = subscribed("private-all");
    assert_eq!(codec.opened(&all, None), Opening::Ready);
    assert_eq!(
        codec.opened(&all, of_room),
        asks("private-room-7", "signature_of_topic")
    );
    let opened = |channel| codec.opened(&subscribed(channel), of_room);
    assert_eq!(opened("private-room-7"), Opening::Ready);
    for other in ["private-room-8", "room-7", "private-room-07"] {
        assert!(matches!(opened(other), Opening::Refused(_)), "{other}");
    }
}

#[test]
fn what_is_not_told_in_the_string_refuses_the_client() {
    let codec = codec_of_all(&plan());
    let words = "there is no text or number at `/socket_id` for `socket_id`";
    for data in [
        json!({"id": "12.34"}),
        json!("no JSON"),
        json!({"socket_id": ["12.34"]}),
        json!(r#"{"socket_id":"1.2","socket_id":"3.4"}"#),
    ] {
        let next = codec.opened(&established(&data), None);
        assert_eq!(next, Opening::Refused(words.to_owned()), "{data}");
    }
    let bare = json!({"event": "pusher:connection_established", "data": {"socket_id": "1.2"}});
    let next = codec.opened(bare.to_string().as_bytes(), None);
    assert_eq!(next, Opening::Refused(words.to_owned()));
}

#[test]
fn a_client_event_is_a_delivery_and_there_is_no_result() {
    let codec = codec_of_all(&plan());
    let nothing = Returns {
        copy: false,
        result: false,
    };
    assert_eq!(codec.returns(), nothing);
    let event = request(&*codec, Workload::Broadcast, 9);
    assert_eq!(parse(&*codec, &event), message(Kind::Broadcast, 9, true));
    let mut out = Vec::new();
    codec.request(Workload::Rooms, 3, 9, &NoVariables, &mut out);
    let event: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(event["channel"], "private-room-3");
    let of_room = Incoming::Message {
        kind: Kind::Message,
        stamp: 9,
        intact: true,
        topic: Some(3),
    };
    assert_eq!(codec.parse(&out), Ok(of_room));
}

#[test]
fn a_limit_on_the_result_is_refused_where_there_is_none() {
    let mut plan = plan();
    for audience in [Audience::Everyone, Audience::Room(Rooms::Members(10))] {
        plan.audience = audience;
        plan.limits.of = Measure::Ack;
        let error = check_message(&plan).unwrap_err().to_string();
        assert!(
            error.starts_with("`send.reaches_sender` is false"),
            "{error}"
        );
        plan.limits.of = Measure::Completion;
        assert_eq!(check_message(&plan), Ok(()));
    }
}

#[track_caller]
fn refused(change: impl FnOnce(&mut DialectFile), words: &str) {
    let mut file = file();
    change(&mut file);
    let error = check_dialect(&file).unwrap_err().to_string();
    assert!(error.starts_with(words), "{error}");
}

#[test]
fn what_makes_no_sense_of_signatures_and_of_the_sender_is_refused() {
    let signature = |file: &DialectFile| file.open.signatures["signature"].clone();
    refused(
        |file| {
            let of = signature(file);
            file.open.signatures.insert("stamp".to_owned(), of);
        },
        "`open.signatures.stamp` is no name of a variable",
    );
    refused(
        |file| {
            let of = signature(file);
            file.open.signatures.insert("socket_id".to_owned(), of);
        },
        "`open.signatures.socket_id` has the name of a value that is captured",
    );
    refused(
        |file| file.send.unsubscribe = Some("{topic}".to_owned()),
        "`send.unsubscribe` stands beside a `subscribe` with variables",
    );
    let forget = |file: &mut DialectFile| {
        file.open.receive[0].capture.clear();
        file.open.receive[0].capture_in_string = None;
    };
    refused(
        forget,
        "`open.signatures.signature` is made when the server has told something",
    );
    refused(
        |file| {
            file.open.signatures.clear();
            file.open.receive[0].capture.clear();
        },
        "`open.receive[1]` has no use for `capture_in_string`",
    );
    refused(
        |file| file.send.reaches_sender = true,
        "`send.broadcast` has no rule for its answer `result`",
    );
    refused(
        |file| {
            let mut rule = file.receive[0].clone();
            rule.means = plan::Meaning::Result;
            file.receive.push(rule);
        },
        "`send.reaches_sender` is false, and a rule means `result`",
    );
}

//! Captures that make no plan: each is refused with the place and a remedy.

use super::{START, Talk, chat, entry, har, made, of};
use serde_json::{Value, json};

#[track_caller]
fn assert_refused(bytes: &[u8], words: &str) {
    let made = made(bytes, &[]);
    assert_eq!(
        (made.ran.code, made.ran.stdout.as_str()),
        (1, ""),
        "{:#?}",
        made.ran
    );
    assert_eq!(made.ran.stderr.lines().count(), 1, "{:#?}", made.ran);
    assert!(made.ran.stderr.contains(words), "{words}: {:#?}", made.ran);
}

#[test]
fn a_file_of_another_kind_is_refused_by_its_name() {
    let text = of(chat()).to_string();
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, words) in [
        (
            b"PK\x03\x04rest".to_vec(),
            "is a ZIP archive: take the HAR file out of it",
        ),
        (b"\x28\xB5\x2F\xFDrest".to_vec(), "is compressed by zstd"),
        ([&b"\xFF\xFE"[..], &wide].concat(), "is UTF-16"),
        (b"\x1F\x8B\x08rest".to_vec(), "cannot inflate the capture"),
        (Vec::new(), "is no HAR"),
        (b"\xEF\xBB\xBF".to_vec(), "is no HAR"),
        (text.as_bytes()[..text.len() / 2].to_vec(), "is no HAR: EOF"),
        (b"\"CANARY\"".to_vec(), "it has no list log.entries"),
        (
            b"{\"log\":\"CANARY\"}".to_vec(),
            "it has no list log.entries",
        ),
        (
            b"{\"log\":{\"entries\":{\"CANARY\":1}}}".to_vec(),
            "it has no list log.entries",
        ),
        (b"{}".to_vec(), "it has no list log.entries"),
        (
            format!("{text} CANARY").into_bytes(),
            "is no HAR: trailing characters",
        ),
    ] {
        assert_refused(&bytes, words);
    }
}

#[test]
fn a_capture_without_a_conversation_is_refused() {
    let refused =
        |capture: Value, words: &str| assert_refused(capture.to_string().as_bytes(), words);
    let page = json!({"request": {"url": "https://h.example/?token=CANARY"}});
    refused(har(&[]), "no WebSocket connection among its 0 entries");
    refused(
        har(&[page, json!({}), json!(null)]),
        "no WebSocket connection among its 3 entries",
    );
    refused(
        of(Talk::default()),
        "1 WebSocket connections and no message of any",
    );
    refused(
        of(Talk::default().told("CANARY")),
        "has no message of the client",
    );
    refused(
        har(&[entry("CANARY", chat())]),
        "the URL of connection 1 has no scheme",
    );
    refused(
        har(&[entry("ftp://h.example/CANARY", chat())]),
        "is of no WebSocket",
    );
    refused(
        har(&[entry("ws://h:CANARY/", chat())]),
        "the URL of connection 1 is none",
    );
}

#[test]
fn a_message_that_no_plan_can_carry_is_refused_by_its_number() {
    let refused = |talk: Talk, words: &str| assert_refused(of(talk).to_string().as_bytes(), words);
    let long = format!("CANARY{}", "x".repeat(5000));
    refused(
        chat().raw("send", 2, "CANARY"),
        "message 5 of connection 1 is binary",
    );
    refused(
        chat().sent(&long),
        "message 5 of connection 1 has 5006 bytes",
    );
    let parts = chat()
        .raw("send", 1, &long[..3000])
        .raw("send", 0, &long[..3000]);
    refused(parts, "message 5 of connection 1 has 6000 bytes");
    let mut rest = Talk::default().raw("send", 0, "CANARY");
    rest.0.extend(chat().0);
    refused(rest, "message 1 of connection 1 goes on (opcode 0)");
    let data = json!({"type": "send", "time": START, "opcode": 1, "data": {"x": "CANARY"}});
    refused(
        chat().entry(data),
        "message 5 of connection 1 has data that is no text",
    );
    let late = json!({"type": "send", "time": START + 1e6, "opcode": 1, "data": "CANARY"});
    refused(chat().entry(late), "more than a day apart");
    let many = (0..1001).fold(Talk::default(), |talk, n| talk.sent(&format!("ask {n}")));
    refused(many, "1001 different messages");
}

//! What clients send that come back, and what they missed.

use super::super::interpreter::Interpreter;
use super::super::{check_dialect, read_dialect};
use super::*;

const STAMPS: Stamps = Stamps::of_run(1);

const NEWS: &str = r#"
name = "news"
summary = "Each message has an offset, and a client that comes back says the last one that it has."

[open]
send = '{"hello":"{token}"}'
returning = '{"hello":"{token}","session":"{session}","after":{offset}}'

[[open.receive]]
means = "missed"
when = { "/offset" = { is = ["number"] } }

[[open.receive]]
means = "ready"
when = { "/ready" = true }
capture = { session = "/session" }

[send]
broadcast = '{"say":{payload}}'
acknowledged = false

[[receive]]
means = "delivery"
when = { "/offset" = { is = ["number"] } }
payload = "/said"
capture = { offset = "/offset" }
example = '{"said":{payload},"offset":7}'
"#;

fn compile(text: &str) -> Interpreter {
    let file = read_dialect(text).unwrap();
    check_dialect(&file).unwrap();
    Interpreter::compile(&file, Body::new(String::new()), "ws://h/", STAMPS).unwrap()
}

fn refusal(from: &str, to: &str) -> String {
    assert!(NEWS.contains(from), "{from}");
    let file = read_dialect(&NEWS.replacen(from, to, 1)).unwrap();
    check_dialect(&file).unwrap_err().to_string()
}

#[test]
fn a_client_that_comes_back_sends_another_message_and_keeps_what_it_missed() {
    let news = compile(NEWS);
    let text = |text: &str| Box::new(Opening::Send(text.to_owned()));
    assert_eq!(
        news.open(None),
        Opening::Returning(
            text(r#"{"hello":"{token}"}"#),
            text(r#"{"hello":"{token}","session":"{session}","after":{offset}}"#),
        )
    );
    assert_eq!(news.kept(), ["offset", "session"]);
    assert_eq!(
        news.opened(br#"{"said":1,"offset":7}"#, None),
        Opening::Keep
    );
    let ready = br#"{"ready":true,"session":"s1"}"#;
    assert_eq!(news.opened(ready, None), Opening::Ready);
    assert_eq!(
        news.captured(ready),
        [("session".to_owned(), b"s1".to_vec())]
    );
    assert!(news.renews());
    let told = news.renewed(br#"{"said":{},"offset":8}"#);
    assert_eq!(told, [("offset".to_owned(), b"8".to_vec())]);
}

#[test]
fn what_only_such_a_message_names_no_client_has_to_be_told() {
    let required = |text: &str| {
        let file = read_dialect(text).unwrap();
        file.required().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(required(NEWS), Vec::<String>::new());
    let says = NEWS.replace(r#"{"say":"#, r#"{"by":"{session}","say":"#);
    assert_eq!(required(&says), ["session"]);
    let unnamed = NEWS.replace(r#""session":"{session}","#, "");
    assert_eq!(required(&unnamed), ["session"]);
}

#[test]
fn socketio_says_its_pid_and_offset_when_it_comes_back_and_works_without_both() {
    let socketio = include_str!("../../../../../dialects/socketio.toml");
    let socketio = compile(socketio);
    assert_eq!(socketio.kept(), ["offset", "pid"]);
    assert_eq!(
        socketio.opened(b"0{\"sid\":\"a\"}", None),
        Opening::Returning(
            Box::new(Opening::Send("40".to_owned())),
            Box::new(Opening::Send(
                r#"40{"pid":"{pid}","offset":"{offset}"}"#.to_owned()
            )),
        )
    );
    let plain = br#"40{"sid":"b"}"#;
    let with_pid = br#"40{"sid":"b","pid":"c"}"#;
    assert_eq!(socketio.opened(plain, None), Opening::Ready);
    assert_eq!(socketio.opened(with_pid, None), Opening::Ready);
    assert!(socketio.captured(plain).is_empty());
    assert_eq!(
        socketio.captured(with_pid),
        [("pid".to_owned(), b"c".to_vec())]
    );
    let missed = br#"42["broadcast",{},"17-0"]"#;
    assert_eq!(socketio.opened(missed, None), Opening::Keep);
    let refused = socketio.opened(br#"42["broadcast",{}]"#, None);
    assert!(matches!(refused, Opening::Refused(_)), "{refused:?}");
    assert_eq!(
        socketio.renewed(missed),
        [("offset".to_owned(), b"17-0".to_vec())]
    );
    assert!(socketio.renewed(br#"42["broadcast",{}]"#).is_empty());
}

#[test]
fn a_file_that_could_not_tell_who_comes_back_or_when_a_client_is_ready_is_refused() {
    let nameless = NEWS
        .replace(r#","session":"{session}","after":{offset}"#, "")
        .replace("capture = { offset = \"/offset\" }\n", "");
    let nameless = read_dialect(&nameless).unwrap();
    let words = check_dialect(&nameless).unwrap_err().to_string();
    assert!(words.contains("open.returning"), "{words}");
    assert!(words.contains("names no value"), "{words}");
    let words = refusal("send = '{\"hello\":\"{token}\"}'\n", "");
    assert!(words.contains("stands in the place of `send`"), "{words}");
    let words = refusal("\"after\":{offset}", "\"after\":0");
    assert!(words.contains("receive[1].capture.offset"), "{words}");
    let words = refusal(
        "means = \"ready\"",
        "means = \"ready\"\nreturning = '{session}'",
    );
    assert!(words.contains("no use for `returning`"), "{words}");
    let words = refusal("means = \"ready\"", "means = \"ready\"\nsend = 'now'");
    assert!(words.contains("means `missed`"), "{words}");
}

#[test]
fn in_bytes_the_same_holds() {
    const BYTES: &str = r#"
name = "bytes"
summary = "The same in bytes."
opcode = "binary"
form = "hex"

[open]
send = '01'
returning = '02 {session} {offset}'

[[open.receive]]
means = "missed"
prefix = "03"

[[open.receive]]
means = "ready"
pattern = '04 {session:4}'

[send]
broadcast = '05 {stamp:be8} {padding}'
acknowledged = false

[[receive]]
means = "delivery"
pattern = '03 {offset:8} {stamp:be8} {padding}'
example = '03 "12345678" {stamp:be8} {padding}'
"#;
    let bytes = compile(BYTES);
    assert_eq!(bytes.kept(), ["offset", "session"]);
    assert!(matches!(bytes.open(None), Opening::Returning(..)));
    assert_eq!(bytes.opened(b"\x03more", None), Opening::Keep);
    let message = [b"\x03offset 7".as_slice(), &[0; 8]].concat();
    assert_eq!(
        bytes.renewed(&message),
        [("offset".to_owned(), b"offset 7".to_vec())]
    );
}

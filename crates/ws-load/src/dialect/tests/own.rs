//! Requests of users' own: several kinds, answers that repeat little or nothing, values that a server
//! told.

use super::super::interpreter::Interpreter;
use super::super::{Variables, check_dialect, read_dialect};
use super::*;

const STAMPS: Stamps = Stamps::of_run(1);

const SHOP: &str = r#"
name = "shop"
summary = "A catalogue that is searched and from which articles are bought."

[open]
send = '{"login":"{token}"}'

[[open.receive]]
means = "ready"
when = { "/ok" = true }
capture = { session = "/session", shard = "/at/shard" }

[[send.kinds]]
name = "search"
weight = 9
message = '{"do":"search","id":"{stamp}","by":"{session}","at":{shard}}'

[[send.kinds]]
name = "buy"
message = '{"do":"buy","id":"{stamp}","as":"{token}"}'

[[receive]]
means = "echo"
kind = "search"
when = { "/found" = { is = ["array"] } }
stamp = "/id"
example = '{"id":"{stamp}","found":[]}'

[[receive]]
means = "echo"
kind = "buy"
when = { "/bought" = true }
stamp = "/id"
example = '{"id":"{stamp}","bought":true}'
"#;

const COUNTER: &str = include_str!("counter.toml");

fn compile(text: &str) -> Interpreter {
    let file = read_dialect(text).unwrap();
    check_dialect(&file).unwrap();
    Interpreter::compile(&file, Body::new(String::new()), "ws://h/", STAMPS).unwrap()
}

fn refusal(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    let file = read_dialect(&text.replacen(from, to, 1)).unwrap();
    check_dialect(&file).unwrap_err().to_string()
}

/// Each variable stands for its name in brackets.
struct Named;

impl Variables for Named {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("<{name}>").as_bytes());
    }
}

fn sent(codec: &Interpreter, stamp: u64) -> String {
    let mut out = Vec::new();
    codec.request(Workload::Echo, 0, stamp, &Named, &mut out);
    String::from_utf8(out).unwrap()
}

/// The first stamp of the run whose request is of a kind.
fn stamp_of_kind(codec: &Interpreter, kind: u32) -> u64 {
    let mut stamps = (0..).map(|sample| STAMPS.stamp(sample));
    stamps
        .find(|stamp| codec.request_kind(*stamp) == Some(kind))
        .unwrap()
}

#[test]
fn requests_are_of_their_kind_and_have_the_variables_of_their_client() {
    let codec = compile(SHOP);
    let (search, buy) = (stamp_of_kind(&codec, 0), stamp_of_kind(&codec, 1));
    assert_eq!(
        sent(&codec, search),
        format!(r#"{{"do":"search","id":"{search:016x}","by":"<session>","at":<shard>}}"#)
    );
    assert_eq!(
        sent(&codec, buy),
        format!(r#"{{"do":"buy","id":"{buy:016x}","as":"<token>"}}"#)
    );
}

#[test]
fn an_answer_of_another_kind_is_not_intact() {
    let codec = compile(SHOP);
    let search = stamp_of_kind(&codec, 0);
    let parsed = |text: String| codec.parse(text.as_bytes()).unwrap();
    let message = |intact| Incoming::Message {
        kind: Kind::Echo,
        stamp: search,
        intact,
        topic: None,
    };
    let found = format!(r#"{{"id":"{search:016x}","found":[1,2]}}"#);
    let bought = format!(r#"{{"id":"{search:016x}","bought":true}}"#);
    assert_eq!(parsed(found), message(true));
    assert_eq!(parsed(bought), message(false));
}

#[test]
fn what_a_server_tells_is_kept_if_it_is_whole_and_harmless() {
    let codec = compile(SHOP);
    let told = br#"{"ok":true,"session":"s-7","at":{"shard":12}}"#;
    assert_eq!(codec.opened(told, None), Opening::Ready);
    let kept = [("session", "s-7"), ("shard", "12")];
    let kept = kept.map(|(name, value)| (name.to_owned(), value.into()));
    assert_eq!(codec.captured(told), kept);
    for (message, words) in [
        (
            r#"{"ok":true,"session":"s-7"}"#,
            "there is no text or number at `/at/shard` for `shard`",
        ),
        (
            r#"{"ok":true,"session":"a\"b","at":{"shard":12}}"#,
            "`session` has a quote, a backslash or a control character",
        ),
    ] {
        let next = codec.opened(message.as_bytes(), None);
        assert_eq!(next, Opening::Refused(words.to_owned()));
        assert_eq!(codec.captured(message.as_bytes()), []);
    }
}

#[test]
fn answers_in_order_say_their_kind_alone() {
    let codec = compile(COUNTER);
    assert!(codec.answers_in_order());
    assert_eq!(sent(&codec, stamp_of_kind(&codec, 1)), "get");
    assert_eq!(codec.parse(b"ok"), Ok(Incoming::InOrder(Some(0))));
    assert_eq!(codec.parse(b"is 17"), Ok(Incoming::InOrder(Some(1))));
}

#[test]
fn what_is_not_checked_is_said() {
    let unchecked = |text: &str| read_dialect(text).unwrap().unchecked();
    let words = unchecked(COUNTER).unwrap();
    assert!(
        words.starts_with("content not checked: no stamp; "),
        "{words}"
    );
    let words = unchecked(SHOP).unwrap();
    assert!(words.contains("the stamp or number"), "{words}");
    for file in plan::built_in_dialects() {
        assert_eq!(file.unchecked(), None, "{}", file.name);
    }
}

#[test]
fn padding_needs_a_place() {
    let mut plan = crate::test_plan("ws://h/");
    plan.audience = Audience::Sender;
    plan.message.dialect = plan::Dialect::File;
    plan.message.definition = Some(Box::new(read_dialect(SHOP).unwrap()));
    plan.message.padding = 0;
    check_message(&plan).unwrap();
    plan.message.padding = 20;
    assert_eq!(
        check_message(&plan).unwrap_err().to_string(),
        "`message.padding` is 20, and `send.kinds[1].message` has no place for it; write {payload} \
         or {padding} there, or leave the padding out"
    );
}

#[test]
fn kinds_that_make_no_sense_are_refused() {
    for (from, to, words) in [
        (
            "name = \"buy\"",
            "name = \"search\"",
            "`send.kinds[2].name` is no name of a kind, or one that stands there twice",
        ),
        (
            "name = \"buy\"",
            "name = \"Buy it\"",
            "`send.kinds[2].name` is no name of a kind",
        ),
        (
            "weight = 9",
            "weight = 0",
            "`send.kinds[1].weight` is 0: no request is of this kind",
        ),
        (
            "kind = \"buy\"",
            "kind = \"sell\"",
            "`send.kinds[2].message` has no rule for its answer `echo`",
        ),
        (
            "\"do\":\"buy\",\"id\":\"{stamp}\"",
            "\"do\":\"buy\"",
            "`send.kinds[2].message` carries no stamp, by which a rule finds its answers; write \
             {stamp} or {payload}",
        ),
        (
            "stamp = \"/id\"\nexample = '{\"id\":\"{stamp}\",\"bought\":true}'",
            "number = \"/id\"\nexample = '{\"id\":{number},\"bought\":true}'",
            "`send.kinds[2].message` carries no number, by which a rule finds its answers; write \
             {number}",
        ),
        (
            "stamp = \"/id\"\nexample = '{\"id\":\"{stamp}\",\"bought\":true}'",
            "in_order = true\nexample = '{\"bought\":true}'",
            "`receive[2].in_order` is not what the other rules for answers say",
        ),
        (
            "session = \"/session\"",
            "stamp = \"/session\"",
            "`open.receive[1].capture.stamp` is no name of a variable, or has another meaning",
        ),
        (
            "session = \"/session\"",
            "session = \"session\"",
            "`open.receive[1].capture.session` has `session`, which is no JSON pointer",
        ),
        (
            "[[send.kinds]]\nname = \"search\"",
            "[send]\necho = \"{payload}\"\n[[send.kinds]]\nname = \"search\"",
            "`send.echo` stands beside [[send.kinds]]; write it as one of them",
        ),
    ] {
        let error = refusal(SHOP, from, to);
        assert!(error.starts_with(words), "{to}: {error}");
    }
    assert_eq!(
        refusal(COUNTER, "is {any}", "is {stamp}"),
        "`receive[2]` says that answers carry nothing of a request, and where they carry it; leave \
         `in_order` out, or the other"
    );
    let extra = "[[receive]]\nmeans = \"echo\"\nkind = \"sell\"\ntext = \"sold\"\nin_order = true\n\
                 example = \"sold\"\n[[receive]]";
    assert_eq!(
        refusal(COUNTER, "[[receive]]", extra),
        "`receive[1].kind` is `sell`, which no request is; write the `name` of one of [[send.kinds]]"
    );
}

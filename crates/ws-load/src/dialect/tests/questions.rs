//! Questions of a server, whose answers repeat what was asked.

use super::super::{check_dialect, read_dialect};
use super::*;

const REST: &str = r#"
name = "asks"
summary = "A server that asks."

[send]
echo = '{"echo":{payload}}'

[[receive]]
means = "echo"
when = { "/echo" = { is = ["object"] } }
payload = "/echo"
example = '{"echo":{payload}}'
"#;

fn codec(rule: &str) -> std::sync::Arc<dyn Codec> {
    let file = read_dialect(&format!(
        "{REST}\n[[receive]]\nmeans = \"keep-alive\"\n{rule}"
    ))
    .unwrap();
    check_dialect(&file).unwrap();
    codec_of_all(&crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file));
    }))
}

fn refusal(rule: &str) -> String {
    let file = read_dialect(&format!(
        "{REST}\n[[receive]]\nmeans = \"keep-alive\"\n{rule}"
    ))
    .unwrap();
    check_dialect(&file).unwrap_err().to_string()
}

fn answered(codec: &dyn Codec, message: &str) -> String {
    match codec.parse(message.as_bytes()) {
        Ok(Incoming::Question(answer)) => String::from_utf8(answer.into()).unwrap(),
        other => panic!("{message}: {other:?}"),
    }
}

#[test]
fn an_answer_repeats_a_json_value_as_it_came() {
    let codec = codec(
        r#"
when = { "/0" = 2 }
capture = { id = "/1", what = "/2" }
send = '[3,{id},{"of":"a {what}","data":"{\"what\":\"{what}\"}"}]'
"#,
    );
    for (id, what) in [
        (json!(1795), json!("GetConfiguration")),
        (json!(u64::MAX), json!("a \"b\" \\ \n \u{e9} {id}")),
        (json!(-1.5), json!("")),
        (json!("x-\"1\""), json!("}{{")),
        (json!({"a": [1, null, "\u{0}"]}), json!("w")),
        (json!(null), json!("true")),
    ] {
        let answer = answered(&*codec, &json!([2, id, what, {}]).to_string());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer[1], id);
        let text = what.as_str().unwrap();
        assert_eq!(answer[2]["of"], format!("a {text}"));
        let within: Value = serde_json::from_str(answer[2]["data"].as_str().unwrap()).unwrap();
        assert_eq!(within, json!({"what": text}));
    }
    // Nothing to repeat, or two things.
    for message in [r#"[2,5]"#, r#"[2,{"a":1,"a":2},"b"]"#] {
        let why = codec.parse(message.as_bytes()).unwrap_err();
        assert!(why.0.starts_with("there is no value at `/"), "{why:?}");
    }
}

#[test]
fn what_stands_in_a_string_that_holds_json_is_repeated_too() {
    let codec = codec(
        r#"
when = { "/event" = "ask" }
capture = { id = "/id" }
capture_in_string = "/data"
send = '{"event":"answer","data":"{\"id\":\"{id}\"}"}'
"#,
    );
    let asked = json!({"event": "ask", "data": json!({"id": "a\"b"}).to_string()});
    let answer: Value = serde_json::from_str(&answered(&*codec, &asked.to_string())).unwrap();
    let within: Value = serde_json::from_str(answer["data"].as_str().unwrap()).unwrap();
    assert_eq!(within, json!({"id": "a\"b"}));
}

#[test]
fn an_answer_repeats_the_text_that_has_a_name_in_a_pattern() {
    let irc = codec("pattern = \"PING :{token}\"\nsend = \"PONG :{token}\"");
    assert_eq!(answered(&*irc, "PING :a \"b\" \\"), "PONG :a \"b\" \\");
    let two = codec("pattern = \"{any} {from} ? {what}\\n\"\nsend = \"{what} {from}!\"");
    assert_eq!(answered(&*two, "x me ? you\n"), "you me!");
    // The same to each is no question.
    let nats = codec("text = \"PING\"\nsend = \"PONG\"");
    assert_eq!(
        nats.parse(b"PING"),
        Ok(Incoming::KeepAlive(b"PONG"[..].into()))
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_the_key_and_a_remedy() {
    let json = "when = { \"/ask\" = { is = [\"present\"] } }";
    for (rule, words) in [
        (
            format!("{json}\ncapture = {{ id = \"/id\" }}\nsend = '{{other}}'"),
            "`receive[2].send` has {other}, which its rule does not capture; write `capture`, or {name} in \
             `pattern`; or `{{` for a brace",
        ),
        (
            format!("{json}\ncapture = {{ id = \"/id\" }}\nsend = 'yes'"),
            "`receive[2].send` does not repeat `id`, which its rule captures; write {id} there, or leave it \
             out of the rule",
        ),
        (
            format!("{json}\ncapture = {{ stamp = \"/id\" }}\nsend = 'yes'"),
            "`receive[2].capture.stamp` is no name of a variable, or has another meaning; write letters, \
             digits, `_`, `-` and `.`",
        ),
        (
            format!("{json}\ncapture = {{ id = \"id\" }}\nsend = '{{id}}'"),
            "`receive[2].capture.id` has `id`, which is no JSON pointer, which begins with `/`; write one \
             like `/payload/body` or `/3` (RFC 6901)",
        ),
        (
            "pattern = \"PING {a} {a}\"\nsend = \"{a}\"".to_owned(),
            "`receive[2].pattern` has {a} twice; write another name, or {any}",
        ),
        (
            "pattern = \"PING {a}{b}\"\nsend = \"{a}{b}\"".to_owned(),
            "`receive[2].pattern` does not say where one placeholder ends and the next begins; write a text \
             between them",
        ),
        (
            "text = \"PING\"\nsend = \"{stamp}\"".to_owned(),
            "`receive[2].send` has the placeholder {stamp}; no placeholder is known here; write `{{` for a \
             brace",
        ),
    ] {
        assert_eq!(refusal(&rule), words);
    }
}

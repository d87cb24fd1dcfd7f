//! Answers in parts: whose a part is, which one, and what a rule may say of it.

use super::super::{Progress, Said, Whose, check_dialect, read_dialect};
use super::*;

const MODEL: &str = r#"
name = "model"
summary = "Questions, and answers word by word."

[send]
echo = '{"ask":"{stamp}","n":{sequence},"of":{number}}'

[[receive]]
means = "progress"
when = { "/word" = { is = ["string"] } }
stamp = "/id"
part = "/n"
example = '{"id":"{stamp}","n":0,"word":"a"}'

[[receive]]
means = "echo"
when = { "/done" = true }
stamp = "/id"
parts = "/count"
example = '{"id":"{stamp}","done":true,"count":2}'
"#;

const LINES: &str = r#"
name = "lines"
summary = "The same without a name."

[send]
echo = "{stamp}"

[[receive]]
means = "progress"
pattern = "token {part} {any}"
in_order = true
example = "token 1 word"

[[receive]]
means = "echo"
pattern = "end {parts}"
in_order = true
example = "end 2"
"#;

fn compiled(text: &str) -> std::sync::Arc<dyn Codec> {
    let file = read_dialect(text).unwrap();
    check_dialect(&file).unwrap();
    codec_of_all(&crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file));
    }))
}

fn part(codec: &dyn Codec, message: &str) -> Progress {
    match codec.parse(message.as_bytes()) {
        Ok(Incoming::Progress(part)) => part,
        other => panic!("{message}: {other:?}"),
    }
}

#[test]
fn a_part_says_whose_it_is_and_which_and_a_last_message_how_many_there_were() {
    let codec = compiled(MODEL);
    assert!(codec.has_parts());
    let of = part(&*codec, r#"{"id":"00000000000000ab","n":3,"word":"a"}"#);
    let due = Progress {
        whose: Whose::Stamp(0xab),
        of_kind: None,
        part: Said::This(3),
    };
    assert_eq!(of, due);
    let text = part(&*codec, r#"{"id":"00000000000000ab","n":"3","word":"a"}"#);
    assert_eq!(text, due);
    for number in ["-1", "1.5", "null", "[1]", "\"x\""] {
        let message = format!(r#"{{"id":"00000000000000ab","n":{number},"word":"a"}}"#);
        assert_eq!(part(&*codec, &message).part, Said::Unreadable, "{number}");
    }
    assert!(codec.parse(br#"{"id":"ab","n":3,"word":"a"}"#).is_err());
    let last = |count: &str| {
        let message = format!(r#"{{"id":"00000000000000ab","done":true,"count":{count}}}"#);
        match codec.parse(message.as_bytes()) {
            Ok(Incoming::Last(answer, parts)) => {
                assert_eq!(Ok(*answer), message_of(0xab));
                parts
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(last("12"), Said::This(12));
    assert_eq!(last("true"), Said::Unreadable);
    let bare = compiled(&MODEL.replace("parts = \"/count\"\n", ""));
    let message = br#"{"id":"00000000000000ab","done":true,"count":2}"#;
    assert_eq!(bare.parse(message), message_of(0xab));
    assert!(!text_dialect().has_parts());
}

fn message_of(stamp: u64) -> Result<Incoming, Malformed> {
    message(Kind::Echo, stamp, true)
}

fn text_dialect() -> std::sync::Arc<dyn Codec> {
    of(Dialect::Text, "ws://h/", 0)
}

#[test]
fn the_ways_of_answers_are_those_of_their_parts() {
    let codec = compiled(LINES);
    let of = part(&*codec, "token 7 of many");
    assert_eq!((of.whose, of.part), (Whose::Oldest, Said::This(7)));
    assert_eq!(part(&*codec, "token x y").part, Said::Unreadable);
    let last = codec.parse(b"end 7");
    let due = Incoming::Last(Box::new(Incoming::InOrder(None)), Said::This(7));
    assert_eq!(last, Ok(due));
    let by_sequence = compiled(
        &MODEL
            .replace("stamp = \"/id\"", "sequence = \"/id\"")
            .replace("\"id\":\"{stamp}\"", "\"id\":{sequence}"),
    );
    let of = part(&*by_sequence, r#"{"id":4,"n":1,"word":"a"}"#);
    assert_eq!(of.whose, Whose::Sequence(4));
    let by_number = compiled(
        &MODEL
            .replace("stamp = \"/id\"", "number = \"/id\"")
            .replace("\"id\":\"{stamp}\"", "\"id\":{number}"),
    );
    let of = part(&*by_number, r#"{"id":4,"n":1,"word":"a"}"#);
    assert!(matches!(of.whose, Whose::Stamp(_)), "{of:?}");
}

#[track_caller]
fn refuses(text: &str, from: &str, to: &str, words: &str) {
    assert!(text.contains(from), "{from}");
    let file = read_dialect(&text.replacen(from, to, 1)).unwrap();
    let said = check_dialect(&file).unwrap_err().to_string();
    assert!(said.contains(words), "{said}");
}

#[test]
fn keys_of_parts_have_their_place() {
    refuses(
        MODEL,
        "part = \"/n\"",
        "part = \"n\"",
        "`receive[1].part` has `n`, which is no JSON pointer",
    );
    refuses(
        MODEL,
        "part = \"/n\"",
        "payload = \"/n\"",
        "has no use for `payload`",
    );
    refuses(
        MODEL,
        "part = \"/n\"",
        "part = \"/m\"",
        "`receive[1].example` is not understood by its own rule: the number of the part",
    );
    refuses(
        MODEL,
        "parts = \"/count\"",
        "part = \"/count\"",
        "`receive[2].part` has no sense without `means = \"progress\"`",
    );
    refuses(
        MODEL,
        "part = \"/n\"",
        "parts = \"/n\"",
        "`receive[1].parts` has no sense without `means = \"echo\"`",
    );
    refuses(
        MODEL,
        "stamp = \"/id\"",
        "in_order = true",
        "`receive[1].in_order` is not what the rules for the last messages of answers say",
    );
    refuses(
        MODEL,
        "stamp = \"/id\"",
        "sequence = \"/id\"",
        "`receive[1].sequence` is not what the rules for the last messages of answers say",
    );
    refuses(MODEL, "stamp = \"/id\"\npart", "part", "in one way");
    refuses(
        MODEL,
        "[[receive]]\nmeans = \"progress\"",
        "[[open.receive]]\nmeans = \"progress\"",
        "open.receive[1].means",
    );
    refuses(
        LINES,
        "{any}\"\nin_order",
        "{other}\"\nin_order",
        "`receive[1].pattern` has {other}, which means nothing there",
    );
    refuses(
        LINES,
        "token {part} {any}",
        "token {part} {padding}",
        "looks for a payload, which is in the last message of an answer",
    );
    refuses(
        LINES,
        "end {parts}",
        "end {parts} {part}",
        "`receive[2].pattern` has {part}, which means nothing there",
    );
}

#[test]
fn parts_are_of_requests_whose_answers_are_awaited() {
    let last = MODEL.find("[[receive]]").unwrap();
    let part = &MODEL[last..MODEL.rfind("[[receive]]").unwrap()];
    refuses(
        MODEL,
        part,
        "",
        "`receive[1].parts` counts the parts of an answer, and no rule recognises a part",
    );
    refuses(
        MODEL,
        "\"ask\":\"{stamp}\",",
        "",
        "`send.echo` carries no stamp",
    );
    let by_number = MODEL.replacen("stamp = \"/id\"", "number = \"/id\"", 1);
    let by_number = by_number.replacen("\"id\":\"{stamp}\"", "\"id\":{number}", 1);
    refuses(
        &by_number,
        ",\"of\":{number}",
        "",
        "`send.echo` does not carry what the parts of its answer say",
    );
    let alone = format!(
        "name = \"x\"\nsummary = \"y\"\n[[receive]]\nmeans = \"feed\"\ntext = \"z\"\n{part}"
    );
    refuses(
        &alone,
        "text = \"z\"",
        "text = \"zz\"",
        "`receive[2].means` is `progress`, and there is no request",
    );
    let kinds = r#"
name = "kinds"
summary = "Two kinds, of which one has no answer."
[[send.kinds]]
name = "ask"
message = "ask"
[[send.kinds]]
name = "say"
answered = false
message = "say"
[[send.script]]
kind = "ask"
[[send.script]]
kind = "say"
[[receive]]
means = "progress"
kind = "ask"
text = "more"
in_order = true
example = "more"
[[receive]]
means = "echo"
kind = "ask"
text = "done"
in_order = true
example = "done"
"#;
    compiled(kinds);
    refuses(
        kinds,
        "means = \"progress\"\nkind = \"ask\"",
        "means = \"progress\"\nkind = \"say\"",
        "`receive[1].kind` is one to which no answer is awaited",
    );
}

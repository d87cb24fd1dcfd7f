//! Clients that nothing tells that they are ready, and messages that count those of their connection.

use super::super::interpreter::Interpreter;
use super::super::{check_dialect, check_message, read_dialect};
use super::*;
use plan::Nanos;

const DELIVERY: &str = r#"
[[receive]]
means = "delivery"
pattern = "{stamp} {padding}"
example = "{stamp} {padding}"
"#;

fn text(open: &str, send: &str) -> String {
    format!(
        "name = \"own\"\nsummary = \"-\"\n{open}\n[send]\nbroadcast = \"{{stamp}} {{padding}}\"\n\
         acknowledged = false\n{send}\n{DELIVERY}"
    )
}

fn dialect(text: &str) -> Interpreter {
    let file = read_dialect(text).unwrap();
    check_dialect(&file).unwrap();
    Interpreter::compile(
        &file,
        Body::new(String::new()),
        "ws://h/",
        Stamps::of_run(1),
    )
    .unwrap()
}

#[track_caller]
fn refused(text: &str, words: &str) {
    let error = check_dialect(&read_dialect(text).unwrap()).unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with(words), "{error}");
}

fn send(text: &str) -> Opening {
    Opening::Send(text.to_owned())
}

const AFTER: &str = "[open]\nready_after = \"500ms\"\n";

#[test]
fn a_client_is_ready_so_long_after_its_last_message() {
    let silent = dialect(&text(AFTER, ""));
    assert_eq!(silent.open(None), Opening::ReadyLater);
    assert_eq!(silent.ready_after_ns(), 500_000_000);

    let joins = dialect(&text(&format!("{AFTER}send = \"join {{client}}\"\n"), ""));
    let moves = Opening::Several(vec![send("join {client}"), Opening::ReadyLater]);
    assert_eq!(joins.open(None), moves);
    assert!(moves.makes_ready_later() && !moves.makes_ready());

    let graph = dialect(&text(
        &format!(
            "{AFTER}send = \"init\"\n[[open.receive]]\nmeans = \"ready\"\ntext = \"ack\"\n\
             send = \"subscribe\"\n"
        ),
        "",
    ));
    assert_eq!(graph.open(None), send("init"));
    let moves = vec![send("subscribe"), Opening::ReadyLater];
    assert_eq!(graph.opened(b"ack", None), Opening::Several(moves));
    assert!(matches!(graph.opened(b"no", None), Opening::Refused(_)));
}

#[test]
fn a_client_of_a_room_subscribes_last() {
    let publish = "publish = \"{topic} {stamp} {padding}\"\nsubscribe = \"sub {topic}\"\n";
    let message = "[[receive]]\nmeans = \"message\"\nwhen = { \"/a\" = 1 }\ntopic = \"/t\"\n\
                   payload = \"/p\"\nexample = '{\"a\":1,\"t\":\"{topic}\",\"p\":{payload}}'\n";
    for (open, first, after) in [
        (String::new(), vec![], None),
        ("send = \"hi\"\n".to_owned(), vec![send("hi")], None),
        (
            "[[open.receive]]\nmeans = \"ready\"\ntext = \"ack\"\n".to_owned(),
            vec![],
            Some(b"ack"),
        ),
    ] {
        let codec = dialect(&(text(&format!("{AFTER}{open}"), publish) + message));
        let subscribe = Opening::SendAsIs(b"sub room-3".to_vec());
        let last = [subscribe, Opening::ReadyLater];
        let due = Opening::Several(first.into_iter().chain(last).collect());
        let next = match after {
            None => codec.open(Some(3)),
            Some(message) => codec.opened(message, Some(3)),
        };
        assert_eq!(next, due);
    }
}

#[test]
fn what_comes_meanwhile_may_ask_or_refuse_and_is_else_passed_over() {
    let open = format!(
        "{AFTER}[[open.receive]]\nmeans = \"refused\"\nprefix = \"no\"\nwords = \"it says no\"\n"
    );
    let alive = "[[receive]]\nmeans = \"keep-alive\"\ntext = \"2\"\nsend = \"3\"\n";
    let codec = dialect(&(text(&open, "") + alive));
    let heard = |message: &str| codec.heard_before_ready(message.as_bytes());
    assert_eq!(heard("no"), Opening::Refused("it says no".to_owned()));
    assert_eq!(heard("2"), Opening::SendAsIs(b"3".to_vec()));
    assert_eq!(heard("0000000000000009 "), Opening::Await);
    assert_eq!(heard("whatever"), Opening::Await);
}

#[test]
fn a_rule_that_makes_ready_may_send_first() {
    let open = "[[open.receive]]\nmeans = \"ready\"\ntext = \"hello\"\nsend = \"join\"\n";
    let codec = dialect(&text(open, ""));
    let moves = Opening::Several(vec![send("join"), Opening::Ready]);
    assert!(moves.makes_ready() && !moves.makes_ready_later());
    assert_eq!(codec.opened(b"hello", None), moves);
}

#[test]
fn a_time_and_a_word_that_contradict_each_other_are_refused() {
    let ready = "[[open.receive]]\nmeans = \"ready\"\ntext = \"ack\"\n";
    refused(
        &text(&format!("{AFTER}{ready}"), ""),
        "`open.ready_after` stands beside a rule that means `ready` and sends nothing",
    );
    let subscribed =
        "[[open.receive]]\nmeans = \"subscribed\"\nwhen = { \"/a\" = 1 }\ntopic = \"/t\"\n";
    refused(
        &text(&format!("{AFTER}{subscribed}"), ""),
        "`open.ready_after` stands beside rules that mean `subscribed`",
    );
    let sends = "[[open.receive]]\nmeans = \"send\"\ntext = \"a\"\nsend = \"b\"\n";
    refused(
        &text(&format!("{AFTER}{sends}"), ""),
        "`open.ready_after` stands beside rules that mean `send`, none of which is the last",
    );
    refused(
        &text("[open]\nready_after = \"2m\"\n", ""),
        "`open.ready_after` is 2m; write 1ms to 1m",
    );
    refused(
        &text("[open]\nsend = \"a\"\n", ""),
        "`open` has no rule that makes a client ready",
    );

    let file = read_dialect(&text(AFTER, "")).unwrap();
    let plan = crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file));
        plan.message.padding = 0;
        plan.audience = plan::Audience::Everyone;
    });
    assert_eq!(check_message(&plan), Ok(()));
    let plan = plan.with(|plan| plan.connection.timeout = Nanos::millis(500));
    let error = check_message(&plan).unwrap_err().to_string();
    assert!(
        error.starts_with("`open.ready_after` is 500ms, and connection.timeout"),
        "{error}"
    );
}

fn numbered(rule: &str) -> String {
    format!(
        "name = \"own\"\nsummary = \"-\"\n[send]\necho = '{{\"id\":{{sequence}}}}'\n[[receive]]\n\
         means = \"echo\"\n{rule}\n"
    )
}

#[test]
fn an_answer_may_say_the_sequence_of_its_request() {
    for rule in [
        "sequence = \"/id\"\nexample = '{\"id\":{sequence}}'",
        "sequence = \"/id\"\nexample = '{\"id\":\"{sequence}\"}'",
        "pattern = '{\"id\":{sequence}}'\nexample = '{\"id\":{sequence}}'",
    ] {
        let codec = dialect(&numbered(rule));
        assert!(codec.says_sequence() && codec.answers_by_identifier());
        let answer = Incoming::Numbered {
            kind: Kind::Echo,
            sequence: 12,
            of_kind: None,
            topic: None,
        };
        assert_eq!(codec.parse(br#"{"id":12}"#), Ok(answer), "{rule}");
        assert!(codec.parse(br#"{"id":-1}"#).is_err(), "{rule}");
    }
    let file = read_dialect(&numbered(
        "sequence = \"/id\"\nexample = '{\"id\":{sequence}}'",
    ));
    assert!(
        file.unwrap()
            .unchecked()
            .unwrap()
            .contains("stamp or number")
    );
}

#[test]
fn a_sequence_that_makes_no_sense_is_refused() {
    refused(
        &numbered("sequence = \"/id\"\nexample = '{\"id\":{sequence}}'")
            .replace("{\"id\":{sequence}}'\n[[", "{\"id\":{number}}'\n[["),
        "`send.echo` carries no sequence, by which a rule finds its answers",
    );
    refused(
        &numbered(
            "sequence = \"/id\"\nnumber = \"/n\"\nexample = '{\"id\":{sequence},\"n\":{number}}'",
        ),
        "`receive[1]` does not say in one way where an answer carries what was sent",
    );
    refused(
        &numbered("pattern = '{sequence} {stamp}'\nexample = '{sequence} {stamp}'"),
        "`receive[1].pattern` says twice which request it answers",
    );
    // All clients hear a delivery, and each counts for itself.
    refused(
        &text("", "").replace("{stamp} {padding}\"\nexample", "{sequence}\"\nexample"),
        "`receive[1]` does not say in one way where an answer carries what was sent",
    );
    let signed = "[open.signatures.sign]\nkey = \"{key}\"\nof = \"{sequence}\"\n";
    refused(
        &text(signed, ""),
        "`open.signatures.sign` has {sequence}, which counts messages",
    );
}

//! Files that make no sense say where and what to do.

use super::super::{check_dialect, read_dialect};

const LINES: &str = r#"
name = "lines"
summary = "Lines of text."

[send]
echo = "echo {stamp}{padding}"

[[receive]]
means = "echo"
pattern = "echo {stamp}{padding}"
example = "echo {stamp}{padding}"
"#;

fn refusal(text: &str) -> String {
    match read_dialect(text) {
        Ok(file) => check_dialect(&file).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

/// Why the file is refused after `from` has become `to`.
fn changed(from: &str, to: &str) -> String {
    assert!(LINES.contains(from), "{from}");
    refusal(&LINES.replace(from, to))
}

#[test]
fn the_files_of_the_project_make_sense() {
    for file in plan::built_in_dialects() {
        assert_eq!(check_dialect(file), Ok(()), "{}", file.name);
    }
    check_dialect(&read_dialect(LINES).unwrap()).unwrap();
}

#[test]
fn requests_have_to_carry_what_is_verified_and_to_be_answered() {
    for (from, to, words) in [
        (
            "echo {stamp}{padding}\"\n\n[[",
            "echo {stamp}\"\n\n[[",
            "`send.echo` carries no stamp, or not the padding that a plan asks for; write {payload}, \
             {escaped_payload}, or {stamp} and one of {padding} and {line}",
        ),
        (
            "echo {stamp}{padding}\"\n\n[[",
            "echo {stamp}{pad}\"\n\n[[",
            "`send.echo` carries no stamp",
        ),
        (
            "echo = \"echo {stamp}{padding}\"",
            "",
            "`send` has no request; write `echo`, `broadcast`, `publish` or [[send.kinds]]",
        ),
        (
            "echo = \"",
            "broadcast = \"",
            "`send.broadcast` has no rule for its answer `delivery`; write [[receive]] with \
             `means = \"delivery\"`",
        ),
    ] {
        let error = changed(from, to);
        assert!(error.starts_with(words), "{error}");
    }
}

#[test]
fn the_examples_of_the_documentation_make_sense() {
    let text = include_str!("../../../../../docs/dialects.md");
    let examples = text.split("```toml\n").skip(1);
    let examples: Vec<&str> = examples.map(|of| of.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 17);
    for example in examples {
        check_dialect(&read_dialect(example).unwrap()).unwrap();
    }
}

#[test]
fn rules_have_to_be_clear() {
    let pattern = r#"pattern = "echo {stamp}{padding}""#;
    for (to, words) in [
        (
            "",
            "`receive[1]` does not say in one way which messages it matches; write `text`, or \
             `pattern`, or `prefix` and `when`",
        ),
        (
            "text = \"a\"\nprefix = \"a\"",
            "`receive[1]` does not say in one way which messages it matches",
        ),
        (
            "text = \"a\"",
            "`receive[1]` does not say in one way where an answer carries what was sent; write \
             `payload`, `stamp`, `number` or `sequence`, a pattern with {payload}, {stamp} or \
             {sequence}, or `in_order = true`",
        ),
        (
            "pattern = \"echo {stamp}\"",
            "`receive[1].example` is not understood by its own rule: `echo ",
        ),
        (
            "stamp = \"/a\"",
            "`receive[1].example` is not understood by its own rule: `echo ",
        ),
        (
            "stamp = \"/a\"\npayload = \"/b\"",
            "`receive[1]` does not say in one way where an answer carries",
        ),
        (
            "payload = \"a\"",
            "`receive[1].payload` has `a`, which is no JSON pointer, which begins with `/`; write \
             one like `/payload/body` or `/3` (RFC 6901)",
        ),
        (
            "payload = \"/p\"\nwhen = { \"b\" = 1 }",
            "`receive[1].when` has `b`, which is no JSON pointer",
        ),
        (
            "payload = \"/p\"\nwhen = { \"/b\" = {} }",
            "`receive[1].when.\"/b\"` tests nothing",
        ),
        (
            "payload = \"/p\"\nwhen = { \"/p/stamp\" = \"x\" }",
            "`receive` compares the stamp or the padding, at `/p/stamp`",
        ),
        (
            "pattern = \"echo {stamp}{padding}\"\nsend = \"x\"",
            "`receive[1]` has no use for `send`",
        ),
        (
            "pattern = \"echo {stamp}!{padding}\"",
            "`receive[1].example` is not understood by its own rule: `echo ",
        ),
        (
            "pattern = \"{stamp}{padding}\"",
            "`receive[1].example` is not understood by its own rule: what was sent is not found",
        ),
    ] {
        let error = changed(pattern, to);
        assert!(error.starts_with(words), "{to}: {error}");
    }
    let error = changed("example", "#");
    assert_eq!(
        error,
        "`receive[1]` has no `example`; write `example = '...'`"
    );
    let earlier = "[[receive]]\nmeans = \"ignored\"\nprefix = \"echo\"\n[[receive]]";
    let error = changed("[[receive]]", earlier);
    assert!(error.contains("rule 1 matches it first"), "{error}");
    let many = "[[receive]]\nmeans = \"ignored\"\ntext = \"a\"\n".repeat(64);
    let error = refusal(&format!("{LINES}{many}"));
    assert_eq!(error, "`receive` has 65 rules; permitted: at most 64");
}

#[test]
fn a_client_has_to_become_ready() {
    let error = changed("[send]", "[open]\nsend = \"hi\"\n[send]");
    assert_eq!(
        error,
        "`open` has no rule that makes a client ready; write [[open.receive]] with \
         `means = \"ready\"`, or `ready_after = \"500ms\"` where nothing says so, or leave [open] out"
    );
    let ready = "[[open.receive]]\nmeans = \"ready\"\ntext = \"ok\"\n[send]";
    check_dialect(&read_dialect(&LINES.replace("[send]", ready)).unwrap()).unwrap();
    let error = changed("[send]", &ready.replace("ready", "echo"));
    assert_eq!(
        error,
        "`open.receive[1].means` is `echo`, which has no sense there; permitted there: ready, \
         subscribed, send, refused, wait, missed"
    );
    let error = changed("[send]", &ready.replace("\"ready\"", "\"send\""));
    assert_eq!(
        error.split(';').next(),
        Some("`open` has no rule that makes a client ready")
    );
}

#[test]
fn what_stands_in_the_handshake_has_to_fit_there() {
    for (to, words) in [
        ("name = \"Lines\"", "`name` is no name of a dialect"),
        ("name = \"\"", "`name` is no name of a dialect"),
        (
            "name = \"lines\"\nsubprotocol = \"a, b\"",
            "`subprotocol` cannot stand in a header",
        ),
        (
            "name = \"lines\"\nsubprotocol = \"a\\r\\nb: c\"",
            "`subprotocol` cannot stand in a header",
        ),
    ] {
        let error = changed("name = \"lines\"", to);
        assert!(error.starts_with(words), "{error}");
    }
}

/// The text dialect, a part of which is left out.
fn text_without(parts: &[&str]) -> String {
    let mut text = include_str!("../../../../../dialects/text.toml").to_owned();
    for part in parts {
        assert!(text.contains(part), "{part}");
        text = text.replace(part, "");
    }
    text
}

#[test]
fn a_topic_that_can_be_left_needs_answers_of_a_ready_client() {
    const REQUEST: &str = "unsubscribe = '{\"type\":\"unsubscribe\",\"topic\":\"{topic}\"}'\n";
    let answer = |means: &str| {
        format!(
            "[[receive]]\nmeans = \"{means}\"\nwhen = {{ \"/type\" = \"{means}\" }}\ntopic = \"/topic\"\n"
        )
    };
    let (subscribed, unsubscribed) = (answer("subscribed"), answer("unsubscribed"));
    let whole = text_without(&[REQUEST, &subscribed, &unsubscribed]);
    check_dialect(&read_dialect(&whole).unwrap()).unwrap();
    for parts in [
        &[REQUEST][..],
        &[&subscribed],
        &[&unsubscribed],
        &[REQUEST, &subscribed],
    ] {
        let error = refusal(&text_without(parts));
        assert!(
            error.starts_with("`send.unsubscribe` does not go with"),
            "{error}"
        );
    }
    let error = refusal(&text_without(&["topic = \"/topic\"\n"]));
    assert!(error.ends_with("write `topic = '...'`"), "{error}");
}

#[test]
fn clients_change_rooms_in_a_dialect_that_can_leave_topics_alone() {
    let plan = |dialect: &str| {
        let plan = format!(
            "{{\"target\": {{\"url\": \"ws://127.0.0.1:1/\"}}, \"message\": {{\"dialect\": \"{dialect}\"}},
              \"audience\": {{\"room\": {{\"members\": 5}}}}, \"load\": {{\"open\": {{\"rate\": 1.0}}}},
              \"populations\": [{{}}, {{\"life\": {{\"changes_room\":
                {{\"stays\": \"1s\", \"away\": \"0s\"}}}}}}]}}"
        );
        serde_json::from_str::<plan::Plan>(&plan).unwrap()
    };
    assert_eq!(crate::check_message(&plan("text")), Ok(()));
    let mut of_file = plan("file");
    let file =
        text_without(&["unsubscribe = '{\"type\":\"unsubscribe\",\"topic\":\"{topic}\"}'\n"]);
    let without = |means: &str, file: String| {
        let rule = format!("means = \"{means}\"\nwhen = {{ \"/type\" = \"{means}\" }}\ntopic");
        let at = file.rfind(&rule).unwrap();
        let end = at + file[at..].find("\n\n").unwrap();
        format!(
            "{}means = \"ignored\"\ntext = \"{means}\"{}",
            &file[..at],
            &file[end..]
        )
    };
    let file = without("unsubscribed", without("subscribed", file));
    of_file.message.definition = Some(Box::new(read_dialect(&file).unwrap()));
    let error = crate::check_message(&of_file).unwrap_err().to_string();
    assert!(
        error.contains("has no `unsubscribe`, which clients need"),
        "{error}"
    );
}

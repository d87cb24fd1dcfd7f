//! What a file in bytes cannot have.

use super::*;

fn refusal(text: &str) -> String {
    let file = read_dialect(text).unwrap();
    check_dialect(&file).unwrap_err().to_string()
}

/// What is said of the file with a text in the place of another.
fn instead(from: &str, to: &str) -> String {
    let text = ECHO.replacen(from, to, 1);
    assert_ne!(text, ECHO);
    refusal(&text)
}

fn with_rule(rule: &str) -> String {
    refusal(&format!("{ECHO}\n[[receive]]\n{rule}"))
}

#[test]
fn keys_of_bytes_and_of_text_are_not_mixed() {
    let top = |keys: &str| instead("form = \"hex\"", keys);
    assert_eq!(
        instead("opcode = \"binary\"\n", ""),
        "`form` is `hex`, and messages are text; write `opcode = \"binary\"`, or leave `form` out"
    );
    for (keys, words) in [
        (
            "form = \"hex\"\nseparator = \"x\"",
            "`separator` stands in a file in bytes",
        ),
        (
            "form = \"hex\"\npacked = true\nlength_prefix = \"be4\"",
            "`packed` stands beside `length_prefix`",
        ),
        (
            "form = \"hex\"\nshape = { \"/a\" = 1 }",
            "`shape` looks into JSON",
        ),
        (
            "packed = true",
            "`packed` is about bytes, and the file is in text",
        ),
        ("length_prefix = \"le2\"", "`length_prefix` is about bytes"),
    ] {
        let said = top(keys);
        assert!(said.starts_with(words), "{keys}: {said}");
    }
    let signed = format!(
        "{ECHO}\n[open.signatures.s]\nkey = \"a\"\nof = \"b\"\n[[open.receive]]\nmeans = \"ready\"\ntext = \"00\""
    );
    assert!(refusal(&signed).starts_with("`open.signatures` stands in a file in bytes"));
    let own = r#"
name = "text"
summary = "Text."
[send]
echo = '{payload}'
[[receive]]
means = "echo"
pattern = '{payload}'
at = { "0" = "7b" }
example = '{payload}'
"#;
    assert_eq!(
        refusal(own),
        "`receive[1].at` is about bytes, and the file is in text; leave it out, or write `form = \"hex\"`"
    );
}

#[test]
fn rules_that_look_into_json_are_refused() {
    for (key, name) in [
        ("when = { \"/a\" = 1 }", "when"),
        ("payload = \"/a\"", "payload"),
        ("payload_form = \"string\"", "payload_form"),
        ("stamp = \"/a\"", "stamp"),
        ("number = \"/a\"", "number"),
        ("sequence = \"/a\"", "sequence"),
        ("line = \"/a\"", "line"),
        ("key = \"/a\"", "key"),
        ("sent_at = \"/a\"", "sent_at"),
        ("topic = \"/a\"", "topic"),
        ("topic_in_string = \"/a\"", "topic_in_string"),
        ("capture_in_string = \"/a\"", "capture_in_string"),
        ("reason = \"/a\"", "reason"),
    ] {
        let said = with_rule(&format!("means = \"ignored\"\ntext = \"00\"\n{key}"));
        let words = format!("`receive[2].{name}` looks into JSON, and the file is in bytes");
        assert!(said.starts_with(&words), "{said}");
    }
}

#[test]
fn rules_say_in_one_way_what_they_match() {
    for (rule, words) in [
        (
            "means = \"ignored\"",
            "`receive[2]` does not say in one way which messages",
        ),
        (
            "means = \"ignored\"\ntext = \"00\"\nprefix = \"00\"",
            "`receive[2]` does not say in one way which messages",
        ),
        (
            "means = \"ignored\"\ntext = \"0\"",
            "`receive[2].text` has neither bytes nor a hole",
        ),
        (
            "means = \"ignored\"\ntext = \"{any}\"",
            "`receive[2].text` has a hole or a length",
        ),
        (
            "means = \"ignored\"\nat = { x = \"00\" }",
            "`receive[2].at.\"x\"` is no place",
        ),
        (
            "means = \"ignored\"\nat = { \"1\" = \"0\" }",
            "`receive[2].at.\"1\"` has neither",
        ),
        (
            "means = \"ignored\"\npattern = '{any} {any}'",
            "`receive[2].pattern` does not say where one hole ends",
        ),
        (
            "means = \"ignored\"\npattern = '{any} {stamp:be8} {any}'",
            "`receive[2].pattern` does not say where one hole ends",
        ),
        (
            "means = \"ignored\"\npattern = '{sequence} {any}'",
            "`receive[2].pattern` does not say where one hole ends",
        ),
        (
            "means = \"ignored\"\npattern = '{length}({any})'",
            "`receive[2].pattern` has a decimal {length} whose end nothing shows",
        ),
        (
            "means = \"ignored\"\npattern = '{payload}'",
            "`receive[2].pattern` has {payload}",
        ),
        (
            "means = \"ignored\"\npattern = '{line}'",
            "`receive[2].pattern` has {line}",
        ),
        (
            "means = \"ignored\"\npattern = '{padding:4}'",
            "`receive[2].pattern` has a form behind {padding}",
        ),
        (
            "means = \"keep-alive\"\npattern = '{a:2} {a:2}'\nsend = '{a}'",
            "`receive[2].pattern` has {a} twice",
        ),
        (
            "means = \"keep-alive\"\npattern = '{a:2}'\nsend = '00'",
            "`receive[2].send` does not repeat `a`",
        ),
        (
            "means = \"keep-alive\"\ntext = '00'\nsend = '{a}'",
            "`receive[2].send` has {a}, which means nothing there",
        ),
        (
            "means = \"feed\"\npattern = '{price}'",
            "`receive[2].capture.price` is captured by no rule of [open]",
        ),
        (
            "means = \"feed\"\npattern = '{stamp:be8}'",
            "`receive[2].pattern` looks for what a request carried",
        ),
        (
            "means = \"ignored\"\ntext = '00'\nsend = '00'",
            "`receive[2]` has no use for `send`",
        ),
        (
            "means = \"echo\"\npattern = '{any}'\nexample = '00'",
            "`receive[2]` does not say in one way which request it is of",
        ),
        (
            "means = \"echo\"\npattern = '{stamp:be8}'",
            "`receive[2]` has no `example`",
        ),
    ] {
        let said = with_rule(rule);
        assert!(said.starts_with(words), "{rule}: {said}");
    }
}

#[test]
fn forms_that_do_not_fit_are_refused() {
    let echo = |of: &str| {
        instead(
            "echo = '01 {stamp:be8} {padding}'",
            &format!("echo = '{of}'"),
        )
    };
    for (of, words) in [
        (
            "{stamp:be4} {padding}",
            "`send.echo` has a stamp of another form",
        ),
        (
            "{stamp:le8} {padding}",
            "`receive[1].pattern` has a stamp of another form than the messages before it",
        ),
        (
            "{number:be2} {stamp:be8} {padding}",
            "`send.echo` has {number} of a form that does not count far enough",
        ),
        (
            "{sequence:le1} {stamp:be8} {padding}",
            "`send.echo` has {sequence} of a form that does not count far enough",
        ),
        (
            "{stamp:be8} {padding} {padding}",
            "`send.echo` carries the padding twice",
        ),
        (
            "{stamp:be8}",
            "`send.echo` carries no stamp, or not the padding",
        ),
        (
            "{stamp:be8} {padding} {any}",
            "`send.echo` has {any}, which means nothing there",
        ),
        (
            "{stamp:be8} {padding} {topic}",
            "`send.echo` has {topic}, which means nothing there",
        ),
        (
            "{stamp:be8} {padding} {token:be4}",
            "`send.echo` has a form behind {token}",
        ),
        (
            "{stamp:be8} {padding} {length:be1}",
            "`send.echo` has a {length} without parentheses",
        ),
    ] {
        let said = echo(of);
        assert!(said.starts_with(words), "{of}: {said}");
    }
    let long = format!(
        "01 {{length:be1}}( {} {{stamp:be8}} {{padding}} )",
        "00".repeat(250)
    );
    let said = echo(&long);
    assert!(said.starts_with("`send.echo` has a {length} up to 255 before 258 bytes or more"));
}

#[test]
fn a_padding_that_a_length_cannot_count_is_refused() {
    let text = ECHO.replace("{padding}", "{length:be1}( {padding} )");
    let file = read_dialect(&text).unwrap();
    let of = |padding| {
        crate::test_plan("ws://h/").with(|plan| {
            plan.message.dialect = Dialect::File;
            plan.message.definition = Some(Box::new(file.clone()));
            plan.message.padding = padding;
            plan.audience = plan::Audience::Sender;
        })
    };
    check_message(&of(255)).unwrap();
    assert_eq!(
        check_message(&of(256)).unwrap_err().to_string(),
        "`send.echo` has a {length} up to 255 before 256 bytes or more, with a padding of 256; write a \
         length of more bytes, or a shorter padding"
    );
}

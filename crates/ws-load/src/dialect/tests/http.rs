//! What files with requests over HTTP may say.

use super::super::{check_dialect, read_dialect};
use super::codec_of_all;
use plan::Dialect;

const NEWS: &str = r#"
[[receive]]
means = "delivery"
when = { "/stamp" = { is = ["string"] } }
payload = ""
example = "{payload}"
"#;
const ECHO: &str = r#"
[send]
echo = "{payload}"
[[receive]]
means = "echo"
when = { "/stamp" = { is = ["string"] } }
payload = ""
example = "{payload}"
"#;

fn checked(text: &str) -> Result<(), String> {
    let text = format!("name = \"n\"\nsummary = \"S.\"\n{text}");
    let file = read_dialect(&text).map_err(|error| error.to_string())?;
    check_dialect(&file).map_err(|error| error.to_string())
}

fn step(lines: &str) -> Result<(), String> {
    checked(&format!("[[open.http]]\n{lines}\n{ECHO}"))
}

fn publication(lines: &str, rest: &str) -> Result<(), String> {
    checked(&format!("{lines}\n{rest}"))
}

#[track_caller]
fn says(checked: Result<(), String>, words: &str) {
    let error = checked.unwrap_err();
    assert!(error.contains(words), "{words}: {error}");
}

#[test]
fn steps_that_make_sense_are_taken() {
    for lines in [
        "url = \"/\"",
        "url = \"https://auth.example:8443/login?a={b}\"\nmethod = \"PUT\"\nbody = \"a={b}\"",
        "url = \"/a\"\nstatus = [200, 302]\nheaders = { A-B = \"{c} d\" }",
        "url = \"/a\"\ncapture = { a = { json = \"\" }, b = { header = \"X-A\" }, c = { cookie = \"s\" } }",
    ] {
        assert_eq!(step(lines), Ok(()), "{lines}");
    }
}

#[test]
fn each_wrong_step_is_refused_with_its_place() {
    for (lines, words) in [
        ("url = \"login\"", "`open.http[1].url` is neither a path"),
        (
            "url = \"http://{host}/\"",
            "has a variable in the place of its host",
        ),
        ("url = \"http://u@h/\"", "has a user before its host"),
        ("url = \"/a#b\"", "has a fragment"),
        ("url = \"/a b\"", "has a path that cannot be asked for"),
        (
            "url = \"/{stamp}\"",
            "`open.http[1].url` has the placeholder {stamp}",
        ),
        (
            "url = \"/{sequence}\"",
            "has {sequence}, which counts messages",
        ),
        (
            "url = \"/\"\nmethod = \"get\"",
            "`open.http[1].method` is no method",
        ),
        (
            "url = \"/\"\nmethod = \"CONNECT\"",
            "`open.http[1].method` is no method",
        ),
        (
            "url = \"/\"\nmethod = \"GET\"\nbody = \"a\"",
            "`open.http[1].body` stands beside the method GET",
        ),
        (
            "url = \"/\"\nheaders = { Content-Length = \"1\" }",
            "`open.http[1].headers` has `Content-Length`",
        ),
        (
            "url = \"/\"\nheaders = { \"a b\" = \"1\" }",
            "`open.http[1].headers` has `a b`",
        ),
        (
            "url = \"/\"\nheaders = { A = \"\\n\" }",
            "no printable ASCII",
        ),
        (
            "url = \"/\"\nstatus = [101]",
            "`open.http[1].status` has 101",
        ),
        (
            "url = \"/\"\ncapture = { client = { json = \"/a\" } }",
            "`open.http[1].capture.client` is no name",
        ),
        (
            "url = \"/\"\ncapture = { a = { json = \"a\" } }",
            "`open.http[1].capture.a` is no JSON pointer",
        ),
        (
            "url = \"/\"\ncapture = { a = { header = \"a b\" } }",
            "names no header or cookie",
        ),
        (
            "url = \"/\"\ncapture = { a = { pattern = \"{value}b\" } }",
            "does not have {value} once",
        ),
        (
            "url = \"/\"\ncapture = { a = { pattern = \"a{value}b{value}c\" } }",
            "does not have {value} once",
        ),
    ] {
        says(step(lines), words);
    }
    let many = "[[open.http]]\nurl = \"/\"\n".repeat(17);
    says(
        checked(&format!("{many}{ECHO}")),
        "`open.http` has 17 steps; permitted: at most 16",
    );
    let signed = r#"
[[open.http]]
url = "/"
capture = { a = { json = "/a" } }
[open.signatures.a]
key = "k"
of = "{a}"
"#;
    let receive =
        "[[open.receive]]\nmeans = \"ready\"\nwhen = { \"/b\" = 1 }\ncapture = { b = \"/b\" }\n";
    says(
        checked(&format!("{signed}{receive}{ECHO}")),
        "`open.signatures.a` has the name of a value that is captured",
    );
}

#[test]
fn a_publication_is_a_broadcast_or_goes_to_a_room() {
    let of = "[send.http]\nurl = \"/publish\"\nbody = \"{payload}\"\n";
    assert_eq!(publication(of, NEWS), Ok(()));
    let file = read_dialect(&format!("name = \"n\"\nsummary = \"S.\"\n{of}{NEWS}")).unwrap();
    let plan = crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file));
    });
    assert!(!codec_of_all(&plan).keeps_order());
    let signed = "[send.http.signatures.s]\nkey = \"{k}\"\nof = \"{timestamp}{body_md5}\"\n";
    assert_eq!(publication(&format!("{of}{signed}"), NEWS), Ok(()));
    let rooms = r#"
[[open.receive]]
means = "subscribed"
when = { "/now" = { is = ["string"] } }
topic = "/now"
[[receive]]
means = "message"
when = { "/t" = { is = ["string"] } }
topic = "/t"
payload = "/p"
example = '{"t":"{topic}","p":{payload}}'
"#;
    let to_topic = "[send]\nsubscribe = '{\"in\":\"{topic}\"}'\n[send.http]\nurl = \"/topics/{topic}\"\n\
                    body = \"{payload}\"\n";
    assert_eq!(publication(to_topic, rooms), Ok(()));
    let nowhere = to_topic.replace("/{topic}", "");
    says(publication(&nowhere, rooms), "does not go with `subscribe`");
}

#[test]
fn each_wrong_publication_is_refused_with_its_place() {
    let with = |key: &str, value: &str| {
        let mut lines = vec![("url", "\"/p\""), ("body", "\"{payload}\"")];
        lines.retain(|(of, _)| *of != key);
        let mut text = "[send.http]\n".to_owned();
        for (key, value) in lines.into_iter().chain([(key, value)]) {
            text += &format!("{key} = {value}\n");
        }
        publication(&text, NEWS)
    };
    for (key, value, words) in [
        ("url", "\"p\"", "`send.http.url` is neither a path"),
        (
            "url",
            "\"/p?{payload}\"",
            "`send.http` has {payload} outside of its body",
        ),
        (
            "body",
            "\"{stamp}\"",
            "`send.http.body` carries no stamp, or not the padding",
        ),
        (
            "body",
            "\"{payload}{sequence}\"",
            "`send.http.body` has {sequence}",
        ),
        ("method", "\"post\"", "`send.http.method` is no method"),
        ("status", "[600]", "`send.http.status` has 600"),
        (
            "when",
            "{ ok = true }",
            "`send.http.when` has `ok`, which is no JSON pointer",
        ),
        (
            "when",
            "{ \"/ok\" = {} }",
            "`send.http.when.\"/ok\"` tests nothing",
        ),
        ("connections", "0", "`send.http.connections` is 0"),
    ] {
        says(with(key, value), words);
    }
    let of = "[send.http]\nurl = \"/p\"\nbody = \"{payload}\"\n";
    let before = |lines: &str| publication(&format!("[send]\n{lines}\n{of}"), NEWS);
    says(
        before("broadcast = \"{payload}\""),
        "`send.http` stands beside `broadcast`",
    );
    says(
        before("acknowledged = false"),
        "is acknowledged by the answer over HTTP",
    );
    let result = "[[receive]]\nmeans = \"result\"\nwhen = { \"/r\" = 1 }\nstamp = \"/s\"\nexample = '{\"r\":1,\"s\":\"{stamp}\"}'\n";
    says(
        publication(of, &format!("{result}{NEWS}")),
        "is acknowledged by the answer over HTTP",
    );
    says(
        publication(
            of,
            ECHO.replace("[send]\necho = \"{payload}\"", "").as_str(),
        ),
        "has no rule for what clients hear",
    );
    let clash = "[send.http.signatures.timestamp]\nkey = \"k\"\nof = \"o\"\n";
    says(
        publication(&format!("{of}{clash}"), NEWS),
        "`send.http.signatures.timestamp` has a name with another meaning",
    );
}

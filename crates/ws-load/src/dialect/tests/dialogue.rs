//! Scripts whose clients think: what a turn may say, and what its request may repeat of answers.

use super::super::{check_dialect, read_dialect};

const SESSION: &str = r#"
name = "session"
summary = "Logs in, lists, and buys the first."

[[send.kinds]]
name = "login"
message = "login {client}"

[[send.kinds]]
name = "list"
message = "list"

[[send.kinds]]
name = "buy"
message = "buy {id}"

[[send.script]]
after = "1s"
kind = "login"

[[send.script]]
kind = "list"

[[send.script]]
after = "5s"
jitter = 0.5
kind = "buy"

[[receive]]
means = "echo"
kind = "login"
text = "hello"
in_order = true
example = "hello"

[[receive]]
means = "echo"
kind = "list"
when = { "/items" = { is = ["array"] } }
capture = { id = "/items/0" }
in_order = true
example = '{"items":[7]}'

[[receive]]
means = "echo"
kind = "buy"
text = "sold"
in_order = true
example = "sold"
"#;

#[track_caller]
fn refuses(from: &str, to: &str, words: &str) {
    assert!(SESSION.contains(from), "{from}");
    let file = read_dialect(&SESSION.replacen(from, to, 1)).unwrap();
    let said = check_dialect(&file).unwrap_err().to_string();
    assert!(said.contains(words), "{said}");
}

#[test]
fn answers_of_a_dialogue_tell_what_later_requests_say() {
    let file = read_dialect(SESSION).unwrap();
    assert_eq!(check_dialect(&file), Ok(()));
    assert!(file.is_dialogue());
    assert_eq!(file.told().collect::<Vec<_>>(), ["id"]);
    assert_eq!(file.captured().count(), 0);
}

#[test]
fn what_no_answer_before_tells_is_refused() {
    refuses(
        "message = \"list\"",
        "message = \"list {id}\"",
        "`send.script[2].kind` is `list`, which says {id}, and no answer before it tells that",
    );
    // Another rule for the same answers tells nothing.
    let second = "[[receive]]\nmeans = \"echo\"\nkind = \"list\"\ntext = \"none\"\n\
                  in_order = true\nexample = \"none\"\n\n[[receive]]\nmeans = \"echo\"\n\
                  kind = \"buy\"";
    refuses(
        "[[receive]]\nmeans = \"echo\"\nkind = \"buy\"",
        second,
        "`send.script[3].kind` is `buy`, which says {id}",
    );
    // Without `after` the next request does not wait for the answer.
    let timed = SESSION
        .replace("after = \"1s\"\n", "")
        .replace("after = \"5s\"\njitter = 0.5\n", "");
    let file = read_dialect(&timed).unwrap();
    let said = check_dialect(&file).unwrap_err().to_string();
    assert!(said.contains("is captured by no rule of [open]"), "{said}");
}

#[test]
fn times_to_think_and_moments_do_not_stand_together() {
    refuses(
        "kind = \"list\"\n\n[[send.script]]",
        "at = \"2s\"\nkind = \"list\"\n\n[[send.script]]",
        "`send.script[2].at` stands in a script with `after`",
    );
    refuses(
        "after = \"5s\"",
        "after = \"25h\"",
        "`send.script[3].after` is longer than a day",
    );
    refuses(
        "after = \"5s\"\n",
        "",
        "`send.script[3].jitter` is a share of `after`, which is not there",
    );
    refuses(
        "jitter = 0.5",
        "jitter = 1.5",
        "`send.script[3].jitter` is 1.5; write a share from 0 to 1",
    );
    refuses(
        "after = \"1s\"",
        "after = \"1s\"\njitter = 0.1",
        "`send.script[1].jitter` is of the first request",
    );
    refuses(
        "[[send.script]]",
        "[send]\nrepeat_after = \"1s\"\n\n[[send.script]]",
        "`send.repeat_after` stands beside `after`",
    );
}

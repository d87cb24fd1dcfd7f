//! Servers that ask their clients, and that tell them values anew.

use crate::heartbeats::{MANY, NEVER, SILENCE, measured, only, text};
use crate::lines::{self, write};
use crate::support::{assert_valid, dialect_file, run};
use plan::DialectFile;
use record::{End, Faults};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use test_servers::oracle::{OracleOptions, Strikes};

/// Text with heartbeats, each of which the server follows up with questions.
fn asked() -> DialectFile {
    let mut file = text();
    let more: DialectFile = toml::from_str(
        r#"
        name = "more"
        summary = "Questions."
        [send]
        [[receive]]
        means = "keep-alive"
        when = { "/type" = "question" }
        capture = { what = "/what" }
        send = '{"type":"answer","to":{what}}'
        "#,
    )
    .unwrap();
    file.receive.extend(more.receive);
    file
}

#[test]
fn five_hundred_clients_repeat_what_they_are_asked_and_one_loss_is_counted_beside_it() {
    let options = OracleOptions {
        silence: Some(SILENCE),
        asks: 3,
        lost: Strikes {
            every: NEVER,
            first: 100,
        },
        ..OracleOptions::default()
    };
    let (record, told) = measured(options, &asked(), MANY, &[]);
    let (step, beats) = only(&record);
    let one = Faults {
        lost: 1,
        ..Faults::default()
    };
    assert_eq!((step.clients, step.faults), (500, one));
    assert_eq!((told.wrong_answers, told.silenced.len()), (0, 0));
    assert!(beats.sent > 500, "{beats:?}");
    // Of each connection, those of its last heartbeats may be under way at its end.
    let open = told.questions - told.right_answers;
    assert!(
        told.right_answers > 1_500 && open <= 2 * 3 * 500,
        "{open} {told:?}"
    );
}

#[test]
fn a_client_that_repeats_something_else_is_noticed() {
    let options = OracleOptions {
        silence: Some(SILENCE),
        asks: 1,
        ..OracleOptions::default()
    };
    let mut file = asked();
    let rule = file.receive.last_mut().unwrap();
    rule.send = Some(r#"{"type":"answer","to":"{what}"}"#.to_owned());
    let plan = MANY.replace("first = 500", "first = 4");
    let (_, told) = measured(options, &file, &plan, &[]);
    assert!(told.wrong_answers > 0, "{told:?}");
}

const FLOOD: &str = r#"
name = "flood"
summary = "A server that asks and does not read."

[open]
send = "hi"

[[open.receive]]
means = "ready"
text = "ready"

[send]
echo = '{"echo":{payload}}'

[[receive]]
means = "keep-alive"
pattern = "PING {token}"
send = "PONG {token}"

[[receive]]
means = "echo"
when = { "/echo" = { is = ["object"] } }
payload = "/echo"
example = '{"echo":{payload}}'
"#;

#[test]
fn a_server_that_asks_and_does_not_read_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let file = dialect_file(folder.path(), FLOOD);
    let json = folder.path().join("run.json");
    let addr = lines::start(|| {
        |line: &str, client: &TcpStream| match line {
            "hi" => write(client, "ready"),
            // It asks on and reads nothing, until the client is gone.
            _ => {
                use std::io::Write as _;
                let ping = format!("PING {}", "x".repeat(30_000));
                let frame = crate::raw_peer::frame(ws_proto::Opcode::Text, ping.as_bytes());
                let mut client = client;
                while client.write_all(&frame).is_ok() {}
            }
        }
    });
    let ran = run(&format!(
        "echo ws://{addr}/ --dialect {file} --initial-clients 1 --total-steps 1 --sample-size 1 --limit-rtt 20s \
         --json {}",
        json.display()
    ));
    let record = assert_valid(&json);
    assert_eq!(record.outcome.end, End::ServerLost, "{ran:#?}");
    assert_eq!(record.faults().disconnected, 1, "{ran:#?}");
    let words = "it asks again and does not read what it was answered";
    assert!(
        ran.stderr.contains(words) || ran.stdout.contains(words),
        "{ran:#?}"
    );
}

const RENEWED: &str = r#"
name = "renewed"
summary = "A server that gives its clients a new token with each answer."

[open]
send = "hi"

[[open.receive]]
means = "ready"
when = { "/token" = { is = ["number"] } }
capture = { token = "/token" }

[send]
echo = '{"echo":{payload},"by":{token}}'

[[receive]]
means = "echo"
when = { "/echo" = { is = ["object"] } }
payload = "/echo"
capture = { token = "/next" }
example = '{"echo":{payload},"next":1}'
"#;

#[test]
fn later_messages_have_the_value_that_was_told_last() {
    let folder = tempfile::tempdir().unwrap();
    let file = dialect_file(folder.path(), RENEWED);
    for more in ["", "--processes 2"] {
        let wrong = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&wrong);
        let next = Arc::new(AtomicU64::new(1));
        let addr = lines::start(move || {
            let (seen, next) = (Arc::clone(&seen), Arc::clone(&next));
            let mut token = 0;
            move |line: &str, client: &TcpStream| {
                let due = format!(",\"by\":{token}}}");
                // Tokens that come again, so that answers to other clients look the same.
                token = next.fetch_add(1, Ordering::SeqCst) % 3;
                match line.strip_suffix(&due) {
                    None if line == "hi" => write(client, &format!("{{\"token\":{token}}}")),
                    None => {
                        seen.fetch_add(1, Ordering::SeqCst);
                    }
                    Some(line) => write(client, &format!("{line},\"next\":{token}}}")),
                }
            }
        });
        let ran = run(&format!(
            "echo ws://{addr}/ --dialect {file} --initial-clients 6 --total-steps 1 --sample-size 300 -c 1 \
             --limit-rtt 20s {more}"
        ));
        assert_eq!(ran.code, 0, "{more} {ran:#?}");
        assert_eq!(wrong.load(Ordering::SeqCst), 0, "{more} {ran:#?}");
    }
}

#[test]
fn wrong_uses_are_refused_with_the_place_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    for (text, from, to, words) in [
        (
            RENEWED,
            "capture = { token = \"/next\" }",
            "capture = { other = \"/next\" }",
            "`receive[1].capture.other` is captured by no rule of [open], and a client has no value before; \
             write `capture` with that name there too, or leave it out",
        ),
        (
            FLOOD,
            "PONG {token}",
            "PONG {tokn}",
            "`receive[1].send` has {tokn}, which its rule does not capture",
        ),
    ] {
        assert!(text.contains(from));
        let file = dialect_file(folder.path(), &text.replace(from, to));
        let ran = run(&format!("echo ws://127.0.0.1:1/ --dialect {file}"));
        assert!(ran.stderr.contains(words), "{ran:#?}");
        assert_eq!(ran.code, 1, "{ran:#?}");
    }
}

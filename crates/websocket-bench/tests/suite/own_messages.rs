//! Requests of a user's own: kinds with weights, answers that repeat a stamp or nothing, values that the
//! server told each client.

use crate::lines::{self, write};
use crate::support::{Ran, assert_valid, run};
use record::{End, Faults, RunRecord};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SHOP: &str = r#"
name = "shop"
summary = "Sessions, searches and purchases."

[open]
send = '{"login":"{token}"}'

[[open.receive]]
means = "ready"
when = { "/ok" = true }
capture = { session = "/session" }

[[send.kinds]]
name = "search"
weight = 3
message = '{"do":"search","id":"{stamp}","session":"{session}"}'

[[send.kinds]]
name = "buy"
message = '{"do":"buy","id":"{stamp}","session":"{session}","token":"{token}"}'

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

[[receive]]
means = "refused"
when = { "/error" = { is = ["string"] } }
"#;

/// What the shop counted.
#[derive(Default)]
struct Till {
    sessions: AtomicU64,
    searches: AtomicU64,
    purchases: AtomicU64,
    /// How many more searches it answers as if they were purchases.
    to_confuse: AtomicU64,
}

fn take_one(count: &AtomicU64) -> bool {
    let taken = count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
    taken.is_ok()
}

/// A shop that refuses what is not of the session and the token of its connection.
fn shop(till: &Arc<Till>) -> SocketAddr {
    let till = Arc::clone(till);
    lines::start(move || {
        let till = Arc::clone(&till);
        let (mut session, mut token) = (String::new(), String::new());
        move |line: &str, client: &TcpStream| {
            let asked: Value = serde_json::from_str(line).unwrap();
            let answer = if let Some(login) = asked["login"].as_str() {
                let number = till.sessions.fetch_add(1, Ordering::SeqCst);
                (session, token) = (format!("s-{number}"), login.to_owned());
                json!({"ok": true, "session": session})
            } else if asked["session"] != session.as_str() {
                json!({"error": "another session"})
            } else if asked["do"] == "search" {
                till.searches.fetch_add(1, Ordering::SeqCst);
                match take_one(&till.to_confuse) {
                    true => json!({"id": asked["id"], "bought": true}),
                    false => json!({"id": asked["id"], "found": [1, 2]}),
                }
            } else if asked["token"] == token.as_str() && token.starts_with("t-") {
                till.purchases.fetch_add(1, Ordering::SeqCst);
                json!({"id": asked["id"], "bought": true})
            } else {
                json!({"error": "another token"})
            };
            write(client, &answer.to_string());
        }
    })
}

const COUNTER: &str = r#"
name = "counter"
summary = "Answers come in the order of the requests."

[[send.kinds]]
name = "add"
weight = 2
message = "add 1"

[[send.kinds]]
name = "get"
message = "get"

[[receive]]
means = "echo"
kind = "add"
text = "ok"
in_order = true
example = "ok"

[[receive]]
means = "echo"
kind = "get"
pattern = "is {any}"
in_order = true
example = "is 1"
"#;

/// A counter for each connection, which answers so many `add`s of all with `wrong`.
fn counter(to_spoil: u64, wrong: &'static str) -> SocketAddr {
    let to_spoil = Arc::new(AtomicU64::new(to_spoil));
    lines::start(move || {
        let to_spoil = Arc::clone(&to_spoil);
        let mut count = 0;
        move |line: &str, client: &TcpStream| match line {
            "add 1" if take_one(&to_spoil) => write(client, wrong),
            "add 1" => {
                count += 1;
                write(client, "ok");
            }
            "get" => write(client, &format!("is {count}")),
            other => panic!("a client said {other:?}"),
        }
    })
}

fn echo(addr: SocketAddr, dialect: &str, folder: &Path, more: &str) -> (Ran, RunRecord) {
    let (path, json) = (folder.join("own.toml"), folder.join("run.json"));
    std::fs::write(&path, dialect).unwrap();
    let ran = run(&format!(
        "echo ws://{addr}/ --dialect {} --step-size 8 --total-steps 1 --sample-size 400 -c 40 \
         --limit-rtt 8s --sample-timeout 10s --json {} {more}",
        path.display(),
        json.display()
    ));
    assert!(json.exists(), "{ran:#?}");
    let record = assert_valid(&json);
    (ran, record)
}

#[test]
fn requests_of_several_kinds_carry_what_the_server_told_their_client() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("tokens.csv");
    std::fs::write(&data, "token\nt-1\nt-2\nt-3\n").unwrap();
    for more in ["", "--processes 2"] {
        let till = Arc::new(Till::default());
        let more = format!("{more} --data {}", data.display());
        let (ran, record) = echo(shop(&till), SHOP, folder.path(), &more);
        assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
        assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
        let (searches, purchases) = (
            till.searches.load(Ordering::SeqCst),
            till.purchases.load(Ordering::SeqCst),
        );
        assert_eq!(till.sessions.load(Ordering::SeqCst), 8);
        assert_eq!(searches + purchases, 400);
        // 300 are due: a standard deviation is 8.7.
        assert!((250..350).contains(&searches), "{searches}");
        let words = "content not checked: answers carry the stamp";
        assert!(record.unchecked.unwrap().starts_with(words));
        assert!(ran.stderr.contains(words), "{ran:#?}");
    }
}

#[test]
fn an_answer_of_another_kind_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("tokens.csv");
    std::fs::write(&data, "token\nt-1\n").unwrap();
    let till = Arc::new(Till::default());
    till.to_confuse.store(3, Ordering::SeqCst);
    let more = format!("--data {}", data.display());
    let (ran, record) = echo(shop(&till), SHOP, folder.path(), &more);
    let expected = Faults {
        corrupt: 3,
        ..Faults::default()
    };
    assert_eq!(record.faults(), expected, "{ran:#?}");
}

#[test]
fn a_variable_that_stands_for_nothing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    std::fs::write(&path, SHOP).unwrap();
    let ran = run(&format!(
        "echo ws://{}/ --dialect {}",
        crate::support::no_listener(),
        path.display()
    ));
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stderr.contains("token"), "{ran:#?}");
    assert!(ran.stderr.contains("--data"), "{ran:#?}");
}

#[test]
fn a_client_that_is_not_told_what_messages_repeat_is_turned_away() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("tokens.csv");
    std::fs::write(&data, "token\nt-1\n").unwrap();
    let silent = lines::start(|| {
        |_: &str, client: &TcpStream| write(client, r#"{"ok":true,"session":null}"#)
    });
    let more = format!("--data {}", data.display());
    let (ran, _) = echo(silent, SHOP, folder.path(), &more);
    let words = "there is no text or number at `/session` for `session`";
    assert!(ran.stderr.contains(words), "{ran:#?}");
}

#[test]
fn answers_without_a_stamp_belong_to_the_requests_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    for (to_spoil, more) in [(0, ""), (0, "--processes 2"), (0, "--threads 2"), (5, "")] {
        let addr = counter(to_spoil, "is 7");
        let (ran, record) = echo(addr, COUNTER, folder.path(), more);
        let expected = Faults {
            corrupt: to_spoil,
            ..Faults::default()
        };
        assert_eq!(record.outcome.end, End::StepsDone, "{more}: {ran:#?}");
        assert_eq!(record.faults(), expected, "{more}: {ran:#?}");
        assert_eq!(record.steps[0].samples, 400);
        let words = "content not checked: no stamp";
        assert!(record.unchecked.unwrap().starts_with(words));
    }
}

#[test]
fn an_answer_that_is_none_leaves_the_last_request_of_its_connection_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let (ran, record) = echo(counter(1, "nonsense"), COUNTER, folder.path(), "");
    let faults = record.faults();
    assert_eq!(faults.malformed, 1, "{ran:#?}");
    assert_eq!(faults.unanswered + faults.lost, 1, "{ran:#?}");
}

#[test]
fn an_answer_that_was_not_asked_for_is_one_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let dialect = COUNTER.replace("add 1", "add");
    let eager = lines::start(|| {
        let mut is_first = true;
        move |line: &str, client: &TcpStream| {
            if std::mem::take(&mut is_first) {
                // Both come before the second request is made.
                write(client, "ok");
            }
            write(client, if line == "get" { "is 1" } else { "ok" });
        }
    });
    let (ran, record) = echo(eager, &dialect, folder.path(), "-c 8");
    assert!(
        record.faults().corrupt + record.faults().duplicate > 0,
        "{ran:#?}"
    );
}

const NUMBERED: &str = r#"
name = "numbered"
summary = "Requests whose number has to rise on each connection."

[send]
echo = '{"id":{number},"sent":{payload}}'

[[receive]]
means = "echo"
when = { "/id" = { is = ["number"] } }
payload = "/sent"
example = '{"id":{number},"sent":{payload}}'

[[receive]]
means = "refused"
when = { "/error" = { is = ["string"] } }
"#;

#[test]
fn the_number_of_a_request_rises_on_each_connection() {
    let folder = tempfile::tempdir().unwrap();
    for more in [
        "--threads 2",
        "--threads 3 -c 200",
        "--processes 2",
        "--threads 2 --rate 4000 --duration 1s",
    ] {
        let by_clock = more.contains("--rate");
        let strict = lines::start(|| {
            let mut latest = 0;
            move |line: &str, client: &TcpStream| {
                let asked: Value = serde_json::from_str(line).unwrap();
                let number = asked["id"].as_u64().unwrap();
                let answer = match number > latest {
                    true => line.to_owned(),
                    false => {
                        json!({"error": format!("{number} is not above {latest}")}).to_string()
                    }
                };
                latest = number.max(latest);
                write(client, &answer);
            }
        });
        let load = if by_clock {
            ""
        } else {
            "--sample-size 4000 -c 40"
        };
        let (path, json) = (
            folder.path().join("own.toml"),
            folder.path().join("run.json"),
        );
        std::fs::write(&path, NUMBERED).unwrap();
        let ran = run(&format!(
            "echo ws://{strict}/ --dialect {} --step-size 8 --total-steps 2 {load} --limit-rtt 8s \
             --sample-timeout 10s --json {} {more}",
            path.display(),
            json.display()
        ));
        let record = assert_valid(&json);
        assert_eq!(record.outcome.end, End::StepsDone, "{more}: {ran:#?}");
        assert_eq!(record.faults(), Faults::default(), "{more}: {ran:#?}");
    }
}

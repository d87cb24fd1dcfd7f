//! A dialect file of the user's own and a server that disagree: either may be wrong.

use crate::lines::{self, write};
use crate::support::{Ran, assert_valid, run};
use record::{End, Faults, RunRecord};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Mutex;

const CHAT: &str = r#"
name = "chat"
summary = "What one says, all others hear."

[send]
broadcast = '{"say":{payload}}'
reaches_sender = false

[[receive]]
means = "delivery"
when = { "/say" = { is = ["object"] } }
payload = "/say"
example = '{"say":{payload}}'
"#;

const TOLD: &str = r#"
name = "told"
summary = "What one says all hear, and then the one that said it is told so."

[send]
broadcast = '{"say":{payload}}'

[[receive]]
means = "delivery"
when = { "/say" = { is = ["object"] } }
payload = "/say"
example = '{"say":{payload}}'

[[receive]]
means = "result"
when = { "/told" = { is = ["object"] } }
payload = "/told"
example = '{"told":{payload}}'
"#;

/// Everyone who is connected, and how many more messages reach their sender too.
struct Room {
    members: Mutex<Vec<TcpStream>>,
    to_reflect: Mutex<u64>,
}

/// A server that hands each message to all others, and the first `to_reflect` to its sender too.
fn chat(to_reflect: u64) -> SocketAddr {
    let room: &'static Room = Box::leak(Box::new(Room {
        members: Mutex::default(),
        to_reflect: Mutex::new(to_reflect),
    }));
    lines::start_with(
        move |client| {
            room.members
                .lock()
                .unwrap()
                .push(client.try_clone().unwrap())
        },
        move || {
            move |line: &str, client: &TcpStream| {
                let members = room.members.lock().unwrap();
                let sender = client.peer_addr().unwrap();
                for member in members.iter() {
                    if member.peer_addr().is_ok_and(|addr| addr != sender) {
                        write(member, line);
                    }
                }
                let mut to_reflect = room.to_reflect.lock().unwrap();
                if *to_reflect > 0 {
                    *to_reflect -= 1;
                    write(client, line);
                }
            }
        },
    )
}

fn broadcast(addr: SocketAddr, dialect: &str, more: &str, folder: &Path) -> (Ran, RunRecord) {
    let (path, json) = (folder.join("own.toml"), folder.join("run.json"));
    std::fs::write(&path, dialect).unwrap();
    let ran = run(&format!(
        "broadcast ws://{addr}/ --dialect {} --total-steps 1 --sample-size 60 --limit-rtt 20s \
         {more} --json {}",
        path.display(),
        json.display()
    ));
    assert!(json.exists(), "{ran:#?}");
    let record = assert_valid(&json);
    (ran, record)
}

#[test]
fn copies_of_all_messages_to_their_senders_are_a_disagreement() {
    let folder = tempfile::tempdir().unwrap();
    for more in ["", "--processes 2"] {
        let more = format!("--step-size 4 {more}");
        let (ran, record) = broadcast(chat(u64::MAX), CHAT, &more, folder.path());
        let ran = ran.exits(1).says(&[
            "invalid: the dialect file and the server disagree: 60 of 60 broadcasts came back",
            "`reaches_sender = false` under [send]",
            "write `reaches_sender = true` and `acknowledged = false` under [send]",
        ]);
        assert!(!ran.stderr.contains("at fault"), "{ran:#?}");
        assert_eq!(record.outcome.end, End::DialectContradicted);
        assert_eq!(record.faults().misdirected, 60);
    }
}

#[test]
fn copies_of_some_are_a_fault_of_the_server_or_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (ran, record) = broadcast(chat(3), CHAT, "--step-size 4", folder.path());
    ran.exits(3).says(&[
        "invalid: the server or the dialect file is at fault: 3 misdirected",
        "leave `reaches_sender = false` out",
    ]);
    assert_eq!(record.outcome.end, End::StepsDone);
    let (ran, record) = broadcast(chat(0), CHAT, "--step-size 4", folder.path());
    ran.exits(0);
    assert_eq!(record.faults(), Faults::default());
}

#[test]
fn a_file_that_understands_nothing_is_told_from_a_server_at_fault() {
    let folder = tempfile::tempdir().unwrap();
    let other = lines::start(|| |_: &str, client: &TcpStream| write(client, "[1]"));
    let more = "--step-size 2 --sample-timeout 10m";
    let (ran, record) = broadcast(other, CHAT, more, folder.path());
    let ran = ran.exits(1).says(&[
        "no answer could be understood; the first malformed message was `[1]`",
        "expected was {\"say\":{\"stamp\":...}}: the dialect file and the server disagree",
        "invalid: no answer could be understood",
    ]);
    assert!(!ran.stderr.contains("--server-type"), "{ran:#?}");
    assert_eq!(record.outcome.end, End::NotUnderstood);
}

/// Deliveries are understood, and the rule for results never matches.
#[test]
fn a_rule_that_never_matches_is_found_although_another_does() {
    let folder = tempfile::tempdir().unwrap();
    let server = lines::start(|| {
        |line: &str, client: &TcpStream| {
            write(client, line);
            write(client, &line.replace("say", "done"));
        }
    });
    let more = "--step-size 1 --sample-timeout 10m";
    let (ran, record) = broadcast(server, TOLD, more, folder.path());
    ran.exits(1).says(&[
        "no result that a sender waits for could be understood",
        "the first malformed message was `{\"done\":",
        "the dialect file and the server disagree",
    ]);
    assert_eq!(record.outcome.end, End::NotUnderstood);
}

#[test]
fn an_order_that_the_file_does_not_know_is_named_with_its_key() {
    let folder = tempfile::tempdir().unwrap();
    // Two broadcasts of its only client at a time, the later one first.
    let server = lines::start(|| {
        let mut before: Option<String> = None;
        move |line: &str, client: &TcpStream| match before.take() {
            None => before = Some(line.to_owned()),
            Some(first) => {
                for line in [line, &first] {
                    write(client, line);
                    write(client, &line.replace("say", "told"));
                }
            }
        }
    });
    let more = "--step-size 1 -c 2";
    let (ran, _) = broadcast(server, TOLD, more, folder.path());
    ran.exits(3).says(&[
        "invalid: the server or the dialect file is at fault: 30 reordered",
        "write `keeps_order = false` in the file",
    ]);
}

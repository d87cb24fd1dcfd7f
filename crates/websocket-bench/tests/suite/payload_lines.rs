//! The lines of a file as the payloads of requests.

use crate::lines::{self, write};
use crate::support::{Ran, assert_valid, bench, finish, honest, no_listener, run, url};
use crate::worker_process::Worker;
use record::{End, Faults, RunRecord};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Short and long ones, and what JSON escapes.
const LINES: &str =
    "the first\n{\"is\": \"JSON\"}\n\t\\ \u{1} é \u{2028}\nthe last, without an end";

const OWN: &str = r#"
name = "own"
summary = "A text beside its identifier."

[send]
echo = '{"ask":"{line}","id":"{stamp}"}'

[[receive]]
means = "echo"
stamp = "/id"
line = "/ask"
example = '{"id":"{stamp}","ask":"{line}"}'
"#;

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn measured(folder: &Path, arguments: &str) -> (Ran, RunRecord) {
    let json: PathBuf = folder.join("run.json");
    let ran = run(&format!(
        "{arguments} --step-size 8 --total-steps 1 -c 16 --sample-size 400 --limit-rtt 8s \
         --sample-timeout 10s \
         --json {}",
        json.display()
    ));
    assert!(json.exists(), "{ran:#?}");
    (ran, assert_valid(&json))
}

/// What an echo server heard, each text with how often.
type Heard = Arc<Mutex<BTreeMap<String, u64>>>;

/// Answers as it was asked, but has `to_swap` times two answers of different lines change their lines.
fn server(heard: &Heard, to_swap: u64) -> SocketAddr {
    let (heard, to_swap) = (Arc::clone(heard), Arc::new(AtomicU64::new(to_swap)));
    let waiting: Arc<Mutex<Option<(TcpStream, Value)>>> = Arc::default();
    lines::start(move || {
        let (heard, to_swap, waiting) = (heard.clone(), to_swap.clone(), waiting.clone());
        move |line: &str, client: &TcpStream| {
            let asked: Value = serde_json::from_str(line).unwrap();
            let text = asked["ask"].as_str().unwrap().to_owned();
            *heard.lock().unwrap().entry(text).or_default() += 1;
            let mut waiting = waiting.lock().unwrap();
            let answer = |client: &TcpStream, of: &Value, text: &Value| {
                write(client, &json!({"id": of["id"], "ask": text}).to_string());
            };
            match waiting.take() {
                None if to_swap.load(Ordering::SeqCst) > 0 => {
                    *waiting = Some((client.try_clone().unwrap(), asked));
                }
                Some((other, first)) if first["ask"] != asked["ask"] => {
                    to_swap.fetch_sub(1, Ordering::SeqCst);
                    answer(&other, &first, &asked["ask"]);
                    answer(client, &asked, &first["ask"]);
                }
                // The answers of a connection keep the order of its requests.
                Some((same, first)) if same.peer_addr().unwrap() == client.peer_addr().unwrap() => {
                    answer(client, &first, &first["ask"]);
                    answer(client, &asked, &asked["ask"]);
                }
                kept => {
                    *waiting = kept;
                    answer(client, &asked, &asked["ask"]);
                }
            }
        }
    })
}

#[test]
fn every_line_arrives_as_often_as_any_other_and_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, own) = (
        file(folder.path(), "lines.txt", LINES),
        file(folder.path(), "own.toml", OWN),
    );
    for more in ["", "--processes 2", "--threads 2"] {
        let heard = Heard::default();
        let addr = server(&heard, 0);
        let (ran, record) = measured(
            folder.path(),
            &format!("echo ws://{addr}/ --dialect {own} --payload-lines {lines} {more}"),
        );
        assert_eq!(record.outcome.end, End::StepsDone, "{more}: {ran:#?}");
        assert_eq!(record.faults(), Faults::default(), "{more}: {ran:#?}");
        let due = LINES.split('\n').map(|line| (line.to_owned(), 100));
        assert_eq!(*heard.lock().unwrap(), due.collect(), "{more}");
        assert_eq!(record.unchecked, None);
        let facts = record.payload_lines.unwrap();
        assert_eq!((&*facts.file, facts.lines), ("lines.txt", 4));
        assert_eq!(facts.bytes, LINES.len() as u64);
        assert_eq!(facts.sha1.len(), 40);
        let text = std::fs::read_to_string(folder.path().join("run.json")).unwrap();
        assert!(!text.contains("the first"), "the record holds a line");
    }
}

#[test]
fn an_answer_with_the_line_of_another_request_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, own) = (
        file(folder.path(), "lines.txt", LINES),
        file(folder.path(), "own.toml", OWN),
    );
    let addr = server(&Heard::default(), 3);
    let (ran, record) = measured(
        folder.path(),
        &format!("echo ws://{addr}/ --dialect {own} --payload-lines {lines}"),
    );
    let expected = Faults {
        corrupt: 6,
        ..Faults::default()
    };
    assert_eq!(record.faults(), expected, "{ran:#?}");
}

#[test]
fn broadcasts_of_built_in_dialects_carry_lines_too() {
    let folder = tempfile::tempdir().unwrap();
    let lines = file(folder.path(), "lines.txt", LINES);
    let server = honest();
    for (dialect, command) in [
        ("json", "broadcast"),
        ("binary", "broadcast"),
        ("json", "echo"),
    ] {
        let (ran, record) = measured(
            folder.path(),
            &format!(
                "{command} {} --server-type {dialect} --payload-lines {lines}",
                url(server.addr())
            ),
        );
        assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
        assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
        let text = std::fs::read_to_string(folder.path().join("run.json")).unwrap();
        assert!(text.contains("payload_lines"));
    }
}

#[test]
fn a_printed_plan_has_the_lines_and_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let lines = file(folder.path(), "lines.txt", LINES);
    let server = honest();
    let printed = run(&format!(
        "echo {} --payload-lines {lines} --step-size 4 --total-steps 1 --limit-rtt 20s -s 40 --print-plan",
        url(server.addr())
    ));
    assert!(
        printed.stdout.contains(&format!("lines = \"{lines}\"")),
        "{printed:#?}"
    );
    let again = file(folder.path(), "again.toml", &printed.stdout);
    let json = folder.path().join("again.json");
    let ran = finish(bench().args(["run", &again, "--json"]).arg(&json));
    let record = assert_valid(&json);
    assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
    assert_eq!(record.payload_lines.unwrap().lines, 4);
    // Beside the plan's file, by a relative path.
    let beside = printed.stdout.replace(&lines, "lines.txt");
    let beside = file(folder.path(), "beside.toml", &beside);
    finish(bench().args(["run", &beside])).exits(0);
}

#[test]
fn lines_that_cannot_be_sent_end_the_run_before_it_begins_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let quoted = OWN
        .replace("{line}", "{padding}")
        .replace("line = \"/ask\"\n", "");
    let bare = r#"
name = "bare"
summary = "Has no place for a line."
[send]
echo = '{stamp}'
[[receive]]
means = "echo"
pattern = '{stamp}'
example = '{stamp}'
"#;
    let good = file(folder.path(), "good.txt", LINES);
    let empty = file(folder.path(), "empty.txt", "a\r\n\r\nb");
    let none = file(folder.path(), "none.txt", "");
    let quoted = file(folder.path(), "quoted.toml", &quoted);
    let bare = file(folder.path(), "bare.toml", bare);
    for (arguments, words) in [
        (
            &["--payload-lines", &empty][..],
            &["empty.txt, line 2: is empty", "remove it"][..],
        ),
        (&["--payload-lines", &none], &["none.txt: has no lines"]),
        (
            &["--payload-lines", "/nonexistent"],
            &["/nonexistent", "--payload-lines"],
        ),
        (
            &["--payload-lines", &good, "--dialect", &quoted],
            &["between quotes", "write {line}"],
        ),
        (
            &["--payload-lines", &good, "--dialect", &bare],
            &["`message.lines`", "no place for a line"],
        ),
    ] {
        let url = format!("ws://{}/", no_listener());
        let ran = finish(bench().args(["echo", &url]).args(arguments));
        ran.exits(1).says_in_one_line(words);
    }
}

#[test]
fn a_worker_elsewhere_has_its_own_copy_of_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    let lines = file(folder.path(), "lines.txt", LINES);
    let copy = file(folder.path(), "copy.txt", LINES);
    let server = honest();
    let with_copy = Worker::start(&format!("--payload-lines {copy}"));
    let without = Worker::start("");
    let through = |worker: &Worker| {
        run(&format!(
            "echo {} --step-size 4 --total-steps 1 --limit-rtt 20s -s 40 --payload-lines {lines} -w {}",
            url(server.addr()),
            worker.addr
        ))
    };
    through(&with_copy).exits(0);
    through(&without)
        .exits(1)
        .says(&["start that with --payload-lines FILE"]);
    std::fs::write(&copy, "another\n").unwrap();
    through(&with_copy).exits(1).says(&["copy it again"]);
}

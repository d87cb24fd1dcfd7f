//! A capture becomes a plan, and the plan is carried out.

use crate::lines::{self, write};
use crate::support::{Ran, assert_valid, bench, finish};
use plan::Plan;
use record::{End, Faults, RunRecord};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What each connection said, in its order.
pub(crate) type Heard = Arc<Mutex<Vec<Vec<String>>>>;

/// A server that welcomes, answers `say` and `buy`, and tells the time unasked after each `typing`, to
/// which there is no answer.
pub(crate) fn room() -> (SocketAddr, Heard) {
    let heard = Heard::default();
    let of_all = Arc::clone(&heard);
    let addr = lines::start(move || {
        let heard = Arc::clone(&of_all);
        let mut own = None;
        move |line: &str, client: &TcpStream| {
            let number = {
                let mut all = heard.lock().unwrap();
                let number = *own.get_or_insert_with(|| {
                    all.push(Vec::new());
                    all.len() - 1
                });
                all[number].push(line.to_owned());
                number
            };
            let said: Value = serde_json::from_str(line).unwrap();
            let answer = match said["type"].as_str().unwrap() {
                "login" => json!({"type": "welcome", "session": format!("session-{number}")}),
                "say" => json!({"type": "said", "at": number, "text": said["text"]}),
                "buy" => json!({"type": "bought", "n": said["n"]}),
                "typing" => json!({"type": "time", "now": number}),
                other => panic!("a client said {other}"),
            };
            write(client, &answer.to_string());
            if said["type"] == "say" {
                write(client, &json!({"type": "time", "now": number}).to_string());
            }
        }
    });
    (addr, heard)
}

/// How often each conversation was had.
pub(crate) fn counted(heard: &Heard) -> BTreeMap<Vec<String>, usize> {
    let mut counts = BTreeMap::new();
    for said in heard.lock().unwrap().iter() {
        *counts.entry(said.clone()).or_default() += 1;
    }
    counts
}

/// Waits for so many messages: a server may read them after the clients have gone.
// timed: polls; the end is only for a hang.
pub(crate) fn await_messages(heard: &Heard, count: usize) {
    let has_all = || heard.lock().unwrap().iter().map(Vec::len).sum::<usize>() >= count;
    for _ in 0..30_000 {
        if has_all() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Imports a capture, and writes the plan beside it.
pub(crate) fn import(capture: &Value, folder: &Path, more: &[&str]) -> (Ran, PathBuf) {
    let (har, plan) = (folder.join("capture.har"), folder.join("plan.toml"));
    std::fs::write(&har, capture.to_string()).unwrap();
    let ran = finish(bench().arg("import").arg(&har).args(more));
    std::fs::write(&plan, &ran.stdout).unwrap();
    (ran, plan)
}

/// Carries out a plan.
pub(crate) fn replay(plan: &Path, more: &[&str]) -> (Ran, RunRecord) {
    let json = plan.with_extension("json");
    let ran = finish(
        bench()
            .arg("run")
            .arg(plan)
            .arg("--json")
            .arg(&json)
            .args(more),
    );
    assert!(json.exists(), "{ran:#?}");
    let record = assert_valid(&json);
    (ran, record)
}

fn plan_of(path: &Path) -> Plan {
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

const START: f64 = 1_700_000_000.25;

fn sent(at: f64, data: &str) -> Value {
    json!({"type": "send", "time": START + at, "opcode": 1, "data": data})
}

fn told(at: f64, data: &str) -> Value {
    json!({"type": "receive", "time": START + at, "opcode": 1, "data": data})
}

fn entry(url: &str, messages: &[Value]) -> Value {
    json!({
        "_resourceType": "websocket",
        "_webSocketMessages": messages,
        "request": {"method": "GET", "url": url, "headers": [
            {"name": "Origin", "value": "https://shop.example"},
            {"name": "Cookie", "value": "sid=COOKIE-SECRET; theme=dark"},
            {"name": "Authorization", "value": "Bearer HEADER-SECRET"},
            {"name": "Sec-WebSocket-Protocol", "value": "v1.shop"},
            {"name": "User-Agent", "value": "Mozilla/5.0"},
        ]},
        "response": {"status": 101, "headers": []},
    })
}

fn har(entries: Vec<Value>) -> Value {
    let page = json!({"request": {"url": "https://shop.example/"}, "response": {"status": 200}});
    let entries = [vec![page], entries].concat();
    json!({"log": {"version": "1.2", "entries": entries}})
}

fn session(user: &str, room: u32) -> Vec<Value> {
    vec![
        sent(
            0.0,
            &json!({"type": "login", "user": user, "token": "MESSAGE-SECRET"}).to_string(),
        ),
        told(0.01, r#"{"type":"welcome","session":"session-0"}"#),
        sent(0.05, &json!({"type": "typing", "room": room}).to_string()),
        told(0.06, r#"{"type":"time","now":1}"#),
        sent(
            0.25,
            &json!({"type": "say", "room": room, "text": "hello {you}"}).to_string(),
        ),
        told(0.26, r#"{"type":"said","at":0,"text":"hello {you}"}"#),
        told(0.27, r#"{"type":"time","now":2}"#),
        sent(
            0.25,
            &json!({"type": "say", "room": room, "text": "hello {you}"}).to_string(),
        ),
        told(0.31, r#"{"type":"said","at":0,"text":"hello {you}"}"#),
        told(0.32, r#"{"type":"time","now":3}"#),
    ]
}

#[test]
fn clients_say_what_the_captured_ones_said_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let (addr, heard) = room();
    let url = format!("ws://{addr}/room?lang=en");
    let capture = har(vec![
        entry(&url, &session("ann", 7)),
        entry(&url, &session("bob", 8)),
    ]);
    let data = folder.path().join("users.csv");
    let data_out = data.to_str().unwrap();
    let (ran, plan) = import(
        &capture,
        folder.path(),
        &["--data-out", data_out, "--clients", "6"],
    );
    assert_eq!(ran.code, 0, "{ran:#?}");
    let rows = std::fs::read_to_string(&data).unwrap();
    assert_eq!(rows, "token,user,room\n,ann,7\n,bob,8\n");
    std::fs::write(
        &data,
        rows.replace(",ann", "t-1,ann").replace(",bob", "t-2,bob"),
    )
    .unwrap();
    let text = std::fs::read_to_string(&plan).unwrap();
    // The server here reads one connection at a time and asks for nothing in the handshake.
    let bare = text
        .lines()
        .filter(|line| !line.starts_with("subprotocols"));
    std::fs::write(&plan, bare.collect::<Vec<_>>().join("\n")).unwrap();
    for more in [
        &["--set", "load.rate=1000"][..],
        &["--processes", "2"],
        &["--set", "generator.threads=2"],
    ] {
        heard.lock().unwrap().clear();
        let run = |command: &mut std::process::Command| {
            command
                .env("COOKIE_SID", "c")
                .env("COOKIE_THEME", "t")
                .env("AUTHORIZATION", "a");
        };
        let json = plan.with_extension("json");
        let mut command = bench();
        run(&mut command);
        let ran = finish(
            command
                .arg("run")
                .arg(&plan)
                .arg("--json")
                .arg(&json)
                .args(more),
        );
        let record = assert_valid(&json);
        assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
        assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
        await_messages(&heard, 24);
        let of = |user: &str, room: u32, token: &str| {
            let of_user = session(user, room).into_iter();
            let sends = of_user.filter(|message| message["type"] == "send");
            let texts = sends.map(|message| message["data"].as_str().unwrap().to_owned());
            texts
                .map(|text| text.replace("MESSAGE-SECRET", token))
                .collect::<Vec<_>>()
        };
        let expected = BTreeMap::from([(of("ann", 7, "t-1"), 3), (of("bob", 8, "t-2"), 3)]);
        assert_eq!(counted(&heard), expected, "{more:?}");
        // One of four has no answer: it is sent, and is no sample.
        let step = &record.steps[0];
        assert_eq!((step.samples, step.samples_planned), (18, 18));
        assert_eq!(step.throughput.as_ref().map(|of| of.sent), Some(24));
        let words = "content not checked: requests of a script have no stamp";
        assert!(record.unchecked.unwrap().starts_with(words));
        assert!(ran.stderr.contains(words), "{ran:#?}");
    }
}

#[test]
fn no_secret_of_a_capture_is_in_its_plan() {
    let folder = tempfile::tempdir().unwrap();
    let url =
        "https://u:URL-SECRET@shop.example/feed/eyJabc.PATH.SECRET/x?access_token=QUERY-SECRET&v=2";
    let capture = har(vec![entry(url, &session("ann", 7))]);
    let (ran, plan) = import(&capture, folder.path(), &[]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let text = std::fs::read_to_string(&plan).unwrap();
    assert!(
        !text.contains("SECRET") && !ran.stderr.contains("SECRET"),
        "{ran:#?}"
    );
    let plan = plan_of(&plan);
    assert_eq!(plan.target.url, "wss://shop.example/feed/{path-2}/x?v=2");
    assert_eq!(
        plan.connection.origin.as_deref(),
        Some("https://shop.example")
    );
    assert_eq!(plan.connection.subprotocols, ["v1.shop"]);
    assert_eq!(
        plan.connection.cookies,
        ["sid=env:COOKIE_SID", "theme=env:COOKIE_THEME"]
    );
    assert_eq!(
        plan.connection.headers,
        ["Authorization: Bearer env:AUTHORIZATION"]
    );
    assert_eq!(
        plan.connection.query,
        ["access_token=env:QUERY_ACCESS_TOKEN"]
    );
    for words in [
        "COOKIE_SID",
        "AUTHORIZATION",
        "QUERY_ACCESS_TOKEN",
        "path-2, token",
        "the user in the URL",
        "User-Agent",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
    }
}

#[test]
fn the_gaps_of_the_plan_are_those_of_the_capture_or_of_a_rate() {
    let folder = tempfile::tempdir().unwrap();
    let capture = har(vec![entry("ws://h.example/", &session("ann", 7))]);
    let (_, plan) = import(&capture, folder.path(), &[]);
    let script = plan_of(&plan).message.definition.unwrap().send.script;
    let at: Vec<String> = script.iter().map(|turn| turn.at.to_string()).collect();
    // A time that goes back is the one before it.
    assert_eq!(at, ["0s", "50ms", "250ms", "270ms"]);
    let (_, plan) = import(&capture, folder.path(), &["--rate", "8", "--clients", "4"]);
    let plan = plan_of(&plan);
    let open = plan.open_loop().unwrap();
    assert_eq!(
        (open.rate, open.duration.to_string()),
        (8.0, "3s".to_owned())
    );
}

#[test]
fn of_several_connections_one_is_taken_and_the_others_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = entry("ws://twice.example/", &[]);
    let capture = har(vec![
        empty,
        entry("ws://one.example/", &session("ann", 7)),
        entry("http://two.example/x", &session("bob", 7)[..2]),
    ]);
    let (ran, plan) = import(&capture, folder.path(), &["--entry", "2"]);
    assert_eq!(plan_of(&plan).target.url, "ws://two.example/x");
    assert!(
        ran.stderr.contains("1 ws://one.example/ (10 messages)"),
        "{ran:#?}"
    );
    let (ran, _) = import(&capture, folder.path(), &["--entry", "3"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("the capture has 2"), "{ran:#?}");
}

#[test]
fn heartbeats_of_engine_io_are_answered_and_not_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let messages = [
        told(0.0, r#"0{"sid":"abc","pingInterval":25000}"#),
        sent(0.1, "40"),
        told(0.2, r#"40{"sid":"def"}"#),
        sent(0.3, r#"42["join",{"room":1}]"#),
        told(0.4, r#"42["joined",{"room":1}]"#),
        told(25.0, "2"),
        sent(25.1, "3"),
        told(26.0, r#"42["news",1]"#),
    ];
    let capture = har(vec![entry(
        "ws://h.example/socket.io/?EIO=4&transport=websocket",
        &messages,
    )]);
    let (ran, plan) = import(&capture, folder.path(), &[]);
    assert!(ran.stderr.contains("1 heartbeats of Engine.IO"), "{ran:#?}");
    let file = plan_of(&plan).message.definition.unwrap();
    assert_eq!(file.send.script.len(), 2);
    assert!(
        file.send.kinds.iter().all(|kind| kind.answered),
        "{file:#?}"
    );
    assert_eq!(file.receive[0].text.as_deref(), Some("2"));
    assert_eq!(file.receive[0].send.as_deref(), Some("3"));
}

#[test]
fn a_capture_that_makes_no_plan_is_refused_with_the_place_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.har");
    let refused = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let ran = finish(bench().arg("import").arg(&path));
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:#?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
        ran.stderr
    };
    let of =
        |messages: &[Value]| refused(&har(vec![entry("ws://h.example/", messages)]).to_string());
    let binary = json!({"type": "send", "time": START, "opcode": 2, "data": "AAEC"});
    for (words, told) in [
        (
            refused("GET / HTTP/1.1"),
            "is no HAR: expected value at line 1 column 1",
        ),
        (
            refused("{\"log\":{\"entries\":[{}]}}"),
            "no WebSocket connection among its 1 entries",
        ),
        (refused(&"[".repeat(100_000)), "is no HAR"),
        (
            refused(&har(vec![]).to_string()),
            "no WebSocket connection among its 1 entries",
        ),
        (of(&[]), "has 1 WebSocket connections and no message"),
        (
            of(&[sent(0.0, "{}"), binary]),
            "message 2 of connection 1 is binary",
        ),
        (of(&[told(0.0, "{}")]), "no message of the client"),
        (
            of(&[sent(0.0, &"x".repeat(5000))]),
            "message 1 of connection 1 has 5000 bytes",
        ),
        (
            of(&[sent(0.0, "a"), sent(1e9, "b")]),
            "more than a day apart",
        ),
    ] {
        assert!(words.contains(told), "{told}: {words}");
    }
    // A file with holes takes no room on the disk.
    std::fs::File::create(&path)
        .unwrap()
        .set_len(2 << 30)
        .unwrap();
    let ran = finish(bench().arg("import").arg(&path));
    assert!(ran.stderr.contains("no HAR"), "{ran:#?}");
}

#[test]
fn what_a_capture_says_is_shown_without_control_characters() {
    let folder = tempfile::tempdir().unwrap();
    let mut entry = entry("ws://h.example/", &session("ann", 1));
    entry["request"]["headers"][4]["name"] = "X-\u{1b}[31m".into();
    let (ran, _) = import(&har(vec![entry]), folder.path(), &[]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(
        !ran.stderr.contains('\u{1b}') && !ran.stdout.contains('\u{1b}'),
        "{ran:#?}"
    );
}

#[test]
fn a_session_without_answers_is_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let (addr, heard) = room();
    let typing = r#"{"type":"typing"}"#;
    let messages = [
        sent(0.0, typing),
        sent(0.05, typing),
        told(0.06, r#"{"type":"time","now":1}"#),
    ];
    let mut entry = entry(&format!("ws://{addr}/"), &messages);
    entry["request"]["headers"] = json!([]);
    let (ran, plan) = import(&har(vec![entry]), folder.path(), &["--clients", "3"]);
    assert!(ran.stderr.contains("0 of them have an answer"), "{ran:#?}");
    let (ran, record) = replay(&plan, &[]);
    assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
    assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
    let said = vec![typing.to_owned(), typing.to_owned()];
    await_messages(&heard, 6);
    assert_eq!(counted(&heard), BTreeMap::from([(said, 3)]));
}

//! Lists of frames, which are CSV or objects of JSON: the sound ones are replayed, each other is refused
//! by its line, and none of them gives a secret away.

use super::{CHAT, made};
use crate::lines::{self, write};
use crate::replay::{await_messages, counted, replay, room};
use crate::support::{bench, finish};
use record::{End, Faults};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const AT: [&str; 2] = ["--url", "ws://127.0.0.1:4500/chat"];

/// The rows of a conversation about nothing: who speaks, and the text.
const ROWS: [(bool, &str); 4] = [
    (true, CHAT[0]),
    (false, r#"{"op":"said","text":"one"}"#),
    (true, CHAT[1]),
    (false, r#"{"op":"said","text":"two"}"#),
];

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The conversation as CSV, each row made of its number, its direction and its text.
fn table(head: &str, words: [&str; 2], row: impl Fn(usize, &str, &str) -> String) -> String {
    let rows = ROWS.iter().enumerate().map(|(number, (is_sent, text))| {
        let word = words[usize::from(!is_sent)];
        row(number, word, &quoted(text)) + "\n"
    });
    std::iter::once(format!("{head}\n")).chain(rows).collect()
}

/// The same as objects, one on each line.
fn objects(names: [&str; 3], words: [&str; 2]) -> String {
    let rows = ROWS.iter().zip(0..).map(|((is_sent, text), number)| {
        let [time, direction, data] = names;
        let word = words[usize::from(!is_sent)];
        let row = json!({time: number, direction: word, data: text, "level": ["info"]});
        format!("{row}\n")
    });
    rows.collect()
}

#[test]
fn lists_of_every_form_are_read() {
    let usual = |n: usize, word: &str, text: &str| format!("{n},{word},{text}");
    let plain = table("time,direction,text", ["send", "receive"], usual);
    let dates =
        |n: usize, word: &str, text: &str| format!("{text};x;2026-11-26T10:00:0{n}.5+01:00;{word}");
    let tabs = |n: usize, word: &str, text: &str| {
        format!("{word}\t{text}\t{}", 1_795_651_200_000_u64 + n as u64)
    };
    for list in [
        plain.clone(),
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\r\n"),
        plain.trim_end().to_owned(),
        table("ts,Dir,Message", ["OUT", "In"], usual),
        table("TIMESTAMP,TYPE,DATA", [">", "<"], usual),
        table("time,dir,payload", ["client", "server"], usual),
        table("\"time\", direction ,text", ["sent", "received"], usual),
        table("text;level;time;direction", ["tx", "RX"], dates),
        table("dir\ttext\ttime", ["send", "receive"], tabs),
        // Rows about the connection.
        plain.replace("2,send", "2,open,\n2,close,\"bye\"\n2,,\n2,send"),
        // What has the better name counts.
        table(
            "time,type,direction,text",
            ["send", "receive"],
            |n, word, text| format!("{n},frame,{word},{text}"),
        ),
        objects(["time", "direction", "text"], ["send", "receive"]),
        objects(["ts", "Dir", "MESSAGE"], [">", "<"]),
        objects(["timestamp", "type", "payload"], ["out", "in"]),
        objects(["time", "direction", "data"], ["Tx", "Rx"]).replace('\n', "\r\n\r\n"),
        // Lines of the log that are no frames.
        objects(["time", "dir", "text"], ["out", "in"]).replacen(
            '\n',
            "\n{\"level\":\"debug\"}\n{\"dir\":null}\n",
            1,
        ),
    ] {
        let made = made(list.as_bytes(), &AT);
        assert_eq!(made.script(), CHAT, "{list}\n{:#?}", made.ran);
        assert_eq!(made.plan().target.url, AT[1]);
    }
}

#[test]
fn a_list_without_times_offers_a_rate() {
    let list = table("direction,text", ["send", "receive"], |_, word, text| {
        format!("{word},{text}")
    });
    let made = made(list.as_bytes(), &AT);
    assert_eq!(made.script(), CHAT);
    let words = "has no time at all: each client sends all its messages at once; --rate";
    assert!(made.ran.stderr.contains(words), "{:#?}", made.ran);
}

#[test]
fn a_log_of_a_charge_point_is_replayed_with_every_answer_verified() {
    let (addr, heard) = {
        let heard = crate::replay::Heard::default();
        let of_all = std::sync::Arc::clone(&heard);
        let addr = lines::start(move || {
            let heard = std::sync::Arc::clone(&of_all);
            let mut said = Vec::new();
            move |line: &str, client: &std::net::TcpStream| {
                said.push(line.to_owned());
                if said.len() == 3 {
                    heard.lock().unwrap().push(said.clone());
                }
                let call: serde_json::Value = serde_json::from_str(line).unwrap();
                write(client, &json!([3, call[1], {}]).to_string());
            }
        });
        (addr, heard)
    };
    let said = [
        "[2,\"a\",\"BootNotification\",{\"chargePointModel\":\"m 1\"}]",
        "[2,\"b\",\"DataTransfer\",\n {\"data\":\"two, lines\"}]",
        "[2,\"c\",\"Heartbeat\",{}]",
    ]
    .map(str::to_owned);
    let mut list = "level,message,ts,dir\n".to_owned();
    for (n, text) in said.iter().enumerate() {
        let id = ["a", "b", "c"][n];
        let _ = writeln!(list, "info,{},0.{n}1,out", quoted(text));
        let _ = writeln!(
            list,
            "info,{},0.{n}2,in",
            quoted(&format!("[3,\"{id}\",{{}}]"))
        );
    }
    let url = format!("ws://{addr}/");
    let made = made(list.as_bytes(), &["--clients", "20", "--url", &url]);
    assert_eq!(made.plan().target.url, url);
    assert!(
        made.ran.stderr.contains("3 of them have an answer"),
        "{:#?}",
        made.ran
    );
    let (ran, record) = replay(&made.plan, &["--set", "load.rate=1000"]);
    assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
    assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
    assert_eq!(record.steps[0].samples, 60);
    await_messages(&heard, 60);
    assert_eq!(counted(&heard), BTreeMap::from([(said.to_vec(), 20)]));
}

#[test]
fn connections_of_a_list_make_variables_and_the_url_comes_with_the_run() {
    let (addr, heard) = room();
    let mut list = String::new();
    for (n, text) in ["login", "say", "buy"].into_iter().enumerate() {
        for (session, user) in [("one", "ann"), ("two", "bob")] {
            let said = match text {
                "login" => json!({"type": "login", "user": user, "token": "CANARY"}),
                "say" => json!({"type": "say", "text": user}),
                _ => json!({"type": "buy", "n": 7}),
            };
            let told = match text {
                "login" => json!({"type": "welcome", "session": "session-0"}),
                "say" => json!({"type": "said", "at": 0, "text": user}),
                _ => json!({"type": "bought", "n": 7}),
            };
            for (direction, text) in [("send", said), ("receive", told)] {
                let row = json!({
                    "time": n as f64 / 20.0, "direction": direction, "text": text.to_string(),
                    "session": session,
                });
                let _ = writeln!(list, "{row}");
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (capture, data) = (
        folder.path().join("log.jsonl"),
        folder.path().join("users.csv"),
    );
    std::fs::write(&capture, &list).unwrap();
    let import = || {
        let mut bench = bench();
        bench.arg("import").arg(&capture).args(["--clients", "4"]);
        bench
    };
    let ran = finish(import().arg("--data-out").arg(&data));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.stdout.contains("CANARY"), "{ran:#?}");
    for words in [
        "connection 1 of 2 is taken",
        "a list of frames has no URL: give that of the server to `run`",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
    }
    let rows = std::fs::read_to_string(&data).unwrap();
    let (head, _) = rows.split_once('\n').unwrap();
    assert_eq!(rows.lines().count(), 3, "{rows}");
    assert!(head.contains("token") && rows.contains("ann"), "{rows}");
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, &ran.stdout).unwrap();
    let url = format!("ws://{addr}/");
    let (ran, record) = replay(&plan, &[&url, "--set", "load.rate=1000"]);
    assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
    assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
    await_messages(&heard, 12);
    let users: Vec<usize> = counted(&heard).into_values().collect();
    assert_eq!(users, [2, 2]);
}

#[test]
fn an_unsound_list_is_refused_by_its_line() {
    let head = "time,direction,text\n";
    let rows = "0,send,\"one\"\n1,receive,\"two\"\n";
    let of = |rest: &str| format!("{head}{rows}{rest}").into_bytes();
    let json = |rest: &str| format!("{{\"dir\":\"out\",\"text\":\"a\"}}\n{rest}").into_bytes();
    let long = "x".repeat(5000);
    for (list, words) in [
        (
            b"time,text\n0,CANARY\n".to_vec(),
            "line 1 has no column `direction`",
        ),
        (
            b"time,direction\n0,send\n".to_vec(),
            "line 1 has no column `text`",
        ),
        (
            b"dir,text,dir\nsend,CANARY,x\n".to_vec(),
            "line 1 has two columns `dir`",
        ),
        (
            of("2,send,CANARY,too\n"),
            "line 4 has 4 columns, and the header 3",
        ),
        (of("2,send\n"), "line 4 has 2 columns, and the header 3"),
        (
            of("2,send,{\"token\":\"CANARY\",\"n\":1}\n"),
            "line 4 has 4 columns",
        ),
        (
            of("2,CANARY,\"x\"\n"),
            "line 4, column `direction`: no direction",
        ),
        (
            of("2,send,\"a\nb\"\n3,7,CANARY\n"),
            "line 6, column `direction`",
        ),
        (
            [of("2,send,CANARY"), b"\xff\xfe\n".to_vec()].concat(),
            "line 4, column `text`: no UTF-8",
        ),
        (
            of("2,send,\"CANARY\n3,receive,x\n4,send,y\n"),
            "line 4 has a quote that is not closed",
        ),
        (
            format!("{head}2,send,a\n1,send,CANARY\n0,receive,x\n").into_bytes(),
            "line 2: the times fall",
        ),
        (
            head.as_bytes().to_vec(),
            "no frame until here has a direction",
        ),
        (
            of(&format!("2,send,CANARY{long}\n")),
            "message 3 of connection 1 (line 4) has 5006 bytes",
        ),
        (
            format!("{head}0,receive,CANARY\n").into_bytes(),
            "has no message of the client",
        ),
        (json("CANARY\n"), "line 2, column 1: no JSON"),
        (json("[\"CANARY\"]\n"), "line 2 is no JSON object"),
        (
            json("\n{\"dir\":\"out\",\n\"text\":\"CANARY\"}\n"),
            "line 3 ends within a JSON object",
        ),
        (
            json("{\"dir\":\"CANARY\",\"text\":\"\"}\n"),
            "line 2, column `dir`: no direction",
        ),
        (
            json("{\"dir\":7,\"text\":\"CANARY\"}\n"),
            "line 2, column `dir`: no direction",
        ),
        (
            json("{\"dir\":\"in\",\"body\":\"CANARY\"}\n"),
            "line 2 has a direction and no text",
        ),
        (
            json("{\"dir\":\"in\",\"data\":{\"a\":\"CANARY\"}}\n"),
            "jq -c '.data |= tojson'",
        ),
        (
            json("{\"dir\":\"out\",\"text\":\"CANARY\",\"opcode\":2}\n"),
            "(line 2) is binary (opcode 2)",
        ),
        (
            b"[{\"dir\":\"out\",\"text\":\"CANARY\"}]".to_vec(),
            "line 1 begins a list of JSON",
        ),
        (
            b"{\"text\":\"CANARY\"}\n{\"text\":\"b\"}\n".to_vec(),
            "line 2: no frame until here",
        ),
    ] {
        let made = made(&list, &[]);
        let list = String::from_utf8_lossy(&list[..list.len().min(200)]);
        let outcome = (made.ran.code, made.ran.stdout.as_str());
        assert_eq!(outcome, (1, ""), "{list}\n{:#?}", made.ran);
        assert_eq!(
            made.ran.stderr.lines().count(),
            1,
            "{list}\n{:#?}",
            made.ran
        );
        assert!(
            made.ran.stderr.contains(words),
            "{words}\n{list}\n{:#?}",
            made.ran
        );
    }
}

#[test]
fn no_secret_of_a_list_is_written() {
    for (list, more) in [
        (
            "dir,text\nout,\"{\"\"password\"\":\"\"CANARY\"\"}\"\nin,ok\n",
            &[][..],
        ),
        ("dir,text\nin,Password:\nout,CANARY\nin,ok\n", &[]),
        (
            "dir,text,session\nout,hello,CANARY\nin,ok,CANARY\nout,hello,CANARY 2\n",
            &[],
        ),
        ("dir,token,text\nout,CANARY,hello\nin,CANARY,ok\n", &[]),
        ("dir,text\nout,PASS CANARY\nin,ok\n", &[]),
        (
            "dir,text\nout,hello\nin,ok\n",
            &["--url", "ws://h.example/ws?token=CANARY&room=1"],
        ),
        (
            "dir,text\nout,hello\nin,ok\n",
            &["--url", "ws://ann:CANARY@h.example/ws"],
        ),
        (
            "dir,text\nout,hello\nin,ok\n",
            &["--url", "ws://h.example/token/CANARY-7"],
        ),
        (
            "{\"dir\":\">\",\"text\":\"{\\\"apiKey\\\":\\\"CANARY\\\"}\"}\n",
            &[],
        ),
        (
            "{\"dir\":\">\",\"text\":\"PASS CANARY\",\"cookie\":\"CANARY\"}\n",
            &[],
        ),
        (
            "{\"dir\":\">\",\"text\":\"hello\",\"connection\":\"CANARY\"}\n",
            &[],
        ),
        (
            "{\"dir\":\"<\",\"text\":\"auth_required\"}\n{\"dir\":\">\",\"text\":\"{\\\"x\\\":\\\"CANARY7x\\\"}\"}\n",
            &[],
        ),
    ] {
        let more = if more.is_empty() { &AT[..] } else { more };
        let made = made(list.as_bytes(), more);
        assert_eq!(made.ran.code, 0, "{list}\n{:#?}", made.ran);
        made.plan();
    }
}

#[test]
fn a_har_file_has_its_own_url() {
    let har = super::of(super::chat()).to_string();
    let made = made(har.as_bytes(), &["--url", "ws://127.0.0.1:1/CANARY"]);
    assert_eq!(made.ran.code, 1);
    let words = "is no list of frames, and --url is for such a list";
    assert!(made.ran.stderr.contains(words), "{:#?}", made.ran);
    let list = super::made(b"dir,text\nout,a\n", &["--url", "CANARY"]);
    assert_eq!(list.ran.code, 1);
    assert!(list.ran.stderr.contains("has no scheme"), "{:#?}", list.ran);
}

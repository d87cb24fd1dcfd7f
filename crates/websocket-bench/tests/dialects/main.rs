//! The dialects of other protocols, each against a server that is made with that protocol's own
//! library. They come from npm, by the lock file in `servers/`.

#![allow(missing_docs)]

mod relay;

use run_record::{Faults, RunRecord, StepRecord};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// The servers and their libraries, installed once.
fn servers() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialects/servers");
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dialects");
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
        let npm = Command::new("npm")
            .args([
                "ci",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
            ])
            .current_dir(&to)
            .output()
            .expect("npm is not installed; apt-get install npm");
        let words = String::from_utf8_lossy(&npm.stderr);
        assert!(npm.status.success(), "npm ci in {}: {words}", to.display());
        to
    })
}

struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(script: &str, environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new("node")
            .arg(script)
            .current_dir(servers())
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node is not installed; apt-get install nodejs");
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(url.starts_with("ws://"), "{script} did not start: {url:?}");
        Self { child, url }
    }

    fn addr(&self) -> SocketAddr {
        let authority = self.url.split('/').nth(2).unwrap();
        authority.parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bench(arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

/// The only step of a run that ends with `code`.
#[track_caller]
fn step(arguments: &[&str], code: i32) -> StepRecord {
    let all = [arguments, &["--json", "-"]].concat();
    let (ended, record, words) = bench(&all);
    assert_eq!(ended, Some(code), "{arguments:?}: {words}{record}");
    let mut record: RunRecord = serde_json::from_str(&record).unwrap();
    assert_eq!(record.steps.len(), 1, "{words}");
    record.steps.remove(0)
}

const CLIENTS: u64 = 100;

fn few<'a>(
    workload: &'a str,
    url: &'a str,
    server_type: &'a str,
    samples: &'a str,
) -> Vec<&'a str> {
    vec![
        workload,
        url,
        "--server-type",
        server_type,
        "--initial-clients",
        "100",
        "--total-steps",
        "1",
        "--sample-size",
        samples,
        "--concurrent",
        "4",
        "--limit-rtt",
        "20s",
    ]
}

/// Echoes of 100 clients, with and without padding, each answered with so many messages.
#[track_caller]
fn echoes(url: &str, server_type: &str, messages: u64) {
    for padding in ["0", "200", "70000"] {
        let line = few("echo", url, server_type, "200");
        let echoed = step(&[&line[..], &["--payload-padding", padding]].concat(), 0);
        assert!(echoed.faults.is_empty(), "{}", echoed.faults);
        assert_eq!((echoed.clients, echoed.samples), (CLIENTS, 200));
        assert_eq!(echoed.generator.messages, 200 * messages);
    }
}

#[test]
fn echoes_come_back_by_graphql_and_as_lines() {
    let graphql = Server::start("graphql.js", &[]);
    // Its result, and that it is complete.
    echoes(&graphql.url, "graphql-ws", 2);
    let lines = Server::start("lines.js", &[]);
    echoes(&lines.url, "lines", 1);
    // A server of another protocol is found out, and what came is shown.
    let line = few("echo", &lines.url, "socketio", "20");
    let (code, _, words) = bench(&[&line[..], &["--connect-timeout", "2s"]].concat());
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("was silent"), "{words}");
}

#[test]
fn socket_io_delivers_to_all_and_to_rooms() {
    let server = Server::start("socketio.js", &[]);
    echoes(&server.url, "socketio", 1);
    let line = few("broadcast", &server.url, "socketio", "30");
    let broadcast = step(&line, 0);
    assert!(broadcast.faults.is_empty(), "{}", broadcast.faults);
    assert_eq!(broadcast.delivery.unwrap().count, 30 * CLIENTS);
    assert_eq!(broadcast.ack.unwrap().count, 30);

    let (_, plan, _) = bench(&[&line[..], &["--print-plan"]].concat());
    let everyone = "audience = \"everyone\"";
    assert!(plan.contains(everyone), "{plan}");
    let plan = plan.replace(everyone, "audience = { room = { equal = 4 } }");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    fs::write(&file, plan).unwrap();
    let rooms = step(&["run", file.to_str().unwrap()], 0);
    assert!(rooms.faults.is_empty(), "{}", rooms.faults);
    assert_eq!(rooms.delivery.unwrap().count, 30 * CLIENTS / 4);
}

#[test]
fn the_heartbeat_of_socket_io_is_answered() {
    let server = Server::start(
        "socketio.js",
        &[("PING_INTERVAL", "300"), ("PING_TIMEOUT", "700")],
    );
    let line = [
        "echo",
        &server.url,
        "--server-type",
        "socketio",
        "--initial-clients",
        "20",
        "--total-steps",
        "1",
        "--rate",
        "20",
        "--duration",
        "4s",
        "--arrivals",
        "constant",
        "--limit-rtt",
        "20s",
    ];
    let held = step(&line, 0);
    assert!(held.faults.is_empty(), "{}", held.faults);
    assert_eq!(held.samples, 80);
    // Some ten pings came to each client.
    assert!(
        held.generator.messages > 80 + 20 * 5,
        "{}",
        held.generator.messages
    );
}

#[test]
fn one_delivery_that_is_left_out_between_is_counted_exactly() {
    let server = Server::start("socketio.js", &[]);
    // The last of the first broadcast: the others go on until the sample is given up.
    let mark = "42[\"broadcast\",";
    let (relay, seen) = relay::leaving_out(server.addr(), mark, CLIENTS - 1);
    let url = server
        .url
        .replace(&server.addr().to_string(), &relay.to_string());
    let line = few("broadcast", &url, "socketio", "10");
    let short = ["--sample-timeout", "2s", "--limit-rtt", "1s"];
    let line: Vec<&str> = line
        .into_iter()
        .filter(|word| !["--limit-rtt", "20s"].contains(word))
        .collect();
    let step = step(&[&line[..], &short].concat(), 3);
    let lost = Faults {
        lost: 1,
        ..Faults::default()
    };
    assert_eq!(step.faults, lost);
    assert!(seen() >= CLIENTS);
}

/// The first block of a language in a document.
fn block<'t>(document: &'t str, language: &str) -> &'t str {
    let start = format!("```{language}\n");
    let rest = document.split_once(&start).expect(language).1;
    rest.split_once("```").unwrap().0
}

#[test]
fn the_way_from_nothing_to_a_verified_run_is_what_the_document_says() {
    let document = include_str!("../../../../docs/adding-a-dialect.md");
    let dialect = tempfile::tempdir().unwrap();
    let file = dialect.path().join("chat.toml");
    fs::write(&file, block(document, "toml")).unwrap();
    assert!(block(document, "toml").lines().count() <= 30);
    // On a free port, and told when it listens.
    let ready = "\nserver.on(\"listening\", () => console.log(`ws://127.0.0.1:${server.address().port}/`));\n";
    let script = servers().join("chat.js");
    fs::write(&script, block(document, "js").to_owned() + ready).unwrap();
    let server = Server::start("chat.js", &[("PORT", "0")]);

    let command = block(document, "sh");
    let words: Vec<String> = command
        .split_whitespace()
        .skip(1)
        .map(|word| match word {
            "ws://127.0.0.1:8080/" => server.url.clone(),
            "chat.toml" => file.display().to_string(),
            word => word.to_owned(),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let measured = step(&[&words[..], &["--limit-rtt", "20s"]].concat(), 0);
    assert!(measured.faults.is_empty(), "{}", measured.faults);
    assert_eq!(measured.delivery.unwrap().count, 100 * CLIENTS);
    assert_eq!(measured.ack.unwrap().count, 100);
}

//! The dialects of other protocols, each against a server that is made with that protocol's own
//! library, or a broker. The libraries come from npm, by the lock file in `servers/`.

mod broker;
pub(crate) mod go_server;
pub(crate) mod mosquitto;
mod mqtt;
mod planted;
pub(crate) mod rabbitmq;
pub(crate) mod relay;
pub(crate) mod soketi;

use crate::support::{Ran, undisturbed};
use go_server::GoServer;
use mosquitto::Mosquitto;
use rabbitmq::RabbitMq;
use record::{RunRecord, StepRecord};
use soketi::Soketi;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The servers and their libraries, installed once.
fn servers() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| install("dialects"))
}

/// Installs the servers of a folder of this suite.
pub(crate) fn install(name: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/suite/{name}/servers"));
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    npm_ci(&to);
    to
}

/// Installs what the lock file of a folder names.
fn npm_ci(folder: &Path) {
    let npm = Command::new("npm")
        .args([
            "ci",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        ])
        .current_dir(folder)
        .output()
        .expect("npm is not installed; apt-get install npm");
    let words = String::from_utf8_lossy(&npm.stderr);
    let place = folder.display();
    assert!(npm.status.success(), "npm ci in {place}: {words}");
}

/// Waits until a server listens.
// timed: polls; the end is only for a hang.
pub(crate) fn await_port(name: &str, child: &mut Child, addr: SocketAddr, log: &Path) {
    let end = Instant::now() + Duration::from_secs(300);
    while TcpStream::connect(addr).is_err() {
        let ended = child.try_wait().unwrap();
        let log = || fs::read_to_string(log).unwrap();
        assert!(ended.is_none(), "{name} ended: {}", log());
        assert!(Instant::now() < end, "{name} does not listen: {}", log());
        thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(script: &str, environment: &[(&str, &str)]) -> Self {
        Self::start_in(servers(), script, environment)
    }

    pub(crate) fn start_in(folder: &Path, script: &str, environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new("node")
            .arg(script)
            .current_dir(folder)
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
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn bench(arguments: &[&str]) -> (Option<i32>, String, String) {
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
    let ran = undisturbed(|| {
        let (code, stdout, stderr) = bench(&all);
        Ran {
            code: code.expect("it ended by itself"),
            stdout,
            stderr,
        }
    })
    .exits(code);
    let mut record: RunRecord = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(record.steps.len(), 1, "{ran:#?}");
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
        // Answers to heartbeats come beside them.
        let beats = echoed.heartbeats.map_or(0, |of| of.sent);
        let least = 200 * messages;
        assert!((least..=least + beats).contains(&echoed.generator.messages));
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
    assert!(
        words.contains("no Socket.IO server answered on this path"),
        "{words}"
    );
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

    rooms(&line, 30 * CLIENTS / 4);
}

#[test]
fn the_heartbeat_of_socket_io_is_answered() {
    let server = Server::start(
        "socketio.js",
        &[("PING_INTERVAL", "300"), ("PING_TIMEOUT", "60000")],
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
    // The server sends a client its second ping only after the answer to the first.
    assert!(
        held.generator.messages > 80 + 20 * 2,
        "{}",
        held.generator.messages
    );
}

#[test]
fn rabbitmq_delivers_by_stomp() {
    let broker = match RabbitMq::start() {
        Ok(broker) => broker,
        Err(reason) => return test_servers::skipped(&reason),
    };
    let at = |addr: SocketAddr| format!("ws://{addr}/ws");
    for padding in ["0", "3000"] {
        let url = at(broker.addr());
        let line = few("broadcast", &url, "stomp", "20");
        let step = step(&[&line[..], &["--payload-padding", padding]].concat(), 0);
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!(step.delivery.unwrap().count, 20 * CLIENTS);
        assert_eq!(step.ack.unwrap().count, 20);
    }
}

/// Broadcasts to all and to four rooms, with and without padding.
#[track_caller]
fn broadcasts(url: &str, server_type: &str, has_rooms: bool) {
    for padding in ["0", "3000"] {
        let line = few("broadcast", url, server_type, "20");
        let step = step(&[&line[..], &["--payload-padding", padding]].concat(), 0);
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!(step.delivery.unwrap().count, 20 * CLIENTS);
        assert_eq!(step.ack.unwrap().count, 20);
    }
    if has_rooms {
        let line = few("broadcast", url, server_type, "30");
        rooms(&line, 30 * CLIENTS / 4);
    }
}

#[test]
fn mosquitto_echoes_and_delivers_by_mqtt() {
    let broker = match Mosquitto::start() {
        Ok(broker) => broker,
        Err(reason) => return test_servers::skipped(&reason),
    };
    for version in ["mqtt", "mqtt5"] {
        echoes(broker.url(), version, 1);
        broadcasts(broker.url(), version, true);
    }
}

#[test]
fn clients_change_their_rooms_by_mqtt() {
    let broker = match Mosquitto::start() {
        Ok(broker) => broker,
        Err(reason) => return test_servers::skipped(&reason),
    };
    for version in ["mqtt", "mqtt5"] {
        let plan = format!(
            r#"
audience = {{ room = {{ equal = 4 }} }}
target = {{ url = "{}" }}
clients.steps = {{ first = 40, count = 1 }}
load.open = {{ rate = 50.0, duration = "3s" }}
message.dialect = "{version}"
limits = {{ time = "20s" }}
populations = [
  {{ share = 1 }},
  {{ share = 1, life = {{ changes_room = {{ stays = "300ms", away = "100ms" }} }} }},
]
"#,
            broker.url()
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.toml");
        fs::write(&file, plan).unwrap();
        let step = step(&["run", file.to_str().unwrap()], 0);
        assert!(step.faults.is_empty(), "{}", step.faults);
        let rooms = step.churn.unwrap().rooms.unwrap();
        assert!(rooms.joined > 0);
        assert_eq!(rooms.unanswered, 0);
    }
}

#[test]
fn a_broker_that_lets_none_in_without_a_password_says_so() {
    let broker = match Mosquitto::start_closed() {
        Ok(broker) => broker,
        Err(reason) => return test_servers::skipped(&reason),
    };
    for version in ["mqtt", "mqtt5"] {
        let line = few("echo", broker.url(), version, "20");
        let (code, out, words) = bench(&line);
        assert_eq!(code, Some(1), "{out}{words}");
        let log = broker.log();
        assert!(words.contains("without name and password"), "{words}{log}");
    }
}

#[test]
fn a_server_made_with_centrifuge_echoes_and_delivers() {
    let server = match GoServer::start("centrifuge") {
        Ok(server) => server,
        Err(reason) => return test_servers::skipped(&reason),
    };
    // It may put several answers in one message, and pings between.
    for padding in ["0", "200", "70000"] {
        let line = few("echo", server.url(), "centrifugo", "200");
        let echoed = step(&[&line[..], &["--payload-padding", padding]].concat(), 0);
        assert!(echoed.faults.is_empty(), "{}", echoed.faults);
        assert_eq!((echoed.clients, echoed.samples), (CLIENTS, 200));
    }
    broadcasts(server.url(), "centrifugo", false);
}

#[test]
fn a_wamp_router_publishes_to_all_but_the_publisher() {
    let router = match GoServer::start("wamp") {
        Ok(router) => router,
        Err(reason) => return test_servers::skipped(&reason),
    };
    echoes(router.url(), "wamp", 1);
    for more in [&["--payload-padding", "100000"][..], &["--processes", "2"]] {
        let line = few("broadcast", router.url(), "wamp", "20");
        let step = step(&[&line[..], more].concat(), 0);
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!(step.delivery.unwrap().count, 20 * (CLIENTS - 1));
        assert_eq!(step.ack.unwrap().count, 20);
    }
}

#[test]
fn a_wamp_router_says_why_it_refuses() {
    let router = match GoServer::start("wamp") {
        Ok(router) => router,
        Err(reason) => return test_servers::skipped(&reason),
    };
    let built_in = include_str!("../../../../../dialects/wamp.toml");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.toml");
    for (from, to, code, said) in [
        (r#"[1,"realm1""#, r#"[1,"realm2""#, 1, "no_such_realm"),
        (
            r#"{},"bench.all"]"#,
            r#"{},"bench..all"]"#,
            1,
            "invalid_uri",
        ),
        (r#""bench.echo""#, r#""bench.other""#, 3, "4 refused"),
    ] {
        assert!(built_in.contains(from), "{from}");
        fs::write(&file, built_in.replace(from, to)).unwrap();
        // What is refused has no answer, so that the run ends with the time for a sample.
        let mut line = few("echo", router.url(), "wamp", "20");
        line.truncate(line.len() - 2);
        line.extend(["--limit-rtt", "7s", "--sample-timeout", "8s"]);
        (line[2], line[3]) = ("--dialect", file.to_str().unwrap());
        let (ended, out, words) = bench(&line);
        assert_eq!(ended, Some(code), "{to}: {out}{words}");
        assert!(format!("{out}{words}").contains(said), "{to}: {out}{words}");
    }
}

#[test]
fn soketi_hands_client_events_to_all_but_their_sender() {
    let server = match Soketi::start() {
        Ok(server) => server,
        Err(reason) => return test_servers::skipped(&reason),
    };
    let (url, data) = (server.url(), soketi::data(soketi::SECRET));
    let with_data = ["--data", &data];
    for padding in ["0", "3000"] {
        let line = few("broadcast", &url, "pusher", "20");
        let line = [&line[..], &with_data, &["--payload-padding", padding]].concat();
        let step = step(&line, 0);
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!(step.delivery.unwrap().count, 20 * (CLIENTS - 1));
        assert!(step.ack.is_none());
    }
    let line = few("broadcast", &url, "pusher", "30");
    rooms(&[&line[..], &with_data].concat(), 30 * (CLIENTS / 4 - 1));

    let wrong = soketi::data("another-secret-than-that");
    let line = few("broadcast", &url, "pusher", "20");
    let (code, out, words) = bench(&[&line[..], &["--data", &wrong]].concat());
    assert_eq!(code, Some(1), "{out}{words}");
    assert!(words.contains("the server refused the client"), "{words}");
    assert!(!words.contains("another-secret-than-that"), "{words}");
}

/// A data file that no other test writes.
fn data_file(text: &str) -> String {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("data-{number}.csv"));
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A data file with the token of all users.
fn token(token: &str) -> String {
    data_file(&format!("token\n{token}\n"))
}

#[test]
fn home_assistant_hands_on_what_is_fired() {
    let server = Server::start("home-assistant.js", &[]);
    let data = token("sesame");
    let with_data = ["--data", &data];
    for sites in [&["--threads", "2"][..], &["--processes", "2"]] {
        let line = few("broadcast", &server.url, "home-assistant", "20");
        let step = step(&[&line[..], &with_data, sites].concat(), 0);
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!(step.delivery.unwrap().count, 20 * CLIENTS);
    }
    let wrong = token("another-token");
    let line = few("broadcast", &server.url, "home-assistant", "20");
    let (code, out, words) = bench(&[&line[..], &["--data", &wrong]].concat());
    assert_eq!(code, Some(1), "{out}{words}");
    let said = "the server does not know the token: Invalid access token or password";
    assert!(words.contains(said), "{words}");
    assert!(!words.contains("another-token"), "{words}");
}

/// The same broadcasts, each to one of four rooms, with so many deliveries in all.
#[track_caller]
fn rooms(line: &[&str], deliveries: u64) {
    let (_, plan, _) = bench(&[line, &["--print-plan"]].concat());
    let everyone = "audience = \"everyone\"";
    assert!(plan.contains(everyone), "{plan}");
    let plan = plan.replace(everyone, "audience = { room = { equal = 4 } }");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    fs::write(&file, plan).unwrap();
    let rooms = step(&["run", file.to_str().unwrap()], 0);
    assert!(rooms.faults.is_empty(), "{}", rooms.faults);
    assert_eq!(rooms.delivery.unwrap().count, deliveries);
}

/// Socket.IO with a token in the packet that opens the namespace.
fn with_tokens(folder: &Path, column: &str) -> String {
    let built_in = include_str!("../../../../../dialects/socketio.toml");
    let opens = r#"send = '40{"user":"{user}","token":"{COLUMN}"}'"#;
    let text = built_in.replace("send = \"40\"", &opens.replace("COLUMN", column));
    assert_ne!(text, built_in);
    let file = folder.join(format!("{column}.toml"));
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[test]
fn each_client_opens_with_the_fields_of_its_own_row() {
    let server = Server::start("socketio.js", &[("AUTH", "1")]);
    let folder = tempfile::tempdir().unwrap();
    let rows = |name: &str, token: &str| {
        let row = |n| format!("u{n},u{n}{token}\n");
        let rows: String = (0..CLIENTS).map(row).collect();
        let path = folder.path().join(name);
        fs::write(&path, format!("user,token\n{rows}")).unwrap();
        path.display().to_string()
    };
    let dialect = with_tokens(folder.path(), "token");
    let line = few("broadcast", &server.url, "socketio", "10");
    let line = |dialect: &str, data: &str| {
        let mut line: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        line[2] = "--dialect".to_owned();
        line[3] = dialect.to_owned();
        line.extend(["--data".to_owned(), data.to_owned()]);
        line
    };
    let right = line(&dialect, &rows("right.csv", "-token"));
    let right: Vec<&str> = right.iter().map(String::as_str).collect();
    for sites in [&["--threads", "2"][..], &["--processes", "2"]] {
        let step = step(&[&right[..], sites].concat(), 0);
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert_eq!(step.delivery.unwrap().count, 10 * CLIENTS);
    }

    let refused = |dialect: &str, data: &str| {
        let line = line(dialect, data);
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let (code, out, words) = bench(&line);
        assert_eq!(code, Some(1), "{out}{words}");
        format!("{out}{words}")
    };
    // The server's own words hold the token; ours do not.
    let words = refused(&dialect, &rows("wrong.csv", "-secret"));
    assert!(words.contains("does not open the door"), "{words}");
    assert!(!words.contains("-secret"), "{words}");
    let words = refused(&dialect, &rows("quote.csv", "\"\""));
    assert!(
        words.contains("line 2") && words.contains("in a message"),
        "{words}"
    );
    let words = refused(
        &with_tokens(folder.path(), "tokn"),
        &rows("right.csv", "-token"),
    );
    assert!(
        words.contains("tokn") && words.contains("`user`, `token`"),
        "{words}"
    );
}

/// The first block of a language in a document.
fn block<'t>(document: &'t str, language: &str) -> &'t str {
    let start = format!("```{language}\n");
    let rest = document.split_once(&start).expect(language).1;
    rest.split_once("```").unwrap().0
}

#[test]
fn the_way_from_nothing_to_a_verified_run_is_what_the_document_says() {
    let document = include_str!("../../../../../docs/adding-a-dialect.md");
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

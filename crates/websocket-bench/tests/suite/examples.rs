//! The files of examples/, as they stand.

use record::{Json, RunRecord};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use test_servers::{NullOptions, NullServer};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs an example in an empty folder, with the program in PATH.
fn run(example: &str, url: &str, more: &[&str], folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_websocket-bench"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let mut command = Command::new(examples().join(example));
    command.arg(url).args(more).current_dir(folder);
    command.env("PATH", path).env("XDG_CACHE_HOME", "/dev/null");
    command.output().unwrap()
}

#[track_caller]
fn assert_measured(done: &Output) -> String {
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout).into_owned(),
        String::from_utf8_lossy(&done.stderr),
    );
    assert_eq!(done.status.code(), Some(0), "{out}{err}");
    assert!(!out.contains("faults"), "{out}");
    out
}

fn server() -> (NullServer, String, TempDir) {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let url = format!("ws://{}/ws", server.addr());
    (server, url, tempfile::tempdir().unwrap())
}

fn record(folder: &Path) -> RunRecord {
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    RunRecord::from_json(&text).unwrap()
}

#[test]
fn one_it_answers() {
    let (_server, url, folder) = server();
    let out = assert_measured(&run("1-does-it-answer.sh", &url, &[], folder.path()));
    assert!(out.contains("(500 samples)"), "{out}");
}

#[test]
fn two_the_clients_are_found() {
    let (_server, url, folder) = server();
    // A search that ends at once: what is tested is the command, and not the machine.
    let small = [
        "--limit-rtt",
        "1us",
        "--search-precision",
        "50",
        "--json",
        "run.json",
    ];
    let done = run("2-how-many-clients.sh", &url, &small, folder.path());
    assert!(done.status.code().is_some_and(|code| code != 1), "{done:?}");
    assert!(record(folder.path()).outcome.edge.is_some());
}

#[test]
fn three_a_load_of_ones_own() {
    let (_server, url, folder) = server();
    let short = [
        "--set",
        "load.open.duration=3s",
        "--set",
        "limits.time=20s",
        "--server-type",
        "json",
        "-H",
        "X-Tenant: blue",
        "--json",
        "run.json",
    ];
    assert_measured(&run("3-your-load.sh", &url, &short, folder.path()));
    let record = record(folder.path());
    assert_eq!(record.plan.name.as_deref(), Some("your-load"));
    assert_eq!(record.plan.connection.headers, ["X-Tenant: blue"]);
    let delivery = record.steps[0].delivery.as_ref().unwrap();
    assert_eq!(delivery.count, 10 * record.steps[0].samples);
}

#[test]
fn four_a_storm() {
    let (_server, url, folder) = server();
    let small = [
        "--set",
        "clients.steps.first=100",
        "--set",
        "limits.time=20s",
        "--json",
        "run.json",
    ];
    assert_measured(&run("4-when-it-goes-wrong.sh", &url, &small, folder.path()));
    let record = record(folder.path());
    let cut = record.steps[0]
        .churn
        .as_ref()
        .unwrap()
        .cut
        .as_ref()
        .unwrap();
    assert!(
        (45..=55).contains(&cut.clients) && cut.back == cut.clients,
        "{cut:?}"
    );
}

#[test]
fn five_a_gate_with_everything_that_a_ci_shows() {
    let (_server, url, folder) = server();
    let calm = ["--expect", "p99<20s", "--duration", "3s"];
    let attempt = || run("5-in-ci.sh", &url, &calm, folder.path());
    // Until the machine keeps the rate.
    let done = (0..9).map(|_| attempt()).find(|done| {
        let err = String::from_utf8_lossy(&done.stderr);
        !err.contains("the generator, and not the server, was the limit")
    });
    let done = done.unwrap_or_else(attempt);
    // Of a busy machine the latency that the example expects may be missed, and nothing else.
    let code = done.status.code();
    let err = String::from_utf8_lossy(&done.stderr);
    let missed = err.matches("expectation failed").count();
    assert!(
        code == Some(0) || (code == Some(2) && missed == 1 && err.contains("p99<250ms")),
        "{err}"
    );
    for (file, words) in [
        ("run.csv", "completion_p95_ns"),
        ("junit.xml", "expect faults&lt;=0"),
        ("run.html", "Latency over time"),
    ] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains(words), "{file}: {text}");
    }
    assert!(record(folder.path()).faults().is_empty());
}

#[test]
fn every_example_says_what_is_missing_without_a_url() {
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "sh") {
            let done = Command::new(&path).output().unwrap();
            let err = String::from_utf8_lossy(&done.stderr);
            assert!(
                err.contains("give the URL of a server"),
                "{}: {err}",
                path.display()
            );
            assert!(!done.status.success());
        }
    }
}

#[test]
fn what_k6_and_artillery_send_is_sent_and_comes_back() {
    let server = NullServer::start(NullOptions {
        echo_raw: true,
        ..NullOptions::default()
    })
    .unwrap();
    let url = format!("ws://{}/", server.addr());
    for (plan, clients, messages) in [("like-k6.toml", 50, 500), ("like-artillery.toml", 100, 300)]
    {
        let plan = examples().join(plan);
        let lines = fs::read_to_string(&plan).unwrap();
        assert!(lines.lines().count() <= 20, "{lines}");
        let done = Command::new(env!("CARGO_BIN_EXE_websocket-bench"))
            .arg("run")
            .args([&plan, Path::new(&url)])
            .args(["--json", "-"])
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        let text = String::from_utf8(done.stdout).unwrap();
        let record: RunRecord = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let traffic = record.steps[0].throughput.unwrap();
        assert_eq!(record.steps[0].clients, clients);
        assert_eq!((traffic.sent, traffic.received), (messages, messages));
        assert_eq!(record.steps[0].samples, messages);
        assert!(record.faults().is_empty());
    }
}

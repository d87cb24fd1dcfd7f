//! The GitHub Action: its steps are run as they stand, with inputs and files as GitHub gives them.

use crate::lines::{self, write};
use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use test_servers::fault::{Misdeeds, MixedServer};
use test_servers::{Framework, NullOptions, NullServer};
use yaml_rust2::{Yaml, YamlLoader};

/// A job that uses the action.
struct Job {
    folder: TempDir,
    inputs: BTreeMap<String, String>,
}

/// How it ended.
#[derive(Debug)]
struct Ended {
    failed: bool,
    /// Names of the steps that were run.
    steps: Vec<String>,
    output: String,
    summary: String,
}

fn action() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action")
}

fn definition() -> Yaml {
    let text = fs::read_to_string(action().join("action.yml")).unwrap();
    YamlLoader::load_from_str(&text).unwrap().remove(0)
}

impl Job {
    fn new(inputs: &[(&str, &str)]) -> Self {
        let program = ("program", env!("CARGO_BIN_EXE_websocket-bench"));
        let inputs = inputs.iter().copied().chain([program]);
        Self {
            folder: tempfile::tempdir().unwrap(),
            inputs: inputs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// An expression of the definition, as GitHub would put its value in.
    fn value(&self, definition: &Yaml, text: &str) -> String {
        let Some(expression) = text
            .strip_prefix("${{ ")
            .and_then(|t| t.strip_suffix(" }}"))
        else {
            assert!(!text.contains("${{"), "{text}");
            return text.to_owned();
        };
        if expression == "github.action_path" {
            return action().display().to_string();
        }
        let name = expression.strip_prefix("inputs.").expect(expression);
        let input = &definition["inputs"][name];
        assert!(!input.is_badvalue(), "there is no input {name}");
        let given = self.inputs.get(name).cloned();
        given.unwrap_or_else(|| input["default"].as_str().unwrap_or_default().to_owned())
    }

    fn run(&self) -> Ended {
        let definition = definition();
        for name in self.inputs.keys() {
            assert!(!definition["inputs"][name.as_str()].is_badvalue(), "{name}");
        }
        let (variables, summary) = (self.file("env"), self.file("summary"));
        fs::write(&variables, "").unwrap();
        let mut ended = Ended {
            failed: false,
            steps: Vec::new(),
            output: String::new(),
            summary: String::new(),
        };
        for step in definition["runs"]["steps"].as_vec().unwrap() {
            if ended.failed && step["if"].as_str() != Some("always()") {
                continue;
            }
            assert_eq!(step["shell"].as_str(), Some("bash"));
            // As `shell: bash` is run there.
            let mut command = Command::new("bash");
            command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c"]);
            command.arg(step["run"].as_str().unwrap());
            command.current_dir(self.folder.path());
            // Programs of the job come before those of this machine.
            let path = std::env::var("PATH").unwrap_or_default();
            command.env("PATH", format!("{}:{path}", self.file("bin").display()));
            command.env("GITHUB_ENV", &variables);
            command.env("GITHUB_STEP_SUMMARY", &summary);
            for line in fs::read_to_string(&variables).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                command.env(name, value);
            }
            for (name, value) in step["env"].as_hash().into_iter().flatten() {
                let value = self.value(&definition, value.as_str().unwrap());
                command.env(name.as_str().unwrap(), value);
            }
            let Output {
                status,
                stdout,
                stderr,
            } = command.output().unwrap();
            ended.output += &String::from_utf8_lossy(&stdout);
            ended.output += &String::from_utf8_lossy(&stderr);
            ended.steps.push(step["name"].as_str().unwrap().to_owned());
            ended.failed |= !status.success();
        }
        ended.summary = fs::read_to_string(summary).unwrap_or_default();
        ended
    }
}

const PLAN: &str = "audience = \"sender\"\n[clients.steps]\nfirst = 10\ncount = 1\n\
                    [load.closed]\nin_flight = 4\nsamples = 200\n";

/// A job with a plan against the server at `url`.
fn job(url: &str, more: &[(&str, &str)]) -> Job {
    let job = Job::new(&[&[("url", url), ("plan", "plan.toml")], more].concat());
    fs::write(job.file("plan.toml"), PLAN).unwrap();
    job
}

fn url(server: &NullServer) -> String {
    format!("ws://{}/", server.addr())
}

#[test]
// timed: the server was sent a signal, and ends when the machine gets to it; a minute ends the wait.
fn a_server_that_is_started_is_measured_and_ended() {
    // The server's port is its own choice, so that the job starts one that passes bytes on.
    let server = NullServer::start(NullOptions::default()).unwrap();
    let marker = format!("a-server-of-the-action-test-{}", std::process::id());
    let start = format!("exec -a {marker} sleep 300");
    let url = url(&server);
    let ended = job(
        &url,
        &[("start", &start), ("expect", "p99<20s\nfaults<=0\n")],
    )
    .run();
    assert!(!ended.failed, "{}", ended.output);
    assert_eq!(ended.steps.len(), 5);
    assert!(
        ended.summary.contains("| 10 | completion |"),
        "{}",
        ended.summary
    );
    assert!(ended.summary.contains("| pass | 0 |"), "{}", ended.summary);
    let is_alive = || {
        let mut all = fs::read_dir("/proc").unwrap();
        all.any(|entry| {
            let line = fs::read(entry.unwrap().path().join("cmdline")).unwrap_or_default();
            line.starts_with(marker.as_bytes())
        })
    };
    let until = Instant::now() + Duration::from_secs(60);
    while is_alive() {
        assert!(Instant::now() < until, "the server was left behind");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_expectation_that_fails_and_a_fault_fail_the_job() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let ended = job(&url(&server), &[("expect", "p95<1us")]).run();
    assert!(ended.failed);
    assert!(
        ended.output.contains("expectation failed"),
        "{}",
        ended.output
    );
    assert!(
        ended
            .output
            .contains("::error::websocket-bench ended with 2")
    );
    assert!(
        ended.summary.contains("expectation failed"),
        "{}",
        ended.summary
    );

    let misdeeds = Misdeeds {
        broadcasts: 200,
        faults: record::Faults {
            duplicate: 3,
            ..record::Faults::default()
        },
    };
    let faulty = MixedServer::start(misdeeds, Framework::Plain).unwrap();
    let job = job(&format!("ws://{}/", faulty.addr()), &[]);
    let broadcast = PLAN.replace("\"sender\"", "\"everyone\"");
    fs::write(job.file("plan.toml"), broadcast).unwrap();
    let ended = job.run();
    assert!(ended.failed);
    assert!(
        ended
            .output
            .contains("::error::websocket-bench ended with 3"),
        "{}",
        ended.output
    );
    assert!(ended.summary.contains("| fail | 3 |"), "{}", ended.summary);
}

#[test]
fn a_server_that_does_not_come_is_told_with_its_output() {
    // The system gives no listener a port below 1024 by itself.
    let url = "ws://127.0.0.1:1/";
    let ended = job(url, &[("start", "echo no such module; exit 1")]).run();
    assert!(ended.failed);
    assert_eq!(ended.steps.last().unwrap(), "Stop the server");
    assert_eq!(ended.steps.len(), 3, "{:?}", ended.steps);
    assert!(
        ended.output.contains("::error::the server ended before"),
        "{}",
        ended.output
    );
    assert!(ended.output.contains("no such module"), "{}", ended.output);
    let ended = job(
        url,
        &[
            ("start", "echo I listen elsewhere; sleep 60"),
            ("wait", "1"),
        ],
    )
    .run();
    assert!(ended.failed);
    assert!(
        ended.output.contains("::error::no WebSocket connection at"),
        "{}",
        ended.output
    );
    assert!(
        ended.output.contains("I listen elsewhere"),
        "{}",
        ended.output
    );
}

/// A server that answers 401 to a client without the token, and sends each message back to its sender.
fn guarded() -> SocketAddr {
    lines::start_guarded(
        |head| head.contains("\r\nX-Token: two words\r\n"),
        || |line: &str, client: &TcpStream| write(client, line),
    )
}

#[test]
fn arguments_may_be_quoted_and_hold_for_the_wait_as_well() {
    let url = format!("ws://{}/", guarded());
    let arguments = "--server-type lines  -H 'X-Token: two words'";
    let with_size = format!("{arguments}\n--sample-size 100");
    let more = [
        ("command", "echo"),
        ("arguments", &with_size),
        ("wait", "5"),
    ];
    let ended = Job::new(&[&[("url", url.as_str())][..], &more].concat()).run();
    assert!(!ended.failed, "{}", ended.output);
    assert!(ended.summary.contains("| pass | 0 |"), "{}", ended.summary);

    // A plan is changed by them.
    let ended = job(&url, &[("arguments", arguments), ("wait", "5")]).run();
    assert!(!ended.failed, "{}", ended.output);

    // A server that wants a token is there, and says so when it is measured without one.
    let ended = job(&url, &[("wait", "5")]).run();
    assert!(ended.failed);
    assert_eq!(ended.steps[2], "Measure", "{}", ended.output);
    assert!(ended.output.contains("HTTP 401"), "{}", ended.output);

    let ended = job(&url, &[("arguments", "-H 'X-Token: two")]).run();
    assert!(ended.failed);
    assert!(ended.output.contains("quote"), "{}", ended.output);
}

/// A server that sends each message back to clients whose handshake has this in it, and the number of
/// those that it refused.
fn guarded_by(token: &'static str) -> (SocketAddr, Arc<AtomicU32>) {
    let refused = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&refused);
    let admitted = move |head: &str| {
        let is_admitted = head.contains(token);
        count.fetch_add(u32::from(!is_admitted), Ordering::Relaxed);
        is_admitted
    };
    let echo = || |line: &str, client: &TcpStream| write(client, line);
    (lines::start_guarded(admitted, echo), refused)
}

#[test]
fn servers_of_each_kind_are_waited_for_and_measured() {
    let open = NullServer::start(NullOptions::default()).unwrap();
    let echoing = lines::start(|| |line: &str, client: &TcpStream| write(client, line));
    let (by_header, refused_by_header) = guarded_by("\r\nAuthorization: Bearer t-17\r\n");
    let (by_query, refused_by_query) = guarded_by("?room=1&token=t-17 HTTP/1.1\r\n");
    let misdeeds = || Misdeeds {
        broadcasts: 100,
        faults: record::Faults::default(),
    };
    let socket_io = MixedServer::start(misdeeds(), Framework::SocketIo).unwrap();
    let planned = MixedServer::start(misdeeds(), Framework::SocketIo).unwrap();
    let at = |addr: SocketAddr| format!("ws://{addr}/");
    let header = "--server-type lines -H 'Authorization: Bearer file:token' --sample-size 100";
    let query = "--server-type=lines --query token=file:token --sample-size 100";
    for (url, inputs) in [
        (at(open.addr()), &[("arguments", "--sample-size 20")][..]),
        (at(by_header), &[("command", "echo"), ("arguments", header)]),
        (
            format!("ws://{by_query}/?room=1"),
            &[("command", "echo"), ("arguments", query)],
        ),
        (
            at(echoing),
            &[
                ("command", "echo"),
                ("arguments", "--server-type lines --sample-size 100"),
            ],
        ),
        (
            at(socket_io.addr()),
            &[("arguments", "--server-type socketio --sample-size 20")],
        ),
        (
            at(planned.addr()),
            &[
                ("plan", "plan.toml"),
                ("arguments", "--server-type socketio"),
            ],
        ),
    ] {
        let job = Job::new(&[&[("url", url.as_str()), ("wait", "30")], inputs].concat());
        fs::write(job.file("token"), "t-17\n").unwrap();
        fs::write(job.file("plan.toml"), PLAN).unwrap();
        let ended = job.run();
        assert!(!ended.failed, "{url}: {}", ended.output);
        assert_eq!(ended.steps.len(), 5, "{url}");
        assert!(
            ended.summary.contains("| pass | 0 |"),
            "{url}: {}",
            ended.summary
        );
    }
    // The wait had the token as well.
    assert_eq!(refused_by_header.load(Ordering::Relaxed), 0);
    assert_eq!(refused_by_query.load(Ordering::Relaxed), 0);
}

#[test]
fn a_record_from_before_is_held_against_the_new_one() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let url = url(&server);
    let first = job(&url, &[]);
    assert!(!first.run().failed);
    let record = fs::read_to_string(first.file("websocket-bench.json")).unwrap();
    let with_baseline = |change: &dyn Fn(&mut serde_json::Value)| {
        let job = job(&url, &[("baseline", "base.json"), ("tolerance", "10000")]);
        let mut base: serde_json::Value = serde_json::from_str(&record).unwrap();
        change(&mut base);
        fs::write(job.file("base.json"), base.to_string()).unwrap();
        job.run()
    };
    let alike = with_baseline(&|_| {});
    assert!(!alike.failed, "{}", alike.output);
    assert!(
        alike.summary.contains("by more than 10000 %: none"),
        "{}",
        alike.summary
    );
    let faster = with_baseline(&|base| {
        base["steps"][0]["completion"]["p95_ns"] = serde_json::json!(1);
    });
    assert!(faster.failed);
    assert!(
        faster
            .output
            .contains("::error::longer than before: completion p95 at 10 clients")
    );
    let other = with_baseline(&|base| {
        base["plan"]["message"]["padding"] = serde_json::json!(7);
    });
    assert!(!other.failed, "{}", other.output);
    assert!(
        other.summary.contains("made by another plan"),
        "{}",
        other.summary
    );
}

#[test]
fn what_the_readme_shows_are_inputs_of_the_action() {
    let readme = fs::read_to_string(action().join("README.md")).unwrap();
    let example = readme
        .split("```yaml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let steps = &YamlLoader::load_from_str(example).unwrap()[0];
    let with = steps[1]["with"].as_hash().unwrap();
    assert!(with.len() > 3);
    for name in with.keys() {
        let name = name.as_str().unwrap();
        assert!(!definition()["inputs"][name].is_badvalue(), "{name}");
    }
}

#[test]
fn a_runner_without_a_release_is_told_so() {
    for (system, machine) in [("Darwin", "arm64"), ("Linux", "aarch64")] {
        let mut job = Job::new(&[("url", "ws://127.0.0.1:1/")]);
        job.inputs.remove("program");
        let uname = job.file("bin/uname");
        fs::create_dir(job.file("bin")).unwrap();
        let script = format!("#!/bin/sh\n[ \"$1\" = -s ] && echo {system} || echo {machine}\n");
        fs::write(&uname, script).unwrap();
        fs::set_permissions(&uname, fs::Permissions::from_mode(0o755)).unwrap();
        let ended = job.run();
        assert!(ended.failed, "{ended:#?}");
        let words =
            format!("::error::there is no release of websocket-bench for {system} on {machine}");
        assert!(ended.output.contains(&words), "{ended:#?}");
        assert_eq!(ended.steps, ["Get websocket-bench", "Stop the server"]);
    }
}

/// A branch or a tag can be moved to other code, which would then run with what the job may do.
#[test]
fn actions_of_others_are_used_by_commit() {
    let root = action().join("..");
    let workflows = fs::read_dir(root.join(".github/workflows")).unwrap();
    let mut files: Vec<PathBuf> = workflows.map(|entry| entry.unwrap().path()).collect();
    files.extend(["action.yml", "README.md"].map(|name| action().join(name)));
    let mut seen = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let uses = text.lines().filter_map(|line| line.split_once("uses: "));
        for (_, used) in uses.filter(|(_, used)| !used.starts_with(['.', 'O'])) {
            let place = format!("{}: {used}", file.display());
            let (name, version) = used.split_once(" # v").expect(&place);
            let (_, commit) = name.split_once('@').expect(&place);
            let is_commit = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(commit.len() == 40 && is_commit(commit), "{place}");
            let numbers = version.split('.').map(str::parse::<u32>);
            assert_eq!(numbers.filter(Result::is_ok).count(), 3, "{place}");
            seen += 1;
        }
    }
    assert!(seen >= 12, "{seen}");
}

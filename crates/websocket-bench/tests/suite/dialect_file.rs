//! `--dialect FILE` against a server of a protocol that only the file describes.

use crate::lines::{self, write};
use crate::support::{Ran, assert_valid, run};
use plan::Dialect;
use record::{End, Faults};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const TOWN_CRIER: &str = r#"
name = "town-crier"
summary = "Lines; a result comes only after the keep-alive before it was answered."

[open]
send = "HELLO"

[[open.receive]]
means = "send"
text = "who?"
send = "bench"

[[open.receive]]
means = "ready"
prefix = "welcome"

[[open.receive]]
means = "refused"
prefix = "go away "
words = "the crier is out"
reason = "/because"

[send]
broadcast = "say {stamp} {padding}"

[[receive]]
means = "delivery"
pattern = "heard {stamp} {padding}"
example = "heard {stamp} {padding}"

[[receive]]
means = "result"
pattern = "said {stamp}"
example = "said {stamp}"

[[receive]]
means = "keep-alive"
text = "tick"
send = "tock"
"#;

/// The server. It changes the padding of so many deliveries.
struct Crier {
    refuses: bool,
    listeners: Mutex<Vec<TcpStream>>,
    to_spoil: Mutex<u32>,
}

fn start(refuses: bool, to_spoil: u32) -> SocketAddr {
    let crier: &'static Crier = Box::leak(Box::new(Crier {
        refuses,
        listeners: Mutex::default(),
        to_spoil: Mutex::new(to_spoil),
    }));
    lines::start(move || {
        let mut unsaid = Vec::new();
        move |line: &str, client: &TcpStream| crier.obey(line, client, &mut unsaid)
    })
}

impl Crier {
    fn obey(&self, line: &str, client: &TcpStream, unsaid: &mut Vec<String>) {
        let mut listeners = self.listeners.lock().unwrap();
        match line.split_once(' ') {
            None if line == "HELLO" && self.refuses => {
                write(client, r#"go away {"because":"it is late"}"#);
            }
            None if line == "HELLO" => write(client, "who?"),
            None if line == "bench" => {
                write(client, "welcome, bench");
                listeners.push(client.try_clone().unwrap());
            }
            None if line == "tock" => {
                for stamp in unsaid.drain(..) {
                    write(client, &format!("said {stamp}"));
                }
            }
            Some(("say", words)) => {
                for listener in listeners.iter() {
                    let mut to_spoil = self.to_spoil.lock().unwrap();
                    let spoilt = if *to_spoil > 0 { "!" } else { "" };
                    *to_spoil = to_spoil.saturating_sub(1);
                    write(listener, &format!("heard {words}{spoilt}"));
                }
                unsaid.push(words.split(' ').next().unwrap_or_default().to_owned());
                write(client, "tick");
            }
            _ => panic!("a client said {line:?}"),
        }
    }
}

/// The dialect in a file, changed where `from` stands.
fn dialect(folder: &Path, (from, to): (&str, &str)) -> PathBuf {
    let path = folder.join("town-crier.toml");
    std::fs::write(&path, TOWN_CRIER.replace(from, to)).unwrap();
    path
}

fn broadcast(addr: SocketAddr, path: &Path, more: &str) -> Ran {
    run(&format!(
        "broadcast ws://{addr}/ --dialect {} --step-size 6 --total-steps 2 --limit-rtt 20s --sample-size 50 -c 3 \
         --payload-padding 20 {more}",
        path.display()
    ))
}

#[test]
fn a_made_up_protocol_is_loaded_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = dialect(folder.path(), ("", ""));
    let json = folder.path().join("run.json");
    // Worker processes get the dialect with the plan.
    for (spoilt, more) in [(0, ""), (2, ""), (0, "--processes 2")] {
        let addr = start(false, spoilt);
        let ran = broadcast(addr, &path, &format!("{more} --json {}", json.display()));
        let record = assert_valid(&json);
        assert_eq!(record.outcome.end, End::StepsDone, "{more}: {ran:#?}");
        let expected = Faults {
            corrupt: spoilt.into(),
            ..Faults::default()
        };
        assert_eq!(record.faults(), expected, "{more}: {ran:#?}");
        let message = &record.plan.message;
        assert_eq!(message.dialect, Dialect::File);
        let name = message.definition.as_ref().map(|file| file.name.as_str());
        assert_eq!(name, Some("town-crier"));
    }
}

#[test]
fn a_printed_plan_holds_the_dialect_and_is_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = dialect(folder.path(), ("", ""));
    let addr = start(false, 0);
    let printed = broadcast(addr, &path, "--print-plan");
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, &printed.stdout).unwrap();
    let json = folder.path().join("run.json");
    let ran = run(&format!("run {} --json {}", plan.display(), json.display()));
    let record = assert_valid(&json);
    assert_eq!(record.outcome.end, End::StepsDone, "{printed:#?} {ran:#?}");
    assert_eq!(record.faults(), Faults::default());
}

#[test]
fn a_refusal_is_told_in_the_words_of_file_and_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = dialect(folder.path(), ("", ""));
    let ran = broadcast(start(true, 0), &path, "");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("the crier is out: it is late"), "{ran:#?}");
}

#[test]
fn a_file_that_makes_no_sense_is_refused_with_its_name_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let addr = crate::support::no_listener();
    for (change, words) in [
        (
            ("{padding}\"\n\n[[", "{size}\"\n\n[["),
            "`send.broadcast` carries no stamp, or not the padding",
        ),
        (
            ("means = \"result\"", "means = \"ignored\""),
            "has no rule for its answer `result`",
        ),
        (
            ("summary", "sumary"),
            "town-crier.toml, line 3: unknown key `sumary`; did you mean `summary`?",
        ),
    ] {
        let path = dialect(folder.path(), change);
        let ran = broadcast(addr, &path, "");
        assert!(ran.stderr.contains(words), "{ran:#?}");
        assert!(ran.stderr.contains("--dialect") && ran.stderr.contains("town-crier.toml"));
    }
    let path = dialect(folder.path(), ("", ""));
    let echo = run(&format!("echo ws://{addr}/ --dialect {}", path.display()));
    let words = "`send` has no `echo`, which the plan asks for";
    assert!(echo.stderr.contains(words), "{echo:#?}");
    let missing = broadcast(addr, Path::new("/nonexistent/x.toml"), "");
    assert!(
        missing.stderr.contains("/nonexistent/x.toml: No such file"),
        "{missing:#?}"
    );
}

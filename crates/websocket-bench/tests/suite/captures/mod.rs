//! Captures as tools of the trade write them, one quirk each: `import` makes a sound plan of each sound
//! one, refuses each other by name, and writes no secret.

mod harmless;
mod lists;
mod places;
mod quirks;
mod replays;
mod secrets;
mod sound;
mod unsound;

use crate::support::{Ran, bench, finish};
use plan::Plan;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What a secret of a capture has in it, and no plan and no line may.
const CANARY: &str = "CANARY";
const START: f64 = 1_795_600_000.25;

/// The list of messages of a connection.
#[derive(Clone, Default)]
struct Talk(Vec<Value>);

impl Talk {
    fn sent(self, data: &str) -> Self {
        self.raw("send", 1, data)
    }

    fn told(self, data: &str) -> Self {
        self.raw("receive", 1, data)
    }

    fn raw(self, direction: &str, opcode: u8, data: &str) -> Self {
        let time = START + self.0.len() as f64 / 8.0;
        self.entry(json!({"type": direction, "time": time, "opcode": opcode, "data": data}))
    }

    fn entry(mut self, message: Value) -> Self {
        self.0.push(message);
        self
    }
}

/// A conversation about nothing.
fn chat() -> Talk {
    Talk::default()
        .sent(r#"{"op":"say","text":"one"}"#)
        .told(r#"{"op":"said","text":"one"}"#)
        .sent(r#"{"op":"say","text":"two"}"#)
        .told(r#"{"op":"said","text":"two"}"#)
}

/// The messages of the client in it.
const CHAT: [&str; 2] = [
    r#"{"op":"say","text":"one"}"#,
    r#"{"op":"say","text":"two"}"#,
];

fn entry(url: &str, talk: Talk) -> Value {
    json!({
        "startedDateTime": "2026-11-26T00:00:00.000Z",
        "request": {"method": "GET", "url": url, "headers": [], "cookies": []},
        "response": {"status": 101, "headers": []},
        "_resourceType": "websocket",
        "_webSocketMessages": talk.0,
    })
}

fn har(entries: &[Value]) -> Value {
    json!({"log": {"version": "1.2", "creator": {"name": "WebInspector"}, "entries": entries}})
}

fn of(talk: Talk) -> Value {
    har(&[entry("ws://127.0.0.1:4500/chat", talk)])
}

fn of_socket_io(talk: Talk) -> Value {
    har(&[entry(
        "ws://127.0.0.1:4500/socket.io/?EIO=4&transport=websocket",
        talk,
    )])
}

/// A capture of one handshake.
fn shaken(url: &str, headers: &[(&str, &str)]) -> Value {
    let mut entry = entry(url, chat());
    let headers = headers
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}));
    entry["request"]["headers"] = headers.collect();
    har(&[entry])
}

/// What `import` made of a capture.
struct Made {
    ran: Ran,
    plan: PathBuf,
    folder: tempfile::TempDir,
}

/// Imports the bytes of a file. Nothing that is written holds a secret.
#[track_caller]
fn made(bytes: &[u8], more: &[&str]) -> Made {
    let made = made_by(bytes, more);
    assert!(!made.holds_canary(), "{:#?}", made.ran);
    made
}

fn made_by(bytes: &[u8], more: &[&str]) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let (har, plan) = (
        folder.path().join("capture.har"),
        folder.path().join("plan.toml"),
    );
    std::fs::write(&har, bytes).unwrap();
    let data = folder.path().join("data.csv");
    let ran = finish(
        bench()
            .arg("import")
            .arg(&har)
            .arg("--data-out")
            .arg(&data)
            .args(more),
    );
    std::fs::write(&plan, &ran.stdout).unwrap();
    Made { ran, plan, folder }
}

impl Made {
    /// Something that was written holds a secret.
    fn holds_canary(&self) -> bool {
        let rows = self.folder.path().join("data.csv");
        let rows = std::fs::read_to_string(rows).unwrap_or_default();
        let written = [&self.ran.stdout, &self.ran.stderr, &rows];
        written.iter().any(|text| text.contains(CANARY))
    }

    /// The plan, which `run` takes.
    #[track_caller]
    fn plan(&self) -> Plan {
        assert_eq!(self.ran.code, 0, "{:#?}", self.ran);
        let data = self.folder.path().join("data.csv");
        let shown = finish(bench().arg("run").arg(&self.plan).arg("--print-plan"));
        assert_eq!(
            shown.code,
            0,
            "{shown:#?}\n{}\n{}",
            self.ran.stdout,
            data.exists()
        );
        let plan: Plan = toml::from_str(&self.ran.stdout).unwrap();
        plan.validate().unwrap();
        plan
    }

    /// The templates of the client's messages in their order.
    #[track_caller]
    fn script(&self) -> Vec<String> {
        let send = self.plan().message.definition.unwrap().send;
        let kinds = send.kinds;
        let message = |name: &str| {
            let kind = kinds.iter().find(|kind| kind.name == name).unwrap();
            kind.message.replace("{{", "{")
        };
        send.script.iter().map(|turn| message(&turn.kind)).collect()
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(here.join("tests/captures").join(name)).unwrap()
}

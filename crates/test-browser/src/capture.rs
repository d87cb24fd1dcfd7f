//! The WebSocket connections of a page, recorded through the DevTools protocol and written as Chrome's
//! DevTools write a HAR.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A browser that takes commands on one pipe and tells events on another (`--remote-debugging-pipe`).
pub(super) struct Browser {
    child: Child,
    commands: File,
    events: BufReader<File>,
    id: u64,
    /// Events that came before the answer to a command.
    pub(super) seen: Vec<Value>,
    watch: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

/// Opens a page, and returns a HAR of its WebSocket connections when so many of them are closed.
///
/// # Panics
/// When there is no browser, or it fails or takes too long.
pub fn record(page: &Path, sockets: usize, scratch: &Path) -> Value {
    let mut browser = Browser::start(scratch, super::PATIENCE);
    let session = browser.attach();
    browser.ask(&session, "Network.enable", json!({}));
    let url = format!("file://{}", page.display());
    browser.ask(&session, "Page.navigate", json!({"url": url}));
    let mut events = std::mem::take(&mut browser.seen);
    let is_end = |event: &&Value| event["method"] == "Network.webSocketClosed";
    while events.iter().filter(is_end).count() < sockets {
        events.push(browser.next());
    }
    browser.stop();
    har(&events)
}

impl Browser {
    pub(super) fn start(scratch: &Path, patience: Duration) -> Self {
        let (commands_from, commands) = pipe();
        let (events, events_to) = pipe();
        let mut command = Command::new(super::browser());
        command
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .arg("--remote-debugging-pipe")
            .arg(format!(
                "--user-data-dir={}",
                scratch.join("recorded").display()
            ))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let (from, to) = (commands_from.as_raw_fd(), events_to.as_raw_fd());
        // SAFETY: between fork and exec only fcntl and dup2 are called, which take numbers. Both ends
        // are moved out of the way first, since 3 and 4 may be theirs already.
        unsafe {
            command.pre_exec(move || {
                let from = libc::fcntl(from, libc::F_DUPFD_CLOEXEC, 10);
                let to = libc::fcntl(to, libc::F_DUPFD_CLOEXEC, 10);
                match libc::dup2(from, 3) == 3 && libc::dup2(to, 4) == 4 {
                    true => Ok(()),
                    false => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let child = command.spawn().unwrap();
        let group = -(child.id() as i32);
        Self {
            child,
            commands: commands.into(),
            events: BufReader::new(events.into()),
            id: 0,
            seen: Vec::new(),
            watch: Some(super::watch(group, patience)),
        }
    }

    /// Opens a page, and returns the name of the session with it.
    pub(super) fn attach(&mut self) -> String {
        let target = self.ask("", "Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.ask("", "Target.attachToTarget", attach)["sessionId"].clone();
        session.as_str().unwrap().to_owned()
    }

    pub(super) fn next(&mut self) -> Value {
        let mut message = Vec::new();
        self.events.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser ended");
        serde_json::from_slice(&message).unwrap()
    }

    pub(super) fn ask(&mut self, session: &str, method: &str, params: Value) -> Value {
        self.id += 1;
        let mut command = json!({"id": self.id, "method": method, "params": params});
        if !session.is_empty() {
            command["sessionId"] = session.into();
        }
        self.commands
            .write_all(format!("{command}\0").as_bytes())
            .unwrap();
        loop {
            let told = self.next();
            if told["id"] == self.id {
                assert!(told["error"].is_null(), "{method}: {}", told["error"]);
                return told["result"].clone();
            }
            self.seen.push(told);
        }
    }

    pub(super) fn stop(mut self) {
        self.ask("", "Browser.close", json!({}));
        self.child.wait().unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // SAFETY: kill takes numbers only; the group is the one opened by this child, which has
            // not been waited for.
            unsafe { libc::kill(-(self.child.id() as i32), libc::SIGKILL) };
            let _ = self.child.wait();
        }
        if let Some((done, watch)) = self.watch.take() {
            drop(done);
            let _ = watch.join();
        }
    }
}

fn pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [0; 2];
    // SAFETY: pipe2 writes two descriptors, which belong to nothing else.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    }
}

/// The events as a HAR: of each connection its handshake and its frames, with wall-clock times.
fn har(events: &[Value]) -> Value {
    let mut entries: BTreeMap<usize, Value> = BTreeMap::new();
    let mut ids: Vec<&Value> = Vec::new();
    let mut offsets: Vec<f64> = Vec::new();
    for event in events {
        let (method, params) = (
            event["method"].as_str().unwrap_or_default(),
            &event["params"],
        );
        let Some(what) = method.strip_prefix("Network.webSocket") else {
            continue;
        };
        if what == "Created" {
            ids.push(&params["requestId"]);
            offsets.push(0.0);
            entries.insert(
                ids.len() - 1,
                json!({
                    "_resourceType": "websocket",
                    "_webSocketMessages": [],
                    "request": {"method": "GET", "url": params["url"], "headers": []},
                    "response": {"status": 0, "headers": []},
                }),
            );
            continue;
        }
        let Some(at) = ids.iter().position(|id| **id == params["requestId"]) else {
            continue;
        };
        let entry = entries.get_mut(&at).unwrap();
        match what {
            "WillSendHandshakeRequest" => {
                let (wall, own) = (params["wallTime"].as_f64(), params["timestamp"].as_f64());
                offsets[at] = wall.unwrap() - own.unwrap();
                entry["request"]["headers"] = headers(&params["request"]["headers"]);
            }
            "HandshakeResponseReceived" => {
                entry["response"]["status"] = params["response"]["status"].clone();
                entry["response"]["headers"] = headers(&params["response"]["headers"]);
            }
            "FrameSent" | "FrameReceived" => {
                let frame = &params["response"];
                let direction = if what == "FrameSent" {
                    "send"
                } else {
                    "receive"
                };
                let time = params["timestamp"].as_f64().unwrap() + offsets[at];
                let messages = entry["_webSocketMessages"].as_array_mut().unwrap();
                messages.push(json!({
                    "type": direction,
                    "time": time,
                    "opcode": frame["opcode"],
                    "data": frame["payloadData"],
                }));
            }
            _ => {}
        }
    }
    let entries: Vec<Value> = entries.into_values().collect();
    json!({"log": {
        "version": "1.2",
        "creator": {"name": "WebInspector", "version": "537.36"},
        "pages": [],
        "entries": entries,
    }})
}

fn headers(of: &Value) -> Value {
    let fields = of.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect()
}

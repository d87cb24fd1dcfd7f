//! One run of the client against one peer, and its checks.

use super::certificates::Certificates;
use plan::Timestamps;
use record::{Json, RunRecord};
use regex::Regex;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use test_servers::faulty::{Behaviour, End, FaultyPeer};

/// Several times as long as any run here takes on a busy machine.
const WATCHDOG: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(10);
/// Most resident memory of a client with three connections, beside its program.
const MOST_MIB: f64 = 56.0;
/// A program that prints more than this has been flooded too.
const MOST_PRINTED: u64 = 1 << 20;

/// A behaviour, and how the client runs against it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) behaviour: &'static Behaviour,
    pub(crate) io: &'static str,
    pub(crate) workload: Workload,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    Echo,
    Broadcast,
    Connect,
}

impl Workload {
    pub(crate) const ALL: [Self; 3] = [Self::Echo, Self::Broadcast, Self::Connect];

    const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Broadcast => "broadcast",
            Self::Connect => "connect",
        }
    }
}

/// What can be had here of the two backends.
pub(crate) fn backends() -> Vec<&'static str> {
    match ws_load::probe_io_uring(Timestamps::Kernel) {
        Ok(()) => vec!["epoll", "uring"],
        Err(reason) => {
            test_servers::skipped(&format!("io_uring is not available here: {reason}"));
            vec!["epoll"]
        }
    }
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) case: Case,
    /// Absent when a signal ended it.
    code: Option<i32>,
    seconds: f64,
    mib: f64,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// What is not as it should be.
    wrong: Vec<String>,
}

impl Case {
    pub(crate) fn run(self, certificates: &Certificates) -> Ran {
        let tls = self.behaviour.certificate;
        let tls = tls.map(|certificate| certificates.config(certificate));
        let scheme = if tls.is_some() { "wss" } else { "ws" };
        let peer = FaultyPeer::start(*self.behaviour, tls).unwrap();
        let url = format!("{scheme}://{}/ws", peer.addr());
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("run.json");
        let mut command = Command::new(env!("CARGO_BIN_EXE_websocket-bench"));
        command
            .args([self.workload.name(), &url])
            .args(self.arguments())
            .arg("--json")
            .arg(&record)
            .env("XDG_CACHE_HOME", "/dev/null")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if scheme == "wss" {
            command.arg("--ca").arg(certificates.ca());
        }
        let mut ran = Ran::new(self, &mut command);
        drop(peer);
        ran.judge(&record);
        ran
    }

    fn end(&self) -> End {
        let ends = self.behaviour.ends;
        match self.workload {
            Workload::Echo => ends.echo,
            Workload::Broadcast => ends.broadcast,
            Workload::Connect => ends.connect,
        }
    }

    /// Short time-outs where the peer is to be given up, long ones elsewhere, since the machine may be
    /// busy.
    fn arguments(&self) -> Vec<&'static str> {
        let end = self.end();
        let own = match self.workload {
            Workload::Connect => "",
            _ => self.behaviour.arguments,
        };
        // Nothing is given up at this limit where nothing is sent.
        let has_time = end.is_served() || self.workload == Workload::Connect;
        let mut usual = vec![
            ("--io", self.io),
            ("--threads", "1"),
            ("--limit-rtt", if has_time { "20s" } else { "1s" }),
            (
                "--connect-timeout",
                if end.is_given_up() { "2s" } else { "20s" },
            ),
        ];
        usual.extend(match self.workload {
            Workload::Connect => vec![
                ("--clients", "3"),
                ("--hold", "3s"),
                ("--ping-interval", "2s"),
            ],
            _ => vec![
                ("--step-size", "3"),
                ("--total-steps", "1"),
                ("--concurrent", "2"),
                ("--sample-size", "10"),
                (
                    "--sample-timeout",
                    if end.is_served() { "30s" } else { "2s" },
                ),
            ],
        });
        usual.retain(|(flag, _)| !own.contains(flag));
        let usual = usual.into_iter().flat_map(|(flag, value)| [flag, value]);
        usual
            .chain(own.split_whitespace())
            .chain(["--no-progress"])
            .collect()
    }
}

impl Ran {
    // timed: what a run took is only told; its end is that of `watch`.
    fn new(case: Case, command: &mut Command) -> Self {
        let began = Instant::now();
        let mut child = command.spawn().expect("the binary starts");
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        let (status, peak_kib) = watch(&mut child, began + WATCHDOG);
        let seconds = began.elapsed().as_secs_f64();
        let code = status.and_then(|status| status.code());
        let mut wrong = Vec::new();
        match (status, code) {
            (None, _) => wrong.push(format!("did not end within {} s", WATCHDOG.as_secs())),
            (Some(status), None) => wrong.push(format!("was ended by a signal: {status}")),
            _ => {}
        }
        Self {
            case,
            code,
            seconds,
            mib: peak_kib as f64 / 1024.0,
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
            wrong,
        }
    }

    /// Holds the run against what is expected of it.
    fn judge(&mut self, record: &Path) {
        let end = self.case.end();
        if let Some(code) = self.code.filter(|code| !end.codes.contains(code)) {
            self.wrong
                .push(format!("exit code {code}, not {:?}", end.codes));
        }
        let says = Regex::new(end.says).unwrap();
        let stderr = String::from_utf8_lossy(&self.stderr).into_owned();
        if self.code.is_some() && !stderr.lines().any(|line| says.is_match(line)) {
            self.wrong.push(format!("no line says {:?}", end.says));
        }
        if self.mib > MOST_MIB {
            self.wrong.push(format!("took {:.0} MiB", self.mib));
        }
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            match std::str::from_utf8(output) {
                Err(_) => self.wrong.push(format!("{name} is not UTF-8")),
                Ok(text) => {
                    if let Some(raw) = text.chars().find(|c| is_raw(*c)) {
                        self.wrong.push(format!("{name} holds {raw:?} raw"));
                    }
                }
            }
            if output.len() as u64 >= MOST_PRINTED {
                self.wrong.push(format!("{name} is a flood itself"));
            }
        }
        if let Some(long) = stderr.lines().find(|line| line.chars().count() > 600) {
            self.wrong
                .push(format!("a line of {} characters", long.chars().count()));
        }
        if self.code.is_some() {
            let text = std::fs::read_to_string(record).unwrap_or_default();
            match RunRecord::from_json(&text) {
                Err(error) => self
                    .wrong
                    .push(format!("the record cannot be read: {error}")),
                Ok(record) => self.judge_words(&record),
            }
        }
    }

    /// The words of the record are those that are printed, before a pipe has colours taken out.
    fn judge_words(&mut self, record: &RunRecord) {
        let reasons = record.steps.iter().flat_map(|step| &step.verdict_reasons);
        let failures = record.steps.iter().filter_map(|step| {
            let connections = step.connections.as_ref()?;
            connections.first_failure.as_ref()
        });
        let all = [&record.outcome.detail].into_iter();
        for words in all.chain(reasons).chain(failures) {
            if let Some(raw) = words.chars().find(|c| is_raw(*c) || *c == '\n') {
                self.wrong.push(format!("the record holds {raw:?} raw"));
            }
        }
    }

    pub(crate) fn is_right(&self) -> bool {
        self.wrong.is_empty()
    }

    /// A line of the table.
    pub(crate) fn row(&self) -> String {
        let code = self
            .code
            .map_or_else(|| "-".to_owned(), |code| code.to_string());
        format!(
            "{:<32} {:<6} {:<9} {code:>4} {:>6.1} {:>5.1} {}",
            self.case.behaviour.name,
            self.case.io,
            self.case.workload.name(),
            self.seconds,
            self.mib,
            self.wrong.join("; ")
        )
    }

    /// What it printed, escaped.
    pub(crate) fn outputs(&self) -> String {
        let mut text = String::new();
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            for line in output
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
            {
                let line = String::from_utf8_lossy(&line[..line.len().min(2000)]);
                text.push_str(&format!("    {name}: {}\n", line.escape_debug()));
            }
        }
        text
    }

    /// The row and all that is needed to see why.
    pub(crate) fn report(&self) -> String {
        format!(
            "{}\n    {}\n{}",
            self.row(),
            self.case.behaviour.does,
            self.outputs()
        )
    }
}

/// Characters that a terminal obeys, or that turn the direction of what is read.
fn is_raw(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Waits for the end of a child, which is killed when its time is over; and the most memory that it
/// was seen with, in KiB, beside its own program, whose size depends on how it was compiled.
// timed: polls; the end is only for a hang.
fn watch(child: &mut Child, end: Instant) -> (Option<ExitStatus>, u64) {
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        // Before its program is loaded, the memory that is shown is that of these tests.
        let loaded = text.starts_with("Name:\twebsocket-bench");
        let of = |name| -> Option<u64> {
            let mut lines = text.lines().filter(|_| loaded);
            let line = lines.find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        if let (Some(peak), Some(program)) = (of("VmHWM:"), of("RssFile:")) {
            peak_kib = peak_kib.max(peak.saturating_sub(program));
        }
        if let Some(status) = child.try_wait().unwrap() {
            return (Some(status), peak_kib);
        }
        if Instant::now() > end {
            child.kill().unwrap();
            child.wait().unwrap();
            return (None, peak_kib);
        }
        thread::sleep(LOOK);
    }
}

fn collect(output: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut output = output;
        let mut bytes = Vec::new();
        output
            .by_ref()
            .take(MOST_PRINTED)
            .read_to_end(&mut bytes)
            .unwrap();
        // Whatever more there is, the child must not wait for it to be taken.
        let _ = std::io::copy(&mut output, &mut std::io::sink());
        bytes
    })
}

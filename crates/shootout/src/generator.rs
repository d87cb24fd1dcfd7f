//! The load generator as a child process: its plan, its events, its record.
//!
//! Does not judge the record and does not touch the server; watches that both programs live.

use crate::interrupt::Interrupt;
use crate::process::{Group, tail};
use crate::supervise::Server;
use record::{Event, Json, RunRecord};
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Name of the program in the project's bin/.
pub const PROGRAM: &str = "websocket-bench";
const POLL: Duration = Duration::from_millis(50);
/// Longest silence: events come several times a second, and the longest wait within the generator,
/// for one sample, is half a minute.
const SILENCE: Duration = Duration::from_secs(120);
/// Time to notice that the server is gone, or to write the record after SIGINT.
const FAREWELL: Duration = Duration::from_secs(10);
const STDERR_LINES: usize = 5;

/// What the generator is to do.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Path,
    /// The file of its plan.
    pub plan: PathBuf,
    /// Cores that it is pinned to; all, when empty.
    pub cpus: &'a [usize],
    /// Where it writes its record.
    pub record: PathBuf,
    /// Where its messages go.
    pub log: PathBuf,
}

/// How the generator ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; absent when it had to be killed.
    pub status: Option<ExitStatus>,
    /// What it measured.
    pub record: Option<RunRecord>,
    /// What it complained about.
    pub said: Option<String>,
    /// It was silent for too long.
    pub silent: bool,
    /// The user ended it.
    pub interrupted: bool,
}

/// What goes on beside the generator while it runs.
pub trait Beside {
    /// Takes an event as it comes.
    fn event(&mut self, event: &Event);

    /// Does to the server what is due, and says how soon more will be.
    fn act(&mut self, server: &mut Server) -> Duration;
}

impl Task<'_> {
    /// Program and arguments against the server at `url`.
    pub fn command(&self, url: &str) -> Vec<String> {
        let shown = |path: &Path| path.display().to_string();
        let (program, plan, record) = (self.program, &self.plan, &self.record);
        let fixed = |word: &str| word.to_owned();
        vec![
            shown(program),
            fixed("run"),
            shown(plan),
            fixed(url),
            fixed("--json"),
            shown(record),
            fixed("--events"),
            fixed("-"),
        ]
    }

    /// Runs the generator to its end, with what goes on beside it on this thread, and ends it early when
    /// the server is gone or the user wants to stop.
    ///
    /// # Errors
    /// When the program cannot be started or its files cannot be written.
    pub fn run(
        &self,
        server: &mut Server,
        interrupt: &Interrupt,
        beside: &mut dyn Beside,
    ) -> io::Result<Ended> {
        let _ = fs::remove_file(&self.record);
        let words = self.command(&server.url());
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&self.log)?);
        let mut group = Group::spawn(&mut command, self.cpus)?;
        let stdout = group.child().stdout.take();
        let events = follow(stdout.ok_or_else(|| io::Error::other("no pipe to the generator"))?);

        let mut heard = Instant::now();
        let mut ending: Option<Instant> = None;
        let (mut silent, mut interrupted) = (false, false);
        let mut wait = POLL;
        loop {
            match events.recv_timeout(wait) {
                Ok(event) => {
                    heard = Instant::now();
                    beside.event(&event);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            wait = match ending {
                None => beside.act(server).min(POLL),
                Some(_) => POLL,
            };
            let give_up = if interrupt.requested() {
                interrupted = true;
                true
            } else if heard.elapsed() > SILENCE {
                silent = true;
                true
            } else {
                server.death().is_some()
            };
            match ending {
                None if give_up => {
                    group.signal(Signal::INT);
                    ending = Some(Instant::now() + FAREWELL);
                }
                Some(deadline) if Instant::now() > deadline => break,
                _ => {}
            }
        }
        let status = group.wait_until(Instant::now() + FAREWELL);
        drop(group);
        Ok(Ended {
            status,
            record: read_record(&self.record),
            said: tail(&self.log, STDERR_LINES),
            silent,
            interrupted,
        })
    }
}

/// The events; other lines are left out.
fn follow(stdout: std::process::ChildStdout) -> Receiver<Event> {
    let (sender, events) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if let Ok(event) = Event::from_json(&line)
                && sender.send(event).is_err()
            {
                return;
            }
        }
    });
    events
}

fn read_record(path: &Path) -> Option<RunRecord> {
    let text = fs::read_to_string(path).ok()?;
    RunRecord::from_json(&text).ok()
}

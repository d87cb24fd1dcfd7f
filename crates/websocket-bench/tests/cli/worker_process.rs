//! A worker of the built binary, and coordinators that wait for some.

use crate::support::{Ran, bench};
use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Nothing that is waited for here takes a tenth of it, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// A process that is killed when the test is over, and the lines that it writes.
pub(crate) struct Process {
    pub(crate) child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the binary starts");
        Self {
            stdout: lines(child.stdout.take().unwrap()),
            stderr: lines(child.stderr.take().unwrap()),
            child,
        }
    }

    /// The next line on stderr that holds all these words.
    #[track_caller]
    pub(crate) fn says(&self, words: &[&str]) -> String {
        line_with(&self.stderr, words)
    }

    /// The next line on stdout that holds this word.
    #[track_caller]
    pub(crate) fn prints(&self, word: &str) -> String {
        line_with(&self.stdout, &[word])
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ran {
        let status = crate::support::wait(&mut self.child);
        Ran {
            code: status.code().expect("it ended by itself"),
            stdout: rest(&self.stdout),
            stderr: rest(&self.stderr),
        }
    }

    pub(crate) fn signal(&self, signal: i32) {
        // SAFETY: the child has not been waited for, so the id is its own.
        let sent = unsafe { libc::kill(self.child.id() as i32, signal) };
        assert_eq!(sent, 0);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A worker on a port of its own.
pub(crate) struct Worker {
    pub(crate) process: Process,
    pub(crate) addr: SocketAddr,
}

impl Worker {
    pub(crate) fn start(flags: &str) -> Self {
        Self::of(
            bench()
                .args(["worker", "-p", "0"])
                .args(flags.split_whitespace()),
        )
    }

    #[track_caller]
    pub(crate) fn of(command: &mut Command) -> Self {
        let process = Process::start(command);
        let line = process.prints("listening on ");
        Self {
            addr: line.trim_start_matches("listening on ").parse().unwrap(),
            process,
        }
    }
}

#[track_caller]
fn line_with(lines: &Receiver<String>, words: &[&str]) -> String {
    let mut seen = Vec::new();
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) if words.iter().all(|word| line.contains(word)) => return line,
            Ok(line) => seen.push(line),
            Err(error) => panic!("no line with {words:?} ({error}): {seen:#?}"),
        }
    }
}

fn rest(lines: &Receiver<String>) -> String {
    let mut text = String::new();
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => text.push_str(&format!("{line}\n")),
            Err(RecvTimeoutError::Disconnected) => return text,
            Err(RecvTimeoutError::Timeout) => panic!("its output stays open: {text}"),
        }
    }
}

fn lines(source: impl Read + Send + 'static) -> Receiver<String> {
    let (say, heard) = channel();
    thread::spawn(move || {
        for line in BufReader::new(source).lines().map_while(Result::ok) {
            if say.send(line).is_err() {
                return;
            }
        }
    });
    heard
}

//! Processes of the built binary, for every test target.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// No run here takes a tenth of it on a busy machine, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a run left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Waits for a child; one that hangs is killed.
// timed: polls; the end is only for a hang.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("the run hangs");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

impl Ran {
    /// True of a generator that sent too late to blame a server for what it measured.
    pub(crate) fn was_put_aside(&self) -> bool {
        let words = "the generator, and not the server, was the limit";
        self.code == 3
            && self.stderr.contains(words)
            && !self.stderr.contains("the server is at fault")
    }

    /// Asserts the exit code, showing the outputs when it is another.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Asserts that stderr is one line which holds all these words.
    #[track_caller]
    pub(crate) fn says_in_one_line(self, words: &[&str]) -> Self {
        assert_eq!(self.stderr.lines().count(), 1, "{self:#?}");
        self.says(words)
    }

    /// Asserts that stderr holds all these words.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing: {self:#?}");
        }
        self
    }
}

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
    pub(crate) fn end(&mut self) -> Ran {
        let status = wait(&mut self.child);
        Ran {
            code: status.code().expect("it ended by itself"),
            stdout: rest(&self.stdout),
            stderr: rest(&self.stderr),
        }
    }

    pub(crate) fn signal(&self, signal: i32) {
        send(self.child.id(), signal);
    }
}

/// Sends a signal to a child that has not been waited for.
pub(crate) fn send(pid: u32, signal: i32) {
    // SAFETY: the id is that of a child that has not been waited for, so no other process has it.
    let sent = unsafe { libc::kill(pid as i32, signal) };
    assert_eq!(sent, 0);
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

// timed: waits for a line; the end is only for a hang.
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

// timed: waits for the end of the output; the end is only for a hang.
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

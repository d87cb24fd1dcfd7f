//! A task that is carried out: in a folder of its own, by a shell, with the built programs in its PATH.

use super::page::{Entry, entries, matching};
use crate::support::{Ran, finish, undisturbed};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Adds what the page says: a limit for latencies where the command gives none.
const WRAPPER: &str = r#"#!/bin/sh
case "$1 $*" in
  import*) exec PROGRAM "$@" ;;
  *--limit-rtt*) ;;
  echo* | broadcast* | connect*) set -- "$@" --limit-rtt 20s ;;
  run*) set -- "$@" --set limits.time=20s ;;
esac
exec PROGRAM "$@" $COOKBOOK_MORE
"#;

/// The server of most commands.
pub(super) const SERVER: &str = "127.0.0.1:8080";

pub(super) struct Task {
    entry: &'static Entry,
    folder: TempDir,
    /// What replaces the addresses of the page.
    places: Vec<(&'static str, String)>,
    more: String,
}

/// Where a program of this project was built.
pub(super) fn built(name: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_BIN_EXE_websocket-bench"));
    let path = own.with_file_name(name);
    assert!(path.exists(), "there is no {name}; cargo build --workspace");
    path
}

impl Task {
    pub(super) fn new(heading: &str) -> Self {
        let entry = entries().iter().find(|entry| entry.heading == heading);
        let task = Self {
            entry: entry.unwrap_or_else(|| panic!("docs/cookbook.md has no task {heading:?}")),
            folder: tempfile::tempdir().unwrap(),
            places: Vec::new(),
            more: String::new(),
        };
        fs::create_dir(task.path("bin")).unwrap();
        let program = env!("CARGO_BIN_EXE_websocket-bench");
        task.program("websocket-bench", &WRAPPER.replace("PROGRAM", program));
        task
    }

    /// A path in its folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a program into its PATH.
    pub(super) fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The same against that server.
    pub(super) fn at(self, server: SocketAddr) -> Self {
        self.with(SERVER, server.to_string())
    }

    /// The same with another text in the place of one that the page has.
    pub(super) fn with(mut self, of_page: &'static str, text: impl Into<String>) -> Self {
        assert!(self.entry.text.contains(of_page), "{of_page}");
        self.places.retain(|(place, _)| *place != of_page);
        self.places.push((of_page, text.into()));
        self
    }

    /// The same with these flags for each run of the generator.
    pub(super) fn more(mut self, flags: &str) -> Self {
        self.more = flags.to_owned();
        self
    }

    fn placed(&self, text: &str) -> String {
        let put = |text: String, (from, to): &(&str, String)| text.replace(from, to);
        self.places.iter().fold(text.to_owned(), put)
    }

    /// Its command, ready to be started.
    pub(super) fn command(&self) -> Command {
        for (name, text) in &self.entry.files {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, self.placed(text)).unwrap();
        }
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-e", "-c", &self.placed(&self.entry.command)])
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("COOKBOOK_MORE", &self.more)
            .env("XDG_CACHE_HOME", "/dev/null")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it, until this machine lets it.
    pub(super) fn ran(&self) -> Ran {
        undisturbed(|| finish(&mut self.command()))
    }

    /// Asserts that it ends well, with the lines of the page.
    #[track_caller]
    pub(super) fn holds(&self) -> Ran {
        self.holds_with(0)
    }

    /// Asserts that it ends with that code, which the page names unless it is 0, and with its lines.
    #[track_caller]
    pub(super) fn holds_with(&self, code: i32) -> Ran {
        let heading = &self.entry.heading;
        let ran = self.ran();
        assert_eq!(ran.code, code, "{heading}: {ran:#?}");
        let text = self.entry.text.to_lowercase();
        let is_named = text.contains(&format!("exit code {code}"))
            || text.contains(&format!("exit code is then {code}"));
        assert!(
            code == 0 || is_named,
            "{heading}: the page does not name {code}"
        );
        self.assert_promised(&format!("{}{}", ran.stdout, ran.stderr));
        ran
    }

    /// Asserts that of nine runs one holds, where the page has a limit that a busy machine may break.
    #[track_caller]
    pub(super) fn holds_once(&self) {
        let held = (0..8).map(|_| self.ran()).find(|ran| self.is_kept(ran));
        if held.is_none() {
            self.holds();
        }
    }

    fn is_kept(&self, ran: &Ran) -> bool {
        let output = format!("{}{}", ran.stdout, ran.stderr);
        ran.code == 0 && self.missing(&output).is_none()
    }

    /// The first line of the page that an output does not have, in their order.
    fn missing(&self, output: &str) -> Option<String> {
        let mut lines = output.lines();
        let mut promised = self.entry.promised.iter().map(|line| self.placed(line));
        promised.find(|promised| {
            let wanted = matching(promised);
            !lines.any(|line| wanted.is_match(line))
        })
    }

    /// Asserts that an output has the lines of the page, in their order.
    #[track_caller]
    pub(super) fn assert_promised(&self, output: &str) {
        if let Some(line) = self.missing(output) {
            panic!("{}: {line:?} is missing in {output}", self.entry.heading);
        }
    }

    /// Asserts that it ends with that code, and says these words.
    #[track_caller]
    pub(super) fn fails(&self, code: i32, words: &[&str]) {
        let ran = self.ran();
        let heading = &self.entry.heading;
        assert_eq!(ran.code, code, "{heading}: {ran:#?}");
        for word in words {
            let is_said = ran.stdout.contains(word) || ran.stderr.contains(word);
            assert!(is_said, "{heading}: {word:?} is missing in {ran:#?}");
        }
    }
}

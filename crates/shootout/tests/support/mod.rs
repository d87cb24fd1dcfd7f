//! A project in a temporary folder, with servers made of the test servers and of shell scripts.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod machine;

use record::{Json, Measurement, measurement_schema};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// Folder of the programs of other crates that the tests run. They are built once for each test binary,
/// unless the whole workspace was: alone they have other features of what they depend on, and so would
/// be compiled again.
pub(crate) fn programs() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let dir = Path::new(env!("CARGO_BIN_EXE_shootout"))
            .parent()
            .unwrap()
            .to_owned();
        if std::env::var_os("WORKSPACE_IS_BUILT").is_some() {
            return dir;
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "-p",
            "test-servers",
            "-p",
            "websocket-bench",
            "--bins",
        ]);
        if dir.ends_with("release") {
            cargo.arg("--release");
        }
        cargo.env("CARGO_TARGET_DIR", dir.parent().unwrap());
        assert!(
            cargo.status().unwrap().success(),
            "the test servers do not build"
        );
        dir
    })
}

/// A cache that the tests share: a server that one of them has checked passes in the others as well, if it
/// is the same to the last byte.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// When the newest test program was built. Each server's folder contains this time, so a server counts as
/// another one after its program was rebuilt.
fn built() -> Duration {
    static BUILT: OnceLock<Duration> = OnceLock::new();
    *BUILT.get_or_init(|| {
        let files = fs::read_dir(programs()).unwrap().flatten();
        let written = files.filter_map(|file| file.metadata().ok()?.modified().ok());
        let newest = written.max().unwrap();
        newest.duration_since(SystemTime::UNIX_EPOCH).unwrap()
    })
}

/// A project folder; removed at the end of the test.
pub(crate) struct Project {
    dir: TempDir,
}

/// What of a manifest differs from test to test.
pub(crate) struct Server<'a> {
    pub(crate) name: &'a str,
    /// The shell command of the server; `$PORT` is its port, `$HOST` its address, `$PROGRAMS` the
    /// folder of programs.
    pub(crate) script: &'a str,
    /// Lines at the end of the manifest.
    pub(crate) more: &'a str,
    pub(crate) ready: &'a str,
    pub(crate) grace: &'a str,
    /// What the manifest says it supports, as TOML.
    pub(crate) workloads: &'a str,
    pub(crate) dialects: &'a str,
}

impl Default for Server<'_> {
    fn default() -> Self {
        Self {
            name: "go-example",
            script: CORRECT,
            more: "",
            ready: "60s",
            grace: "10s",
            workloads: "[\"echo\", \"broadcast\"]",
            dialects: "[\"text\"]",
        }
    }
}

/// Both dialects of the protocol. A row is verified in each before it is measured.
pub(crate) const BOTH: &str = "[\"text\", \"binary\"]";

/// A server that passes every check.
pub(crate) const CORRECT: &str = "exec \"$PROGRAMS/liar-server\" --address $HOST --port $PORT";

impl Project {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("servers")).unwrap();
        fs::create_dir_all(dir.path().join("bin")).unwrap();
        let project = Self { dir };
        let generator = programs().join("websocket-bench");
        std::os::unix::fs::symlink(generator, project.path("bin/websocket-bench")).unwrap();
        let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        std::os::unix::fs::symlink(workloads, project.path("workloads")).unwrap();
        project
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    pub(crate) fn add(&self, server: &Server<'_>) -> &Self {
        let Server {
            name,
            script,
            more,
            ready,
            grace,
            workloads,
            dialects,
        } = server;
        let dir = self.path(&format!("servers/{name}"));
        fs::create_dir_all(&dir).unwrap();
        let script = format!(
            "#!/bin/sh\n# of {:?}\nPORT=$1\nHOST=$2\nPROGRAMS={}\n{script}\n",
            built(),
            programs().display()
        );
        fs::write(dir.join("server.sh"), script).unwrap();
        fs::set_permissions(dir.join("server.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        self.manifest(
            name,
            &format!(
                r#"manifest = 1
name = "{name}"
language = "Shell"
library = "example"
homepage = "https://example.org"
class = "idiomatic"
summary = "An example."
json = "tree"

[run]
command = ["{{dir}}/server.sh", "{{port}}", "{{host}}"]
path = "/"
ready-timeout = "{ready}"
grace = "{grace}"

[version]
command = ["echo", "example v1.2.3"]
matches = 'v(\S+)'

[supports]
dialects = {dialects}
workloads = {workloads}
{more}"#
            ),
        );
        self
    }

    pub(crate) fn manifest(&self, name: &str, text: &str) {
        let dir = self.path(&format!("servers/{name}"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("server.toml"), text).unwrap();
    }

    /// The program with these arguments, separated by white space.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shootout"));
        command
            .arg("--root")
            .arg(self.dir.path())
            .args(arguments.split_whitespace())
            .current_dir(self.dir.path())
            .env("XDG_CACHE_HOME", cache())
            .env_remove("SHOOTOUT_ROOT")
            .env_remove("SHOOTOUT_SECONDS_BEFORE")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn shootout(&self, arguments: &str) -> Done {
        Done::from(self.command(arguments).output().unwrap())
    }

    /// A run into out/, made again where its record says that this machine kept it from its schedule.
    pub(crate) fn on_schedule(&self, run: impl Fn() -> Done) -> Done {
        for _ in 0..20 {
            let done = run();
            if !done.stdout.contains("generator-limited") {
                return done;
            }
            fs::remove_dir_all(self.path("out")).unwrap();
        }
        run()
    }

    pub(crate) fn spawn(&self, arguments: &str) -> Child {
        self.command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The measurement of that name in out/, checked against the schema.
    pub(crate) fn measurement(&self, name: &str) -> Measurement {
        let path = self.path(&format!("out/{name}.json"));
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let schema = serde_json::to_value(measurement_schema()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        Measurement::from_json(&text).unwrap()
    }
}

/// How the program ended and what it said.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, said: &[&str]) -> &Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert_eq!(self.code, Some(code), "{all}");
        for words in said {
            assert!(all.contains(words), "\"{words}\" is not in:\n{all}");
        }
        self
    }
}

/// As Ctrl-C does.
pub(crate) fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

/// Waits until `condition` holds.
// timed: polls; the end is only for a hang.
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !condition() {
        assert!(Instant::now() < deadline, "not within 300 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processes whose command line contains `word`.
pub(crate) fn running(word: &str) -> usize {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(word))
        .count()
}

/// A short run: two steps of 20 clients, 10 samples each, with a limit that no pause of the machine breaks.
pub(crate) const SHORT: &str = "run --out out --set clients.first=20 --set clients.add=20 --set clients.count=2 \
                         --set load.samples=10 --set limits.time=20s";

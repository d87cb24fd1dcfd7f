//! Servers made with libraries of Go, built from `go-servers/`, whose modules are pinned there: Centrifuge,
//! a WAMP router (nexus), and a hub of SignalR.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

pub(crate) struct GoServer {
    child: Child,
    url: String,
}

/// The folder of the programs, built once.
fn programs() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/dialects/go-servers");
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-servers");
        std::fs::create_dir_all(&to).unwrap();
        let built = Command::new("go")
            .args(["build", "-mod=readonly", "-trimpath", "-o"])
            .arg(&to)
            .arg("./...")
            .current_dir(from)
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "go build: {words}");
        to
    })
}

impl GoServer {
    /// Starts the program of that name.
    ///
    /// # Errors
    /// What is missing here.
    pub(crate) fn start(name: &str) -> Result<Self, String> {
        if Command::new("go").arg("version").output().is_err() {
            return Err("go is not installed; see https://go.dev/dl".to_owned());
        }
        let mut child = Command::new(programs().join(name))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(url.starts_with("ws://"), "{name} did not start: {url:?}");
        Ok(Self { child, url })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for GoServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A server made with Centrifuge, built from `centrifuge-server/`, whose modules are pinned there.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

pub(crate) struct Centrifuge {
    child: Child,
    url: String,
}

/// The program, built once.
fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let from =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/dialects/centrifuge-server");
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("centrifuge-server");
        let built = Command::new("go")
            .args(["build", "-mod=readonly", "-o"])
            .arg(&to)
            .arg(".")
            .current_dir(from)
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "go build: {words}");
        to
    })
}

impl Centrifuge {
    /// # Errors
    /// What is missing here.
    pub(crate) fn start() -> Result<Self, String> {
        if Command::new("go").arg("version").output().is_err() {
            return Err("go is not installed; see https://go.dev/dl".to_owned());
        }
        let mut child = Command::new(program())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(url.starts_with("ws://"), "it did not start: {url:?}");
        Ok(Self { child, url })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Centrifuge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

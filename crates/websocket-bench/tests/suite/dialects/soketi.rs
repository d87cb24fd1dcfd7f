//! Soketi, a server of Pusher's protocol, installed by the lock file in `soketi/`.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// That of the application in `soketi/app.json`.
pub(crate) const SECRET: &str = "the-secret-of-the-application";

pub(crate) struct Soketi {
    child: Child,
    addr: SocketAddr,
    /// Its log.
    _folder: tempfile::TempDir,
}

/// The server and its libraries, installed once.
///
/// # Errors
/// What is missing here.
fn installed() -> Result<&'static Path, String> {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/dialects/soketi");
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("soketi");
        copy(&from, &to);
        super::npm_ci(&to);
        let probe = Command::new("node")
            .args(["-e", "require('uWebSockets.js')"])
            .current_dir(&to)
            .output()
            .unwrap();
        match probe.status.success() {
            true => Ok(to),
            false => Err("there is no uWebSockets.js for this version of Node.js".to_owned()),
        }
    });
    installed.as_deref().map_err(Clone::clone)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

impl Soketi {
    /// # Errors
    /// What is missing here.
    pub(crate) fn start() -> Result<Self, String> {
        let server = installed()?;
        let folder = tempfile::tempdir().unwrap();
        let log_path = folder.path().join("log");
        let log = File::create(&log_path).unwrap();
        let addr = crate::support::free_addr();
        let mut child = Command::new("node")
            .args([
                "node_modules/@soketi/soketi/bin/server.js",
                "start",
                "--config=app.json",
            ])
            .current_dir(server)
            .env("SOKETI_HOST", "127.0.0.1")
            .env("SOKETI_PORT", addr.port().to_string())
            .env(
                "SOKETI_METRICS_SERVER_PORT",
                crate::support::free_addr().port().to_string(),
            )
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        super::await_port("Soketi", &mut child, addr, &log_path);
        Ok(Self {
            child,
            addr,
            _folder: folder,
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/app/the-key?protocol=7", self.addr)
    }
}

/// A data file with the application's key and this secret.
pub(crate) fn data(secret: &str) -> String {
    super::data_file(&format!("key,secret\nthe-key,{secret}\n"))
}

impl Drop for Soketi {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A nats-server of our own, which listens for WebSocket.

use crate::dialects::await_port;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SERVER: &str = "/usr/sbin/nats-server";

pub(crate) struct Nats {
    child: Child,
    pub(crate) url: String,
    /// Its configuration and its log.
    _folder: tempfile::TempDir,
}

impl Nats {
    /// # Errors
    /// What is missing here.
    pub(crate) fn start() -> Result<Self, String> {
        if !Path::new(SERVER).exists() {
            return Err(format!("there is no {SERVER}; apt-get install nats-server"));
        }
        let folder = tempfile::tempdir().unwrap();
        let within = |name: &str| folder.path().join(name);
        let addr = crate::support::free_addr();
        // -1 is any port that is free, for its own protocol.
        let settings =
            format!("listen: \"127.0.0.1:-1\"\nwebsocket {{ listen: \"{addr}\", no_tls: true }}\n");
        fs::write(within("nats.conf"), settings).unwrap();
        let log = File::create(within("log")).unwrap();
        let mut child = Command::new(SERVER)
            .arg("-c")
            .arg(within("nats.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        await_port("nats-server", &mut child, addr, &within("log"));
        Ok(Self {
            child,
            url: format!("ws://{addr}/"),
            _folder: folder,
        })
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A mosquitto of our own, which listens for MQTT over WebSocket.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SERVER: &str = "/usr/sbin/mosquitto";
/// It is in the same package.
const HASHER: &str = "/usr/bin/mosquitto_passwd";

pub(crate) struct Mosquitto {
    child: Child,
    url: String,
    /// Its configuration and its log.
    folder: tempfile::TempDir,
}

impl Mosquitto {
    /// # Errors
    /// What is missing here.
    pub(crate) fn start() -> Result<Self, String> {
        Self::start_with(true, &[])
    }

    /// One that wants a name and a password.
    ///
    /// # Errors
    /// What is missing here.
    pub(crate) fn start_closed() -> Result<Self, String> {
        Self::start_with(false, &[])
    }

    /// One that lets these users in with their passwords.
    ///
    /// # Errors
    /// What is missing here.
    pub(crate) fn start_with_users(users: &[(&str, &str)]) -> Result<Self, String> {
        if !Path::new(HASHER).exists() {
            return Err(format!("there is no {HASHER}; apt-get install mosquitto"));
        }
        Self::start_with(false, users)
    }

    fn start_with(lets_all_in: bool, users: &[(&str, &str)]) -> Result<Self, String> {
        if !Path::new(SERVER).exists() {
            return Err(format!("there is no {SERVER}; apt-get install mosquitto"));
        }
        let folder = tempfile::tempdir().unwrap();
        let within = |name: &str| folder.path().join(name);
        let addr = crate::support::free_addr();
        // Version 2.0.11 does not start with a listener of WebSocket alone. The user is that which it
        // changes to when root starts it, and must be able to reach the folder.
        let mut settings = format!(
            "user root\nlistener 0 {}\nlistener {} 127.0.0.1\nprotocol websockets\n\
             allow_anonymous {lets_all_in}\n",
            within("socket").display(),
            addr.port(),
        );
        if !users.is_empty() {
            let passwords = within("passwords");
            File::create(&passwords).unwrap();
            for (name, password) in users {
                let hashed = Command::new(HASHER)
                    .arg("-b")
                    .arg(&passwords)
                    .args([name, password])
                    .status();
                assert!(hashed.unwrap().success());
            }
            settings += &format!("password_file {}\n", passwords.display());
        }
        fs::write(within("mosquitto.conf"), settings).unwrap();
        let log = File::create(within("log")).unwrap();
        let mut child = Command::new(SERVER)
            .arg("-c")
            .arg(within("mosquitto.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        super::await_port("mosquitto", &mut child, addr, &within("log"));
        Ok(Self {
            child,
            url: format!("ws://{addr}/mqtt"),
            folder,
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What it has said so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

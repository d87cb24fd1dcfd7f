//! A RabbitMQ of our own, with its plugin for STOMP over WebSocket.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/// The broker, its own port mapper of Erlang, and the folder with its state.
pub(crate) struct RabbitMq {
    broker: Child,
    mapper: Child,
    folder: tempfile::TempDir,
    stomp: SocketAddr,
}

/// Erlang's port mapper, which lies in a folder with its version.
fn port_mapper() -> Option<PathBuf> {
    let erlang = fs::read_dir("/usr/lib/erlang").ok()?;
    erlang
        .filter_map(|entry| Some(entry.ok()?.path().join("bin/epmd")))
        .find(|path| path.to_string_lossy().contains("/erts-") && path.exists())
}

impl RabbitMq {
    /// # Errors
    /// What is missing here.
    pub(crate) fn start() -> Result<Self, String> {
        let mapper = port_mapper().filter(|_| Path::new(SERVER).exists());
        let Some(mapper) = mapper else {
            return Err(format!(
                "there is no {SERVER}; apt-get install rabbitmq-server"
            ));
        };
        let folder = tempfile::tempdir().unwrap();
        let within = |name: &str| folder.path().join(name);
        let [stomp, amqp, distribution, names] = [(); 4].map(|()| crate::support::free_addr());
        fs::write(within("plugins"), "[rabbitmq_web_stomp].\n").unwrap();
        let settings = format!(
            "listeners.tcp.1 = {amqp}\nweb_stomp.tcp.ip = 127.0.0.1\nweb_stomp.tcp.port = {}\n\
             stomp.listeners.tcp = none\nlog.console = true\nlog.file = false\n",
            stomp.port()
        );
        fs::write(within("rabbitmq.conf"), settings).unwrap();
        let mapper = Command::new(mapper)
            .args(["-port", &names.port().to_string(), "-address", "127.0.0.1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let log = File::create(within("log")).unwrap();
        let broker = Command::new(SERVER)
            .env("HOME", folder.path())
            .env("ERL_EPMD_PORT", names.port().to_string())
            .env("ERL_CRASH_DUMP", "/dev/null")
            .env("RABBITMQ_NODENAME", "bench@localhost")
            .env("RABBITMQ_DIST_PORT", distribution.port().to_string())
            .env("RABBITMQ_MNESIA_BASE", within("state"))
            .env("RABBITMQ_LOG_BASE", within("logs"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", within("plugins"))
            .env("RABBITMQ_CONFIG_FILE", within("rabbitmq.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            // A group of its own, since the program is a script with children.
            .process_group(0)
            .spawn()
            .unwrap();
        let mut started = Self {
            broker,
            mapper,
            folder,
            stomp,
        };
        started.wait();
        Ok(started)
    }

    /// Waits until it listens.
    // timed: polls; the end is only for a hang.
    fn wait(&mut self) {
        let end = Instant::now() + Duration::from_secs(300);
        while TcpStream::connect(self.stomp).is_err() {
            let ended = self.broker.try_wait().unwrap();
            let log = || fs::read_to_string(self.folder.path().join("log")).unwrap();
            assert!(ended.is_none(), "RabbitMQ ended: {}", log());
            assert!(Instant::now() < end, "RabbitMQ does not listen: {}", log());
            thread::sleep(Duration::from_millis(200));
        }
    }

    pub(crate) const fn addr(&self) -> SocketAddr {
        self.stomp
    }
}

impl Drop for RabbitMq {
    fn drop(&mut self) {
        // SAFETY: kill takes no pointers; the group is the broker's, whose process is not waited for yet.
        unsafe { libc::kill(-(self.broker.id() as i32), libc::SIGKILL) };
        let _ = self.broker.wait();
        let _ = self.mapper.kill();
        let _ = self.mapper.wait();
    }
}

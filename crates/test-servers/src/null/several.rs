//! Several null servers on one port, each a process with files of its own. They pass no messages to
//! one another: a broadcast to all clients needs one process.

use crate::listen::hold_port;
use socket2::Socket;
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Processes that share a port; they end when this value is dropped, or its process is gone.
#[derive(Debug)]
pub struct NullServers {
    addr: SocketAddr,
    processes: Vec<Child>,
    /// Keeps the port for them while they start.
    _port: Socket,
}

impl NullServers {
    /// Starts `count` processes of `program`, the null server, that share the port of `address`, or
    /// a free one for port 0. Returns when all of them listen.
    ///
    /// # Errors
    /// When the port cannot be shared, or a process cannot be started or does not listen.
    pub fn start(
        program: &Path,
        address: SocketAddr,
        echo_raw: bool,
        count: u32,
    ) -> io::Result<Self> {
        let (port, addr) = hold_port(address)?;
        let mut servers = Self {
            addr,
            processes: Vec::new(),
            _port: port,
        };
        for _ in 0..count {
            let mut command = Command::new(program);
            command
                .args(["--address", &addr.ip().to_string()])
                .args(["--port", &addr.port().to_string()])
                .arg("--share-port");
            if echo_raw {
                command.arg("--echo-raw");
            }
            // Each process ends when its standard input ends, which this process holds.
            let process = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            servers.processes.push(process);
        }
        for process in &mut servers.processes {
            let mut line = String::new();
            if let Some(out) = process.stdout.take() {
                BufReader::new(out).read_line(&mut line)?;
            }
            if !line.starts_with("listening") {
                return Err(io::Error::other("a process of the server does not listen"));
            }
        }
        Ok(servers)
    }

    /// Where they listen.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Waits until one process ends; the others are then stopped.
    ///
    /// Always, once a process has ended: none ends without a reason.
    pub fn wait(mut self) -> io::Result<()> {
        loop {
            for process in &mut self.processes {
                if let Some(status) = process.try_wait()? {
                    return Err(io::Error::other(format!(
                        "a process of the server ended: {status}"
                    )));
                }
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }
}

impl Drop for NullServers {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // One that has ended already is only waited for.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

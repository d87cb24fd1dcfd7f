//! Broadcasts for tools that can only listen: one more client, which sends at an even pace once
//! all of theirs are connected. It runs on the server's core, and its CPU time counts for no generator.

use crate::tools::{CLIENTS, Workload, request};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use ws_proto::{Opcode, encode_frame};

/// Slow enough for every tool here to have read one broadcast before the next.
const PACE: Duration = Duration::from_millis(100);
/// Longest wait for the tool's clients.
const PATIENCE: Duration = Duration::from_secs(60);

/// A sender at work.
pub(crate) struct Pulse(JoinHandle<Result<(), String>>);

impl Pulse {
    /// Will send so many broadcasts.
    pub(crate) fn start(port: u16, broadcasts: u64) -> Self {
        Self(std::thread::spawn(move || {
            crate::common::pin(0);
            send_all(port, broadcasts)
        }))
    }

    /// Whether all were sent to all clients.
    pub(crate) fn finish(self) -> Result<(), String> {
        self.0
            .join()
            .unwrap_or_else(|_| Err("the sender of the broadcasts panicked".into()))
    }
}

fn send_all(port: u16, broadcasts: u64) -> Result<(), String> {
    let since = Instant::now();
    while established(port) < CLIENTS {
        if since.elapsed() > PATIENCE {
            return Err(format!(
                "{} of {CLIENTS} clients were connected after {} s",
                established(port),
                PATIENCE.as_secs()
            ));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // Connected is not yet upgraded.
    std::thread::sleep(Duration::from_secs(2));
    let mut socket = connect(port).map_err(|error| format!("the sender: {error}"))?;
    let mut sink = socket.try_clone().map_err(|error| error.to_string())?;
    let drain = std::thread::spawn(move || io::copy(&mut sink, &mut io::sink()));
    let mut frame = Vec::new();
    let text = request(Workload::Broadcast);
    encode_frame(&mut frame, Opcode::Text, Some([0; 4]), text.as_bytes());
    for _ in 0..broadcasts {
        socket
            .write_all(&frame)
            .map_err(|error| format!("the sender: {error}"))?;
        std::thread::sleep(PACE);
    }
    let still = established(port);
    let _ = socket.shutdown(Shutdown::Both);
    let _ = drain.join();
    // The sender itself is one more.
    if still > CLIENTS {
        Ok(())
    } else {
        Err(format!(
            "only {} of {CLIENTS} clients stayed until the last broadcast",
            still.saturating_sub(1)
        ))
    }
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    socket.set_nodelay(true)?;
    socket.write_all(
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
          Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    )?;
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte)?;
        answer.push(byte[0]);
    }
    Ok(socket)
}

/// Connections that the server on this port has, as the kernel sees them.
fn established(port: u16) -> u64 {
    const ESTABLISHED: &str = "01";
    let local = format!(":{port:04X}");
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let of_server = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next().is_some_and(|own| own.ends_with(&local)) && fields.nth(1) == Some(ESTABLISHED)
    };
    table.lines().filter(of_server).count() as u64
}

//! Running the binary, and servers for it.

pub(crate) use crate::shared::{Ran, wait};

use run_record::{RunRecord, run_schema};
use socket2::{Domain, Socket, Type};
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use test_servers::fault::{Fault, FaultServer};
use test_servers::{NullOptions, NullServer};

/// The binary, ready for arguments, with pipes for its outputs.
pub(crate) fn bench() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_websocket-bench"));
    command
        .env("XDG_CACHE_HOME", "/dev/null")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the binary with arguments as a shell would split them.
pub(crate) fn run(arguments: &str) -> Ran {
    finish(bench().args(arguments.split_whitespace()))
}

/// Runs it anew, twice at most, where this machine put the generator aside: a test of an open loop that
/// is about something else has nothing to say of such a run.
pub(crate) fn undisturbed(mut attempt: impl FnMut() -> Ran) -> Ran {
    for _ in 0..2 {
        let ran = attempt();
        if !ran.was_put_aside() {
            return ran;
        }
    }
    attempt()
}

/// Starts a command and waits for its end.
pub(crate) fn finish(command: &mut Command) -> Ran {
    let mut child = command.spawn().expect("the binary starts");
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let stdout = thread::spawn(move || {
        let mut text = String::new();
        out.as_mut().map(|out| out.read_to_string(&mut text));
        text
    });
    let mut stderr = String::new();
    err.as_mut().map(|err| err.read_to_string(&mut stderr));
    let status = wait(&mut child);
    Ran {
        code: status.code().expect("it ended by itself"),
        stdout: stdout.join().unwrap(),
        stderr,
    }
}

/// The record in a file.
pub(crate) fn record(path: &Path) -> RunRecord {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The record in a file, which its schema allows.
#[track_caller]
pub(crate) fn assert_valid(path: &Path) -> RunRecord {
    let schema = serde_json::to_value(run_schema()).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    jsonschema::validate(&schema, &serde_json::from_str(&text).unwrap()).unwrap();
    record(path)
}

/// A server that does everything right.
pub(crate) fn honest() -> NullServer {
    NullServer::start(NullOptions::default()).unwrap()
}

/// A server that does one thing wrong.
pub(crate) fn faulty_server(fault: Fault, count: u64) -> FaultServer {
    FaultServer::start(fault, count).unwrap()
}

/// The URL of a server.
pub(crate) fn url(addr: SocketAddr) -> String {
    format!("ws://{addr}/ws")
}

/// An address of this machine without a listener. Its port stays taken while the tests run, so that
/// no server of another test gets it.
pub(crate) fn no_listener() -> SocketAddr {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&any.into()).unwrap();
    let addr = socket.local_addr().unwrap().as_socket().unwrap();
    std::mem::forget(socket);
    addr
}

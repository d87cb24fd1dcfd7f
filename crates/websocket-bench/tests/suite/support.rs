//! Running the binary, and servers for it.

pub(crate) use crate::shared::{Ran, wait};

use record::{Json, RunRecord, StepRecord, run_schema};
use socket2::{Domain, Socket, Type};
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};
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

/// Runs the binary with arguments as a shell would split them, until this machine lets it.
pub(crate) fn run(arguments: &str) -> Ran {
    undisturbed(|| finish(bench().args(arguments.split_whitespace())))
}

/// Runs it anew, nine times at most, where this machine put the generator aside: a test of an open loop
/// that is about something else has nothing to say of such a run.
pub(crate) fn undisturbed(mut attempt: impl FnMut() -> Ran) -> Ran {
    for _ in 0..9 {
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
    RunRecord::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The record in a file, which its schema allows.
#[track_caller]
pub(crate) fn assert_valid(path: &Path) -> RunRecord {
    let schema = serde_json::to_value(run_schema()).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    jsonschema::validate(&schema, &serde_json::from_str(&text).unwrap()).unwrap();
    record(path)
}

/// The only step of a run.
#[track_caller]
pub(crate) fn only_step(record: &RunRecord) -> &StepRecord {
    let [step] = &record.steps[..] else {
        panic!("one step: {record:#?}");
    };
    step
}

/// Writes a dialect file of that text into a folder, and gives its path.
pub(crate) fn dialect_file(folder: &Path, text: &str) -> String {
    let path = folder.join("dialect.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Runs a plan in a dialect of that text.
pub(crate) fn run_with_dialect(
    dialect: &str,
    server: SocketAddr,
    plan: &str,
    more: &str,
) -> (Ran, RunRecord) {
    run_dialect_at(dialect, &format!("ws://{server}/"), plan, more)
}

/// The same with a server at that URL.
pub(crate) fn run_dialect_at(dialect: &str, url: &str, plan: &str, more: &str) -> (Ran, RunRecord) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    dialect_file(folder.path(), dialect);
    let text = format!("{plan}\n[message]\ndialect = \"./dialect.toml\"\n");
    std::fs::write(path("plan.toml"), text).unwrap();
    let ran = run(&format!(
        "run {} {url} {more} --json {}",
        path("plan.toml").display(),
        path("run.json").display()
    ));
    assert!(path("run.json").exists(), "{ran:#?}");
    (ran, assert_valid(&path("run.json")))
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

/// An address for a program that cannot choose its port itself. The kernel chooses ports from 32,768 on
/// (`ip_local_port_range`) and shootout gives its servers those from 20,000 on, so that neither gives this
/// one to a client or to a server. No other test gets it, of this program or of another: as long as this
/// program lasts it holds a name for it among the abstract names of Unix sockets.
pub(crate) fn free_addr() -> SocketAddr {
    const FIRST: u16 = 12_000;
    const COUNT: u16 = 8_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    for _ in 0..COUNT {
        let port = FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        let name = format!("websocket-shootout-test-port-{port}");
        let name = UnixAddr::from_abstract_name(name).unwrap();
        let Ok(claim) = UnixListener::bind_addr(&name) else {
            continue;
        };
        std::mem::forget(claim);
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        // A listener that tries the port would be inherited for a moment by what another test starts
        // meanwhile: the server could not have the port, and the listener would answer in its place.
        if TcpStream::connect(addr).is_err() {
            return addr;
        }
    }
    panic!("no port is free");
}

/// Interrupts a child, again when it has been heard, and waits for its end. Two interrupts of which it has not
/// noticed the first are one: after a while it gets another. A third one that it does notice would end it before it has written.
// timed: a first pause that is too short makes the two one, and the next is sent when nothing is written.
pub(crate) fn interrupt_until_it_ends(
    child: &mut Child,
    is_heard: impl Fn() -> bool,
) -> ExitStatus {
    for is_first in [true, false, false, false] {
        crate::shared::send(child.id(), libc::SIGINT);
        let (soon, end) = (150, 20_000);
        let [soon, end] = [soon, end].map(|ms| Instant::now() + Duration::from_millis(ms));
        while Instant::now() < end && !(is_first && Instant::now() >= soon && is_heard()) {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
    wait(child)
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

//! Peers that try to exhaust memory or time: a run ends in time, and the memory of the process is
//! bounded.

use crate::shared::Ran;
use crate::support::{bench, record};
use ::record::End;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Child;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use ws_proto::{FrameHeader, Opcode, accept_for, encode_frame, encode_header};

/// What three connections may make the process hold, whatever the peer does.
const BOUND_KIB: u64 = 64 * 1024;
/// How long a peer goes on at most: longer than a run may take.
const FLOOD: Duration = Duration::from_secs(600);
/// Several times as long as any run here takes on a busy machine.
const HANGS: Duration = Duration::from_secs(300);

/// What a peer sends once its connection is open. It reads nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    /// A message of 2^30 bytes, announced and sent slowly.
    Announces,
    /// Fragments of a message without an end.
    Fragments,
    /// Fragments without a payload.
    EmptyFragments,
    /// Pings as long as they may be.
    Pings,
    /// Pings, as many as fit.
    ShortPings,
    /// Pongs that answer nothing.
    Pongs,
}

impl Peer {
    /// What it sends first, and again and again then.
    fn bytes(self) -> (Vec<u8>, Vec<u8>) {
        let header = |opcode, payload_len| {
            let mut bytes = Vec::new();
            let header = FrameHeader {
                fin: false,
                opcode,
                mask: None,
                payload_len,
            };
            encode_header(&mut bytes, &header);
            bytes
        };
        let control = |opcode, len| {
            let mut bytes = Vec::new();
            encode_frame(&mut bytes, opcode, None, &vec![b'!'; len]);
            bytes
        };
        let chunk = |bytes: Vec<u8>| bytes.repeat(65_536 / bytes.len());
        match self {
            Self::Announces => (header(Opcode::Text, 1 << 30), vec![b'x'; 1000]),
            Self::Fragments => {
                let next = [header(Opcode::Continuation, 1000), vec![b'x'; 1000]].concat();
                (header(Opcode::Text, 0), chunk(next))
            }
            Self::EmptyFragments => {
                let next = header(Opcode::Continuation, 0);
                (header(Opcode::Text, 0), chunk(next))
            }
            Self::Pings => (Vec::new(), chunk(control(Opcode::Ping, 125))),
            Self::ShortPings => (Vec::new(), chunk(control(Opcode::Ping, 0))),
            Self::Pongs => (Vec::new(), chunk(control(Opcode::Pong, 0))),
        }
    }

    fn start(self, tls: Option<Arc<rustls::ServerConfig>>) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, tls) = (stream.unwrap(), tls.clone());
                thread::spawn(move || match tls {
                    None => self.talk(stream),
                    Some(config) => {
                        let session = rustls::ServerConnection::new(config).unwrap();
                        self.talk(rustls::StreamOwned::new(session, stream))
                    }
                });
            }
        });
        addr
    }

    /// Until the other side ends it, or the time is over.
    // timed: the time is longer than a run may take, and the pause is how slowly a peer sends.
    fn talk(self, mut stream: impl Read + Write) -> Option<()> {
        upgrade(&mut stream)?;
        let (first, next) = self.bytes();
        stream.write_all(&first).ok()?;
        let end = Instant::now() + FLOOD;
        while Instant::now() < end {
            stream.write_all(&next).ok()?;
            if self == Self::Announces {
                thread::sleep(Duration::from_millis(5));
            }
        }
        Some(())
    }
}

fn upgrade(stream: &mut (impl Read + Write)) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let key = head.split_once("Sec-WebSocket-Key: ")?.1.lines().next()?;
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        accept_for(key)
    );
    stream.write_all(answer.as_bytes()).ok()
}

/// Runs the binary and looks at the largest memory that it has had.
// timed: polls; the end is only for a hang, and what it took is only told.
fn run(command: &str) -> (Ran, u64, Duration) {
    let began = Instant::now();
    let mut child = bench().args(command.split_whitespace()).spawn().unwrap();
    let mut largest = 0;
    while child.try_wait().unwrap().is_none() {
        largest = largest.max(resident_peak(&child).unwrap_or(0));
        if began.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("the run hangs: {command}");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let took = began.elapsed();
    let done = child.wait_with_output().unwrap();
    let ran = Ran {
        code: done.status.code().expect("it ended by itself"),
        stdout: String::from_utf8(done.stdout).unwrap(),
        stderr: String::from_utf8(done.stderr).unwrap(),
    };
    assert!(largest > 0, "nothing was seen of its memory");
    (ran, largest, took)
}

/// `VmHWM` in KiB.
fn resident_peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Every way to the peer: plain and over TLS, by epoll and what is best here.
fn each_way(peer: Peer, check: impl Fn(&str, &str)) {
    for tls in [false, true] {
        for io in ["epoll", "auto"] {
            let config = tls.then(|| crate::tls::config().0);
            let addr = peer.start(config);
            let url = if tls {
                format!("wss://localhost:{}/ws --insecure", addr.port())
            } else {
                format!("ws://{addr}/ws")
            };
            check(&url, io);
        }
    }
}

#[track_caller]
fn assert_small(largest_kib: u64, what: &str) {
    assert!(largest_kib <= BOUND_KIB, "{largest_kib} KiB: {what}");
}

/// The run waits for an answer that does not come, and ends while the peer goes on.
fn ends_in_time(peer: Peer) {
    each_way(peer, |url, io| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let command = format!(
            "echo {url} --io {io} --threads 1 -c 3 --step-size 3 -s 100 --total-steps 1 \
             --limit-rtt 500ms --sample-timeout 1s --json {}",
            path.display()
        );
        let (ran, largest, took) = run(&command);
        let what = format!("{command}: {took:?} {ran:#?}");
        assert_small(largest, &what);
        ran.exits(3);
        assert_eq!(record(&path).outcome.end, End::TimedOut, "{what}");
    });
}

/// The connection is ended as soon as too much is announced.
fn is_refused(peer: Peer) {
    each_way(peer, |url, io| {
        let command = format!(
            "echo {url} --io {io} --threads 1 -c 3 --step-size 3 -s 100 --total-steps 1 \
             --limit-rtt 500ms --sample-timeout 5s"
        );
        let (ran, largest, took) = run(&command);
        let what = format!("{command}: {took:?} {ran:#?}");
        assert_small(largest, &what);
        assert!(matches!(ran.code, 1 | 3), "{what}");
        ran.says(&["the longest that this plan allows is", "--payload-padding"]);
    });
}

#[test]
fn a_message_that_is_too_long_is_refused_when_it_is_announced() {
    is_refused(Peer::Announces);
}

#[test]
fn a_message_without_an_end_is_refused_when_it_is_too_long() {
    is_refused(Peer::Fragments);
}

#[test]
fn fragments_without_a_payload_take_no_memory_and_no_time_from_others() {
    ends_in_time(Peer::EmptyFragments);
}

#[test]
fn pings_of_a_peer_that_does_not_read_are_not_answered_without_bound() {
    ends_in_time(Peer::Pings);
}

#[test]
fn pings_as_many_as_fit_take_no_memory() {
    ends_in_time(Peer::ShortPings);
}

/// A hold ends by the clock, and pings that are not answered end their connections.
#[test]
fn a_hold_ends_however_many_pongs_come() {
    each_way(Peer::Pongs, |url, io| {
        let command = format!(
            "connect {url} --io {io} --threads 1 --step-size 3 --total-steps 1 --hold 1s \
             --ping-interval 500ms --ping-timeout 500ms"
        );
        let (ran, largest, took) = run(&command);
        let what = format!("{command}: {took:?} {ran:#?}");
        assert_small(largest, &what);
        ran.exits(3).says(&["3 disconnected"]);
    });
}

/// The peer answers the upgrade and nothing else: the last ping of a hold is waited for, asleep.
#[test]
fn a_hold_that_is_over_does_not_spin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut open: Vec<TcpStream> = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            upgrade(&mut stream);
            open.push(stream);
        }
    });
    for io in ["epoll", "auto"] {
        let command = format!(
            "connect ws://{addr}/ws --io {io} --threads 1 --step-size 1 --total-steps 1 \
             --hold 1s --ping-interval 4s --ping-timeout 4s --connect-rate 1000 --json {}",
            path.display()
        );
        let _ = run(&command);
        let step = &record(&path).steps[0];
        let cpu = step.generator.cpu_ns as f64 / step.elapsed_ns as f64;
        assert!(cpu < 0.25, "{cpu} of a core: {step:#?}");
    }
}

//! `--fragment`: long requests in several frames, as browsers send them.

use crate::support::{assert_valid, bench, finish, honest, run, url};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use test_servers::liar::{LiarServer, Lie};
use ws_proto::{FrameHeader, Opcode, Sender, accept_for, apply_mask, encode_frame};

/// A frame as it came: what it is, whether it ends its message, and its bytes of payload.
type Came = (Opcode, bool, u64);

/// Echoes every message in one frame, and keeps the frames that came.
fn keeps_frames() -> (SocketAddr, Arc<Mutex<Vec<Came>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let all = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&all);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let kept = Arc::clone(&kept);
            // The client may disconnect at any time.
            thread::spawn(move || echo(stream.unwrap(), &kept));
        }
    });
    (addr, all)
}

fn echo(mut stream: TcpStream, kept: &Mutex<Vec<Came>>) -> Option<()> {
    let mut bytes = Vec::new();
    let head = loop {
        more(&mut stream, &mut bytes)?;
        if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break String::from_utf8(bytes.drain(..at + 4).collect()).unwrap();
        }
    };
    let key = head
        .lines()
        .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "))?;
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        accept_for(key)
    );
    stream.write_all(answer.as_bytes()).ok()?;
    let mut message = (Opcode::Text, Vec::new());
    loop {
        let Some((header, len)) = FrameHeader::parse(&bytes, Sender::Client).unwrap() else {
            more(&mut stream, &mut bytes)?;
            continue;
        };
        let end = len + header.payload_len as usize;
        if bytes.len() < end {
            more(&mut stream, &mut bytes)?;
            continue;
        }
        let mut payload: Vec<u8> = bytes.drain(..end).skip(len).collect();
        apply_mask(&mut payload, header.mask.unwrap());
        if header.opcode.is_control() {
            return None;
        }
        let came = (header.opcode, header.fin, header.payload_len);
        kept.lock().unwrap().push(came);
        if header.opcode != Opcode::Continuation {
            message = (header.opcode, Vec::new());
        }
        message.1.append(&mut payload);
        if header.fin {
            let mut out = Vec::new();
            encode_frame(&mut out, message.0, None, &message.1);
            stream.write_all(&out).ok()?;
        }
    }
}

/// `None` at the end of the stream.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 4096];
    let n = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
    bytes.extend_from_slice(&buffer[..n]);
    Some(())
}

#[test]
fn a_long_request_comes_in_frames_of_that_size_and_a_short_one_in_one() {
    let (addr, kept) = keeps_frames();
    let of = |padding: &str| {
        kept.lock().unwrap().clear();
        run(&format!(
            "echo {} --step-size 1 --total-steps 1 --sample-size 1 --limit-rtt 20s --fragment 100 \
             --payload-padding {padding}",
            url(addr)
        ))
        .exits(0);
        kept.lock().unwrap().clone()
    };
    let short = of("10");
    assert!(matches!(short[..], [(Opcode::Text, true, _)]), "{short:?}");

    let long = of("2000");
    let (last, others) = long.split_last().unwrap();
    assert!(others.len() >= 20, "{long:?}");
    assert_eq!(others[0], (Opcode::Text, false, 100));
    for frame in &others[1..] {
        assert_eq!(*frame, (Opcode::Continuation, false, 100));
    }
    let (opcode, fin, len) = *last;
    assert_eq!((opcode, fin), (Opcode::Continuation, true));
    assert!((1..=100).contains(&len), "{long:?}");
}

#[test]
fn fragments_are_verified_in_every_dialect_compressed_and_from_several_processes() {
    let server = LiarServer::start(Lie::None).unwrap();
    for more in [
        &["--server-type", "text"][..],
        &["--server-type", "binary"],
        &["--compression", "client_max_window_bits"],
        &["--processes", "2"],
    ] {
        let json = tempfile::NamedTempFile::new().unwrap();
        let mut command = bench();
        command.args(["broadcast", &url(server.addr())]).args(more);
        command.args([
            "--step-size",
            "6",
            "--total-steps",
            "1",
            "--sample-size",
            "20",
        ]);
        command.args([
            "--payload-padding",
            "700",
            "--fragment",
            "16",
            "--limit-rtt",
            "20s",
        ]);
        let ran = finish(command.arg("--json").arg(json.path()));
        assert_eq!(ran.code, 0, "{ran:?}");
        let record = assert_valid(json.path());
        assert!(record.steps[0].faults.is_empty(), "{ran:?}");
        assert_eq!(record.plan.connection.fragment, Some(16));
    }
}

#[test]
fn a_load_without_requests_has_nothing_to_divide() {
    let addr = honest().addr();
    run(&format!("connect {} --clients 1 --fragment 100", url(addr)))
        .exits(1)
        .says_in_one_line(&["connection.fragment", "this load sends none"]);
    run(&format!("echo {} --fragment 3", url(addr))).exits(1);
}

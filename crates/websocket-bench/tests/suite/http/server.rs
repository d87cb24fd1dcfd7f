//! A small server over HTTP and WebSocket: a thread for each connection, and answers that a test gives.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender, accept_for, encode_frame};

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Asked {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(of, _)| of.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }
}

/// Status, header lines and body of an answer.
pub(crate) type Answer = (u16, &'static str, String);

/// What the server was asked, and the clients that it tells of publications.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) requests: Mutex<Vec<Asked>>,
    clients: Mutex<Vec<TcpStream>>,
}

impl Seen {
    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.requests.lock().unwrap().clone()
    }

    /// Sends a text to all clients.
    pub(crate) fn tell_all(&self, text: &str) {
        let mut frame = Vec::new();
        encode_frame(&mut frame, Opcode::Text, None, text.as_bytes());
        for client in self.clients.lock().unwrap().iter_mut() {
            let _ = client.write_all(&frame);
        }
    }
}

/// Answers requests over HTTP with what `answer` says, upgrades others, and echoes messages.
pub(crate) fn start(
    answer: impl Fn(&Asked, &Seen) -> Answer + Send + Sync + 'static,
) -> (SocketAddr, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let seen = Arc::new(Seen::default());
    let shared = Arc::clone(&seen);
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (seen, answer) = (Arc::clone(&shared), Arc::clone(&answer));
            thread::spawn(move || serve(stream.unwrap(), &seen, &*answer));
        }
    });
    (addr, seen)
}

fn serve(mut stream: TcpStream, seen: &Seen, answer: &dyn Fn(&Asked, &Seen) -> Answer) {
    stream.set_nodelay(true).unwrap();
    let mut bytes = Vec::new();
    while let Some(asked) = request(&mut stream, &mut bytes) {
        seen.requests.lock().unwrap().push(asked.clone());
        if let Some(key) = asked.header("Sec-WebSocket-Key") {
            let accept = accept_for(key);
            let head = format!(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Accept: {accept}\r\n\r\n"
            );
            // Nothing is told in between: the client is there from its answer on.
            let mut clients = seen.clients.lock().unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            clients.push(stream.try_clone().unwrap());
            drop(clients);
            return echo(stream);
        }
        let (status, lines, body) = answer(&asked, seen);
        let length = body.len();
        let text = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{lines}\r\n{body}");
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Asked> {
    loop {
        if let Some(end) = bytes.windows(4).position(|at| at == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let mut asked = Asked {
                line: head.lines().next()?.to_owned(),
                head,
                body: String::new(),
            };
            let length = asked
                .header("Content-Length")
                .map_or(0, |of| of.parse().unwrap());
            if bytes.len() >= end + 4 + length {
                asked.body = String::from_utf8(bytes[end + 4..end + 4 + length].to_vec()).unwrap();
                bytes.drain(..end + 4 + length);
                return Some(asked);
            }
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
}

fn echo(mut stream: TcpStream) {
    let mut decoder = Decoder::new(Sender::Client, 1 << 20);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let mut frames = Vec::new();
        let mut closes = false;
        let fed = decoder.feed(&buffer[..count], |event| {
            match event {
                Event::Message { opcode, payload } => {
                    encode_frame(&mut frames, opcode, None, payload);
                }
                Event::Close(_) => closes = true,
                _ => {}
            }
            Ok::<_, DecodeError>(())
        });
        fed.unwrap();
        if closes {
            encode_frame(&mut frames, Opcode::Close, None, &[]);
        }
        if stream.write_all(&frames).is_err() || closes {
            return;
        }
    }
}

//! A server that sends given bytes, and keeps what it receives.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender as Side, accept_for, encode_frame};

/// What a client sent once its connection was open.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Message,
    /// The payload of a close frame.
    Close(Vec<u8>),
}

/// What the server does on every connection.
pub(crate) struct Script {
    /// The answer to an upgrade, made of the accept key that belongs to it.
    pub(crate) answer: fn(&str) -> Vec<u8>,
    /// Written right behind it.
    pub(crate) greeting: Vec<u8>,
    /// Written for each message.
    pub(crate) reply: Vec<u8>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            answer: |accept| switching(accept, ""),
            greeting: Vec::new(),
            reply: Vec::new(),
        }
    }
}

/// The usual answer, with header lines besides.
pub(crate) fn switching(accept: &str, more: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
    )
    .into_bytes()
}

/// An unmasked frame.
pub(crate) fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_frame(&mut bytes, opcode, None, payload);
    bytes
}

/// Starts the server on a free port of this machine. Its threads end with the connections.
pub(crate) fn start(script: Script) -> (SocketAddr, Receiver<Heard>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let (tell, heard) = channel();
    thread::spawn(move || {
        let script: &'static Script = Box::leak(Box::new(script));
        for stream in listener.incoming() {
            let tell = tell.clone();
            // The client may disconnect at any time.
            thread::spawn(move || script.serve(stream.unwrap(), &tell));
        }
    });
    (addr, heard)
}

impl Script {
    fn serve(&self, mut stream: TcpStream, tell: &Sender<Heard>) -> Option<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).ok()?;
        let (_, key) = head.split_once("Sec-WebSocket-Key: ")?;
        let answer = (self.answer)(&accept_for(key.lines().next()?));
        stream
            .write_all(&[answer, self.greeting.clone()].concat())
            .ok()?;
        let mut decoder = Decoder::new(Side::Client, 1 << 20);
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let mut replies = Vec::new();
            decoder
                .feed(&buffer[..count], |event| {
                    match event {
                        Event::Message { .. } => {
                            let _ = tell.send(Heard::Message);
                            replies.extend_from_slice(&self.reply);
                        }
                        Event::Close(payload) => {
                            let _ = tell.send(Heard::Close(payload.to_vec()));
                        }
                        Event::Ping(payload) => {
                            replies.extend_from_slice(&frame(Opcode::Pong, payload));
                        }
                        Event::Pong(_) => {}
                    }
                    Ok::<_, DecodeError>(())
                })
                .ok()?;
            stream.write_all(&replies).ok()?;
        }
        Some(())
    }
}

//! Servers of text messages, told what to do with each.

use crate::raw_peer::{frame, switching};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender, accept_for};

/// Starts a server. Each of its connections has what `connected` makes.
pub(crate) fn start<F: FnMut(&str, &TcpStream) + Send>(
    connected: impl Fn() -> F + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        thread::scope(|scope| {
            for stream in listener.incoming() {
                let obey = connected();
                scope.spawn(move || serve(stream.unwrap(), obey));
            }
        });
    });
    addr
}

fn serve(mut stream: TcpStream, mut obey: impl FnMut(&str, &TcpStream)) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let (_, key) = head.split_once("Sec-WebSocket-Key: ")?;
    let answer = switching(&accept_for(key.lines().next()?), "");
    stream.write_all(&answer).ok()?;
    let mut decoder = Decoder::new(Sender::Client, 1 << 20);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let (mut lines, mut is_closed) = (Vec::new(), false);
        decoder
            .feed(&buffer[..count], |event| {
                match event {
                    Event::Message { payload, .. } => {
                        lines.push(String::from_utf8(payload.to_vec()).unwrap());
                    }
                    Event::Close(_) => is_closed = true,
                    Event::Ping(_) | Event::Pong(_) => {}
                }
                Ok::<_, DecodeError>(())
            })
            .ok()?;
        for line in lines {
            obey(&line, &stream);
        }
        if is_closed {
            return stream.write_all(&frame(Opcode::Close, &[])).ok();
        }
    }
    Some(())
}

/// A client that is gone hears nothing.
pub(crate) fn write(mut client: &TcpStream, line: &str) {
    let _ = client.write_all(&frame(Opcode::Text, line.as_bytes()));
}

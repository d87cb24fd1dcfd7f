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
    start_with(|_| (), connected)
}

/// The same, where a client whose handshake is not `admitted` gets 401 and a body.
pub(crate) fn start_guarded<F: FnMut(&str, &TcpStream) + Send>(
    admitted: impl Fn(&str) -> bool + Send + Sync + 'static,
    connected: impl Fn() -> F + Send + Sync + 'static,
) -> SocketAddr {
    serving(
        move |head, _| admitted(head).then_some(Entry::default()),
        connected,
    )
}

/// The same, where `opened` is told of each connection before its first message.
pub(crate) fn start_with<F: FnMut(&str, &TcpStream) + Send>(
    opened: impl Fn(&TcpStream) + Send + Sync + 'static,
    connected: impl Fn() -> F + Send + Sync + 'static,
) -> SocketAddr {
    serving(
        move |_, stream| {
            opened(stream);
            Some(Entry::default())
        },
        connected,
    )
}

/// What a client gets that is let in.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry {
    /// Header lines of the answer besides the usual ones.
    pub(crate) adds: &'static str,
    /// A message right behind it; none if empty.
    pub(crate) greeting: &'static str,
}

/// The same, where a handshake without an entry gets 401 and a body.
pub(crate) fn serving<F: FnMut(&str, &TcpStream) + Send>(
    opens: impl Fn(&str, &TcpStream) -> Option<Entry> + Send + Sync + 'static,
    connected: impl Fn() -> F + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        thread::scope(|scope| {
            for stream in listener.incoming() {
                let obey = connected();
                let opens = &opens;
                scope.spawn(move || serve(stream.unwrap(), opens, obey));
            }
        });
    });
    addr
}

fn serve(
    mut stream: TcpStream,
    opens: impl Fn(&str, &TcpStream) -> Option<Entry>,
    mut obey: impl FnMut(&str, &TcpStream),
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let (_, key) = head.split_once("Sec-WebSocket-Key: ")?;
    let Some(entry) = opens(&head, &stream) else {
        let refusal = b"HTTP/1.1 401 Unauthorized\r\n\r\nno token, no entry\n";
        return stream.write_all(refusal).ok();
    };
    let mut answer = switching(&accept_for(key.lines().next()?), entry.adds);
    if !entry.greeting.is_empty() {
        answer.extend(frame(Opcode::Text, entry.greeting.as_bytes()));
    }
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

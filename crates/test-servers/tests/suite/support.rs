//! A client of a few lines, for what the servers of this crate must do.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use ws_proto::{Decoder, Event, Opcode, Sender, UpgradeRequest, encode_frame, parse_response};

/// The key of RFC 6455, 1.3.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// An open connection over any stream.
pub(crate) struct Client<S> {
    pub(crate) stream: S,
    decoder: Decoder,
    got: Vec<String>,
    bad_frame: Option<String>,
}

pub(crate) fn connect(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).unwrap();
    let wait = Some(Duration::from_secs(60));
    stream.set_read_timeout(wait).unwrap();
    stream
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn upgrade(mut stream: S) -> Result<Self, String> {
        let request = UpgradeRequest {
            authority: "localhost",
            target: "/any/path?x=1",
            key: KEY,
            origin: None,
            subprotocol: None,
            deflate: None,
        };
        let mut head = Vec::new();
        request.encode(&mut head);
        stream.write_all(&head).map_err(|e| e.to_string())?;
        let mut answer = Vec::new();
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte) {
                Ok(1) => answer.push(byte[0]),
                other => return Err(format!("{other:?}")),
            }
        }
        parse_response(&answer, KEY, None).map_err(|e| e.to_string())?;
        Ok(Self {
            stream,
            decoder: Decoder::new(Sender::Server, 1 << 20),
            got: Vec::new(),
            bad_frame: None,
        })
    }

    pub(crate) fn send(&mut self, opcode: Opcode, message: &[u8]) {
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, Some([1, 2, 3, 4]), message);
        self.stream.write_all(&frame).unwrap();
    }

    pub(crate) fn text(&mut self, kind: &str, payload: &str) {
        let message = format!(r#"{{"type":"{kind}","payload":{payload}}}"#);
        self.send(Opcode::Text, message.as_bytes());
    }

    /// The next message as text; an error is the end of the connection or a bad frame.
    pub(crate) fn next(&mut self) -> Result<String, String> {
        let mut buffer = [0; 4096];
        while self.got.is_empty() {
            if let Some(error) = self.bad_frame.take() {
                return Err(error);
            }
            let count = match self.stream.read(&mut buffer) {
                Ok(0) => return Err("end".into()),
                Ok(count) => count,
                Err(error) => return Err(format!("{:?}", error.kind())),
            };
            let got = &mut self.got;
            let fed = self.decoder.feed(&buffer[..count], |event| {
                got.push(match event {
                    Event::Message { payload, .. } => String::from_utf8_lossy(payload).into_owned(),
                    Event::Close(payload) => format!("close {payload:?}"),
                    Event::Ping(_) | Event::Pong(_) => "ping or pong".into(),
                });
                Ok::<_, ws_proto::DecodeError>(())
            });
            // What came before the bad frame comes out before the error.
            self.bad_frame = fed.err().map(|error| error.to_string());
        }
        Ok(self.got.remove(0))
    }

    /// All messages until the answer to an echo.
    pub(crate) fn until_echo(&mut self) -> Vec<String> {
        self.text("echo", "\"fence\"");
        let mut got = Vec::new();
        loop {
            let message = self.next().unwrap();
            if message.contains("fence") {
                return got;
            }
            got.push(message);
        }
    }
}

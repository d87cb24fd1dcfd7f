//! One connection of a faulty peer: what it can send and receive, and the protocol for everything
//! that a behaviour does not change.

use super::Shared;
use crate::threaded::{Hub, Peer, Reply, Request, Speech, Wire};
use crate::tls::TlsWire;
use crate::upgrade::RequestHead;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender, encode_frame};

/// Above every message that a test's client sends.
const MAX_MESSAGE: u32 = 1 << 26;

/// How often a peer that does nothing looks whether it is to end.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// What a client says.
#[derive(Debug)]
pub(super) enum Said {
    Request(Request),
    Ping(Vec<u8>),
    Pong,
    Close(Vec<u8>),
}

pub(super) struct Conversation {
    shared: Arc<Shared>,
    stream: Arc<TcpStream>,
    tls: Option<Arc<TlsWire>>,
    peer: Arc<Peer>,
    decoder: Decoder,
    heard: VecDeque<Said>,
    buffer: Vec<u8>,
}

struct Unreadable;

impl From<DecodeError> for Unreadable {
    fn from(_: DecodeError) -> Self {
        Self
    }
}

impl Conversation {
    pub(super) fn new(
        id: u64,
        shared: Arc<Shared>,
        stream: Arc<TcpStream>,
        wire: Arc<dyn Wire>,
        tls: Option<Arc<TlsWire>>,
    ) -> Self {
        Self {
            shared,
            stream,
            tls,
            peer: Arc::new(Peer::new(id, wire, Speech::Plain)),
            decoder: Decoder::new(Sender::Client, MAX_MESSAGE),
            heard: VecDeque::new(),
            buffer: vec![0; 16 * 1024],
        }
    }

    /// The socket below everything.
    pub(super) fn socket(&self) -> &TcpStream {
        &self.stream
    }

    pub(super) fn tls(&self) -> io::Result<&TlsWire> {
        self.tls.as_deref().ok_or(ErrorKind::Unsupported.into())
    }

    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    pub(super) fn hub(&self) -> &Hub {
        &self.shared.hub
    }

    /// Bytes as they are, within TLS where that is spoken.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.peer.wire.send(bytes)
    }

    pub(super) fn frame(&self, opcode: Opcode, payload: &[u8]) -> io::Result<()> {
        self.send(&frame(opcode, payload))
    }

    /// The same bytes again and again, until the client has gone.
    pub(super) fn flood(&self, bytes: &[u8]) -> io::Result<()> {
        let many = bytes.repeat((32 * 1024_usize).div_ceil(bytes.len()));
        loop {
            self.send(&many)?;
        }
    }

    /// Sends one byte at a time, with a pause after each.
    pub(super) fn drip(&self, bytes: &[u8], pause: Duration) -> io::Result<()> {
        for byte in bytes {
            self.send(std::slice::from_ref(byte))?;
            std::thread::sleep(pause);
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<usize> {
        match self.peer.wire.recv(&mut self.buffer)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }

    /// Waits for the first bytes of the upgrade request.
    pub(super) fn first_bytes(&mut self) -> io::Result<()> {
        self.receive().map(|_| ())
    }

    /// Waits for the upgrade request.
    pub(super) fn head(&mut self) -> io::Result<RequestHead> {
        let mut bytes = Vec::new();
        loop {
            let count = self.receive()?;
            bytes.extend_from_slice(&self.buffer[..count]);
            let parsed = RequestHead::parse(&bytes);
            if let Some(head) = parsed.map_err(|_| ErrorKind::InvalidData)? {
                return Ok(head);
            }
        }
    }

    /// Answers the upgrade request with these bytes.
    pub(super) fn answer(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.head()?;
        self.send(bytes)
    }

    /// Opens the WebSocket.
    pub(super) fn open(&mut self) -> io::Result<()> {
        let head = self.head()?;
        self.join(head.accept().as_bytes());
        Ok(())
    }

    /// Sends the bytes that open the WebSocket, and lets broadcasts follow them.
    pub(super) fn join(&self, greeting: &[u8]) {
        self.hub().join(&self.peer, greeting);
    }

    /// Waits for the next message or control frame.
    pub(super) fn next(&mut self) -> io::Result<Said> {
        loop {
            if let Some(said) = self.heard.pop_front() {
                return Ok(said);
            }
            let count = self.receive()?;
            let heard = &mut self.heard;
            let fed = self.decoder.feed(&self.buffer[..count], |event| {
                heard.push_back(match event {
                    Event::Message { opcode, payload } => {
                        let request = Request::parse(opcode, payload);
                        Said::Request(request.map_err(|_| Unreadable)?)
                    }
                    Event::Ping(payload) => Said::Ping(payload.to_vec()),
                    Event::Pong(_) => Said::Pong,
                    Event::Close(payload) => Said::Close(payload.to_vec()),
                });
                Ok::<_, Unreadable>(())
            });
            fed.map_err(|Unreadable| ErrorKind::InvalidData)?;
        }
    }

    /// Opens the WebSocket and waits for what the client says first: a request or a ping.
    pub(super) fn opened(&mut self) -> io::Result<Said> {
        self.open()?;
        self.next()
    }

    /// Opens the WebSocket, answers what the client says first with these bytes, and then only
    /// listens.
    pub(super) fn spoil(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.opened()?;
        self.send(bytes)?;
        self.listen()
    }

    /// Does what the protocol asks for. An error when the conversation is over.
    pub(super) fn reply(&self, said: &Said) -> io::Result<()> {
        match said {
            Said::Request(request) if request.broadcast => {
                let peers = self.hub().lock();
                let broadcast = request.broadcast(&peers);
                peers.iter().for_each(|peer| broadcast.send(peer));
                self.send(&request.frame(Reply::Result))
            }
            Said::Request(request) => self.send(&request.frame(Reply::Echo)),
            Said::Ping(payload) => self.frame(Opcode::Pong, payload),
            Said::Pong => Ok(()),
            Said::Close(payload) => {
                self.frame(Opcode::Close, payload)?;
                self.finish();
                Err(ErrorKind::ConnectionAborted.into())
            }
        }
    }

    /// Follows the protocol to the end.
    pub(super) fn serve(&mut self) -> io::Result<()> {
        loop {
            let said = self.next()?;
            self.reply(&said)?;
        }
    }

    /// Opens the WebSocket and serves it to the end, with `send` for the frames of echoes and pongs.
    pub(super) fn serve_with(
        &mut self,
        send: impl Fn(&Self, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.open()?;
        loop {
            match self.next()? {
                Said::Request(request) if !request.broadcast => {
                    send(self, &request.frame(Reply::Echo))?;
                }
                Said::Ping(payload) => send(self, &frame(Opcode::Pong, &payload))?,
                other => self.reply(&other)?,
            }
        }
    }

    /// Reads and says nothing, to the end.
    pub(super) fn listen(&mut self) -> io::Result<()> {
        loop {
            self.receive()?;
        }
    }

    /// Neither reads nor says anything until the peer is stopped.
    pub(super) fn hang(&self) -> io::Result<()> {
        while !self.shared.stopping.load(Ordering::SeqCst) {
            std::thread::sleep(STOP_CHECK);
        }
        Ok(())
    }

    /// Ends the sending side. The caller reads on until the client ends its own side: unread bytes
    /// would turn the end into a reset.
    pub(super) fn finish(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The connection ends with a reset when it is dropped.
    pub(super) fn reset(&self) -> io::Result<()> {
        socket2::SockRef::from(&*self.stream).set_linger(Some(Duration::ZERO))
    }

    /// Bytes below TLS.
    pub(super) fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        (&*self.stream).write_all(bytes)
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.hub().leave(self.peer.id);
    }
}

/// One unmasked frame.
pub(super) fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_frame(&mut bytes, opcode, None, payload);
    bytes
}

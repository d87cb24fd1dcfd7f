//! One connection of the delay server: bytes in, messages out, bytes that a full socket left.

use super::stamped;
use crate::Framework;
use crate::threaded::{Speaker, Speech};
use crate::upgrade::RequestHead;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use ws_proto::{DecodeError, Decoder, Event, Opcode, Sender};

/// Largest message and largest backlog (docs/protocol.md, Limits).
const MAX_MESSAGE: u32 = 16 * 1024 * 1024;
const MAX_PENDING: usize = 64 * 1024 * 1024;

/// How many bytes the kernel has taken and not sent yet; none where it does not tell.
fn unsent(stream: &TcpStream) -> libc::c_int {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request writes a C int, which outlives the call.
    let done = unsafe { libc::ioctl(stream.as_raw_fd(), libc::SIOCOUTQNSD, &raw mut bytes) };
    if done < 0 { 0 } else { bytes }
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    state: State,
    framework: Framework,
    pub(super) speaker: Speaker,
    pending: Vec<u8>,
    /// Writes that were recorded, were not sent at once, and may be unsent still.
    pub(super) unsent: Vec<usize>,
    /// EPOLLOUT is armed.
    pub(super) armed: bool,
}

#[derive(Debug)]
enum State {
    Upgrading(Vec<u8>),
    Open(Decoder),
}

/// What a read brought.
#[derive(Debug, Default)]
pub(super) struct Brought {
    pub(super) messages: Vec<Message>,
    /// When the last of it arrived, by the kernel's stamp.
    pub(super) stamp_ns: Option<u64>,
    /// Frames were read, and not a handshake.
    pub(super) frames: bool,
}

#[derive(Debug)]
pub(super) enum Message {
    Data(Opcode, Vec<u8>),
    Ping(Vec<u8>),
    Close(Vec<u8>),
}

/// The connection is to be ended.
#[derive(Debug)]
pub(super) struct Over;

impl From<io::Error> for Over {
    fn from(_: io::Error) -> Self {
        Self
    }
}

impl From<DecodeError> for Over {
    fn from(_: DecodeError) -> Self {
        Self
    }
}

impl Connection {
    pub(super) const fn new(stream: TcpStream, framework: Framework) -> Self {
        Self {
            stream,
            state: State::Upgrading(Vec::new()),
            framework,
            speaker: Speaker {
                speech: Speech::Plain,
                member: false,
            },
            pending: Vec::new(),
            unsent: Vec::new(),
            armed: false,
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Open, and broadcasts are for it.
    pub(super) const fn is_listener(&self) -> bool {
        self.is_open() && self.speaker.member
    }

    pub(super) const fn is_blocked(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Nothing waits here, and the other side has acknowledged everything that the kernel has sent.
    pub(super) fn is_all_sent(&self) -> bool {
        !self.is_blocked() && unsent(&self.stream) == 0
    }

    /// Reads once.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<Brought, Over> {
        let (count, stamp_ns) = match stamped::read(&self.stream, buffer) {
            Ok((0, _)) => return Err(Over),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Ok(Brought::default());
            }
            Err(error) => return Err(error.into()),
        };
        let mut brought = Brought {
            stamp_ns,
            frames: self.is_open(),
            ..Brought::default()
        };
        let State::Upgrading(head) = &mut self.state else {
            self.feed(&buffer[..count], &mut brought)?;
            return Ok(brought);
        };
        head.extend_from_slice(&buffer[..count]);
        let bytes = std::mem::take(head);
        match RequestHead::parse(&bytes).map_err(|_| Over)? {
            None => *head = bytes,
            Some(request) if request.refusal_by(self.framework).is_some() => {
                let refusal = request.refusal_by(self.framework);
                let refusal = refusal.map_or("", |refusal| refusal.response());
                let _ = self.send(refusal.as_bytes());
                return Err(Over);
            }
            Some(request) => {
                self.state = State::Open(Decoder::new(Sender::Client, MAX_MESSAGE));
                let speech = Speech::new(self.framework, &request);
                self.speaker = Speaker {
                    speech,
                    member: speech.is_member_at_once(),
                };
                let accept = request.accept_by(self.framework);
                self.send(&[accept.into_bytes(), speech.greeting()].concat())?;
                self.feed(&bytes[request.len..], &mut brought)?;
            }
        }
        Ok(brought)
    }

    fn feed(&mut self, bytes: &[u8], brought: &mut Brought) -> Result<(), Over> {
        let State::Open(decoder) = &mut self.state else {
            return Ok(());
        };
        decoder.feed(bytes, |event| {
            brought.messages.push(match event {
                Event::Message { opcode, payload } => Message::Data(opcode, payload.to_vec()),
                Event::Ping(payload) => Message::Ping(payload.to_vec()),
                Event::Close(payload) => Message::Close(payload.to_vec()),
                Event::Pong(_) => return Ok(()),
            });
            Ok::<_, Over>(())
        })
    }

    /// Sends bytes behind those that are still waiting.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Over> {
        let sent = if self.pending.is_empty() {
            self.write(bytes)?
        } else {
            0
        };
        self.pending.extend_from_slice(&bytes[sent..]);
        if self.pending.len() > MAX_PENDING {
            return Err(Over);
        }
        Ok(())
    }

    /// Sends what is still waiting.
    pub(super) fn drain(&mut self) -> Result<(), Over> {
        let pending = std::mem::take(&mut self.pending);
        let sent = self.write(&pending)?;
        self.pending = pending[sent..].to_vec();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.stream.write(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }
}

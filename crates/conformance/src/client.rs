//! A small blocking client in which every wait is bounded.
//!
//! Headers of the 101 answer are left to their own checks. Frames are strict: what the codec
//! refuses ends the connection as [`Ending::Malformed`].

mod deflated;
mod opening;

pub(crate) use deflated::RSV1;
pub(crate) use opening::{NoHead, Opening, is_no_101, read_head};

use crate::dialect::{self, Speech};
use crate::failure::Failure;
use crate::message::{Reply, Unread};
use crate::raw;
use crate::stream::{Stream, WRITE};
use crate::target::{Dialect, Target};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, Read as _};
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};
use ws_proto::{CloseError, CloseFrame, DecodeError, Decoder, Event, Opcode};

/// Room for the largest message of the protocol in any envelope.
const MAX_MESSAGE: u32 = 20 * 1024 * 1024;

const READ_SIZE: usize = 64 * 1024;

const STOPPED: &str = "the server stopped reading and left the connection open";

/// From this size on, messages are told from a framework's own traffic by their size alone.
const LARGE: usize = 1024 * 1024;

/// What came from the server.
#[derive(Debug)]
pub(crate) enum Incoming {
    Message {
        raw: Vec<u8>,
        /// The message as the dialect reads it, or what is wrong with it.
        reply: Result<Reply, Unread>,
    },
    Pong(Vec<u8>),
    Close(Result<Option<CloseFrame>, CloseError>),
    End(Ending),
}

/// How a connection ended.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    /// The server ended its side (FIN).
    Eof,
    /// The server reset the connection.
    Reset(ErrorKind),
    /// The server sent what RFC 6455 forbids.
    Malformed(DecodeError),
}

/// Messages that were counted and not kept.
#[derive(Debug, Default)]
pub(crate) struct Skimmed {
    /// Bytes of frames.
    pub(crate) bytes: usize,
    /// Messages of at least [`LARGE`] bytes.
    pub(crate) large: usize,
    /// A close frame has come.
    pub(crate) closed: bool,
}

impl Ending {
    /// The server sent what it may not, and did not merely end the connection.
    pub(crate) const fn is_forbidden(&self) -> bool {
        matches!(self, Self::Malformed(_))
    }
}

/// An open WebSocket connection.
pub(crate) struct Client {
    stream: Stream,
    speech: &'static dyn Speech,
    decoder: Decoder,
    inbox: VecDeque<Incoming>,
    ended: Option<Ending>,
    /// How long one answer may take.
    pub(crate) timeout: Duration,
    read_timeout: Option<Duration>,
    buffer: Vec<u8>,
    /// Present where compression was negotiated.
    deflate: Option<deflated::Deflate>,
    /// The dialect's opening is complete: from here on noise is passed over.
    joined: bool,
    /// The library adds something of its own to all messages that follow.
    has_added: bool,
}

/// The stage at which a connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("could not connect: {0}")]
    Connect(io::Error),
    #[error("the handshake failed: {0}")]
    Handshake(String),
    #[error("the client could not join: {0}")]
    Join(String),
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self(error.to_string())
    }
}

/// The value of `Origin` in this dialect, if there is to be one.
pub(crate) fn origin(target: &Target, dialect: Dialect) -> Option<String> {
    let own = || {
        dialect
            .speech()
            .needs_origin()
            .then(|| format!("{}://{}", target.http(), target.host))
    };
    target.origin.clone().or_else(own)
}

impl Client {
    /// Opens a connection in one go, up to the first request.
    pub(crate) fn open(target: &Target, dialect: Dialect, key: &str) -> Result<Self, OpenError> {
        let mut client = Opening::start(target, dialect, key)?.finish()?;
        client.ask_to_join()?;
        client.joined()?;
        Ok(client)
    }

    /// Sends the first message of the dialect's opening, if the client sends it.
    pub(crate) fn ask_to_join(&mut self) -> Result<(), OpenError> {
        match self.speech.open() {
            dialect::Opening::Send(text) => self.say(&text),
            _ => Ok(()),
        }
    }

    /// Completes the dialect's opening, until requests may be sent.
    pub(crate) fn joined(&mut self) -> Result<(), OpenError> {
        let failed = |what: String| Err(OpenError::Join(what));
        let mut next = self.speech.open();
        while next != dialect::Opening::Ready {
            next = match self.next_within(self.timeout) {
                Some(Incoming::Message { raw, .. }) => {
                    self.has_added |= self.speech.adds(&raw);
                    self.speech.opened(&raw)
                }
                Some(other) => return failed(format!("got {other}")),
                None => return failed(format!("no answer within {:?}", self.timeout)),
            };
            match &next {
                dialect::Opening::Send(text) => self.say(text)?,
                dialect::Opening::Refused(words) => return failed(words.clone()),
                dialect::Opening::Ready | dialect::Opening::Await => {}
            }
        }
        self.joined = true;
        let speech = self.speech;
        self.inbox
            .retain(|came| !matches!(came, Incoming::Message { raw, .. } if speech.is_noise(raw)));
        if self.has_added {
            // What came in one read with the message that made the client ready.
            for came in &mut self.inbox {
                if let Incoming::Message { raw, reply } = came {
                    *raw = speech.without_added(raw).into_owned();
                    *reply = speech.parse(Opcode::Text, raw);
                }
            }
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), OpenError> {
        let sent = self.send(Opcode::Text, text.as_bytes());
        sent.map_err(|failure| OpenError::Join(failure.0))
    }

    /// Sends bytes as they are. If the server has gone, the next read finds it.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self.stream.send(bytes) {
            Err(error) if is_timeout(&error) => Err(Failure::new(STOPPED)),
            _ => Ok(()),
        }
    }

    /// As [`Self::send_reading`], and reads nothing before the server has stopped reading, too.
    pub(crate) fn send_unread(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        const STOPPED_FOR: Duration = Duration::from_millis(200);
        const TURN: Duration = Duration::from_millis(2);
        let mut moved = Instant::now();
        while !bytes.is_empty() && moved.elapsed() < STOPPED_FOR {
            match self.stream.send_now(bytes) {
                Ok(count) => {
                    bytes = &bytes[count..];
                    moved = Instant::now();
                }
                Err(error) if is_timeout(&error) => thread::sleep(TURN),
                Err(_) => break,
            }
        }
        self.send_reading(bytes)
    }

    /// As [`Self::send_raw`], and reads what comes while the server takes nothing: it may be waiting for
    /// this client to read.
    pub(crate) fn send_reading(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        const TURN: Duration = Duration::from_millis(20);
        let patience = self.timeout.max(WRITE);
        let mut moved = Instant::now();
        while !bytes.is_empty() && self.ended.is_none() {
            match self.stream.send_now(bytes) {
                Ok(count) => {
                    bytes = &bytes[count..];
                    moved = Instant::now();
                }
                Err(error) if is_timeout(&error) => {
                    let had = self.inbox.len();
                    self.wait_at_most(TURN);
                    self.read_once();
                    if self.inbox.len() > had {
                        moved = Instant::now();
                    } else if moved.elapsed() >= patience {
                        return Err(Failure::new(STOPPED));
                    }
                }
                Err(_) => break,
            }
        }
        self.send_raw(b"")
    }

    /// Sends one message in one frame.
    pub(crate) fn send(&mut self, opcode: Opcode, message: &[u8]) -> Result<(), Failure> {
        self.send_raw(&raw::frame(raw::FIN | opcode as u8, message))
    }

    /// The next thing from the server, or `None` when nothing comes within `wait`. After the end
    /// of the connection, the end again.
    pub(crate) fn next_within(&mut self, wait: Duration) -> Option<Incoming> {
        let deadline = Instant::now() + wait;
        loop {
            if let Some(incoming) = self.inbox.pop_front() {
                return Some(incoming);
            }
            if let Some(ending) = &self.ended {
                return Some(Incoming::End(ending.clone()));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            self.wait_at_most(wait);
            self.read_once();
        }
    }

    /// As [`Self::next_within`] the client's timeout, but by polling, so that it returns within
    /// microseconds of the arrival.
    pub(crate) fn next_spinning(&mut self) -> Option<Incoming> {
        let deadline = Instant::now() + self.timeout;
        self.stream.set_nonblocking(true);
        while self.inbox.is_empty() && self.ended.is_none() && Instant::now() < deadline {
            self.read_once();
            std::hint::spin_loop();
        }
        self.stream.set_nonblocking(false);
        self.next_within(Duration::ZERO)
    }

    fn wait_at_most(&mut self, wait: Duration) {
        // Saves a system call: any timeout up to the wait is right.
        if self.read_timeout.is_none_or(|set| set > wait) {
            self.stream.set_read_timeout(wait);
            self.read_timeout = Some(wait);
        }
    }

    fn read_once(&mut self) {
        if let Some(count) = self.receive() {
            let buffer = std::mem::take(&mut self.buffer);
            self.feed(&buffer[..count]);
            self.buffer = buffer;
        }
    }

    /// The number of bytes that came, into the buffer.
    fn receive(&mut self) -> Option<usize> {
        match self.stream.read(&mut self.buffer) {
            Ok(0) => self.ended = Some(Ending::Eof),
            Ok(count) => return Some(count),
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.ended = Some(Ending::Reset(error.kind())),
        }
        None
    }

    fn feed(&mut self, bytes: &[u8]) {
        let (inbox, stream, speech) = (&mut self.inbox, &mut self.stream, self.speech);
        let (joined, has_added) = (self.joined, self.has_added);
        let deflate = &mut self.deflate;
        let fed = self.decoder.feed_marking(bytes, |event, mark| {
            let inflated;
            let event = match (event, &mut *deflate) {
                (Event::Message { opcode, payload }, Some(deflate)) if mark.compressed => {
                    inflated = deflate.inflate(payload)?;
                    Event::Message {
                        opcode,
                        payload: &inflated,
                    }
                }
                (event, _) => event,
            };
            inbox.push_back(match event {
                Event::Message { payload, .. } if joined && speech.is_noise(payload) => {
                    return Ok(());
                }
                Event::Message { opcode, payload } => {
                    let message = match has_added {
                        true => speech.without_added(payload),
                        false => Cow::Borrowed(payload),
                    };
                    Incoming::Message {
                        reply: speech.parse(opcode, &message),
                        raw: message.into_owned(),
                    }
                }
                Event::Pong(payload) => Incoming::Pong(payload.to_vec()),
                Event::Close(payload) => Incoming::Close(CloseFrame::parse(payload)),
                Event::Ping(payload) => {
                    pong(stream, payload);
                    return Ok(());
                }
            });
            Ok::<_, DecodeError>(())
        });
        if let Err(error) = fed {
            self.ended = Some(Ending::Malformed(error));
        }
    }

    /// Counts what comes and keeps none of it, until `enough`, the end of the connection, its
    /// closing, `until`, or nothing coming for the client's timeout.
    pub(crate) fn skim(
        &mut self,
        skimmed: &mut Skimmed,
        until: Instant,
        enough: impl Fn(&Skimmed) -> bool,
    ) {
        let mut latest = Instant::now();
        while !enough(skimmed) && self.ended.is_none() && !skimmed.closed {
            if latest.elapsed() >= self.timeout || Instant::now() >= until {
                return;
            }
            self.wait_at_most(self.timeout);
            if self.skim_once(skimmed) {
                latest = Instant::now();
            }
        }
    }

    /// True when something came.
    fn skim_once(&mut self, skimmed: &mut Skimmed) -> bool {
        let Some(count) = self.receive() else {
            return false;
        };
        skimmed.bytes += count;
        let stream = &mut self.stream;
        let fed = self.decoder.feed(&self.buffer[..count], |event| {
            match event {
                Event::Message { payload, .. } => {
                    skimmed.large += usize::from(payload.len() >= LARGE);
                }
                Event::Close(_) => skimmed.closed = true,
                Event::Ping(payload) => pong(stream, payload),
                Event::Pong(_) => {}
            }
            Ok::<_, DecodeError>(())
        });
        if let Err(error) = fed {
            self.ended = Some(Ending::Malformed(error));
        }
        true
    }

    /// How the connection has ended, if it has.
    pub(crate) fn ending(&self) -> Option<&Ending> {
        self.ended.as_ref()
    }

    /// Ends its own side of the connection, without a close frame.
    pub(crate) fn end_sending(&self) {
        let _ = self.stream.socket().shutdown(Shutdown::Write);
    }

    /// The port of this end.
    pub(crate) fn port(&self) -> Result<u16, Failure> {
        let port = self.stream.port();
        port.map_err(|error| Failure(format!("a connection without an address: {error}")))
    }

    /// Ends the connection with a reset and without a close frame.
    pub(crate) fn reset(self) {
        let _ = self.stream.socket().set_linger(Some(Duration::ZERO));
    }

    /// Gives this client a small receive buffer, so that it takes little at once.
    pub(crate) fn narrow(&self) {
        let _ = self.stream.socket().set_recv_buffer_size(4096);
    }
}

/// If the server has gone, the next read finds it.
fn pong(stream: &mut Stream, payload: &[u8]) {
    let frame = raw::frame(raw::FIN | Opcode::Pong as u8, payload);
    let _ = stream.send(&frame);
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eof => f.write_str("the end of the connection"),
            Self::Reset(kind) => write!(f, "the end of the connection ({kind})"),
            Self::Malformed(error) => write!(f, "a frame that is not allowed: {error}"),
        }
    }
}

impl fmt::Display for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message {
                reply: Ok(reply), ..
            } => write!(f, "{reply}"),
            Self::Message {
                reply: Err(what), ..
            } => write!(f, "{what}"),
            Self::Pong(payload) => write!(f, "a pong with {} bytes", payload.len()),
            Self::Close(Ok(None)) => f.write_str("a close frame without a code"),
            Self::Close(Ok(Some(frame))) => {
                write!(f, "a close frame with {} {:?}", frame.code, frame.reason)
            }
            Self::Close(Err(error)) => write!(f, "a bad close frame: {error}"),
            Self::End(ending) => write!(f, "{ending}"),
        }
    }
}

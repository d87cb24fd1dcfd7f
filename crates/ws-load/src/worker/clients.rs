//! The clients of a worker: bytes in, frames out, and how a connection ends.

use super::{Core, Report};
use crate::connection::{Connection, Phase};
use crate::error::ConnectError;
use crate::io::{Control, Token};
use crate::transport::Transport;
use crate::{clock, dialect};
use run_record::Timestamps;
use socket2::Socket;
use std::io;
use std::time::Duration;
use ws_proto::{CloseFrame, DecodeError, Event, Opcode, encode_frame};

/// Pongs that are sent after one read. Of more pings than this the most recent is answered last, and
/// some before it are not (RFC 6455, 5.5.3).
const PONGS: usize = 16;

/// All connections of a worker, by slot. A slot is used once.
#[derive(Debug)]
pub(super) struct Clients {
    connections: Vec<Connection>,
    /// In bytes.
    longest_message: u32,
    /// Connections that were told to close and have not ended.
    pub(super) closing: usize,
}

impl Clients {
    /// No clients yet; those to come may be sent messages of at most so many bytes.
    pub(super) const fn new(longest_message: u32) -> Self {
        Self {
            connections: Vec::new(),
            longest_message,
            closing: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }

    pub(super) fn add(&mut self, transport: Transport) -> Token {
        let connection = Connection::connecting(transport, self.longest_message);
        self.connections.push(connection);
        (self.connections.len() - 1) as Token
    }

    /// A slot whose connection could not even be tried.
    pub(super) fn add_gone(&mut self) {
        self.connections.push(Connection::gone());
    }

    #[inline]
    pub(super) fn get(&mut self, slot: Token) -> &mut Connection {
        &mut self.connections[slot as usize]
    }

    /// All sockets, in the order of their slots, when every connection is open and without TLS.
    pub(super) fn take_sockets(&mut self) -> impl Iterator<Item = Socket> {
        let connections = std::mem::take(&mut self.connections).into_iter();
        connections.filter_map(|connection| Some(connection.transport?.into_socket()))
    }

    /// Ends what is left, without a trace in the kernel.
    pub(super) fn abort_all(&mut self) {
        for connection in self.connections.drain(..) {
            if let Some(transport) = connection.transport {
                drop(transport.abort());
            }
        }
    }
}

/// When the last bytes of a read arrived, as far as is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) at_ns: u64,
    /// As of [`crate::io::Event::Data`].
    pub(super) stamped: bool,
}

/// Bytes of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bytes<'a> {
    /// As they came from the socket.
    Wire(&'a [u8]),
    /// Already decrypted.
    Plain(&'a [u8]),
}

/// Why no more bytes of a connection are read.
#[derive(Debug)]
pub(super) enum Stop {
    Protocol(DecodeError),
    Io(io::Error),
    /// The peer's close frame, if it has a code. What follows is no message (RFC 6455, 5.5.1).
    Closed(Option<CloseFrame>),
    /// The framework turned the client away, with these words.
    Turned(String),
}

impl From<DecodeError> for Stop {
    fn from(error: DecodeError) -> Self {
        Self::Protocol(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What a connection has to send after its bytes were read. Bounded, however many pings they were.
#[derive(Debug, Default)]
struct Replies {
    /// Payloads of pings.
    pongs: Vec<Vec<u8>>,
    opening: Option<dialect::Opening>,
    /// To the latest of the dialect's own keep-alives.
    keep_alive: Option<Box<[u8]>>,
}

impl Replies {
    #[cold]
    fn pong(&mut self, payload: &[u8]) {
        if self.pongs.len() == PONGS {
            self.pongs.pop();
        }
        self.pongs.push(payload.to_vec());
    }

    fn is_empty(&self) -> bool {
        self.pongs.is_empty() && self.opening.is_none() && self.keep_alive.is_none()
    }
}

impl Core {
    #[inline]
    pub(super) fn on_data<C: Control>(
        &mut self,
        control: &mut C,
        slot: Token,
        bytes: &[u8],
        stamp: Stamp,
    ) {
        if matches!(self.clients.get(slot).phase, Phase::Upgrading(_)) {
            self.on_upgrade_data(control, slot, bytes);
            return;
        }
        self.on_frames(control, slot, Bytes::Wire(bytes), stamp);
    }

    /// Bytes of a connection whose upgrade is done.
    #[inline]
    pub(super) fn on_frames<C: Control>(
        &mut self,
        control: &mut C,
        slot: Token,
        bytes: Bytes<'_>,
        stamp: Stamp,
    ) {
        let at_ns = stamp.at_ns;
        let kernel_stamps = self.plan.generator.timestamps == Timestamps::Kernel;
        // With TLS, reading may write what waits.
        let held = self.backlog.holds(slot);
        if held {
            self.before_flush(slot);
        }
        let (judge, hold) = (&mut self.judge, &mut self.hold);
        let Connection {
            transport,
            decoder,
            phase,
            stamped_ns,
        } = self.clients.get(slot);
        // Without stamps a latency ends with the read, and nothing about that is unknown.
        let slack_ns = match kernel_stamps {
            true => at_ns.saturating_sub(*stamped_ns),
            false => 0,
        };
        if stamp.stamped {
            *stamped_ns = at_ns;
        }
        let Some(transport) = transport else {
            return;
        };
        let mut replies = Replies::default();
        let mut ready = !matches!(phase, Phase::Subscribing);
        let judged = matches!(phase, Phase::Ready | Phase::Subscribing);
        let mut feed = |plain: &[u8], is_last: bool| {
            judge.received_bytes += plain.len() as u64;
            decoder.feed_counting(plain, |event, rest| {
                match event {
                    Event::Message { opcode, payload } if ready => {
                        if judged {
                            let is_end = rest == 0 && is_last && stamp.stamped;
                            judge.slack_ns = if is_end { 0 } else { slack_ns };
                            judge.message(slot, opcode, payload, at_ns);
                        }
                    }
                    Event::Message { payload, .. } => match judge.codec().opened(payload) {
                        dialect::Opening::Await => {}
                        dialect::Opening::Refused(words) => return Err(Stop::Turned(words)),
                        next => {
                            ready = next == dialect::Opening::Ready;
                            replies.opening = Some(next);
                        }
                    },
                    Event::Ping(payload) => replies.pong(payload),
                    Event::Pong(payload) => {
                        if let Some(hold) = hold {
                            judge.messages += 1;
                            hold.pong(slot, payload, at_ns);
                        }
                    }
                    Event::Close(payload) => {
                        let close = CloseFrame::parse(payload).map_err(DecodeError::from)?;
                        return Err(Stop::Closed(close));
                    }
                }
                Ok::<_, Stop>(())
            })
        };
        let was_waiting = transport.wants_write();
        let read = match bytes {
            Bytes::Wire(bytes) => transport.receive(bytes, feed),
            Bytes::Plain(bytes) => feed(bytes, false).map(|()| false),
        };
        replies.keep_alive = judge.keep_alive.take();
        // TLS has words of its own for the peer.
        let read = match watch(control, slot, transport, was_waiting) {
            Ok(()) => read,
            Err(error) => read.and(Err(error.into())),
        };
        if held {
            self.after_flush(control, slot);
        }
        if !replies.is_empty() {
            self.reply(control, slot, replies);
        }
        match read {
            Ok(false) => {}
            Ok(true) => self.on_end(control, slot),
            Err(stop) => self.on_stop(control, slot, stop),
        }
    }

    #[cold]
    fn reply<C: Control>(&mut self, control: &mut C, slot: Token, replies: Replies) {
        for payload in replies.pongs {
            self.send_latest(control, slot, Opcode::Pong, &payload);
        }
        if let Some(answer) = replies.keep_alive {
            let opcode = self.judge.codec().opcode();
            self.send_latest(control, slot, opcode, &answer);
        }
        if let Some(opening) = replies.opening {
            self.on_opening(control, slot, opening);
        }
    }

    /// Sends one masked frame.
    pub(super) fn send_frame<C: Control>(
        &mut self,
        control: &mut C,
        slot: Token,
        opcode: Opcode,
        payload: &[u8],
    ) {
        let mask = self.draw_mask();
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, Some(mask), payload);
        self.send_bytes(control, slot, &frame);
    }

    /// Answers a ping, or a keep-alive of the dialect. Of those that the peer lets wait, by not
    /// reading, it gets an answer to the most recent only (RFC 6455, 5.5.3).
    fn send_latest<C: Control>(
        &mut self,
        control: &mut C,
        slot: Token,
        opcode: Opcode,
        payload: &[u8],
    ) {
        let mask = self.draw_mask();
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, Some(mask), payload);
        self.write(control, slot, |transport| transport.send_latest(&frame));
    }

    /// Sends bytes; a connection that cannot take them is broken. True when the kernel has taken
    /// all, `None` when the connection is broken or gone.
    #[inline]
    pub(super) fn send_bytes<C: Control>(
        &mut self,
        control: &mut C,
        slot: Token,
        bytes: &[u8],
    ) -> Option<bool> {
        self.write(control, slot, |transport| transport.send(bytes))
    }

    /// True while the socket of a connection takes no bytes.
    #[inline]
    pub(super) fn is_blocked(&mut self, slot: Token) -> bool {
        let transport = &self.clients.get(slot).transport;
        transport.as_ref().is_some_and(Transport::wants_write)
    }

    #[inline]
    fn write<C: Control>(
        &mut self,
        control: &mut C,
        slot: Token,
        send: impl FnOnce(&mut Transport) -> io::Result<bool>,
    ) -> Option<bool> {
        let transport = self.clients.get(slot).transport.as_mut()?;
        let was_waiting = transport.wants_write();
        let sent = send(transport);
        let watched = watch(control, slot, transport, was_waiting);
        match sent.and_then(|taken| watched.map(|()| taken)) {
            Ok(taken) => Some(taken),
            Err(error) => {
                self.on_failed(control, slot, error);
                None
            }
        }
    }

    pub(super) fn on_writable<C: Control>(&mut self, control: &mut C, slot: Token) {
        if matches!(self.clients.get(slot).phase, Phase::Connecting) {
            self.on_connected(control, slot);
            return;
        }
        self.before_flush(slot);
        let Some(transport) = &mut self.clients.get(slot).transport else {
            return;
        };
        let flushed = transport.flush();
        match flushed.and_then(|_| rewatch(control, slot, transport)) {
            Ok(()) => self.after_flush(control, slot),
            Err(error) => self.on_failed(control, slot, error),
        }
    }

    /// The peer has ended the connection without a close frame.
    pub(super) fn on_end<C: Control>(&mut self, control: &mut C, slot: Token) {
        self.on_closed(control, slot, None);
    }

    /// The peer has ended the connection, or has said that it will.
    fn on_closed<C: Control>(&mut self, control: &mut C, slot: Token, close: Option<CloseFrame>) {
        let error = ConnectError::Closed {
            addr: self.target.addr,
            stage: self.clients.get(slot).stage(),
            reset: false,
            close,
        };
        self.lose(control, slot, error);
    }

    pub(super) fn on_failed<C: Control>(&mut self, control: &mut C, slot: Token, error: io::Error) {
        let stage = self.clients.get(slot).stage();
        let error = self.explain(error, stage, slot);
        self.lose(control, slot, error);
    }

    #[cold]
    fn on_stop<C: Control>(&mut self, control: &mut C, slot: Token, stop: Stop) {
        let addr = self.target.addr;
        let is_ready = matches!(self.clients.get(slot).phase, Phase::Ready);
        match stop {
            Stop::Io(error) => self.on_failed(control, slot, error),
            Stop::Closed(close) => {
                if is_ready {
                    // The peer's own code, or none (RFC 6455, 5.5.1).
                    let code = close.as_ref().map(|close| close.code.to_be_bytes());
                    let answer = code.as_ref().map_or(&[][..], |code| &code[..]);
                    self.send_frame(control, slot, Opcode::Close, answer);
                }
                self.on_closed(control, slot, close);
            }
            Stop::Turned(words) => self.lose(control, slot, ConnectError::Turned { addr, words }),
            Stop::Protocol(source) => {
                let error = match source {
                    DecodeError::TooLong { size, limit } => {
                        ConnectError::TooLong { addr, size, limit }
                    }
                    source => ConnectError::Protocol { addr, source },
                };
                if is_ready && self.judge.step().is_some() {
                    self.judge.malformed(match &error {
                        ConnectError::Protocol { source, .. } => source.to_string(),
                        error => error.to_string(),
                    });
                }
                self.lose(control, slot, error);
            }
        }
    }

    /// A connection is over, whatever phase it was in.
    #[cold]
    pub(super) fn lose<C: Control>(&mut self, control: &mut C, slot: Token, error: ConnectError) {
        let connection = self.clients.get(slot);
        let Some(transport) = connection.transport.take() else {
            return;
        };
        let was_opening = connection.is_opening();
        let phase = std::mem::replace(&mut connection.phase, Phase::Gone);
        if was_opening {
            control.close(transport.abort());
            self.opening.under_way -= 1;
            if let Some(hold) = &mut self.hold {
                hold.failed(&error);
                self.judge.faults.refused += 1;
                return;
            }
            // A limit of this machine came first, and is what will be told.
            if !self.opening.is_exhausted() {
                self.report(Report::OpenFailed(Box::new(error)));
            }
            return;
        }
        control.close(transport.into_socket());
        match phase {
            Phase::Closing => self.clients.closing -= 1,
            Phase::Ready => {
                self.note_connected(-1);
                self.judge.client_lost(slot);
                self.send_elsewhere(slot);
                if self.hold.is_some() {
                    self.note_dropped(slot, &error);
                } else if self.judge.step().is_none()
                    || self.opening.is_wanting(self.judge.alive_count())
                {
                    self.report(Report::OpenFailed(Box::new(error)));
                } else {
                    self.judge.disconnected(&error);
                    if self.judge.alive_count() == 0 {
                        self.report(Report::AllLost);
                    }
                }
            }
            _ => {}
        }
    }

    /// Sends a close frame on every connection and waits for the peers until `patience` is over.
    pub(super) fn close<C: Control>(&mut self, patience: Duration, control: &mut C) {
        self.opening.stop();
        self.closing = Some(clock::now_ns() + clock::nanos(patience));
        let close = CloseFrame {
            code: 1000,
            reason: String::new(),
        };
        for slot in 0..self.clients.len() as Token {
            if !matches!(self.clients.get(slot).phase, Phase::Ready) {
                continue;
            }
            self.clients.get(slot).phase = Phase::Closing;
            self.clients.closing += 1;
            self.send_frame(control, slot, Opcode::Close, &close.encode());
        }
    }

    pub(super) fn is_closed(&self, end_ns: u64) -> bool {
        self.clients.closing == 0 || clock::now_ns() >= end_ns
    }
}

/// Asks to be told when the socket takes bytes again, if any wait now and none did before; stops
/// asking when none do any more.
#[inline]
pub(super) fn watch<C: Control>(
    control: &mut C,
    slot: Token,
    transport: &Transport,
    was_waiting: bool,
) -> io::Result<()> {
    if transport.wants_write() == was_waiting {
        return Ok(());
    }
    rewatch(control, slot, transport)
}

/// Asks to be told when the socket takes bytes again, if any wait.
#[cold]
fn rewatch<C: Control>(control: &mut C, slot: Token, transport: &Transport) -> io::Result<()> {
    control.established(slot, transport.raw(), transport.wants_write())
}

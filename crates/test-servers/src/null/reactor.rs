//! The loop of the null server: one thread, one epoll, all connections.

use super::deflated::Deflated;
use super::outbox::Outbox;
use super::reply::{Request, put_error, put_result, put_with, recognise};
use super::rooms::{Asked, Topics, What};
use crate::poll::{Interest, Poll, Ready, accept};
use crate::upgrade::{Refusal, RequestHead};
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use ws_proto::{
    CloseFrame, DecodeError, Decoder, Event, InflateError, Opcode, Sender, encode_frame,
};

const LISTENER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;

/// Largest message (docs/protocol.md, Limits).
const MAX_MESSAGE: u32 = 16 * 1024 * 1024;

/// Bytes read from one connection in one round, so that one sender cannot starve the others.
const READ_SIZE: usize = 256 * 1024;

/// A round that has gathered this many bytes of broadcasts is flushed at once.
const ROUND_LIMIT: usize = 1024 * 1024;

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    state: State,
    outbox: Outbox,
    /// Listed in `Round::touched`.
    touched: bool,
    /// EPOLLOUT is armed.
    armed: bool,
    /// It has asked for a topic.
    subscribes: bool,
}

#[derive(Debug)]
enum State {
    Upgrading(Vec<u8>),
    Open(Decoder),
    /// The last bytes are queued; the end follows them.
    Closing,
}

/// What the current round of the loop has to send.
#[derive(Debug, Default)]
struct Round {
    shared: Vec<u8>,
    touched: Vec<usize>,
    /// What was asked about topics.
    asked: Vec<Asked>,
    /// Every message is compressed.
    deflated: Option<Deflated>,
}

#[derive(Debug)]
pub(super) struct Reactor {
    poll: Poll,
    listener: TcpListener,
    /// The kernel is out of descriptors: accepting waits for a connection to end.
    accepting: bool,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    round: Round,
    topics: Topics,
    buffer: Vec<u8>,
    echo_raw: bool,
}

impl Reactor {
    pub(super) fn new(
        listener: TcpListener,
        wake: &UnixStream,
        echo_raw: bool,
        deflate: bool,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        listener.set_nonblocking(true)?;
        poll.add(&listener, LISTENER)?;
        poll.add(wake, WAKE)?;
        Ok(Self {
            poll,
            listener,
            accepting: true,
            connections: Vec::new(),
            free: Vec::new(),
            round: Round {
                deflated: deflate.then(Deflated::new),
                ..Round::default()
            },
            topics: Topics::default(),
            buffer: vec![0; READ_SIZE],
            echo_raw,
        })
    }

    /// Serves until the other end of the wake socket is shut; the caller keeps this end alive.
    pub(super) fn run(&mut self) -> io::Result<()> {
        let mut ready = Vec::new();
        loop {
            self.poll.wait(&mut ready)?;
            for &Ready {
                token,
                readable,
                writable,
            } in &ready
            {
                match token {
                    LISTENER => self.accept_all()?,
                    WAKE => return Ok(()),
                    index => self.serve(index as usize, readable, writable),
                }
                if self.round.shared.len() > ROUND_LIMIT {
                    self.flush_round();
                }
            }
            self.flush_round();
        }
    }

    fn accept_all(&mut self) -> io::Result<()> {
        loop {
            let stream = match accept(&self.listener) {
                Ok(stream) => stream,
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => return Ok(()),
                    Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) => {
                        self.accepting = false;
                        return self.poll.remove(&self.listener);
                    }
                    Some(libc::ECONNABORTED | libc::EINTR | libc::EPROTO) => continue,
                    _ => return Err(error),
                },
            };
            let index = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            if self.poll.add(&stream, index as u64).is_err() {
                self.free.push(index);
                continue;
            }
            self.connections[index] = Some(Connection {
                stream,
                state: State::Upgrading(Vec::new()),
                outbox: Outbox::default(),
                touched: false,
                armed: false,
                subscribes: false,
            });
        }
    }

    fn serve(&mut self, index: usize, readable: bool, writable: bool) {
        let Some(connection) = &mut self.connections[index] else {
            return;
        };
        let mut result = Ok(());
        if writable {
            result = connection.outbox.drain(&mut connection.stream);
            connection.touch(index, &mut self.round);
        }
        if readable && result.is_ok() {
            result = connection.read(index, &mut self.buffer, &mut self.round, self.echo_raw);
            connection.touch(index, &mut self.round);
        }
        if result.is_err() {
            self.drop_connection(index);
        }
    }

    /// Does what was asked about topics, in the order in which it came.
    fn serve_topics(&mut self) {
        for asked in std::mem::take(&mut self.round.asked) {
            self.topics.change(&asked);
            let subscribers = match asked.what {
                What::Publish => self.topics.subscribers(&asked.topic),
                What::Subscribe | What::Unsubscribe => &[],
            };
            let messages = subscribers.iter().map(|index| (*index, &asked.message));
            for (index, frame) in messages.chain([(asked.connection, &asked.answer)]) {
                if let Some(connection) = &mut self.connections[index] {
                    let shared = &self.round.shared;
                    connection
                        .outbox
                        .reply(shared, |out| out.extend_from_slice(frame));
                    connection.touch(index, &mut self.round);
                }
            }
        }
    }

    fn flush_round(&mut self) {
        if !self.round.asked.is_empty() {
            self.serve_topics();
        }
        let shared = std::mem::take(&mut self.round.shared);
        let mut touched = std::mem::take(&mut self.round.touched);
        if shared.is_empty() {
            for &index in &touched {
                self.flush(index, &shared);
            }
        } else {
            for index in 0..self.connections.len() {
                self.flush(index, &shared);
            }
        }
        touched.clear();
        self.round.touched = touched;
        self.round.shared = shared;
        self.round.shared.clear();
    }

    fn flush(&mut self, index: usize, shared: &[u8]) {
        let Some(connection) = &mut self.connections[index] else {
            return;
        };
        connection.touched = false;
        if connection.flush(shared).is_err() {
            self.drop_connection(index);
            return;
        }
        if connection.outbox.blocked != connection.armed {
            connection.armed = connection.outbox.blocked;
            let interest = if connection.armed {
                Interest::ReadWrite
            } else {
                Interest::Read
            };
            if self
                .poll
                .change(&connection.stream, index as u64, interest)
                .is_err()
            {
                self.drop_connection(index);
            }
        }
    }

    fn drop_connection(&mut self, index: usize) {
        if let Some(connection) = self.connections[index].take() {
            self.free.push(index);
            if connection.subscribes {
                self.topics.forget(index);
            }
        }
        if !self.accepting && self.poll.add(&self.listener, LISTENER).is_ok() {
            self.accepting = true;
        }
    }
}

impl Connection {
    fn touch(&mut self, index: usize, round: &mut Round) {
        if !self.touched {
            self.touched = true;
            round.touched.push(index);
        }
    }

    /// Reads once and handles what came. An error means: drop the connection.
    fn read(
        &mut self,
        index: usize,
        buffer: &mut [u8],
        round: &mut Round,
        echo_raw: bool,
    ) -> io::Result<()> {
        let count = match self.stream.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let bytes = &buffer[..count];
        match &mut self.state {
            State::Closing => {}
            State::Open(_) => self.take(index, bytes, round, echo_raw),
            State::Upgrading(head) => {
                head.extend_from_slice(bytes);
                let bytes = std::mem::take(head);
                let request = RequestHead::parse(&bytes)
                    .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
                match request {
                    None => *head = bytes,
                    Some(request) => self.upgrade(index, &request, &bytes, round, echo_raw),
                }
            }
        }
        Ok(())
    }

    fn upgrade(
        &mut self,
        index: usize,
        request: &RequestHead,
        bytes: &[u8],
        round: &mut Round,
        raw: bool,
    ) {
        self.outbox = Outbox::joining(&round.shared);
        let accepted = match &round.deflated {
            Some(_) => Deflated::accept(request).ok_or(Refusal::Extension),
            None => Ok(request.accept()),
        };
        let answer = match request.refusal().map_or(accepted, Err) {
            Err(refusal) => {
                self.state = State::Closing;
                refusal.response().to_owned()
            }
            Ok(answer) => {
                let mut decoder = Decoder::new(Sender::Client, MAX_MESSAGE);
                if round.deflated.is_some() {
                    decoder.permit_compressed();
                }
                self.state = State::Open(decoder);
                answer
            }
        };
        self.outbox
            .reply(&round.shared, |out| out.extend(answer.into_bytes()));
        self.take(index, &bytes[request.len..], round, raw);
    }

    fn take(&mut self, index: usize, bytes: &[u8], round: &mut Round, echo_raw: bool) {
        let State::Open(decoder) = &mut self.state else {
            return;
        };
        let outbox = &mut self.outbox;
        let subscribes = &mut self.subscribes;
        let Round {
            shared,
            asked,
            deflated,
            ..
        } = round;
        let mut inflated = Vec::new();
        let fed = decoder.feed_marking(bytes, |event, mark| {
            match event {
                Event::Message { opcode, payload } => {
                    let payload = match deflated {
                        Some(deflated) if mark.compressed => {
                            deflated.inflate(payload, MAX_MESSAGE as usize, &mut inflated)?;
                            &inflated
                        }
                        _ => payload,
                    };
                    let request = match echo_raw {
                        true => Request::Echo,
                        false => recognise(opcode, payload),
                    };
                    match request {
                        Request::Echo => {
                            outbox.reply(shared, |out| {
                                put(out, deflated, |out| {
                                    encode_frame(out, opcode, None, payload)
                                })
                            });
                        }
                        Request::Broadcast { result_at } => {
                            put(shared, deflated, |out| {
                                encode_frame(out, opcode, None, payload)
                            });
                            outbox.reply(shared, |out| {
                                put(out, deflated, |out| {
                                    put_result(out, opcode, payload, result_at);
                                });
                            });
                        }
                        Request::Topic { what, word, topic } => {
                            *subscribes |= what == What::Subscribe;
                            let mut about = about_topic(index, what, payload, word, topic);
                            if let Some(deflated) = deflated {
                                deflated.compress_frame(&mut about.answer, 0);
                                if !about.message.is_empty() {
                                    deflated.compress_frame(&mut about.message, 0);
                                }
                            }
                            asked.push(about);
                        }
                        Request::Unknown => {
                            outbox.reply(shared, |out| put(out, deflated, put_error));
                        }
                    }
                }
                Event::Ping(payload) => {
                    outbox.reply(shared, |out| encode_frame(out, Opcode::Pong, None, payload));
                }
                Event::Pong(_) => {}
                Event::Close(payload) => {
                    return Err(Ending::Close(closing_payload(payload)));
                }
            }
            Ok(())
        });
        if let Err(Ending::Close(payload)) = fed {
            outbox.reply(shared, |out| {
                encode_frame(out, Opcode::Close, None, &payload)
            });
            self.state = State::Closing;
        }
    }

    fn flush(&mut self, shared: &[u8]) -> io::Result<()> {
        match self.state {
            State::Open(_) => self.outbox.flush(&mut self.stream, shared),
            State::Upgrading(_) => Ok(()),
            State::Closing => {
                self.outbox.drain(&mut self.stream)?;
                if self.outbox.is_empty() {
                    self.stream.shutdown(std::net::Shutdown::Both)?;
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Ok(())
            }
        }
    }
}

/// Appends a frame, compressed if messages are.
#[inline]
fn put(out: &mut Vec<u8>, deflated: &mut Option<Deflated>, put: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    put(out);
    if let Some(deflated) = deflated {
        deflated.compress_frame(out, at);
    }
}

fn about_topic(
    connection: usize,
    what: What,
    request: &[u8],
    word: Range<usize>,
    topic: Range<usize>,
) -> Asked {
    let (answers, tells) = what.words();
    let (mut answer, mut message) = (Vec::new(), Vec::new());
    put_with(&mut answer, request, word.clone(), answers);
    if what == What::Publish {
        put_with(&mut message, request, word, tells);
    }
    Asked {
        connection,
        what,
        topic: request[topic].into(),
        message,
        answer,
    }
}

/// Why a connection is to be ended, as the payload of the close frame.
enum Ending {
    Close(Vec<u8>),
}

impl From<InflateError> for Ending {
    fn from(error: InflateError) -> Self {
        DecodeError::Inflate(error).into()
    }
}

impl From<DecodeError> for Ending {
    fn from(error: DecodeError) -> Self {
        let code: u16 = match error {
            DecodeError::TooLong { .. } | DecodeError::Inflate(InflateError::TooLong { .. }) => {
                1009
            }
            DecodeError::Inflate(_) => 1007,
            _ => 1002,
        };
        Self::Close(code.to_be_bytes().to_vec())
    }
}

fn closing_payload(payload: &[u8]) -> Vec<u8> {
    match CloseFrame::parse(payload) {
        Ok(_) => payload.to_vec(),
        Err(_) => 1002u16.to_be_bytes().to_vec(),
    }
}

//! Bytes of a worker's connections: upgrades, frames, and what they mean for the scenario.

use super::captured;
use super::event_loop::{EventLoop, Stamp};
use super::watch::{rewatch, watch};
use crate::clock;
use crate::dialect::{self, Codec};
use crate::io::{Control, Token};
use crate::net::{Codecs, ConnectError, Connection, Deflate, Phase, offer};
use crate::scenario::Clients as _;
use std::io;
use ws_proto::{
    CloseFrame, DecodeError, Event, InflateError, Mark, Opcode, parse_answer, parse_connect,
};

/// Pongs that are sent after one read. Of more pings than this the most recent is answered last, and
/// some before it are not (RFC 6455, 5.5.3).
const PONGS: usize = 16;

/// Bytes of a connection.
#[derive(Clone, Copy, Debug)]
enum Bytes<'a> {
    /// As they came from the socket.
    Wire(&'a [u8]),
    /// Already decrypted.
    Plain(&'a [u8]),
}

/// Why no more bytes of a connection are read.
#[derive(Debug)]
enum Stop {
    Protocol(DecodeError),
    Io(io::Error),
    /// The peer's close frame, if it has a code. What follows is no message (RFC 6455, 5.5.1).
    Closed(Option<CloseFrame>),
    /// The framework refused the client, with these words.
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
    captured: Vec<dialect::Told>,
    /// The client is ready after a time, whatever comes until then.
    settles: bool,
    /// The answer to the latest message that asked meanwhile whether the client lives.
    lives: Option<Vec<u8>>,
    /// How the latest message began that came before the client was ready.
    heard: Vec<u8>,
    /// The scenario knows that the client is ready.
    is_ready: bool,
}

impl Replies {
    #[cold]
    fn pong(&mut self, payload: &[u8]) {
        if self.pongs.len() == PONGS {
            self.pongs.pop();
        }
        self.pongs.push(payload.to_vec());
    }

    /// Takes a message that came before the client was ready. True when it is ready now.
    #[cold]
    fn open(
        &mut self,
        codec: &dyn Codec,
        message: &[u8],
        room: Option<u32>,
        keep: impl FnOnce() -> Result<(), String>,
    ) -> Result<bool, Stop> {
        if self.settles {
            return match codec.heard_before_ready(message) {
                dialect::Opening::Refused(words) => Err(Stop::Turned(words)),
                dialect::Opening::SendAsIs(answer) => {
                    self.lives = Some(answer);
                    Ok(false)
                }
                _ => Ok(false),
            };
        }
        let next = codec.opened(message, room);
        self.heard = message[..message.len().min(captured::SHOWN)].to_vec();
        self.captured.extend(codec.captured(message));
        match next {
            dialect::Opening::Await => Ok(false),
            dialect::Opening::Keep => keep().map(|()| false).map_err(Stop::Turned),
            dialect::Opening::Refused(words) => Err(Stop::Turned(words)),
            next => {
                let is_ready = next.makes_ready();
                self.settles = next.makes_ready_later();
                self.opening = Some(next);
                Ok(is_ready)
            }
        }
    }

    /// Nothing has to be sent first, which may fail.
    const fn only_readies(&self) -> bool {
        matches!(self.opening, Some(dialect::Opening::Ready))
    }

    fn is_empty(&self) -> bool {
        self.pongs.is_empty()
            && self.opening.is_none()
            && self.captured.is_empty()
            && self.lives.is_none()
            && self.heard.is_empty()
    }
}

impl EventLoop {
    #[inline]
    pub(super) fn on_data(
        &mut self,
        control: &mut dyn Control,
        slot: Token,
        bytes: &[u8],
        stamp: Stamp,
    ) {
        match self.clients.get(slot).phase {
            Phase::Tunnelling(_) => self.on_tunnel_data(control, slot, bytes),
            Phase::Upgrading(_) => self.on_upgrade_data(control, slot, bytes, stamp),
            Phase::Ready if self.takes_bytes => {
                self.on_raw_bytes(control, slot, Bytes::Wire(bytes), stamp);
            }
            _ => self.on_frames(control, slot, Bytes::Wire(bytes), stamp),
        }
    }

    /// Bytes of a connection whose upgrade is done.
    #[inline]
    fn on_frames(
        &mut self,
        control: &mut dyn Control,
        slot: Token,
        bytes: Bytes<'_>,
        stamp: Stamp,
    ) {
        let at_ns = stamp.at_ns;
        let (room, node) = self.clients.place_of_opening(slot);
        let scenario = &mut self.scenario;
        let codec = &self.codec;
        let begun = &mut self.begun;
        let missed = &mut self.missed;
        let (connection, deflate) = self.clients.get_with_deflate(slot);
        let Connection {
            transport,
            decoder,
            phase,
            stamped_ns,
            codecs,
        } = connection;
        // Without stamps a latency ends with the read, whose time is known exactly.
        let slack_ns = match self.kernel_stamps {
            true => at_ns.saturating_sub(stamp.since_ns.max(*stamped_ns)),
            false => 0,
        };
        if stamp.stamped {
            *stamped_ns = at_ns;
        }
        let Some(transport) = transport else {
            return;
        };
        // With TLS, reading may write what waits.
        let has_unsent = transport.unsent() > 0;
        if has_unsent {
            scenario.before_flush(slot, clock::now_ns());
        }
        let mut replies = Replies {
            settles: matches!(phase, Phase::Settling { .. }),
            ..Replies::default()
        };
        let mut ready = !matches!(phase, Phase::Subscribing | Phase::Settling { .. });
        let verified = matches!(phase, Phase::Ready | Phase::Between | Phase::Subscribing);
        let received_bytes = &mut self.received_bytes;
        let mut feed = |plain: &[u8], is_last: bool| {
            *received_bytes += plain.len() as u64;
            decoder.feed_marking(plain, |event, mark| {
                match inflated(event, mark, codecs, deflate)? {
                    Event::Message { opcode, payload } if ready => {
                        if verified {
                            let is_end = mark.rest == 0 && is_last && stamp.stamped;
                            let slack_ns = if is_end { 0 } else { slack_ns };
                            scenario.message(slot, opcode, payload, at_ns, slack_ns);
                        }
                    }
                    Event::Message { opcode, payload } => {
                        let joined = begun.joined(slot, payload);
                        let mut rest = &*joined;
                        let mut count = 0;
                        loop {
                            let (message, behind) = codec.cut(rest);
                            if codec.goes_on(message) {
                                count = message.len();
                                break;
                            }
                            let keep = || missed.keep(slot, opcode, message);
                            if replies.open(&**codec, message, room, keep)? {
                                ready = true;
                                replies.is_ready = replies.only_readies();
                                if replies.is_ready {
                                    scenario.ready(slot, at_ns, room, node);
                                }
                                for (opcode, message) in missed.take(slot) {
                                    scenario.message(slot, opcode, &message, at_ns, slack_ns);
                                }
                                // Whatever came with the message that made it ready.
                                if !behind.is_empty() {
                                    scenario.message(slot, opcode, behind, at_ns, slack_ns);
                                }
                                break;
                            }
                            if behind.is_empty() {
                                break;
                            }
                            rest = behind;
                        }
                        begun.keep_end(slot, joined, count);
                    }
                    Event::Ping(payload) => replies.pong(payload),
                    Event::Pong(payload) => scenario.pong(slot, payload, at_ns),
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
        // A TLS error sends an alert to the peer.
        let read = match watch(control, slot, transport, was_waiting) {
            Ok(()) => read,
            Err(error) => read.and(Err(error.into())),
        };
        if has_unsent {
            let session = &mut self.clients.session(control);
            self.scenario.after_flush(slot, session);
        }
        if !replies.is_empty() {
            self.reply(control, slot, replies, at_ns);
        }
        match read {
            Ok(false) => {}
            Ok(true) => self.clients.session(control).on_end(slot),
            Err(stop) => self.on_stop(control, slot, stop),
        }
    }

    /// Bytes that the scenario takes as they are.
    fn on_raw_bytes(
        &mut self,
        control: &mut dyn Control,
        slot: Token,
        bytes: Bytes<'_>,
        stamp: Stamp,
    ) {
        let scenario = &mut self.scenario;
        let received_bytes = &mut self.received_bytes;
        let Some(transport) = &mut self.clients.get(slot).transport else {
            return;
        };
        let mut feed = |plain: &[u8], _: bool| {
            *received_bytes += plain.len() as u64;
            scenario.bytes(slot, plain, stamp.read_ns);
            Ok::<_, io::Error>(())
        };
        let was_waiting = transport.wants_write();
        let read = match bytes {
            Bytes::Wire(bytes) => transport.receive(bytes, feed),
            Bytes::Plain(bytes) => feed(bytes, false).map(|()| false),
        };
        let read = match watch(control, slot, transport, was_waiting) {
            Ok(()) => read,
            Err(error) => read.and(Err(error)),
        };
        match read {
            Ok(false) => {}
            Ok(true) => self.clients.session(control).on_end(slot),
            Err(error) => self.clients.session(control).on_failed(slot, error),
        }
    }

    #[cold]
    fn reply(&mut self, control: &mut dyn Control, slot: Token, replies: Replies, at_ns: u64) {
        for payload in replies.pongs {
            self.clients
                .session(control)
                .send_latest(slot, Opcode::Pong, &payload);
        }
        self.clients.captured.note(&replies.heard);
        self.clients.keep_told(slot, replies.captured);
        if let Some(opening) = replies.opening {
            self.on_opening(control, slot, opening, at_ns, replies.is_ready);
        }
        if let Some(answer) = replies.lives {
            let opcode = self.codec.opcode();
            let session = &mut self.clients.session(control);
            session.send_latest(slot, opcode, &answer);
        }
    }

    /// The clients are ready that only waited for a time, which is over.
    pub(super) fn end_settling(&mut self, control: &mut dyn Control) {
        let now_ns = clock::now_ns();
        while let Some(slot) = self.clients.take_settled(now_ns) {
            self.on_opening(control, slot, dialect::Opening::Ready, now_ns, false);
        }
    }

    fn on_opening(
        &mut self,
        control: &mut dyn Control,
        slot: Token,
        opening: dialect::Opening,
        at_ns: u64,
        is_told: bool,
    ) {
        let is_ready = self
            .clients
            .session(control)
            .on_opening(slot, opening, at_ns);
        if is_ready && !is_told {
            let (room, node) = (self.clients.room(slot), self.clients.node(slot));
            self.scenario.ready(slot, at_ns, room, node);
        }
    }

    pub(super) fn on_writable(&mut self, control: &mut dyn Control, slot: Token) {
        if matches!(self.clients.get(slot).phase, Phase::Connecting) {
            self.clients.session(control).on_connected(slot);
            return;
        }
        self.scenario.before_flush(slot, clock::now_ns());
        let Some(transport) = &mut self.clients.get(slot).transport else {
            return;
        };
        let flushed = transport.flush();
        let flushed = flushed.and_then(|_| rewatch(control, slot, transport));
        let mut session = self.clients.session(control);
        match flushed {
            Ok(()) => self.scenario.after_flush(slot, &mut session),
            Err(error) => session.on_failed(slot, error),
        }
    }

    #[cold]
    fn on_stop(&mut self, control: &mut dyn Control, slot: Token, stop: Stop) {
        let is_ready = self.clients.get(slot).is_in_use();
        let mut session = self.clients.session(control);
        let addr = session.table.endpoint(slot);
        match stop {
            Stop::Io(error) => session.on_failed(slot, error),
            Stop::Closed(close) => {
                if is_ready {
                    // The peer's own code, or none (RFC 6455, 5.5.1).
                    let code = close.as_ref().map(|close| close.code.to_be_bytes());
                    let answer = code.as_ref().map_or(&[][..], |code| &code[..]);
                    session.send_frame(slot, Opcode::Close, answer);
                }
                session.on_closed(slot, close);
            }
            Stop::Turned(words) => {
                session.lose(slot, ConnectError::Turned { addr, words });
            }
            Stop::Protocol(source) => {
                let error = match source {
                    DecodeError::TooLong { size, limit } => {
                        ConnectError::TooLong { addr, size, limit }
                    }
                    DecodeError::Inflate(InflateError::TooLong { compressed, limit }) => {
                        ConnectError::Expands {
                            addr,
                            compressed,
                            limit,
                        }
                    }
                    source => ConnectError::Protocol { addr, source },
                };
                if is_ready {
                    self.scenario.broke_protocol(match &error {
                        ConnectError::Protocol { source, .. } => source.to_string(),
                        error => error.to_string(),
                    });
                }
                session.lose(slot, error);
            }
        }
    }

    /// Bytes of a proxy's answer, before anything is said to the server.
    fn on_tunnel_data(&mut self, control: &mut dyn Control, slot: Token, bytes: &[u8]) {
        let Phase::Tunnelling(tunnelling) = &mut self.clients.get(slot).phase else {
            return;
        };
        tunnelling.response.extend_from_slice(bytes);
        let parsed = parse_connect(&tunnelling.response);
        let mut session = self.clients.session(control);
        match parsed {
            Ok(false) => {}
            Ok(true) => {
                session.ask_for_upgrade(slot, clock::now_ns());
            }
            Err(source) => {
                let addr = session.table.endpoint(slot);
                session.lose(slot, ConnectError::Proxy { addr, source });
            }
        }
    }

    /// Bytes of the answer to an upgrade, and whatever follows it at once.
    fn on_upgrade_data(
        &mut self,
        control: &mut dyn Control,
        slot: Token,
        bytes: &[u8],
        stamp: Stamp,
    ) {
        let offer = offer(&self.clients.common.plan);
        let (connection, handshakes) = self.clients.get_with_handshakes(slot);
        let (Some(transport), Phase::Upgrading(upgrade)) =
            (&mut connection.transport, &mut connection.phase)
        else {
            return;
        };
        let was_waiting = transport.wants_write();
        let received = transport
            .receive(bytes, |plain, _| {
                upgrade.response.extend_from_slice(plain);
                Ok::<_, io::Error>(())
            })
            .and_then(|has_ended| {
                watch(control, slot, transport, was_waiting)?;
                Ok(has_ended)
            });
        let has_ended = match received {
            Ok(has_ended) => has_ended,
            Err(error) => return self.clients.session(control).on_failed(slot, error),
        };
        if let Some(secured) = transport.take_secured() {
            let took_ns = stamp.at_ns.saturating_sub(upgrade.connected_ns);
            handshakes.note(secured.agreed, secured.resumed, took_ns);
        }
        let parsed = parse_answer(
            &upgrade.response,
            &upgrade.key,
            upgrade.asked.subprotocols().or(self.codec.subprotocol()),
            offer.as_ref(),
        );
        match parsed {
            Ok(None) => {}
            Ok(Some((head, terms))) => {
                if let Some(terms) = terms {
                    connection.decoder.permit_compressed();
                    connection.codecs = Some(Box::new(Codecs::new(terms)));
                }
                let rest = upgrade.response.split_off(head);
                connection.phase = Phase::Subscribing;
                self.begun.forget(slot);
                self.missed.forget(slot);
                self.scenario.upgraded(slot);
                let opening = self.codec.open(self.clients.room(slot));
                self.on_opening(control, slot, opening, stamp.at_ns, false);
                if !rest.is_empty() {
                    self.on_first_bytes(control, slot, &rest, stamp);
                }
            }
            Err(source) => {
                let mut session = self.clients.session(control);
                let addr = session.table.endpoint(slot);
                session.lose(slot, ConnectError::Handshake { addr, source });
            }
        }
        if has_ended {
            self.clients.session(control).on_end(slot);
        }
    }

    /// What came in one read with the answer to the upgrade.
    fn on_first_bytes(
        &mut self,
        control: &mut dyn Control,
        slot: Token,
        plain: &[u8],
        stamp: Stamp,
    ) {
        let stamp = Stamp {
            stamped: false,
            ..stamp
        };
        if self.takes_bytes && self.clients.session(control).is_ready(slot) {
            self.on_raw_bytes(control, slot, Bytes::Plain(plain), stamp);
        } else {
            self.on_frames(control, slot, Bytes::Plain(plain), stamp);
        }
    }
}

/// The event, with the message inflated if it is a compressed one.
#[inline]
fn inflated<'a>(
    event: Event<'a>,
    mark: Mark,
    codecs: &mut Option<Box<Codecs>>,
    deflate: &'a mut Deflate,
) -> Result<Event<'a>, DecodeError> {
    match (event, codecs) {
        (Event::Message { opcode, payload }, Some(codecs)) if mark.compressed => {
            let payload = deflate.inflate(codecs, payload)?;
            Ok(Event::Message { opcode, payload })
        }
        (event, _) => Ok(event),
    }
}

//! permessage-deflate (RFC 7692) under a server that knows nothing of it, and the lies about it.
//!
//! A wire that takes the first offer of a client as it stands, and then shows the server uncompressed
//! frames and the client compressed ones. Without an offer it changes nothing.

use super::hoard::Hoard;
use super::{Lie, frames};
use crate::threaded::{FrameFilter, Wire};
use crate::upgrade::RequestHead;
use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use ws_proto::{
    DecodeError, Decoder, DeflateOffer, DeflateTerms, Deflater, Event, FrameError, InflateError,
    Inflater, Mark, Opcode, Sender, encode_frame, mark_compressed, offers,
};

/// The largest message (docs/protocol.md, Limits), and so much more that the server itself refuses a
/// message without compression.
const LIMIT: usize = 16 << 20;
const MOST_ON_WIRE: u32 = 20 << 20;

const READ_SIZE: usize = 64 * 1024;
/// How hard the server compresses.
const LEVEL: u8 = 6;

/// The latest broadcast and what it was compressed to.
pub(super) type Latest = Arc<Mutex<(Vec<u8>, Vec<u8>)>>;

pub(crate) struct DeflatedWire {
    lie: Lie,
    inner: Arc<dyn Wire>,
    incoming: Mutex<Incoming>,
    outgoing: Mutex<Outgoing>,
    /// The latest message of the client was not compressed.
    got_plain: AtomicBool,
    /// What a server shares that compresses a broadcast once.
    latest: Option<Latest>,
    /// What a server shares that makes others suffer for it: a client that compresses has gone.
    gone: Option<Arc<AtomicBool>>,
    hoard: Hoard,
}

enum Incoming {
    /// The request, as far as it has come.
    Head(Vec<u8>),
    Plain,
    Frames(Box<Inflating>),
}

struct Inflating {
    lie: Lie,
    hoard: Hoard,
    filter: Option<Box<dyn FrameFilter>>,
    decoder: Decoder,
    inflater: Inflater,
    /// What the server has not read yet.
    shown: VecDeque<u8>,
    /// Nothing more of the client is heeded.
    deaf: bool,
}

enum Outgoing {
    Plain,
    /// The answer to the upgrade is next; the line to be added to it.
    Answer(String, DeflateTerms),
    Frames(Box<Deflating>),
}

/// How broadcasts are compressed.
enum Broadcasts {
    /// As everything else.
    Alike,
    /// By the first connection that sends one.
    Once(Latest),
    /// With a context of their own, and the results of them too.
    Apart(Deflater),
}

struct Deflating {
    decoder: Decoder,
    deflater: Deflater,
    broadcasts: Broadcasts,
    loses_incompressible: bool,
    /// Until a broadcast is lost: whether one is to be.
    loses_broadcast: Option<Arc<AtomicBool>>,
}

impl DeflatedWire {
    pub(crate) fn new(lie: Lie, inner: Arc<dyn Wire>) -> Self {
        Self::hoarding(lie, inner, Hoard::default())
    }

    /// One of several wires that keep what they keep together.
    pub(super) fn hoarding(lie: Lie, inner: Arc<dyn Wire>, hoard: Hoard) -> Self {
        Self {
            lie,
            inner,
            incoming: Mutex::new(Incoming::Head(Vec::new())),
            outgoing: Mutex::new(Outgoing::Plain),
            got_plain: AtomicBool::new(false),
            latest: None,
            gone: None,
            hoard,
        }
    }

    /// Of several wires each loses a large broadcast once another has ended.
    pub(super) fn noting(self, gone: Arc<AtomicBool>) -> Self {
        Self {
            gone: Some(gone),
            ..self
        }
    }

    /// Of several wires the first compresses a broadcast, with its own context, for all of them.
    pub(super) fn sharing(self, latest: Latest) -> Self {
        Self {
            latest: Some(latest),
            ..self
        }
    }

    /// How broadcasts are compressed where these terms were agreed to. A server that keeps its context
    /// against them does so for other messages alone.
    fn broadcasts(&self, terms: &DeflateTerms) -> Broadcasts {
        match (&self.latest, self.lie) {
            (Some(latest), _) => Broadcasts::Once(Arc::clone(latest)),
            (None, Lie::DeflateKeepsContext) if terms.server_no_context_takeover => {
                Broadcasts::Apart(Deflater::new(terms, Sender::Server, LEVEL))
            }
            _ => Broadcasts::Alike,
        }
    }

    /// What is agreed to with a client that sent this header, and the line that says so.
    fn negotiated(&self, header: &str) -> Option<(DeflateTerms, String)> {
        let offer = match offers(header).first() {
            Some(offer) => *offer,
            None if self.lie == Lie::DeflateTakesBadOffers && !header.is_empty() => {
                DeflateOffer::default()
            }
            None => return None,
        };
        let (terms, mut answer) = offer.accepted();
        match self.lie {
            Lie::DeflateChoosesUnasked if offer.client_max_window_bits.is_none() => {
                answer.push_str("; client_max_window_bits=15");
            }
            Lie::DeflateTakesLarger => {
                for bits in 8..15 {
                    let window = |bits: u8| format!("server_max_window_bits={bits}");
                    answer = answer.replace(&window(bits), &window(15));
                }
            }
            _ => {}
        }
        Some((terms, format!("Sec-WebSocket-Extensions: {answer}\r\n")))
    }

    /// Reads a part of the request, and the offers in it once it is whole.
    fn read_head(
        &self,
        incoming: &mut Incoming,
        mut head: Vec<u8>,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let count = self.inner.recv(buffer)?;
        head.extend_from_slice(&buffer[..count]);
        *incoming = match RequestHead::parse(&head) {
            Ok(None) => Incoming::Head(head),
            Ok(Some(parsed)) => match self.negotiated(&parsed.extensions) {
                Some((terms, line)) => {
                    *lock(&self.outgoing) = Outgoing::Answer(line, terms);
                    let mut inflating = Box::new(Inflating::new(self.lie, &terms, &self.hoard));
                    let rest = head.len() - parsed.len;
                    inflating.take(&buffer[count - rest..count], &self.got_plain);
                    *incoming = Incoming::Frames(inflating);
                    return Ok(count - rest);
                }
                None => Incoming::Plain,
            },
            Err(_) => Incoming::Plain,
        };
        Ok(count)
    }
}

impl Wire for DeflatedWire {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut outgoing = lock(&self.outgoing);
        match std::mem::replace(&mut *outgoing, Outgoing::Plain) {
            Outgoing::Plain => self.inner.send(bytes),
            Outgoing::Answer(line, terms) => {
                let mut deflating =
                    Box::new(Deflating::new(&terms, self.lie, self.broadcasts(&terms)));
                deflating.loses_broadcast.clone_from(&self.gone);
                let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
                let (head, frames) = bytes.split_at(end.map_or(bytes.len(), |at| at + 4));
                if !head.starts_with(b"HTTP/1.1 101") {
                    return self.inner.send(bytes);
                }
                let status = head.iter().position(|b| *b == b'\n').unwrap_or(0) + 1;
                let mut out = [&head[..status], line.as_bytes(), &head[status..]].concat();
                deflating.take(frames, false, &mut out);
                *outgoing = Outgoing::Frames(deflating);
                self.inner.send(&out)
            }
            Outgoing::Frames(mut deflating) => {
                let mut out = Vec::new();
                let marks_plain =
                    self.lie == Lie::DeflateMarksAll && self.got_plain.load(Ordering::SeqCst);
                deflating.take(bytes, marks_plain, &mut out);
                *outgoing = Outgoing::Frames(deflating);
                self.inner.send(&out)
            }
        }
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut incoming = lock(&self.incoming);
        match &mut *incoming {
            Incoming::Head(head) => {
                let head = std::mem::take(head);
                self.read_head(&mut incoming, head, buffer)
            }
            Incoming::Plain => {
                drop(incoming);
                self.inner.recv(buffer)
            }
            Incoming::Frames(inflating) => {
                let mut raw = vec![0; READ_SIZE];
                while inflating.shown.is_empty() {
                    match self.inner.recv(&mut raw) {
                        Ok(count) if count > 0 => inflating.take(&raw[..count], &self.got_plain),
                        ended => {
                            if let Some(gone) = &self.gone {
                                gone.store(true, Ordering::SeqCst);
                            }
                            return ended;
                        }
                    }
                }
                inflating.shown.read(buffer)
            }
        }
    }

    fn finish(&self) {
        self.inner.finish();
    }

    fn end(&self) {
        self.inner.end();
    }

    fn reset(&self) {
        self.inner.reset();
    }

    fn closing(&self, frame: usize) {
        self.inner.closing(frame);
    }
}

impl Inflating {
    fn new(lie: Lie, terms: &DeflateTerms, hoard: &Hoard) -> Self {
        let mut decoder = Decoder::new(Sender::Client, MOST_ON_WIRE);
        decoder.permit_compressed();
        Self {
            lie,
            hoard: hoard.clone(),
            filter: match lie {
                Lie::DeflateLosesFragments => frames::filter(Lie::LosesFragments, hoard),
                Lie::DeflateDeafWithinMessage => frames::filter(Lie::DeafWithinMessage, hoard),
                _ => None,
            },
            decoder,
            inflater: Inflater::new(terms, Sender::Client),
            shown: VecDeque::new(),
            deaf: false,
        }
    }

    fn take(&mut self, bytes: &[u8], got_plain: &AtomicBool) {
        if self.deaf {
            return;
        }
        let filtered = self.filter.as_mut().map(|filter| filter.filter(bytes));
        let filtered = filtered.transpose().unwrap_or_default();
        let (lie, inflater, deaf) = (self.lie, &mut self.inflater, &mut self.deaf);
        let hoard = &self.hoard;
        let mut frames = Vec::new();
        let fed = self
            .decoder
            .feed_marking(filtered.as_deref().unwrap_or(bytes), |event, mark| {
                if matches!(event, Event::Message { .. }) {
                    got_plain.store(!mark.compressed, Ordering::SeqCst);
                }
                let begun = frames.len();
                let shown = show(&event, mark, lie, inflater, &mut frames, deaf);
                let bytes = frames.len() - begun;
                if lie == Lie::DeflateKeepsLarge && mark.compressed && bytes >= 1 << 20 {
                    hoard.keep(bytes);
                }
                shown
            });
        self.shown.extend(frames);
        match fed {
            Ok(()) => {}
            Err(DecodeError::Frame(
                FrameError::CompressedControl | FrameError::CompressedContinuation,
            )) if lie == Lie::DeflateIgnoresRsv1 => self.deaf = true,
            Err(error) => {
                self.shown.extend(refused(&error));
                self.deaf = true;
            }
        }
    }
}

/// Appends what the server is to see of an event.
fn show(
    event: &Event<'_>,
    mark: Mark,
    lie: Lie,
    inflater: &mut Inflater,
    out: &mut Vec<u8>,
    deaf: &mut bool,
) -> Result<(), DecodeError> {
    let (opcode, payload) = match *event {
        Event::Message { opcode, payload } => (opcode, payload),
        Event::Ping(payload) => (Opcode::Ping, payload),
        Event::Pong(payload) => (Opcode::Pong, payload),
        Event::Close(payload) => (Opcode::Close, payload),
    };
    if !mark.compressed {
        encode_frame(out, opcode, Some([0; 4]), payload);
        return Ok(());
    }
    let is_final = payload.first().is_some_and(|first| first & 1 == 1);
    if lie == Lie::DeflateSkipsFinalBlocks && is_final {
        return Ok(());
    }
    let mut message = Vec::new();
    match inflater.inflate(payload, LIMIT, &mut message) {
        Err(InflateError::TooLong { .. }) if lie == Lie::DeflateLimitOnWire => return Ok(()),
        Err(InflateError::Corrupt) if lie == Lie::DeflateSkipsCorrupt => return Ok(()),
        inflated => inflated?,
    }
    *deaf |= lie == Lie::DeflateSkipsEmpty && message.is_empty();
    if !*deaf {
        encode_frame(out, opcode, Some([0; 4]), &message);
    }
    Ok(())
}

/// A frame for which the server closes as it should close for this error: with 1009, 1007 or 1002.
fn refused(error: &DecodeError) -> Vec<u8> {
    match error {
        DecodeError::TooLong { .. } | DecodeError::Inflate(InflateError::TooLong { .. }) => {
            [&[0x82, 0xFF][..], &(1u64 << 40).to_be_bytes(), &[0; 4]].concat()
        }
        DecodeError::Inflate(_) => vec![0x81, 0x81, 0, 0, 0, 0, 0xFF],
        _ => vec![0xF1, 0x80, 0, 0, 0, 0],
    }
}

fn holds(message: &[u8], part: &[u8]) -> bool {
    message.windows(part.len()).any(|window| window == part)
}

impl Broadcasts {
    fn deflate(&mut self, others: &mut Deflater, message: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Once(latest) if message.len() < 32_000 && holds(message, b"\"broadcast\"") => {
                let mut latest = lock(latest);
                if latest.0 != message {
                    let mut deflated = Vec::new();
                    others.deflate(message, &mut deflated);
                    *latest = (message.to_vec(), deflated);
                }
                out.extend_from_slice(&latest.1);
            }
            Self::Apart(deflater) if holds(message, b"\"broadcast") => {
                deflater.deflate(message, out)
            }
            _ => others.deflate(message, out),
        }
    }
}

impl Deflating {
    fn new(terms: &DeflateTerms, lie: Lie, broadcasts: Broadcasts) -> Self {
        let kept = DeflateTerms {
            server_no_context_takeover: lie != Lie::DeflateKeepsContext
                && terms.server_no_context_takeover,
            ..*terms
        };
        Self {
            broadcasts,
            loses_incompressible: lie == Lie::DeflateLosesIncompressible,
            loses_broadcast: None,
            decoder: Decoder::new(Sender::Server, u32::MAX),
            deflater: Deflater::new(&kept, Sender::Server, LEVEL),
        }
    }

    /// Appends the compressed frames of what the server sends. What are no frames goes as it is.
    fn take(&mut self, bytes: &[u8], marks_plain: bool, out: &mut Vec<u8>) {
        let (deflater, broadcasts) = (&mut self.deflater, &mut self.broadcasts);
        let loses = self.loses_incompressible;
        let loses_broadcast = &mut self.loses_broadcast;
        let begin = out.len();
        let fed = self.decoder.feed(bytes, |event| {
            let (opcode, payload) = match event {
                Event::Message { opcode, payload } => {
                    let mut deflated = Vec::new();
                    if marks_plain {
                        deflated.extend_from_slice(payload);
                    } else {
                        broadcasts.deflate(deflater, payload, &mut deflated);
                        let is_hard = payload.len() > 20_000 && 2 * deflated.len() > payload.len();
                        deflated.truncate(deflated.len() / if loses && is_hard { 2 } else { 1 });
                    }
                    let is_due = |gone: &Arc<AtomicBool>| gone.load(Ordering::SeqCst);
                    if loses_broadcast.as_ref().is_some_and(is_due)
                        && payload.len() > 32_000
                        && holds(payload, b"\"broadcast\"")
                    {
                        *loses_broadcast = None;
                        return Ok(());
                    }
                    let first = out.len();
                    encode_frame(out, opcode, None, &deflated);
                    mark_compressed(&mut out[first]);
                    return Ok(());
                }
                Event::Ping(payload) => (Opcode::Ping, payload),
                Event::Pong(payload) => (Opcode::Pong, payload),
                Event::Close(payload) => (Opcode::Close, payload),
            };
            encode_frame(out, opcode, None, payload);
            Ok::<_, DecodeError>(())
        });
        if fed.is_err() {
            out.truncate(begin);
            out.extend_from_slice(bytes);
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

//! From a stream of bytes to messages: frames, fragments and control frames between them
//! (RFC 6455, sections 5.4 to 5.6).
//!
//! Frames are parsed where they lie: a message that arrives whole in one read is handed out without
//! a copy. Only a frame that a read cut off is kept, so a connection between messages costs one
//! pointer. What is kept grows with the bytes that have come, not with the length that was announced.
//! The caller checks UTF-8, and may know the bytes already.

use crate::close::CloseError;
use crate::deflate::InflateError;
use crate::frame::{FrameError, FrameHeader, Opcode, RSV1, Sender, apply_mask};

/// What came out of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A whole message; `opcode` is text or binary.
    Message {
        /// Text or binary.
        opcode: Opcode,
        /// The unmasked payload of all its fragments.
        payload: &'a [u8],
    },
    /// A ping, to be answered with the same payload.
    Ping(&'a [u8]),
    /// A pong.
    Pong(&'a [u8]),
    /// A close frame's payload, for [`crate::CloseFrame::parse`].
    Close(&'a [u8]),
}

/// A stream that RFC 6455 forbids, or a message over the size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A forbidden frame header.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A continuation frame with no message under way (5.4).
    #[error("continuation frame with no message under way (RFC 6455, 5.4)")]
    Continuation,
    /// A new message before the last fragment of the one under way (5.4).
    #[error("new message before the end of the fragmented one (RFC 6455, 5.4)")]
    Interleaved,
    /// A close frame whose payload may not be sent (5.5.1, 7.4). The decoder does not read
    /// payloads; its caller finds this.
    #[error(transparent)]
    Close(#[from] CloseError),
    /// A compressed message that cannot be inflated (RFC 7692, 7.2). As for a close frame, the
    /// caller finds this.
    #[error(transparent)]
    Inflate(#[from] InflateError),
    /// A message above the size limit. It is found when its length is announced.
    #[error("message of {size} bytes or more, the limit is {limit}")]
    TooLong {
        /// Length that was announced so far, in bytes.
        size: u64,
        /// The limit in bytes.
        limit: usize,
    },
}

/// Splits the bytes of one direction of a connection into messages.
#[derive(Debug)]
pub struct Decoder {
    partial: Option<Box<Partial>>,
    sender: Sender,
    /// Reserved bits that an extension gives a meaning.
    permitted: u8,
    max_message: u32,
}

/// What is known of an event besides what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// So many bytes of the input lie behind those that completed the event.
    pub rest: usize,
    /// The payload is that of a compressed message.
    pub compressed: bool,
}

/// What is kept between reads.
#[derive(Debug, Default)]
struct Partial {
    /// The start of a frame whose end has not arrived.
    frame: Vec<u8>,
    /// Opcode and payload so far of a fragmented message.
    message: Option<(Opcode, Vec<u8>)>,
    /// That message is compressed.
    compressed: bool,
}

impl Decoder {
    /// A decoder for bytes written by `sender`, with messages of at most `max_message` bytes.
    pub const fn new(sender: Sender, max_message: u32) -> Self {
        Self {
            partial: None,
            sender,
            permitted: 0,
            max_message,
        }
    }

    /// From now on messages may be compressed: permessage-deflate was negotiated. Of those the limit
    /// holds for the compressed payload too.
    pub const fn permit_compressed(&mut self) {
        self.permitted = RSV1;
    }

    /// True when the stream may end here: it is neither within a frame nor within a message.
    pub fn is_at_boundary(&self) -> bool {
        self.partial.is_none()
    }

    /// Takes the next bytes of the stream and calls `on_event` for each message and control frame
    /// that they complete, in order.
    ///
    /// # Errors
    /// A [`DecodeError`], or whatever `on_event` returned; the decoder may not be fed afterwards.
    #[inline]
    pub fn feed<E: From<DecodeError>>(
        &mut self,
        input: &[u8],
        mut on_event: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.feed_marking(input, |event, _| on_event(event))
    }

    /// As [`Decoder::feed`], with a [`Mark`] beside each event.
    ///
    /// # Errors
    /// As [`Decoder::feed`].
    #[inline]
    pub fn feed_marking<E: From<DecodeError>>(
        &mut self,
        mut input: &[u8],
        mut on_event: impl FnMut(Event<'_>, Mark) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.partial.is_some() {
            input = self.finish_partial_frame(input, &mut on_event)?;
        }
        while !input.is_empty() {
            let Some((header, head_len)) = self.header(input)? else {
                break;
            };
            let total = head_len + header.payload_len as usize;
            if input.len() < total {
                break;
            }
            let (frame, rest) = input.split_at(total);
            let is_marked = frame[0] & RSV1 != 0;
            self.take_frame(
                &header,
                is_marked,
                &frame[head_len..],
                &mut |event, compressed| {
                    let rest = rest.len();
                    on_event(event, Mark { rest, compressed })
                },
            )?;
            input = rest;
        }
        if !input.is_empty() {
            let known_len = self
                .header(input)?
                .map_or(0, |(header, len)| len + header.payload_len as usize);
            let kept = &mut self.partial.get_or_insert_default().frame;
            append(kept, input, known_len);
        }
        Ok(())
    }

    /// Completes the frame that an earlier read cut off; returns what follows it in `input`.
    #[cold]
    fn finish_partial_frame<'a, E: From<DecodeError>>(
        &mut self,
        mut input: &'a [u8],
        on_event: &mut impl FnMut(Event<'_>, Mark) -> Result<(), E>,
    ) -> Result<&'a [u8], E> {
        let Some(mut frame) = self
            .partial
            .as_mut()
            .map(|partial| std::mem::take(&mut partial.frame))
            .filter(|frame| !frame.is_empty())
        else {
            return Ok(input);
        };
        loop {
            let parsed = self.header(&frame)?;
            // A header of unknown length is completed byte by byte: it is 14 bytes at most.
            let wanted = parsed.map_or(frame.len() + 1, |(header, len)| {
                len + header.payload_len as usize
            });
            if let Some((header, head_len)) = parsed
                && frame.len() == wanted
            {
                let is_marked = frame[0] & RSV1 != 0;
                self.take_frame(
                    &header,
                    is_marked,
                    &frame[head_len..],
                    &mut |event, compressed| {
                        let rest = input.len();
                        on_event(event, Mark { rest, compressed })
                    },
                )?;
                self.drop_empty_partial();
                return Ok(input);
            }
            if input.is_empty() {
                self.partial.get_or_insert_default().frame = frame;
                return Ok(input);
            }
            let (taken, rest) = input.split_at(input.len().min(wanted - frame.len()));
            append(&mut frame, taken, wanted);
            input = rest;
        }
    }

    fn header(&self, bytes: &[u8]) -> Result<Option<(FrameHeader, usize)>, DecodeError> {
        let parsed = FrameHeader::parse_permitting(bytes, self.sender, self.permitted)?;
        if let Some((header, _)) = parsed
            && !header.opcode.is_control()
        {
            let size = self.fragments_len().saturating_add(header.payload_len);
            if size > u64::from(self.max_message) {
                let limit = self.max_message as usize;
                return Err(DecodeError::TooLong { size, limit });
            }
        }
        Ok(parsed)
    }

    /// Payload so far of a fragmented message.
    #[inline]
    fn fragments_len(&self) -> u64 {
        let message = self.partial.as_ref().and_then(|p| p.message.as_ref());
        message.map_or(0, |(_, payload)| payload.len() as u64)
    }

    #[inline]
    fn take_frame<E: From<DecodeError>>(
        &mut self,
        header: &FrameHeader,
        is_marked: bool,
        payload: &[u8],
        on_event: &mut impl FnMut(Event<'_>, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let unmasked;
        let payload = match header.mask {
            None => payload,
            Some(key) => {
                let mut copy = payload.to_vec();
                apply_mask(&mut copy, key);
                unmasked = copy;
                &unmasked
            }
        };
        match header.opcode {
            Opcode::Ping => on_event(Event::Ping(payload), false),
            Opcode::Pong => on_event(Event::Pong(payload), false),
            Opcode::Close => on_event(Event::Close(payload), false),
            opcode => match (opcode, header.fin, self.in_message()) {
                (Opcode::Continuation, _, false) => Err(DecodeError::Continuation.into()),
                (Opcode::Text | Opcode::Binary, _, true) => Err(DecodeError::Interleaved.into()),
                (Opcode::Text | Opcode::Binary, true, false) => {
                    on_event(Event::Message { opcode, payload }, is_marked)
                }
                _ => self.take_fragment(header, is_marked, payload, on_event),
            },
        }
    }

    fn in_message(&self) -> bool {
        self.partial.as_ref().is_some_and(|p| p.message.is_some())
    }

    #[cold]
    fn take_fragment<E: From<DecodeError>>(
        &mut self,
        header: &FrameHeader,
        is_marked: bool,
        payload: &[u8],
        on_event: &mut impl FnMut(Event<'_>, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let limit = self.max_message as usize;
        let partial = self.partial.get_or_insert_default();
        if header.opcode != Opcode::Continuation {
            partial.compressed = is_marked;
        }
        let compressed = partial.compressed;
        let (_, message) = partial
            .message
            .get_or_insert_with(|| (header.opcode, Vec::new()));
        append(message, payload, limit);
        if header.fin
            && let Some((opcode, message)) = partial.message.take()
        {
            self.drop_empty_partial();
            let payload = &message;
            on_event(Event::Message { opcode, payload }, compressed)?;
        }
        Ok(())
    }

    fn drop_empty_partial(&mut self) {
        if let Some(partial) = &self.partial
            && partial.frame.is_empty()
            && partial.message.is_none()
        {
            self.partial = None;
        }
    }
}

/// Adds bytes to the kept part of something that is to be `wanted` bytes long. The buffer grows to
/// twice what it then holds, to 4 KiB at least, and never beyond `wanted`.
fn append(kept: &mut Vec<u8>, bytes: &[u8], wanted: usize) {
    const SMALL: usize = 4096;
    let needed = kept.len() + bytes.len();
    if needed > kept.capacity() {
        let room = wanted.min(SMALL.max(needed * 2)).max(needed);
        kept.reserve_exact(room - kept.len());
    }
    kept.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{encode_frame, encode_header};
    use proptest::prelude::*;

    #[derive(Clone, Debug, PartialEq)]
    enum Owned {
        Message(Opcode, Vec<u8>),
        Ping(Vec<u8>),
        Pong(Vec<u8>),
        Close(Vec<u8>),
    }

    fn own(event: Event<'_>) -> Owned {
        match event {
            Event::Message { opcode, payload } => Owned::Message(opcode, payload.to_vec()),
            Event::Ping(p) => Owned::Ping(p.to_vec()),
            Event::Pong(p) => Owned::Pong(p.to_vec()),
            Event::Close(p) => Owned::Close(p.to_vec()),
        }
    }

    fn decode(
        chunks: &[&[u8]],
        sender: Sender,
        max: u32,
    ) -> Result<(Vec<Owned>, bool), DecodeError> {
        let mut decoder = Decoder::new(sender, max);
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk, |event| {
                events.push(own(event));
                Ok::<_, DecodeError>(())
            })?;
        }
        Ok((events, decoder.is_at_boundary()))
    }

    fn any_event() -> impl Strategy<Value = (Owned, Vec<usize>)> {
        let payload = || proptest::collection::vec(any::<u8>(), 0..300);
        let control = || proptest::collection::vec(any::<u8>(), 0..=125);
        let event = prop_oneof![
            4 => payload().prop_map(|p| Owned::Message(Opcode::Text, p)),
            4 => payload().prop_map(|p| Owned::Message(Opcode::Binary, p)),
            1 => control().prop_map(Owned::Ping),
            1 => control().prop_map(Owned::Pong),
            1 => control().prop_map(Owned::Close),
        ];
        (event, proptest::collection::vec(0usize..300, 0..4))
    }

    /// Writes one event, a message in fragments cut at `cuts` with a ping before each.
    fn write(out: &mut Vec<u8>, event: &Owned, cuts: &[usize], mask: Option<[u8; 4]>) -> usize {
        let (opcode, payload) = match event {
            Owned::Message(opcode, payload) => (*opcode, payload),
            Owned::Ping(p) => (Opcode::Ping, p),
            Owned::Pong(p) => (Opcode::Pong, p),
            Owned::Close(p) => (Opcode::Close, p),
        };
        if opcode.is_control() || cuts.is_empty() {
            encode_frame(out, opcode, mask, payload);
            return 0;
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|c| c % (payload.len() + 1)).collect();
        cuts.sort_unstable();
        let mut at = 0;
        for (i, end) in cuts.iter().copied().chain([payload.len()]).enumerate() {
            if i > 0 {
                encode_frame(out, Opcode::Ping, mask, b"between");
            }
            let mut part = payload[at..end].to_vec();
            encode_header(
                out,
                &FrameHeader {
                    fin: i == cuts.len(),
                    opcode: if i == 0 { opcode } else { Opcode::Continuation },
                    mask,
                    payload_len: part.len() as u64,
                },
            );
            if let Some(key) = mask {
                apply_mask(&mut part, key);
            }
            out.extend(part);
            at = end;
        }
        cuts.len()
    }

    proptest! {
        #[test]
        fn messages_survive_any_fragmentation_masking_and_split_of_the_stream(
            sent in proptest::collection::vec(any_event(), 0..8),
            mask in proptest::option::of(any::<[u8; 4]>()),
            splits in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut stream = Vec::new();
            let mut expected = Vec::new();
            for (event, cuts) in &sent {
                let pings = write(&mut stream, event, cuts, mask);
                expected.extend(vec![Owned::Ping(b"between".to_vec()); pings]);
                expected.push(event.clone());
            }
            let sender = if mask.is_some() { Sender::Client } else { Sender::Server };
            let mut at: Vec<usize> = splits.iter().map(|i| i.index(stream.len() + 1)).collect();
            at.extend([0, stream.len()]);
            at.sort_unstable();
            let chunks: Vec<&[u8]> = at.windows(2).map(|w| &stream[w[0]..w[1]]).collect();
            let (events, at_boundary) = decode(&chunks, sender, 1 << 20).unwrap();
            prop_assert_eq!(events, expected);
            prop_assert!(at_boundary);
        }

        #[test]
        fn any_bytes_give_the_same_result_whole_and_byte_by_byte(
            stream in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            for sender in [Sender::Client, Sender::Server] {
                let whole = decode(&[&stream], sender, 1000);
                let single: Vec<&[u8]> = stream.chunks(1).collect();
                let split = decode(&single, sender, 1000);
                prop_assert_eq!(whole, split);
            }
        }
    }

    #[test]
    fn broken_sequences_are_refused_by_name() {
        let server = |bytes: &[u8]| decode(&[bytes], Sender::Server, 10).unwrap_err();
        assert_eq!(server(&[0x80, 0]), DecodeError::Continuation);
        assert_eq!(server(&[0x01, 0, 0x81, 0]), DecodeError::Interleaved);
        let too_long = DecodeError::TooLong {
            size: 11,
            limit: 10,
        };
        assert_eq!(server(&[0x82, 11]), too_long);
        // As soon as it is announced.
        let fragments = [&[0x02, 6][..], &[0; 6], &[0x80, 5]].concat();
        assert_eq!(server(&fragments), too_long);
        assert_eq!(
            server(&[0xF1, 0]),
            DecodeError::Frame(FrameError::ReservedBits(7))
        );
    }

    fn kept(decoder: &Decoder) -> usize {
        decoder.partial.as_ref().map_or(0, |partial| {
            let message = partial.message.as_ref().map_or(0, |(_, m)| m.capacity());
            partial.frame.capacity() + message
        })
    }

    #[test]
    fn memory_grows_with_what_has_come_and_not_with_what_was_announced() {
        let limit = 1 << 30;
        let mut decoder = Decoder::new(Sender::Server, limit);
        let mut feed = |bytes: &[u8]| {
            let fed = decoder.feed(bytes, |_| Ok::<_, DecodeError>(()));
            fed.unwrap();
            kept(&decoder)
        };
        let header = FrameHeader {
            fin: false,
            opcode: Opcode::Binary,
            mask: None,
            payload_len: 100_000_000,
        };
        let mut bytes = Vec::new();
        encode_header(&mut bytes, &header);
        assert!(feed(&bytes) <= 4096);
        for come in 1..=2_000 {
            let kept = feed(&[0; 500]);
            assert!(kept <= 4096.max(come * 1_100), "{kept} after {come}");
        }
    }

    #[test]
    fn fragments_without_a_payload_cost_no_memory() {
        let mut decoder = Decoder::new(Sender::Server, 1000);
        let mut stream = vec![0x01, 0];
        // Miri takes a thousand times as long.
        let fragments = if cfg!(miri) { 2_000 } else { 100_000 };
        for _ in 0..fragments {
            stream.extend([0x00, 0]);
        }
        let fed = decoder.feed(&stream, |_| Ok::<_, DecodeError>(()));
        fed.unwrap();
        assert!(kept(&decoder) <= 1000, "{}", kept(&decoder));
    }

    #[test]
    fn a_stream_cut_within_a_frame_or_message_is_not_at_a_boundary() {
        for cut in [&[0x81][..], &[0x81, 5, b'h'], &[0x01, 1, b'h']] {
            let (events, at_boundary) = decode(&[cut], Sender::Server, 10).unwrap();
            assert_eq!(events, []);
            assert!(!at_boundary);
        }
    }
}

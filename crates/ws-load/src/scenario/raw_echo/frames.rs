//! The frames of a raw echo: what the n-th frame of a connection is, and whether its echo is equal.
//!
//! Nothing here keeps a message: every byte of a frame is a function of its number and its place,
//! so that one of any length is written and checked piece by piece. No I/O.

use crate::plan::mix;
use ws_proto::{FrameHeader, MAX_HEADER, Opcode, Sender, apply_mask};

/// Length of the pattern that payloads are cut from. Short enough to stay in a cache, and not a divisor
/// of usual buffer sizes, so that a server that repeats or drops a buffer is found.
const PATTERN: usize = 65_521;
/// The first bytes of a payload say which frame it is.
const STAMP: u64 = 8;
/// Most pings of one feed.
const PINGS: usize = 16;

/// The payloads of all connections of a run.
#[derive(Debug)]
pub(crate) struct Frames {
    pattern: Vec<u8>,
    payload_len: u64,
    seed: u64,
}

impl Frames {
    pub(crate) fn new(payload_len: u64, seed: u64) -> Self {
        let words = (0..).flat_map(|n| mix(seed, n).to_ne_bytes());
        Self {
            pattern: words.take(PATTERN).collect(),
            payload_len,
            seed,
        }
    }

    fn stamp(&self, connection: u32, number: u64) -> u64 {
        mix(self.seed ^ u64::from(connection) << 32, !number)
    }

    /// Calls `each` for the payload of a frame from `at` on, `len` bytes in pieces.
    fn pieces(&self, stamp: u64, at: u64, len: usize, mut each: impl FnMut(&[u8]) -> bool) -> bool {
        let mut left = len;
        if at < STAMP {
            let stamp = stamp.to_be_bytes();
            let end = (at as usize + left).min(stamp.len());
            if !each(&stamp[at as usize..end]) {
                return false;
            }
            left -= end - at as usize;
        }
        let first = stamp % PATTERN as u64 + at.saturating_sub(STAMP);
        let mut place = (first % PATTERN as u64) as usize;
        while left > 0 {
            let run = left.min(PATTERN - place);
            if !each(&self.pattern[place..place + run]) {
                return false;
            }
            left -= run;
            place = 0;
        }
        true
    }

    /// Appends at most `room` bytes of a masked frame, from its byte `at` on, header included.
    /// Returns how long the whole frame is.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        connection: u32,
        number: u64,
        at: u64,
        room: usize,
    ) -> u64 {
        let stamp = self.stamp(connection, number);
        let mask = (stamp as u32).to_ne_bytes();
        let (head, start) = FrameHeader {
            fin: true,
            opcode: Opcode::Binary,
            mask: Some(mask),
            payload_len: self.payload_len,
        }
        .encode();
        let head = &head[start..];
        let head_len = head.len() as u64;
        let total = head_len + self.payload_len;
        let before = out.len();
        if at < head_len {
            let rest = &head[at as usize..];
            out.extend_from_slice(&rest[..rest.len().min(room)]);
        }
        let from = at.max(head_len) - head_len;
        let left = room - (out.len() - before);
        let len = (self.payload_len - from).min(left as u64) as usize;
        let begin = out.len();
        self.pieces(stamp, from, len, |piece| {
            out.extend_from_slice(piece);
            true
        });
        let turned = [0, 1, 2, 3].map(|i| mask[(i + from as usize) % 4]);
        apply_mask(&mut out[begin..], turned);
        total
    }
}

/// What is wrong with an echo, in words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong(pub(crate) String);

/// The result of a feed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fed {
    /// Echoes that are complete.
    pub(crate) echoes: u64,
    /// Payloads of pings, to be answered: of more than [`PINGS`] the most recent is the last, and some
    /// before it are left out (RFC 6455, 5.5.3).
    pub(crate) pings: Vec<Vec<u8>>,
    /// The peer closes.
    pub(crate) closed: bool,
}

impl Fed {
    #[cold]
    fn ping(&mut self, payload: Vec<u8>) {
        if self.pings.len() == PINGS {
            self.pings.pop();
        }
        self.pings.push(payload);
    }
}

/// Checks the echoes of one connection, in their order. Keeps no payload.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    connection: u32,
    /// Echoes so far, and bytes of the next one's payload so far.
    number: u64,
    at: u64,
    /// The frame under way: what is left of its payload.
    left: u64,
    frame: Option<FrameHeader>,
    /// Within a message.
    in_message: bool,
    /// What there is of a header, or of a control frame's payload; empty almost always.
    kept: Vec<u8>,
}

impl Checker {
    pub(crate) fn new(connection: u32) -> Self {
        Self {
            connection,
            ..Self::default()
        }
    }

    /// Takes the next bytes of the stream, of a connection on which `sent` frames were begun.
    ///
    /// # Errors
    /// [`Wrong`] at the first byte that is not due.
    pub(crate) fn feed(
        &mut self,
        frames: &Frames,
        sent: u64,
        mut bytes: &[u8],
    ) -> Result<Fed, Wrong> {
        let mut fed = Fed::default();
        loop {
            let header = match self.frame {
                Some(header) => header,
                None if bytes.is_empty() => return Ok(fed),
                None => match self.header(&mut bytes, sent, frames)? {
                    Some(header) => header,
                    None => return Ok(fed),
                },
            };
            let here = bytes.len().min(self.left.try_into().unwrap_or(usize::MAX));
            let (part, rest) = bytes.split_at(here);
            bytes = rest;
            if header.opcode.is_control() {
                self.kept.extend_from_slice(part);
            } else {
                self.check(frames, part)?;
            }
            self.left -= here as u64;
            if self.left > 0 {
                return Ok(fed);
            }
            self.frame = None;
            self.end_of_frame(header, frames, &mut fed)?;
        }
    }

    /// Takes a header, which may have come in parts.
    fn header(
        &mut self,
        bytes: &mut &[u8],
        sent: u64,
        frames: &Frames,
    ) -> Result<Option<FrameHeader>, Wrong> {
        let had = self.kept.len();
        let more = bytes.len().min(MAX_HEADER - had);
        self.kept.extend_from_slice(&bytes[..more]);
        let parsed = FrameHeader::parse(&self.kept, Sender::Server)
            .map_err(|error| self.wrong(&error.to_string()))?;
        let Some((header, len)) = parsed else {
            *bytes = &bytes[more..];
            return Ok(None);
        };
        *bytes = &bytes[len - had..];
        self.kept.clear();
        if header.opcode.is_control() {
            // No longer than 125 bytes: others do not parse.
            self.kept.reserve(header.payload_len as usize);
        } else {
            let due = if self.in_message {
                Opcode::Continuation
            } else {
                Opcode::Binary
            };
            if header.opcode != due {
                return Err(self.wrong(&format!("a {:?} frame, {due:?} was due", header.opcode)));
            }
            if self.number >= sent {
                return Err(self.wrong("an echo of nothing that was sent"));
            }
            if header.payload_len > frames.payload_len - self.at {
                return Err(self.wrong(&format!(
                    "{} bytes of payload, {} were sent",
                    self.at.saturating_add(header.payload_len),
                    frames.payload_len
                )));
            }
            self.in_message = true;
        }
        self.left = header.payload_len;
        self.frame = Some(header);
        Ok(Some(header))
    }

    fn check(&mut self, frames: &Frames, part: &[u8]) -> Result<(), Wrong> {
        let stamp = frames.stamp(self.connection, self.number);
        let mut rest = part;
        let equal = frames.pieces(stamp, self.at, part.len(), |piece| {
            let (here, after) = rest.split_at(piece.len());
            rest = after;
            here == piece
        });
        if !equal {
            let behind = self.at;
            return Err(self.wrong(&format!(
                "its payload is not the one that was sent, at byte {behind} or within the {} behind it",
                part.len()
            )));
        }
        self.at += part.len() as u64;
        Ok(())
    }

    fn end_of_frame(
        &mut self,
        header: FrameHeader,
        frames: &Frames,
        fed: &mut Fed,
    ) -> Result<(), Wrong> {
        match header.opcode {
            Opcode::Ping => fed.ping(std::mem::take(&mut self.kept)),
            Opcode::Close => fed.closed = true,
            Opcode::Pong => {}
            _ if !header.fin => return Ok(()),
            _ => {
                if self.at != frames.payload_len {
                    return Err(self.wrong(&format!(
                        "{} bytes of payload, {} were sent",
                        self.at, frames.payload_len
                    )));
                }
                self.number += 1;
                self.at = 0;
                self.in_message = false;
                fed.echoes += 1;
            }
        }
        self.kept.clear();
        Ok(())
    }

    fn wrong(&self, what: &str) -> Wrong {
        Wrong(format!(
            "echo {} of connection {}: {what}",
            self.number + 1,
            self.connection + 1
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ws_proto::{Decoder, Event, encode_header};

    /// What a server is sent, and unmasked by the ordinary decoder.
    fn messages(frames: &Frames, connection: u32, count: u64, chunk: usize) -> Vec<Vec<u8>> {
        let mut wire = Vec::new();
        for number in 0..count {
            let mut at = 0;
            loop {
                let before = wire.len();
                let total = frames.write(&mut wire, connection, number, at, chunk);
                at += (wire.len() - before) as u64;
                if at == total {
                    break;
                }
            }
        }
        let mut decoder = Decoder::new(Sender::Client, 1 << 30);
        let mut got = Vec::new();
        decoder
            .feed(&wire, |event| {
                if let Event::Message { payload, .. } = event {
                    got.push(payload.to_vec());
                }
                Ok::<_, ws_proto::DecodeError>(())
            })
            .unwrap();
        assert!(decoder.is_at_boundary());
        got
    }

    fn frame(out: &mut Vec<u8>, fin: bool, opcode: Opcode, payload_len: u64, payload: &[u8]) {
        let header = FrameHeader {
            fin,
            opcode,
            mask: None,
            payload_len,
        };
        encode_header(out, &header);
        out.extend_from_slice(payload);
    }

    fn echo(payload: &[u8], cuts: &[usize]) -> Vec<u8> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (payload.len() + 1)).collect();
        cuts.sort_unstable();
        let mut out = Vec::new();
        let mut at = 0;
        for (i, end) in cuts.iter().copied().chain([payload.len()]).enumerate() {
            let opcode = [Opcode::Binary, Opcode::Continuation][i.min(1)];
            ws_proto::encode_frame(&mut out, Opcode::Ping, None, b"hello");
            let part = &payload[at..end];
            frame(&mut out, i == cuts.len(), opcode, part.len() as u64, part);
            at = end;
        }
        out
    }

    fn feed_all(
        checker: &mut Checker,
        frames: &Frames,
        sent: u64,
        bytes: &[u8],
        chunk: usize,
    ) -> Result<Fed, Wrong> {
        let mut all = Fed::default();
        for part in bytes.chunks(chunk) {
            let fed = checker.feed(frames, sent, part)?;
            all.echoes += fed.echoes;
            all.pings.extend(fed.pings);
            all.closed |= fed.closed;
        }
        Ok(all)
    }

    proptest! {
        #[test]
        fn what_is_written_in_pieces_is_accepted_back_in_pieces_and_fragments(
            payload_len in prop_oneof![0u64..300, 65_400u64..65_700, 130_000u64..140_000],
            count in 1u64..4, write_chunk in 1usize..70_000, read_chunk in 1usize..70_000,
            cuts in proptest::collection::vec(0usize..200_000, 0..4), connection: u32,
        ) {
            // A length per chunk that keeps the number of pieces bounded.
            let write_chunk = write_chunk.max(payload_len as usize / 500);
            let read_chunk = read_chunk.max(payload_len as usize / 500);
            let frames = Frames::new(payload_len, 7);
            let messages = messages(&frames, connection, count, write_chunk);
            prop_assert!(messages.iter().all(|m| m.len() as u64 == payload_len));
            let mut checker = Checker::new(connection);
            for message in &messages {
                let wire = echo(message, &cuts);
                let fed = feed_all(&mut checker, &frames, count, &wire, read_chunk).unwrap();
                prop_assert_eq!(fed.echoes, 1);
                prop_assert_eq!(fed.pings, vec![b"hello".to_vec(); cuts.len() + 1]);
            }
        }

        #[test]
        fn one_changed_byte_is_wrong_wherever_it_is(
            payload_len in 1u64..70_000, place: prop::sample::Index, bit in 0u8..8,
        ) {
            let frames = Frames::new(payload_len, 7);
            let mut message = messages(&frames, 3, 1, usize::MAX >> 1).remove(0);
            let at = place.index(message.len());
            message[at] ^= 1 << bit;
            let mut checker = Checker::new(3);
            prop_assert!(feed_all(&mut checker, &frames, 1, &echo(&message, &[]), 10_000).is_err());
        }

        #[test]
        fn any_bytes_give_an_answer_and_the_same_one_in_pieces(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let frames = Frames::new(3, 7);
            let whole = feed_all(&mut Checker::new(0), &frames, 9, &bytes, bytes.len().max(1));
            let split = feed_all(&mut Checker::new(0), &frames, 9, &bytes, 1);
            prop_assert_eq!(whole.is_err(), split.is_err());
        }
    }

    #[test]
    fn swapped_shortened_lengthened_and_unasked_echoes_are_wrong() {
        let frames = Frames::new(20, 7);
        let [first, second] = &messages(&frames, 0, 2, 1000)[..] else {
            panic!("two messages");
        };
        let words = |sent, wire: &[u8]| {
            let mut checker = Checker::new(0);
            let Wrong(words) = feed_all(&mut checker, &frames, sent, wire, 7).unwrap_err();
            words
        };
        assert!(words(2, &echo(second, &[])).contains("echo 1 of connection 1: its payload"));
        assert!(words(2, &echo(&first[..19], &[])).contains("19 bytes of payload, 20 were sent"));
        let longer = [&first[..], b"x"].concat();
        assert!(words(2, &echo(&longer, &[])).contains("21 bytes of payload, 20 were sent"));
        let twice = [echo(first, &[]), echo(first, &[])].concat();
        assert!(words(1, &twice).contains("echo 2 of connection 1: an echo of nothing"));
        let mut text = Vec::new();
        ws_proto::encode_frame(&mut text, Opcode::Text, None, first);
        assert!(words(1, &text).contains("a Text frame, Binary was due"));
        let elsewhere = messages(&frames, 1, 1, 1000).remove(0);
        assert!(words(1, &echo(&elsewhere, &[])).contains("payload is not"));
    }

    /// A payload byte by byte.
    fn expected(frames: &Frames, stamp: u64) -> Vec<u8> {
        let first = stamp % PATTERN as u64;
        let byte = |at: u64| match at.checked_sub(STAMP) {
            None => stamp.to_be_bytes()[at as usize],
            Some(behind) => frames.pattern[((first + behind) % PATTERN as u64) as usize],
        };
        (0..frames.payload_len).map(byte).collect()
    }

    #[test]
    fn a_payload_is_its_stamp_and_then_the_pattern_over_and_over() {
        let frames = Frames::new(150_000, 7);
        for stamp in [0, PATTERN as u64 - 1, 0x0102_0304_0506_0708, u64::MAX] {
            let whole = expected(&frames, stamp);
            for at in [0, 3, 7, 8, 9, 65_529, 100_000, 149_999] {
                for len in [0, 1, 5, 8, 70_000, 150_000] {
                    let end = (at + len).min(whole.len());
                    let mut got = Vec::new();
                    let all = frames.pieces(stamp, at as u64, end - at, |piece| {
                        got.extend_from_slice(piece);
                        true
                    });
                    assert!(all && got == whole[at..end], "{len} from {at} of {stamp}");
                }
            }
        }
        assert!(messages(&frames, 3, 3, 50_000)[2] == expected(&frames, frames.stamp(3, 2)));
    }

    #[test]
    fn a_payload_is_cut_behind_its_stamp_and_where_the_pattern_ends_until_a_piece_is_refused() {
        let frames = Frames::new(150_000, 7);
        let pieces = |at: u64, most: usize| {
            let mut lens = Vec::new();
            let all = frames.pieces(1, at, 140_000, |piece| {
                lens.push(piece.len());
                lens.len() < most
            });
            (all, lens)
        };
        let lens = [8, PATTERN - 1, PATTERN, 140_000 - 8 - (2 * PATTERN - 1)];
        assert_eq!(pieces(0, 9), (true, lens.to_vec()));
        for most in 1..=4 {
            assert_eq!(pieces(0, most), (false, lens[..most].to_vec()));
        }
        let behind = [PATTERN - 1, PATTERN, 140_000 - (2 * PATTERN - 1)];
        assert_eq!(pieces(STAMP, 9), (true, behind.to_vec()));
    }

    #[test]
    fn every_stamp_is_another_and_none_is_a_word_of_the_pattern() {
        for seed in [0, 7, u64::MAX] {
            let frames = Frames::new(8, seed);
            let words = frames.pattern.chunks_exact(8);
            let mut all: Vec<u64> = words
                .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
                .collect();
            all.extend((0..2500).map(|n| frames.stamp(n / 50, u64::from(n % 50))));
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), PATTERN / 8 + 2500);
        }
    }

    #[test]
    fn a_frame_goes_on_from_any_byte_into_any_room() {
        for payload_len in [0, 5, 8, 40, 130] {
            let frames = Frames::new(payload_len, 7);
            let mut whole = Vec::new();
            let total = frames.write(&mut whole, 3, 2, 0, usize::MAX);
            assert_eq!(whole.len() as u64, total);
            for (at, room) in (0..=whole.len()).flat_map(|at| (0..150).map(move |room| (at, room)))
            {
                let mut out = b"before".to_vec();
                assert_eq!(frames.write(&mut out, 3, 2, at as u64, room), total);
                let end = (at + room).min(whole.len());
                assert_eq!(out, [b"before", &whole[at..end]].concat());
            }
        }
    }

    #[test]
    fn of_more_pings_than_are_handed_on_the_last_is_the_most_recent() {
        for count in [16, 17, 40] {
            let mut pings: Vec<Vec<u8>> = (0..count).map(|n| vec![n]).collect();
            let mut wire = Vec::new();
            for ping in &pings {
                ws_proto::encode_frame(&mut wire, Opcode::Ping, None, ping);
            }
            let fed = Checker::new(0).feed(&Frames::new(8, 7), 0, &wire).unwrap();
            pings.drain(PINGS - 1..pings.len() - 1);
            assert_eq!(fed.pings, pings);
        }
    }

    #[test]
    fn control_frames_and_empty_fragments_change_nothing_of_an_echo() {
        let frames = Frames::new(20, 7);
        let mut wire = Vec::new();
        for message in messages(&frames, 4, 2, 1000) {
            frame(&mut wire, false, Opcode::Binary, 0, b"");
            frame(&mut wire, true, Opcode::Pong, 3, b"abc");
            frame(&mut wire, false, Opcode::Continuation, 20, &message);
            frame(&mut wire, true, Opcode::Ping, 0, b"");
            frame(&mut wire, true, Opcode::Continuation, 0, b"");
        }
        frame(&mut wire, true, Opcode::Close, 2, &[3, 232]);
        for chunk in 1..=wire.len() {
            let mut checker = Checker::new(4);
            assert_eq!(checker.feed(&frames, 2, b""), Ok(Fed::default()));
            let fed = Fed {
                echoes: 2,
                pings: vec![vec![]; 2],
                closed: true,
            };
            assert_eq!(feed_all(&mut checker, &frames, 2, &wire, chunk), Ok(fed));
        }
    }

    #[test]
    fn a_header_is_wrong_as_soon_as_it_is_there() {
        let frames = Frames::new(300, 7);
        let message = messages(&frames, 4, 1, 1000).remove(0);
        let mut begun = Vec::new();
        frame(&mut begun, false, Opcode::Binary, 100, &message[..100]);
        let (first, more) = (Opcode::Binary, Opcode::Continuation);
        for (before, opcode, len, wrong) in [
            (&[][..], first, 300, None),
            (&[], first, 301, Some("301 bytes of payload, 300 were sent")),
            (&[], more, 1, Some("a Continuation frame, Binary was due")),
            (&begun, more, 200, None),
            (
                &begun,
                more,
                201,
                Some("301 bytes of payload, 300 were sent"),
            ),
            (
                &begun,
                first,
                1,
                Some("a Binary frame, Continuation was due"),
            ),
        ] {
            let mut wire = before.to_vec();
            frame(&mut wire, true, opcode, len, b"");
            let fed = Checker::new(4).feed(&frames, 1, &wire);
            let words = |what| Wrong(format!("echo 1 of connection 5: {what}"));
            assert_eq!(
                fed,
                wrong.map_or(Ok(Fed::default()), |what| Err(words(what)))
            );
        }
    }
}

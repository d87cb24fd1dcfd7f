//! Frames of RFC 6455: the heads that a server writes, and the decoder for what clients send.
//! Does not know sockets.

use std::borrow::Cow;
use std::mem;

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// Close codes (RFC 6455, section 7.4.1).
pub(crate) const PROTOCOL_ERROR: u16 = 1002;
pub(crate) const NOT_TEXT: u16 = 1007;
pub(crate) const TOO_LARGE: u16 = 1009;

/// The largest message (docs/protocol.md, Limits), in bytes.
const LARGEST: usize = 16 * 1024 * 1024;

/// The longest payload of a control frame (RFC 6455, section 5.5).
const LARGEST_CONTROL: usize = 125;

/// The head of an unmasked frame.
pub(crate) struct Head {
    bytes: [u8; 10],
    size: usize,
}

impl Head {
    pub(crate) fn new(opcode: u8, payload: usize) -> Self {
        let mut bytes = [0; 10];
        bytes[0] = 0x80 | opcode;
        let size = match payload {
            0..126 => {
                bytes[1] = payload as u8;
                2
            }
            126..0x1_0000 => {
                bytes[1] = 126;
                bytes[2..4].copy_from_slice(&(payload as u16).to_be_bytes());
                4
            }
            _ => {
                bytes[1] = 127;
                bytes[2..].copy_from_slice(&(payload as u64).to_be_bytes());
                10
            }
        };
        Self { bytes, size }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

/// What has come: a message, whole and unmasked, or a control frame.
#[derive(Debug, PartialEq)]
pub(crate) struct Incoming<'a> {
    pub(crate) opcode: u8,
    pub(crate) payload: Cow<'a, [u8]>,
}

#[derive(Clone, Copy)]
struct Frame {
    opcode: u8,
    is_last: bool,
    mask: [u8; 4],
    size: usize,
    /// How much of the payload has come.
    got: usize,
}

/// Fed with what a connection brings, in parts of any size.
#[derive(Default)]
pub(crate) struct Decoder {
    /// The head under way.
    head: [u8; 14],
    head_got: usize,
    frame: Option<Frame>,
    /// The opcode of the message under way, and what has come of it.
    opcode: Option<u8>,
    message: Vec<u8>,
    /// How much of a text message is known to be UTF-8.
    checked: usize,
    control: Vec<u8>,
}

impl Decoder {
    /// The next message or control frame in `input`, which is advanced past it; none when all of
    /// `input` has been taken.
    ///
    /// # Errors
    ///
    /// The close code with which the connection must fail.
    pub(crate) fn next<'a>(
        &mut self,
        input: &mut &'a mut [u8],
    ) -> Result<Option<Incoming<'a>>, u16> {
        loop {
            let mut frame = match self.frame.take() {
                Some(frame) => frame,
                None => match self.head(input)? {
                    Some(frame) => frame,
                    None => return Ok(None),
                },
            };
            let now = input.len().min(frame.size - frame.got);
            let (payload, rest) = mem::take(input).split_at_mut(now);
            *input = rest;
            unmask(payload, frame.mask, frame.got);
            let is_whole = now == frame.size;
            frame.got += now;
            if frame.opcode >= CLOSE {
                self.control.extend_from_slice(payload);
                if frame.got < frame.size {
                    self.frame = Some(frame);
                    return Ok(None);
                }
                return Ok(Some(Incoming {
                    opcode: frame.opcode,
                    payload: mem::take(&mut self.control).into(),
                }));
            }
            let opcode = *self.opcode.get_or_insert(frame.opcode);
            if is_whole && frame.is_last && frame.opcode != 0 {
                self.opcode = None;
                if opcode == TEXT && str::from_utf8(payload).is_err() {
                    return Err(NOT_TEXT);
                }
                let payload = Cow::Borrowed(&*payload);
                return Ok(Some(Incoming { opcode, payload }));
            }
            self.message.extend_from_slice(payload);
            let ended = frame.got == frame.size && frame.is_last;
            if opcode == TEXT {
                self.check_text(ended)?;
            }
            if frame.got < frame.size {
                self.frame = Some(frame);
                return Ok(None);
            }
            if ended {
                self.opcode = None;
                self.checked = 0;
                let payload = mem::take(&mut self.message).into();
                return Ok(Some(Incoming { opcode, payload }));
            }
        }
    }

    /// The next head, if all of it has come.
    fn head(&mut self, input: &mut &mut [u8]) -> Result<Option<Frame>, u16> {
        loop {
            let size = match self.head_got {
                0 | 1 => 2,
                _ => self.head_size()?,
            };
            if self.head_got == size {
                break;
            }
            if input.is_empty() {
                return Ok(None);
            }
            let now = input.len().min(size - self.head_got);
            let (bytes, rest) = mem::take(input).split_at_mut(now);
            *input = rest;
            self.head[self.head_got..self.head_got + now].copy_from_slice(bytes);
            self.head_got += now;
        }
        let got = mem::take(&mut self.head_got);
        let (length, mask) = self.head[..got].split_at(got - 4);
        let size = match length[2..] {
            [] => u64::from(length[1] & 0x7F),
            [a, b] => u16::from_be_bytes([a, b]).into(),
            ref long => u64::from_be_bytes(long.try_into().expect("a head has 2, 4 or 10 bytes")),
        };
        let before = match length[0] & 0x0F {
            CLOSE.. => 0,
            _ => self.message.len(),
        };
        if size > (LARGEST - before) as u64 {
            return Err(TOO_LARGE);
        }
        Ok(Some(Frame {
            opcode: length[0] & 0x0F,
            is_last: length[0] & 0x80 != 0,
            mask: mask.try_into().expect("four bytes were split off"),
            size: size as usize,
            got: 0,
        }))
    }

    /// The size of the head that begins with these two bytes. What may not stand in them fails here.
    fn head_size(&self) -> Result<usize, u16> {
        let [first, second, ..] = self.head;
        let opcode = first & 0x0F;
        let length = usize::from(second & 0x7F);
        let is_control = opcode >= CLOSE;
        let is_sound = first & 0x70 == 0
            && second & 0x80 != 0
            && match opcode {
                0 => self.opcode.is_some(),
                TEXT | BINARY => self.opcode.is_none(),
                CLOSE | PING | PONG => true,
                _ => false,
            }
            && !(is_control && (first & 0x80 == 0 || length > LARGEST_CONTROL));
        match (is_sound, length) {
            (false, _) => Err(PROTOCOL_ERROR),
            (true, 126) => Ok(8),
            (true, 127) => Ok(14),
            (true, _) => Ok(6),
        }
    }

    /// Fails as soon as no continuation could make it UTF-8.
    fn check_text(&mut self, ended: bool) -> Result<(), u16> {
        match str::from_utf8(&self.message[self.checked..]) {
            Ok(_) => self.checked = self.message.len(),
            Err(error) if ended || error.error_len().is_some() => return Err(NOT_TEXT),
            Err(error) => self.checked += error.valid_up_to(),
        }
        Ok(())
    }
}

/// `offset` is the place of the first byte within the payload.
fn unmask(bytes: &mut [u8], mut mask: [u8; 4], offset: usize) {
    mask.rotate_left(offset % 4);
    let wide = u64::from(u32::from_ne_bytes(mask)) * 0x1_0000_0001;
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

/// The code with which a close frame with this payload is answered: its own, none where it has
/// none, 1002 or 1007 where it may not be (RFC 6455, sections 5.5.1 and 7.4).
pub(crate) fn close_answer(payload: &[u8]) -> Option<u16> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return (!payload.is_empty()).then_some(PROTOCOL_ERROR);
    };
    let code = u16::from_be_bytes(*code);
    Some(match code {
        1000..=1003 | 1007..=1014 | 3000..=4999 => match str::from_utf8(reason) {
            Ok(_) => code,
            Err(_) => NOT_TEXT,
        },
        _ => PROTOCOL_ERROR,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = Head::new(first & 0x0F, payload.len()).bytes().to_vec();
        frame[0] = first;
        frame[1] |= 0x80;
        let mask = [1, 2, 3, 254];
        frame.extend_from_slice(&mask);
        frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m));
        frame
    }

    /// Feeds the bytes in parts of this size.
    fn decoded(stream: &[u8], part: usize) -> Result<Vec<(u8, Vec<u8>)>, u16> {
        let mut decoder = Decoder::default();
        let mut got = Vec::new();
        for part in stream.to_vec().chunks_mut(part) {
            let mut input = part;
            while let Some(incoming) = decoder.next(&mut input)? {
                got.push((incoming.opcode, incoming.payload.into_owned()));
            }
            assert!(input.is_empty());
        }
        Ok(got)
    }

    #[test]
    fn frames_are_found_however_they_are_cut() {
        let long = vec![b'x'; 70_000];
        let stream = [
            masked(0x81, "grüße".as_bytes()),
            masked(0x01, &"€".as_bytes()[..1]),
            masked(0x89, b"ping"),
            masked(0x00, &"€".as_bytes()[1..]),
            masked(0x80, b""),
            masked(0x82, &long),
            masked(0x82, b""),
        ]
        .concat();
        for part in [1, 2, 3, 5, 14, 1000, stream.len()] {
            let expected = [
                (TEXT, "grüße".as_bytes().to_vec()),
                (PING, b"ping".to_vec()),
                (TEXT, "€".as_bytes().to_vec()),
                (BINARY, long.clone()),
                (BINARY, vec![]),
            ];
            assert!(
                decoded(&stream, part).as_deref() == Ok(&expected),
                "{part} bytes at a time"
            );
        }
    }

    #[test]
    fn what_may_not_be_fails_at_its_first_bytes() {
        for (bytes, code) in [
            (&[0x81, 0x05][..], PROTOCOL_ERROR), // no mask
            (&[0xC1, 0x85], PROTOCOL_ERROR),     // RSV1
            (&[0x83, 0x85], PROTOCOL_ERROR),     // an opcode without a meaning
            (&[0x80, 0x85], PROTOCOL_ERROR),     // a continuation of nothing
            (&[0x09, 0x85], PROTOCOL_ERROR),     // a fragment of a ping
            (&[0x89, 0xFE], PROTOCOL_ERROR),     // a ping of more than 125 bytes
            (&[0x01, 0x80, 1, 2, 3, 4, 0x81, 0x80], PROTOCOL_ERROR), // a message within another
            (&[0x82, 0xFF, 0, 0, 0, 0, 1, 0, 0, 1, 1, 2, 3, 4], TOO_LARGE),
            (
                &[0x82, 0xFF, 255, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4],
                TOO_LARGE,
            ),
        ] {
            assert_eq!(decoded(bytes, 1), Err(code), "{bytes:02x?}");
        }
        // Cut short of its end.
        let bad = masked(0x01, b"ab\xFFcd");
        assert_eq!(decoded(&bad[..bad.len() - 2], 1), Err(NOT_TEXT));
        assert_eq!(decoded(&masked(0x81, b"\xE2\x82"), 100), Err(NOT_TEXT));
    }

    #[test]
    fn close_frames() {
        assert_eq!(close_answer(b""), None);
        assert_eq!(close_answer(&[3]), Some(PROTOCOL_ERROR));
        assert_eq!(close_answer(&1000_u16.to_be_bytes()), Some(1000));
        assert_eq!(close_answer(&1005_u16.to_be_bytes()), Some(PROTOCOL_ERROR));
        assert_eq!(close_answer(b"\x0F\xA0done"), Some(4000));
        assert_eq!(close_answer(b"\x0F\xA0\xFF"), Some(NOT_TEXT));
    }
}

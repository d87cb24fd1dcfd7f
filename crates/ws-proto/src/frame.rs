//! Frame headers and masking (RFC 6455, sections 5.2 and 5.3).
//!
//! A reserved bit is an error, unless the extension that gives it a meaning was negotiated.

/// Longest possible frame header: 2 bytes, 8 of extended length, 4 of mask.
pub const MAX_HEADER: usize = 14;

/// Longest payload of a control frame (RFC 6455, 5.5).
pub const MAX_CONTROL_PAYLOAD: u64 = 125;

/// RSV1-3 in the first byte of a frame.
const RESERVED: u8 = 0x70;

/// In the first frame of a message: the message is compressed (RFC 7692, 6.1).
pub(crate) const RSV1: u8 = 0x40;

/// What a frame carries (RFC 6455, 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// A further fragment of the message under way.
    Continuation = 0x0,
    /// A text message, or its first fragment.
    Text = 0x1,
    /// A binary message, or its first fragment.
    Binary = 0x2,
    /// The end of one direction of the connection.
    Close = 0x8,
    /// A request for a pong with the same payload.
    Ping = 0x9,
    /// The answer to a ping, or an unsolicited pong.
    Pong = 0xA,
}

impl Opcode {
    /// True for close, ping and pong (RFC 6455, 5.5).
    pub const fn is_control(self) -> bool {
        self as u8 & 0x8 != 0
    }

    const fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0x0 => Self::Continuation,
            0x1 => Self::Text,
            0x2 => Self::Binary,
            0x8 => Self::Close,
            0x9 => Self::Ping,
            0xA => Self::Pong,
            _ => return None,
        })
    }
}

/// Which end wrote a frame: a client masks every frame, a server none (RFC 6455, 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The end that opened the connection.
    Client,
    /// The end that accepted it.
    Server,
}

/// A parsed frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Last (or only) fragment of its message.
    pub fin: bool,
    /// What the frame carries.
    pub opcode: Opcode,
    /// The masking key, present on frames from a client.
    pub mask: Option<[u8; 4]>,
    /// Payload length in bytes, at most 2^63 - 1.
    pub payload_len: u64,
}

/// A frame header that RFC 6455 forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A bit of RSV1-3 is set although no extension was negotiated (5.2).
    #[error("reserved bits {0:#05b} set without an extension (RFC 6455, 5.2)")]
    ReservedBits(u8),
    /// RSV1, which marks a compressed message, on a control frame (RFC 7692, 6.1).
    #[error("RSV1 set on a control frame, which is never compressed (RFC 7692, 6.1)")]
    CompressedControl,
    /// RSV1 on a frame that is not the first of its message (RFC 7692, 6.1).
    #[error("RSV1 set on a continuation frame: only the first of a message has it (RFC 7692, 6.1)")]
    CompressedContinuation,
    /// Opcodes 3-7 and B-F (5.2).
    #[error("reserved opcode {0:#x} (RFC 6455, 5.2)")]
    ReservedOpcode(u8),
    /// A control frame without FIN (5.5).
    #[error("fragmented control frame (RFC 6455, 5.5)")]
    FragmentedControl,
    /// A control frame of more than 125 bytes (5.5).
    #[error("control frame of more than 125 bytes (RFC 6455, 5.5)")]
    LongControl,
    /// A length that is written in more bytes than it needs, or has its highest bit set (5.2).
    #[error("payload length not in its shortest form (RFC 6455, 5.2)")]
    LengthForm,
    /// A server masked a frame (5.1).
    #[error("masked frame from a server (RFC 6455, 5.1)")]
    Masked,
    /// A client did not mask a frame (5.1).
    #[error("unmasked frame from a client (RFC 6455, 5.1)")]
    Unmasked,
}

impl FrameHeader {
    /// Parses the header at the start of `bytes`, as written by `sender`.
    ///
    /// Returns the header and its own length in bytes, or `None` when `bytes` ends within it.
    ///
    /// # Errors
    /// [`FrameError`] as soon as the bytes present cannot begin a valid frame.
    #[inline]
    pub fn parse(bytes: &[u8], sender: Sender) -> Result<Option<(Self, usize)>, FrameError> {
        Self::parse_permitting(bytes, sender, 0)
    }

    /// The same where an extension gives the reserved bits in `permitted` a meaning.
    #[inline]
    pub(crate) fn parse_permitting(
        bytes: &[u8],
        sender: Sender,
        permitted: u8,
    ) -> Result<Option<(Self, usize)>, FrameError> {
        let &[first, second, ref rest @ ..] = bytes else {
            return Ok(None);
        };
        if first & RESERVED != 0 {
            check_reserved(first, permitted)?;
        }
        let opcode =
            Opcode::from_bits(first & 0xF).ok_or(FrameError::ReservedOpcode(first & 0xF))?;
        let fin = first & 0x80 != 0;
        let masked = second & 0x80 != 0;
        let short_len = second & 0x7F;
        match (sender, masked) {
            (Sender::Server, true) => return Err(FrameError::Masked),
            (Sender::Client, false) => return Err(FrameError::Unmasked),
            _ => {}
        }
        if opcode.is_control() {
            if !fin {
                return Err(FrameError::FragmentedControl);
            }
            if u64::from(short_len) > MAX_CONTROL_PAYLOAD {
                return Err(FrameError::LongControl);
            }
        }
        let (payload_len, rest, len_bytes) = match short_len {
            126 => {
                let Some((len, rest)) = rest.split_first_chunk::<2>() else {
                    return Ok(None);
                };
                (u64::from(u16::from_be_bytes(*len)), rest, 2)
            }
            127 => {
                let Some((len, rest)) = rest.split_first_chunk::<8>() else {
                    return Ok(None);
                };
                (u64::from_be_bytes(*len), rest, 8)
            }
            short => (u64::from(short), rest, 0),
        };
        let shortest = match len_bytes {
            2 => payload_len > 125,
            8 => payload_len > u64::from(u16::MAX) && payload_len >> 63 == 0,
            _ => true,
        };
        if !shortest {
            return Err(FrameError::LengthForm);
        }
        let (mask, mask_bytes) = if masked {
            let Some(key) = rest.first_chunk::<4>() else {
                return Ok(None);
            };
            (Some(*key), 4)
        } else {
            (None, 0)
        };
        let header = Self {
            fin,
            opcode,
            mask,
            payload_len,
        };
        Ok(Some((header, 2 + len_bytes + mask_bytes)))
    }

    /// The header as it is sent, at the end of an array, and where it begins there: a frame whose payload
    /// stands behind `MAX_HEADER` bytes gets its header by one copy of a fixed size.
    #[inline]
    pub fn encode(&self) -> ([u8; MAX_HEADER], usize) {
        let mut bytes = [0; MAX_HEADER];
        let mut end = MAX_HEADER;
        if let Some(key) = self.mask {
            end -= key.len();
            bytes[end..end + key.len()].copy_from_slice(&key);
        }
        let (start, short_len) = match self.payload_len {
            len @ 0..=125 => (end - 2, len as u8),
            len @ 126..=0xFFFF => {
                bytes[end - 2..end].copy_from_slice(&(len as u16).to_be_bytes());
                (end - 4, 126)
            }
            len => {
                bytes[end - 8..end].copy_from_slice(&len.to_be_bytes());
                (end - 10, 127)
            }
        };
        bytes[start] = u8::from(self.fin) << 7 | self.opcode as u8;
        bytes[start + 1] = u8::from(self.mask.is_some()) << 7 | short_len;
        (bytes, start)
    }
}

/// Whether reserved bits may be set in this first byte of a frame.
#[cold]
fn check_reserved(first: u8, permitted: u8) -> Result<(), FrameError> {
    if first & RESERVED & !permitted != 0 {
        return Err(FrameError::ReservedBits(first >> 4 & 0x7));
    }
    match Opcode::from_bits(first & 0xF) {
        Some(Opcode::Continuation) => Err(FrameError::CompressedContinuation),
        Some(opcode) if opcode.is_control() => Err(FrameError::CompressedControl),
        _ => Ok(()),
    }
}

/// Sets RSV1 in an encoded frame of which `first` is the first byte: its message is compressed
/// (RFC 7692, 6.1).
pub const fn mark_compressed(first: &mut u8) {
    *first |= RSV1;
}

/// Appends a frame header to `out`.
#[inline]
pub fn encode_header(out: &mut Vec<u8>, header: &FrameHeader) {
    let (bytes, start) = header.encode();
    out.extend_from_slice(&bytes[start..]);
}

/// Appends a whole unfragmented frame to `out`, masked when `mask` is given.
pub fn encode_frame(out: &mut Vec<u8>, opcode: Opcode, mask: Option<[u8; 4]>, payload: &[u8]) {
    out.reserve(MAX_HEADER + payload.len());
    encode_header(
        out,
        &FrameHeader {
            fin: true,
            opcode,
            mask,
            payload_len: payload.len() as u64,
        },
    );
    let start = out.len();
    out.extend_from_slice(payload);
    if let Some(key) = mask {
        apply_mask(&mut out[start..], key);
    }
}

/// Appends a message to `out` as masked frames of at most `most` bytes of payload, the last of which ends
/// it (RFC 6455, 5.4). With `is_compressed` its first frame says that the message is (RFC 7692, 6.1).
///
/// # Panics
/// When `most` is 0.
pub fn encode_fragments(
    out: &mut Vec<u8>,
    (opcode, is_compressed): (Opcode, bool),
    mask: [u8; 4],
    payload: &[u8],
    most: usize,
) {
    let start = out.len();
    let frames = payload.len().div_ceil(most).max(1);
    out.reserve(payload.len() + frames * MAX_HEADER);
    for number in 0..frames {
        let part = &payload[number * most..payload.len().min((number + 1) * most)];
        encode_header(
            out,
            &FrameHeader {
                fin: number + 1 == frames,
                opcode: if number == 0 {
                    opcode
                } else {
                    Opcode::Continuation
                },
                mask: Some(mask),
                payload_len: part.len() as u64,
            },
        );
        let at = out.len();
        out.extend_from_slice(part);
        apply_mask(&mut out[at..], mask);
    }
    if is_compressed {
        mark_compressed(&mut out[start]);
    }
}

/// Masks or unmasks `payload`, which starts at offset 0 of its frame (RFC 6455, 5.3).
pub fn apply_mask(payload: &mut [u8], key: [u8; 4]) {
    let wide = u64::from_ne_bytes([
        key[0], key[1], key[2], key[3], key[0], key[1], key[2], key[3],
    ]);
    // Of arrays, not of slices: several at once then, and no call to copy each.
    let (words, rest) = payload.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_header() -> impl Strategy<Value = FrameHeader> {
        let length = prop_oneof![0u64..200, 65_000u64..66_000, 0u64..(1 << 63)];
        let data = prop_oneof![
            Just(Opcode::Continuation),
            Just(Opcode::Text),
            Just(Opcode::Binary)
        ];
        let control = prop_oneof![Just(Opcode::Close), Just(Opcode::Ping), Just(Opcode::Pong)];
        let mask = proptest::option::of(any::<[u8; 4]>());
        prop_oneof![
            (any::<bool>(), data, mask.clone(), length),
            (Just(true), control, mask, 0..=MAX_CONTROL_PAYLOAD),
        ]
        .prop_map(|(fin, opcode, mask, payload_len)| FrameHeader {
            fin,
            opcode,
            mask,
            payload_len,
        })
    }

    proptest! {
        #[test]
        fn fragments_are_the_message_again(
            payload in proptest::collection::vec(any::<u8>(), 0..2_000),
            mask in any::<[u8; 4]>(),
            most in 1usize..2_500,
        ) {
            let mut bytes = Vec::new();
            encode_fragments(&mut bytes, (Opcode::Binary, false), mask, &payload, most);
            let (mut joined, mut opcodes, mut at) = (Vec::new(), Vec::new(), 0);
            while at < bytes.len() {
                let (header, len) = FrameHeader::parse(&bytes[at..], Sender::Client).unwrap().unwrap();
                let end = at + len + header.payload_len as usize;
                prop_assert_eq!(header.fin, end == bytes.len());
                prop_assert!(header.payload_len <= most as u64);
                let start = joined.len();
                joined.extend_from_slice(&bytes[at + len..end]);
                apply_mask(&mut joined[start..], mask);
                opcodes.push(header.opcode);
                at = end;
            }
            prop_assert_eq!(joined, payload);
            prop_assert_eq!(opcodes[0], Opcode::Binary);
            prop_assert!(opcodes[1..].iter().all(|opcode| *opcode == Opcode::Continuation));
        }

        #[test]
        fn header_survives_the_wire_and_every_prefix_is_incomplete(header in any_header()) {
            let sender = if header.mask.is_some() { Sender::Client } else { Sender::Server };
            let mut bytes = Vec::new();
            encode_header(&mut bytes, &header);
            prop_assert!(bytes.len() <= MAX_HEADER);
            for cut in 0..bytes.len() {
                prop_assert_eq!(FrameHeader::parse(&bytes[..cut], sender), Ok(None));
            }
            prop_assert_eq!(FrameHeader::parse(&bytes, sender), Ok(Some((header, bytes.len()))));
        }

        #[test]
        fn masking_is_bytewise_xor_and_its_own_inverse(payload: Vec<u8>, key: [u8; 4]) {
            let mut masked = payload.clone();
            apply_mask(&mut masked, key);
            for (i, (m, p)) in masked.iter().zip(&payload).enumerate() {
                prop_assert_eq!(*m, p ^ key[i % 4]);
            }
            apply_mask(&mut masked, key);
            prop_assert_eq!(masked, payload);
        }

        #[test]
        fn any_accepted_header_encodes_to_the_bytes_it_was_read_from(bytes: [u8; MAX_HEADER]) {
            for sender in [Sender::Client, Sender::Server] {
                if let Ok(Some((header, len))) = FrameHeader::parse(&bytes, sender) {
                    let mut again = Vec::new();
                    encode_header(&mut again, &header);
                    prop_assert_eq!(&again[..], &bytes[..len]);
                }
            }
        }
    }

    #[test]
    fn forbidden_headers_are_refused_by_name() {
        let parse = |bytes: &[u8]| FrameHeader::parse(bytes, Sender::Server).unwrap_err();
        assert_eq!(parse(&[0xC1, 0]), FrameError::ReservedBits(0b100));
        assert_eq!(parse(&[0x91, 0]), FrameError::ReservedBits(0b001));
        assert_eq!(parse(&[0x83, 0]), FrameError::ReservedOpcode(3));
        assert_eq!(parse(&[0x8B, 0]), FrameError::ReservedOpcode(0xB));
        assert_eq!(parse(&[0x09, 0]), FrameError::FragmentedControl);
        assert_eq!(parse(&[0x89, 126, 0, 126]), FrameError::LongControl);
        assert_eq!(parse(&[0x82, 126, 0, 125]), FrameError::LengthForm);
        assert_eq!(
            parse(&[0x82, 127, 0, 0, 0, 0, 0, 0, 255, 255]),
            FrameError::LengthForm
        );
        assert_eq!(
            parse(&[0x82, 127, 128, 0, 0, 0, 0, 1, 0, 0]),
            FrameError::LengthForm
        );
        assert_eq!(parse(&[0x81, 0x80, 1, 2, 3, 4]), FrameError::Masked);
        assert_eq!(
            FrameHeader::parse(&[0x81, 0], Sender::Client),
            Err(FrameError::Unmasked)
        );
    }

    #[test]
    fn example_frames_of_rfc_6455_section_5_7() {
        let mut hello = Vec::new();
        encode_frame(
            &mut hello,
            Opcode::Text,
            Some([0x37, 0xfa, 0x21, 0x3d]),
            b"Hello",
        );
        assert_eq!(
            hello,
            [
                0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58
            ]
        );
        let mut unmasked = Vec::new();
        encode_frame(&mut unmasked, Opcode::Text, None, b"Hello");
        assert_eq!(unmasked, [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
    }
}

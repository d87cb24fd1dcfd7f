//! Laws of `ws_proto::Inflater` on any bytes: it grows to its bound and no further, and says of each
//! message what the library says that is driven byte by byte.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use ws_proto::{DeflateTerms, Deflater, InflateError, Inflater, Sender};

/// What a sender removes from the end of a message (RFC 7692, 7.2.1).
const TAIL: [u8; 4] = [0x00, 0x00, 0xFF, 0xFF];

/// Bounds of a message, in bytes.
const LIMITS: [usize; 4] = [0, 300, 4_096, 70_000];

/// Byte 0: lowest bit whether each message is compressed by itself, the next two the bound, three more
/// the window. After it: messages, each behind its length in two bytes.
pub(crate) fn check(data: &[u8]) {
    let Some((options, rest)) = data.split_first() else {
        return;
    };
    let terms = terms(options & 1 == 1, 8 + (options >> 3 & 7));
    let limit = LIMITS[usize::from(options >> 1 & 3)];
    inflate(&terms, limit, rest);
    come_back(&terms, rest);
}

const fn terms(forgets: bool, bits: u8) -> DeflateTerms {
    DeflateTerms {
        server_no_context_takeover: forgets,
        client_no_context_takeover: forgets,
        server_window_bits: bits,
        client_window_bits: bits,
    }
}

/// What the library makes of a message.
#[derive(Debug)]
struct Plainly {
    /// As far as the bound, and one byte more where it goes on.
    message: Vec<u8>,
    end: End,
}

#[derive(Debug, PartialEq)]
enum End {
    Whole,
    Corrupt,
    /// There was a final block, behind which the library does not go on.
    Final,
}

fn inflate(terms: &DeflateTerms, limit: usize, mut rest: &[u8]) {
    let mut inflater = Inflater::new(terms, Sender::Server);
    let mut library = Decompress::new_with_window_bits(false, terms.server_window_bits.max(9));
    let mut out = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes(*length)).min(behind.len());
        let (payload, behind) = behind.split_at(length);
        rest = behind;
        if terms.server_no_context_takeover {
            library.reset(false);
        }
        let inflated = inflater.inflate(payload, limit, &mut out);
        assert!(
            out.capacity() <= limit + 8,
            "{} bytes of room for {limit}",
            out.capacity()
        );
        let expected = plainly(&mut library, payload, limit);
        // What follows a final block is not the library's to say.
        if expected.end == End::Final {
            return;
        }
        let is_too_long = expected.message.len() > limit;
        match &inflated {
            Ok(()) => assert_eq!((&out, End::Whole), (&expected.message, expected.end)),
            Err(InflateError::NoBlock) => assert!(payload.is_empty()),
            Err(InflateError::End) => {
                let is_untrimmed = payload.last() == Some(&0xFF);
                assert!(is_untrimmed || terms.server_no_context_takeover);
            }
            Err(InflateError::Corrupt) => assert_eq!(expected.end, End::Corrupt),
            Err(InflateError::TooLong { .. }) => assert!(is_too_long, "{expected:?}"),
        }
        if inflated.is_err() {
            return;
        }
    }
}

/// Drives the library with one byte of input at a time, into a buffer of a few bytes.
fn plainly(library: &mut Decompress, payload: &[u8], limit: usize) -> Plainly {
    let mut message = Vec::new();
    let mut room = [0; 7];
    for byte in payload.iter().chain(&TAIL) {
        let mut input = std::slice::from_ref(byte);
        loop {
            let before = (library.total_in(), library.total_out());
            let status = library.decompress(input, &mut room, FlushDecompress::None);
            let taken = (library.total_in() - before.0) as usize;
            let made = (library.total_out() - before.1) as usize;
            message.extend_from_slice(&room[..made]);
            message.truncate(limit + 1);
            input = &input[taken..];
            let end = match status {
                Err(_) => End::Corrupt,
                Ok(Status::StreamEnd) => End::Final,
                Ok(_) if made == room.len() => continue,
                Ok(_) if input.is_empty() => break,
                Ok(_) if (taken, made) == (0, 0) => End::Corrupt,
                Ok(_) => continue,
            };
            return Plainly { message, end };
        }
    }
    let end = End::Whole;
    Plainly { message, end }
}

/// What the library compresses is inflated to what it was, and what the own deflater compresses is to
/// the library what it was.
fn come_back(terms: &DeflateTerms, data: &[u8]) {
    let bits = terms.server_window_bits.max(9);
    let mut compress = Compress::new_with_window_bits(Compression::new(6), false, bits);
    let mut deflater = Deflater::new(terms, Sender::Server, 1);
    let mut library = Decompress::new_with_window_bits(false, bits);
    let mut inflater = Inflater::new(terms, Sender::Server);
    let limit = data.len();
    for message in data.chunks(data.len() / 2 + 1) {
        if terms.server_no_context_takeover {
            compress.reset();
            library.reset(false);
        }
        let mut payload = Vec::with_capacity(2 * message.len() + 64);
        let done = compress.compress_vec(message, &mut payload, FlushCompress::Sync);
        assert_eq!(done.ok(), Some(Status::Ok));
        assert!(payload.ends_with(&TAIL), "there was no room");
        payload.truncate(payload.len() - TAIL.len());
        let mut out = Vec::new();
        assert_eq!(inflater.inflate(&payload, limit, &mut out), Ok(()));
        assert_eq!(out, message);
        let mut payload = Vec::new();
        deflater.deflate(message, &mut payload);
        let came = plainly(&mut library, &payload, limit);
        assert_eq!((&came.message[..], came.end), (message, End::Whole));
    }
}

//! Messages in deflate and back (RFC 7692, 7.2), with a bound on what one may become.
//!
//! A `Deflater` takes 310 KiB with a window of 15 bits and 185 KiB with one of 9, an `Inflater` 16 KiB
//! and its window, of which the kernel gives pages as messages fill it: up to 32 KiB more.

use super::negotiation::DeflateTerms;
use crate::frame::Sender;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// What a sender removes from the end of a message, and a receiver appends (7.2.1, 7.2.2).
const TAIL: [u8; 4] = [0x00, 0x00, 0xFF, 0xFF];

/// A last and empty block, which ends a stream that stands between two blocks.
const END: [u8; 5] = [0x01, 0x00, 0x00, 0xFF, 0xFF];

/// An empty message (7.2.3.6).
const EMPTY: u8 = 0x00;

/// Most final blocks in a message. After each the window is built again, which costs more than the
/// two bytes that such a block takes.
const MOST_FINAL_BLOCKS: u32 = 64;

/// Least that the buffer of an inflated message grows by.
const STEP: usize = 4096;

/// The smallest window that zlib takes. With it zlib refers back 512 - 262 bytes at most, which an
/// end with a window of 8 bits has.
const LEAST_WINDOW: u8 = 9;

/// A message that cannot be inflated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InflateError {
    /// No deflate data, or data that refers to what was never there (7.2.2).
    #[error("compressed message with corrupt deflate data (RFC 7692, 7.2.2)")]
    Corrupt,
    /// The message does not end with a block, or its last four bytes were not removed (7.2.1).
    #[error(
        "compressed message that does not end as a sender must end it: with an empty block whose \
         last four bytes are removed (RFC 7692, 7.2.1)"
    )]
    End,
    /// A message of no bytes, where an empty one has one byte (7.2.3.6).
    #[error("compressed message without a byte (RFC 7692, 7.2.3.6)")]
    NoBlock,
    /// The message expands past the limit.
    #[error("compressed message of {compressed} bytes that expands past the limit of {limit}")]
    TooLong {
        /// Its length on the wire.
        compressed: usize,
        /// The limit in bytes.
        limit: usize,
    },
}

/// Compresses the messages of one direction of a connection, or of many connections that keep no
/// context.
#[derive(Debug)]
pub struct Deflater {
    stream: Compress,
    /// Each message is compressed by itself.
    forgets: bool,
}

impl Deflater {
    /// One for what `sender` sends under `terms`, with a level from 1 (fast) to 9 (small).
    pub fn new(terms: &DeflateTerms, sender: Sender, level: u8) -> Self {
        let (bits, forgets) = terms.window(sender);
        let level = Compression::new(level.clamp(1, 9).into());
        Self {
            stream: Compress::new_with_window_bits(level, false, bits.max(LEAST_WINDOW)),
            forgets,
        }
    }

    /// Appends the payload of a compressed message to `out`. With context takeover it must be sent,
    /// and before any later one.
    pub fn deflate(&mut self, message: &[u8], out: &mut Vec<u8>) {
        if message.is_empty() {
            out.push(EMPTY);
            return;
        }
        if self.forgets {
            self.stream.reset();
        }
        // As much as a message that cannot be compressed takes, so that one call is enough.
        out.reserve(message.len() + message.len() / 8 + 64);
        let mut rest = message;
        loop {
            let before = self.stream.total_in();
            let done = self.stream.compress_vec(rest, out, FlushCompress::Sync);
            done.expect("deflate takes any bytes");
            rest = &rest[(self.stream.total_in() - before) as usize..];
            if rest.is_empty() && out.len() < out.capacity() {
                break;
            }
            out.reserve(STEP);
        }
        debug_assert!(out.ends_with(&TAIL));
        out.truncate(out.len() - TAIL.len());
    }
}

/// Inflates the messages of one direction of a connection, or of many connections that keep no
/// context.
#[derive(Debug)]
pub struct Inflater {
    stream: Decompress,
    forgets: bool,
}

impl Inflater {
    /// One for what `sender` sends under `terms`.
    pub fn new(terms: &DeflateTerms, sender: Sender) -> Self {
        let (bits, forgets) = terms.window(sender);
        Self {
            stream: Decompress::new_with_window_bits(false, bits.max(LEAST_WINDOW)),
            forgets,
        }
    }

    /// Puts the message with this compressed payload in the place of what `out` holds. `out` grows
    /// to `limit` bytes and one at most.
    ///
    /// # Errors
    /// [`InflateError`]; with context takeover nothing more of the connection can be inflated.
    pub fn inflate(
        &mut self,
        payload: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), InflateError> {
        out.clear();
        // Of the last byte the highest bit that is not padding belongs to the header of an empty
        // block, and is 0; padding of ones before the tail is what the tail itself looks like.
        match payload.last() {
            None => return Err(InflateError::NoBlock),
            Some(0xFF) => return Err(InflateError::End),
            Some(_) => {}
        }
        if self.forgets {
            self.stream.reset(false);
        }
        let mut final_blocks = 0;
        for mut input in [payload, &TAIL] {
            while self.step(&mut input, limit, out)? == Status::StreamEnd {
                final_blocks += 1;
                if final_blocks > MOST_FINAL_BLOCKS {
                    return Err(InflateError::Corrupt);
                }
                self.begin_again(out)?;
            }
            if out.len() > limit {
                return Err(InflateError::TooLong {
                    compressed: payload.len(),
                    limit,
                });
            }
        }
        if self.forgets && !self.is_between_blocks(limit, out) {
            return Err(InflateError::End);
        }
        Ok(())
    }

    /// Ends the stream, and says whether it stood between two blocks: only then [`END`] is one block
    /// and no more. Within a block that calls itself the last, it may be some bytes of the message and
    /// their end.
    fn is_between_blocks(&mut self, limit: usize, out: &mut Vec<u8>) -> bool {
        let (mut end, length) = (&END[..], out.len());
        let status = self.step(&mut end, limit, out);
        status == Ok(Status::StreamEnd) && end.is_empty() && out.len() == length
    }

    /// Inflates `input` until it ends, a final block does, or the limit is passed.
    fn step(
        &mut self,
        input: &mut &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<Status, InflateError> {
        loop {
            if out.len() == out.capacity() {
                let most = limit.saturating_add(1).saturating_sub(out.len());
                // One byte of room at least, so that what waits is told from nothing.
                out.reserve_exact(out.len().max(STEP).min(most).max(1));
            }
            let before = (self.stream.total_in(), out.len());
            let status = self
                .stream
                .decompress_vec(input, out, FlushDecompress::Sync)
                .map_err(|_| InflateError::Corrupt)?;
            let taken = (self.stream.total_in() - before.0) as usize;
            *input = &input[taken..];
            if status == Status::StreamEnd || out.len() > limit {
                return Ok(status);
            }
            if out.len() < out.capacity() {
                match (input.is_empty(), taken, out.len() - before.1) {
                    (true, ..) => return Ok(status),
                    (false, 0, 0) => return Err(InflateError::Corrupt),
                    _ => {}
                }
            }
        }
    }

    /// After a final block others may follow (7.2.1). They may refer to what the message has so far;
    /// a sender that refers beyond it, to earlier messages, is not understood.
    fn begin_again(&mut self, out: &[u8]) -> Result<(), InflateError> {
        const WINDOW: usize = 1 << 15;
        self.stream.reset(false);
        let window = &out[out.len().saturating_sub(WINDOW)..];
        if !window.is_empty() {
            let set = self.stream.set_dictionary(window);
            set.map_err(|_| InflateError::Corrupt)?;
        }
        Ok(())
    }
}

impl DeflateTerms {
    /// Window and no context takeover of what an end sends.
    const fn window(&self, sender: Sender) -> (u8, bool) {
        match sender {
            Sender::Client => (self.client_window_bits, self.client_no_context_takeover),
            Sender::Server => (self.server_window_bits, self.server_no_context_takeover),
        }
    }
}

#[cfg(test)]
mod tests;

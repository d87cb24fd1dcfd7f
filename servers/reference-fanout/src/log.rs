//! The log that all clients share: every broadcast once, as the bytes of its frame, at a position
//! that only grows. A client is a cursor into it.

use std::collections::VecDeque;

/// Bytes of a piece of the log. A client's bytes are contiguous but where two pieces meet.
const PIECE: usize = 256 * 1024;

/// Empty pieces that are kept for later.
const SPARE: usize = 2;

#[derive(Default)]
pub(crate) struct Log {
    /// All but the last are full.
    pieces: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// The position of the first byte that is kept.
    start: u64,
    head: u64,
}

impl Log {
    /// The position of the next byte.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    pub(crate) fn append(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.pieces.back().is_none_or(|last| last.len() == PIECE) {
                let empty = self.spare.pop();
                self.pieces
                    .push_back(empty.unwrap_or_else(|| Vec::with_capacity(PIECE)));
            }
            let last = self.pieces.back_mut().expect("one was just added");
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - last.len()));
            last.extend_from_slice(now);
            self.head += now.len() as u64;
            bytes = later;
        }
    }

    /// The bytes from this position on, up to the end of their piece. Empty at the head.
    pub(crate) fn after(&self, position: u64) -> &[u8] {
        let at = (position - self.start) as usize;
        match self.pieces.get(at / PIECE) {
            Some(piece) => &piece[at % PIECE..],
            None => &[],
        }
    }

    /// Gives up what is before this position.
    pub(crate) fn forget(&mut self, before: u64) {
        while before - self.start >= PIECE as u64 {
            self.start += PIECE as u64;
            let mut piece = self.pieces.pop_front().expect("it holds these bytes");
            if self.spare.len() < SPARE {
                piece.clear();
                self.spare.push(piece);
            }
        }
        if before == self.head {
            self.pieces.truncate(1);
            if let Some(piece) = self.pieces.front_mut() {
                piece.clear();
            }
            self.start = self.head;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_its_bytes() {
        let mut log = Log::default();
        let frame: Vec<u8> = (0..=250).collect();
        for _ in 0..5000 {
            log.append(&frame);
        }
        assert_eq!(log.head(), 5000 * 251);
        log.forget(1_000_000);
        let mut at = 1_000_000;
        while at < log.head() {
            let bytes = log.after(at);
            assert!(
                bytes
                    .iter()
                    .zip(at..)
                    .all(|(&byte, at)| u64::from(byte) == at % 251)
            );
            at += bytes.len() as u64;
        }
        assert!(log.after(at).is_empty());
    }

    #[test]
    fn what_all_have_had_is_not_kept() {
        let mut log = Log::default();
        for _ in 0..1000 {
            log.append(&[7; 100_000]);
            log.forget(log.head());
            assert!(log.pieces.len() + log.spare.len() <= 1 + SPARE);
        }
        log.append(b"next");
        assert_eq!(log.after(log.head() - 4), b"next");
    }
}

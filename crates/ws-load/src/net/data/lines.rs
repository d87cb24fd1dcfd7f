//! A file in pieces that end where a line ends.

use memchr::{memchr, memrchr};
use std::io::{self, Cursor, Read};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Whole lines of a file, many at a time.
pub(super) struct WholeLines<R> {
    reader: R,
    /// What was read and not yet dropped.
    chunk: Vec<u8>,
    /// Bytes at the head of `chunk` that were handed out.
    taken: usize,
    ended: bool,
}

/// What comes next in a file.
pub(super) enum Next<'a> {
    /// Lines, each with its line feed. Only the last one of a file may be without.
    Lines(&'a [u8]),
    /// A line that is longer than permitted.
    TooLong,
    End,
}

/// A line without the carriage return at its end.
pub(super) fn without_return(line: &str) -> &str {
    match line.as_bytes() {
        [.., b'\r'] => &line[..line.len() - 1],
        _ => line,
    }
}

impl<R: Read> WholeLines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            chunk: Vec::with_capacity(2 * CHUNK),
            taken: 0,
            ended: false,
        }
    }

    /// The first bytes that are to come, none at the end of the file.
    ///
    /// # Errors
    /// What reading the file gives.
    pub(super) fn peek(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.chunk.len() && !self.ended {
            self.fill()?;
        }
        Ok(&self.chunk[self.taken..])
    }

    /// Passes over bytes that [`Self::peek`] gave.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// The next lines, of which none is longer than `longest` bytes and its line feed.
    ///
    /// # Errors
    /// What reading the file gives.
    pub(super) fn next(&mut self, longest: usize) -> io::Result<Next<'_>> {
        self.peek()?;
        loop {
            let rest = &self.chunk[self.taken..];
            // Further lines are shorter than what is read at once.
            if rest.len() > longest && memchr(b'\n', rest).is_none_or(|feed| feed > longest) {
                return Ok(Next::TooLong);
            }
            if let Some(feed) = memrchr(b'\n', rest) {
                let from = self.taken;
                self.taken += feed + 1;
                return Ok(Next::Lines(&self.chunk[from..self.taken]));
            }
            if self.ended {
                let from = std::mem::replace(&mut self.taken, self.chunk.len());
                let last = &self.chunk[from..];
                return Ok(if last.is_empty() {
                    Next::End
                } else {
                    Next::Lines(last)
                });
            }
            self.fill()?;
        }
    }

    /// Gives back the last bytes that were handed out.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.taken -= bytes;
    }

    /// Everything that was not handed out.
    pub(super) fn rest(mut self) -> impl Read {
        self.chunk.drain(..self.taken);
        Cursor::new(self.chunk).chain(self.reader)
    }

    fn fill(&mut self) -> io::Result<()> {
        self.chunk.drain(..self.taken);
        self.taken = 0;
        let most = CHUNK as u64;
        let read = self
            .reader
            .by_ref()
            .take(most)
            .read_to_end(&mut self.chunk)?;
        self.ended = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_once_and_no_line_is_torn() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let line = [vec![b'x'; len], b"\n".to_vec()].concat();
            let text = [line.repeat(3), b"last".to_vec()].concat();
            let mut lines = WholeLines::new(&text[..]);
            let mut found = Vec::new();
            while let Next::Lines(some) = lines.next(4 * CHUNK).unwrap() {
                assert!(some.ends_with(b"\n") || found.len() + some.len() == text.len());
                found.extend_from_slice(some);
            }
            assert_eq!(found, text, "lines of {len} bytes");
        }
    }

    #[test]
    fn a_line_that_is_too_long_ends_what_is_read() {
        let mut lines = WholeLines::new(io::repeat(b'x'));
        assert!(matches!(lines.next(1 << 20).unwrap(), Next::TooLong));
        assert!(lines.chunk.capacity() <= 4 << 20, "{}", lines.chunk.len());
    }
}

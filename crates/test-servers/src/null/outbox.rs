//! What one connection still has to send. Knows bytes, not messages.

use std::io::{self, Write};

/// Bytes queued for one slow client before it is cut off (docs/protocol.md, Limits).
const MAX_PENDING: usize = 64 * 1024 * 1024;

/// A drained queue larger than this gives its memory back.
const KEPT_CAPACITY: usize = 16 * 1024;

/// The queue of one connection, in step with the broadcasts that all connections share.
///
/// The broadcasts of one round stand once in a shared buffer. A reply for this connection alone
/// must keep its place among them, so the shared bytes before it are copied first.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pending: Vec<u8>,
    sent: usize,
    /// How much of this round's shared bytes is in `pending` already.
    taken: usize,
    /// The socket was full: wait for EPOLLOUT.
    pub(super) blocked: bool,
}

impl Outbox {
    /// The outbox of a connection that joins when `shared` is this long.
    pub(super) fn joining(shared: &[u8]) -> Self {
        Self {
            taken: shared.len(),
            ..Self::default()
        }
    }

    /// Appends bytes for this connection, behind everything that was shared so far.
    pub(super) fn reply(&mut self, shared: &[u8], put: impl FnOnce(&mut Vec<u8>)) {
        self.pending.extend_from_slice(&shared[self.taken..]);
        self.taken = shared.len();
        put(&mut self.pending);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Ends a round: sends the own and the shared bytes, with one call if the socket takes them.
    pub(super) fn flush(&mut self, to: &mut impl Write, shared: &[u8]) -> io::Result<()> {
        let rest = &shared[self.taken..];
        self.taken = 0;
        if self.blocked || !self.pending.is_empty() {
            self.pending.extend_from_slice(rest);
            return if self.blocked {
                self.check_limit()
            } else {
                self.drain(to)
            };
        }
        let sent = self.write(to, rest)?;
        if sent < rest.len() {
            self.pending.extend_from_slice(&rest[sent..]);
        }
        Ok(())
    }

    /// Sends what is queued.
    pub(super) fn drain(&mut self, to: &mut impl Write) -> io::Result<()> {
        self.blocked = false;
        let pending = std::mem::take(&mut self.pending);
        let sent = self.write(to, &pending[self.sent..]);
        self.pending = pending;
        self.sent += sent?;
        if self.sent == self.pending.len() {
            self.sent = 0;
            self.pending.clear();
            self.pending.shrink_to(KEPT_CAPACITY);
        }
        self.check_limit()
    }

    fn write(&mut self, to: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = 0;
        while sent < bytes.len() {
            match to.write(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    fn check_limit(&self) -> io::Result<()> {
        if self.pending.len() - self.sent > MAX_PENDING {
            return Err(io::Error::other("client too slow"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes `room` bytes, then is full.
    struct Narrow {
        room: usize,
        got: Vec<u8>,
        calls: usize,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.calls += 1;
            let count = bytes.len().min(self.room);
            if count == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.room -= count;
            self.got.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn socket(room: usize) -> Narrow {
        Narrow {
            room,
            got: Vec::new(),
            calls: 0,
        }
    }

    #[test]
    fn a_reply_keeps_its_place_among_the_broadcasts_and_leaves_in_one_send() {
        let mut shared = b"one".to_vec();
        let mut outbox = Outbox::default();
        outbox.reply(&shared, |out| out.extend_from_slice(b"-r1-"));
        shared.extend_from_slice(b"two");
        outbox.reply(&shared, |out| out.extend_from_slice(b"-r2-"));
        shared.extend_from_slice(b"three");
        let mut to = socket(100);
        outbox.flush(&mut to, &shared).unwrap();
        assert_eq!(to.got, b"one-r1-two-r2-three");
        assert_eq!(to.calls, 1);
        assert!(outbox.is_empty());
    }

    #[test]
    fn a_late_joiner_gets_only_what_follows() {
        let mut shared = b"before".to_vec();
        let mut outbox = Outbox::joining(&shared);
        shared.extend_from_slice(b"after");
        let mut to = socket(100);
        outbox.flush(&mut to, &shared).unwrap();
        assert_eq!(to.got, b"after");
    }

    #[test]
    fn a_full_socket_keeps_the_remainder_in_order() {
        let mut outbox = Outbox::default();
        let mut to = socket(4);
        outbox.flush(&mut to, b"abcdef").unwrap();
        assert!(outbox.blocked);
        outbox.flush(&mut to, b"ghi").unwrap();
        outbox.reply(b"", |out| out.extend_from_slice(b"!"));
        to.room = 3;
        outbox.drain(&mut to).unwrap();
        assert!(outbox.blocked);
        to.room = 100;
        outbox.drain(&mut to).unwrap();
        assert_eq!(to.got, b"abcdefghi!");
        assert!(!outbox.blocked && outbox.is_empty());
    }

    #[test]
    fn a_client_that_takes_nothing_is_cut_off() {
        let mut outbox = Outbox::default();
        let mut to = socket(0);
        let chunk = vec![0; MAX_PENDING / 4];
        let cut = (0..6).position(|_| outbox.flush(&mut to, &chunk).is_err());
        assert_eq!(cut, Some(4));
    }
}

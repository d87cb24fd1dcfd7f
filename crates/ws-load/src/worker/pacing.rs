//! Clients that read slowly: for how long their sockets are left unread.
//!
//! A read takes all that the kernel has of a socket, which is little, for the receive buffer of such
//! a client is small. The socket is then paused for as long as these bytes take at the client's
//! rate. Until a client is ready, and when it closes, it is read like any other.

use super::clients::Session;
use crate::io::Token;
use crate::net::Phase;
use plan::Reading;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;

/// Smallest and largest receive buffer, in bytes: a handshake and a message of ordinary size, and
/// what the kernel itself begins with on most machines.
const RECEIVE_BUFFERS: (u32, u32) = (2 * 1024, 128 * 1024);
const SECOND_NS: u64 = 1_000_000_000;

/// The clients of a worker whose sockets are paused.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    /// When each of them is read again, in nanoseconds.
    until: HashMap<Token, u64>,
    /// The same in the order of time, and times that have been put off since.
    order: BinaryHeap<Reverse<(u64, Token)>>,
}

impl Pacing {
    /// When the next socket may have to be resumed; far in the future when none is paused.
    pub(super) fn next_ns(&self) -> u64 {
        self.order
            .peek()
            .map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns)
    }

    /// Whether any socket is paused.
    #[inline]
    pub(super) fn has_paused(&self) -> bool {
        !self.order.is_empty()
    }

    /// Puts off the next read of a client. True when the client was not paused.
    fn put_off(&mut self, slot: Token, pause_ns: u64, now_ns: u64) -> bool {
        let known = self.until.get(&slot).copied();
        let until_ns = known.unwrap_or(now_ns).saturating_add(pause_ns);
        self.until.insert(slot, until_ns);
        self.order.push(Reverse((until_ns, slot)));
        known.is_none()
    }

    /// The next client whose pause is over.
    fn take_due(&mut self, now_ns: u64) -> Option<Token> {
        while self.next_ns() <= now_ns {
            let Reverse((at_ns, slot)) = self.order.pop()?;
            if self.until.get(&slot) == Some(&at_ns) {
                self.until.remove(&slot);
                return Some(slot);
            }
        }
        None
    }

    /// A client has taken `bytes` of its socket. Pauses it, if it reads slowly, and is true then.
    #[inline]
    pub(super) fn took(
        &mut self,
        slot: Token,
        bytes: usize,
        now_ns: u64,
        session: &mut Session<'_>,
    ) -> bool {
        let Some(pause_ns) = pause_ns(session.table.reading(slot), bytes) else {
            return false;
        };
        if matches!(session.table.get(slot).phase, Phase::Ready)
            && self.put_off(slot, pause_ns, now_ns)
        {
            session.switch_reading(slot, false);
        }
        true
    }

    /// Reads those clients again whose pause is over by `now_ns`.
    pub(super) fn resume_due(&mut self, now_ns: u64, session: &mut Session<'_>) {
        while let Some(slot) = self.take_due(now_ns) {
            session.switch_reading(slot, true);
        }
    }
}

/// For how long a client's socket is left unread after it took so many bytes, in nanoseconds.
#[inline]
fn pause_ns(reading: Reading, bytes: usize) -> Option<u64> {
    match reading {
        Reading::Full => None,
        Reading::Stopped => Some(u64::MAX),
        Reading::BytesPerSecond(rate) => Some(bytes as u64 * SECOND_NS / u64::from(rate)),
    }
}

/// Bytes of the receive buffer of a client that reads slowly: those of a second.
pub(super) fn receive_buffer(reading: Reading) -> Option<usize> {
    let (least, most) = RECEIVE_BUFFERS;
    match reading {
        Reading::Full => None,
        Reading::Stopped => Some(least as usize),
        Reading::BytesPerSecond(rate) => Some(rate.clamp(least, most) as usize),
    }
}

impl Session<'_> {
    /// Pauses or resumes the socket of a client that may be gone.
    #[cold]
    fn switch_reading(&mut self, slot: Token, reads: bool) {
        if let Err(error) = self.try_switch_reading(slot, reads) {
            self.on_failed(slot, error);
        }
    }

    fn try_switch_reading(&mut self, slot: Token, reads: bool) -> io::Result<()> {
        let Some(transport) = &self.table.get(slot).transport else {
            return Ok(());
        };
        let (socket, writable) = (transport.raw(), transport.wants_write());
        match reads {
            true => self.control.resume(slot, socket, writable),
            false => self.control.pause(slot, socket, writable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_takes_bytes_at_its_rate_whatever_a_read_brings() {
        let mut pacing = Pacing::default();
        let (mut now_ns, mut taken) = (5_000, 0);
        for read in 0..1000 {
            let bytes = 1 + read * 7919 % 5000;
            let pause_ns = pause_ns(Reading::BytesPerSecond(1024), bytes).unwrap();
            assert!(pacing.put_off(3, pause_ns, now_ns));
            taken += bytes as u64;
            assert_eq!(pacing.take_due(pacing.next_ns() - 1), None);
            now_ns = pacing.next_ns();
            assert_eq!(pacing.take_due(now_ns), Some(3));
        }
        let exact_ns = taken * SECOND_NS / 1024;
        // What is left of a nanosecond after each read.
        assert!(exact_ns - (now_ns - 5_000) <= 1000, "{now_ns} {exact_ns}");
        assert_eq!(pacing.next_ns(), u64::MAX);
    }

    #[test]
    fn bytes_that_come_within_a_pause_make_it_longer() {
        let mut pacing = Pacing::default();
        assert!(pacing.put_off(0, SECOND_NS, 0));
        assert!(pacing.put_off(1, SECOND_NS * 3 / 2, 0));
        assert!(!pacing.put_off(0, SECOND_NS, SECOND_NS / 2));
        assert_eq!(pacing.take_due(SECOND_NS), None);
        assert_eq!(pacing.take_due(SECOND_NS * 3 / 2), Some(1));
        assert_eq!(pacing.take_due(SECOND_NS * 2 - 1), None);
        assert_eq!(pacing.take_due(SECOND_NS * 2), Some(0));
        assert_eq!(pacing.take_due(u64::MAX), None);
    }

    #[test]
    fn a_client_that_has_stopped_is_read_again_when_it_closes() {
        let mut pacing = Pacing::default();
        let pause_ns = pause_ns(Reading::Stopped, 1).unwrap();
        assert!(pacing.put_off(0, pause_ns, 5));
        assert_eq!(pacing.take_due(u64::MAX - 1), None);
        assert_eq!(pacing.take_due(u64::MAX), Some(0));
    }
}

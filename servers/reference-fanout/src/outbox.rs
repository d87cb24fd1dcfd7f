//! What is to be sent to one client beside the log that all share: its own frames and those of its
//! rooms, in order, each with the position of the log up to which that goes first.

use crate::log::Log;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

/// What an entry counts for beside its bytes.
const ENTRY: usize = 128;

/// Capacity of the first block of a room, and the most that it grows to by doubling. A block is
/// larger where a single frame is.
const BLOCK: (usize, usize) = (1024, 64 * 1024);

/// Frames of a room, contiguous. It ends when the last client that waits for it has had it.
type Block = RefCell<Vec<u8>>;

/// The frames of a room that some of its clients still wait for.
#[derive(Default)]
pub(crate) struct RoomLog {
    last: Weak<Block>,
}

/// A frame in a block.
pub(crate) struct Place {
    block: Rc<Block>,
    from: usize,
    to: usize,
}

impl RoomLog {
    pub(crate) fn append(&mut self, frame: &[u8]) -> Place {
        let mut capacity = BLOCK.0;
        if let Some(block) = self.last.upgrade() {
            let mut bytes = block.borrow_mut();
            let from = bytes.len();
            if bytes.capacity() - from >= frame.len() {
                bytes.extend_from_slice(frame);
                let to = bytes.len();
                drop(bytes);
                return Place { block, from, to };
            }
            capacity = (2 * bytes.capacity()).min(BLOCK.1);
        }
        let mut bytes = Vec::with_capacity(capacity.max(frame.len()));
        bytes.extend_from_slice(frame);
        let to = bytes.len();
        let block = Rc::new(RefCell::new(bytes));
        self.last = Rc::downgrade(&block);
        Place { block, from: 0, to }
    }
}

enum Content {
    Own { bytes: Vec<u8>, sent: usize },
    Room(Place),
}

struct Entry {
    /// The log goes first up to here.
    behind: u64,
    content: Content,
}

#[derive(Default)]
pub(crate) struct Outbox {
    entries: VecDeque<Entry>,
    bytes: usize,
    own: usize,
}

impl Outbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What waits here, in bytes, with something added for each entry.
    pub(crate) fn waiting(&self) -> usize {
        self.bytes + ENTRY * self.entries.len()
    }

    /// The part of it that the client itself has asked for, in bytes.
    pub(crate) fn own(&self) -> usize {
        self.own
    }

    /// The position up to which the log goes before the last entry.
    pub(crate) fn last_behind(&self) -> u64 {
        self.entries.back().map_or(0, |entry| entry.behind)
    }

    pub(crate) fn push(&mut self, behind: u64, frame: &[&[u8]]) {
        let size = frame.iter().map(|part| part.len()).sum::<usize>();
        self.bytes += size;
        self.own += size;
        if let Some(Entry {
            behind: at,
            content: Content::Own { bytes, .. },
        }) = self.entries.back_mut()
            && *at == behind
        {
            frame.iter().for_each(|part| bytes.extend_from_slice(part));
            return;
        }
        let content = Content::Own {
            bytes: frame.concat(),
            sent: 0,
        };
        self.entries.push_back(Entry { behind, content });
    }

    /// A client that follows one room has one entry for each block, however many frames wait in it.
    pub(crate) fn push_shared(&mut self, behind: u64, place: &Place) {
        self.bytes += place.to - place.from;
        if let Some(Entry {
            behind: at,
            content: Content::Room(last),
        }) = self.entries.back_mut()
            && *at == behind
            && last.to == place.from
            && Rc::ptr_eq(&last.block, &place.block)
        {
            last.to = place.to;
            return;
        }
        let content = Content::Room(Place {
            block: Rc::clone(&place.block),
            ..*place
        });
        self.entries.push_back(Entry { behind, content });
    }

    /// Puts the next bytes into `batch` until it is full: the log from `cursor` on and the entries,
    /// and behind them the log up to `until`.
    pub(crate) fn gather(&self, log: &Log, mut cursor: u64, until: u64, batch: &mut Batch) {
        for entry in &self.entries {
            cursor = batch.take_log(log, cursor, entry.behind);
            match &entry.content {
                Content::Own { bytes, sent } => batch.take(&bytes[*sent..]),
                Content::Room(place) => batch.take(&place.block.borrow()[place.from..place.to]),
            };
            if batch.is_full() {
                return;
            }
        }
        batch.take_log(log, cursor, until);
    }

    /// So many bytes of what was gathered have been sent. Returns the client's new cursor.
    pub(crate) fn advance(&mut self, mut cursor: u64, mut sent: usize) -> u64 {
        while let Some(entry) = self.entries.front_mut() {
            let of_log = sent.min((entry.behind - cursor) as usize);
            cursor += of_log as u64;
            sent -= of_log;
            if cursor < entry.behind {
                return cursor;
            }
            let (left, own) = match &entry.content {
                Content::Own { bytes, sent } => (bytes.len() - sent, true),
                Content::Room(place) => (place.to - place.from, false),
            };
            let now = sent.min(left);
            self.bytes -= now;
            self.own -= if own { now } else { 0 };
            sent -= now;
            if now < left {
                match &mut entry.content {
                    Content::Own { sent, .. } => *sent += now,
                    Content::Room(place) => place.from += now,
                }
                return cursor;
            }
            self.entries.pop_front();
        }
        cursor + sent as u64
    }
}

/// Bytes of several places, put together for one system call.
pub(crate) struct Batch {
    bytes: Vec<u8>,
}

impl Batch {
    const SIZE: usize = 64 * 1024;

    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(Self::SIZE),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    fn is_full(&self) -> bool {
        self.bytes.len() == Self::SIZE
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = Self::SIZE - self.bytes.len();
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn take_log(&mut self, log: &Log, mut from: u64, to: u64) -> u64 {
        while from < to && !self.is_full() {
            let bytes = log.after(from);
            let bytes = &bytes[..bytes.len().min((to - from) as usize)];
            self.take(bytes);
            from += bytes.len() as u64;
        }
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends so many bytes at a time.
    fn drained(mut outbox: Outbox, log: &Log, mut cursor: u64, step: usize) -> Vec<u8> {
        let mut got = Vec::new();
        let mut batch = Batch::new();
        loop {
            batch.clear();
            outbox.gather(log, cursor, log.head(), &mut batch);
            let sent = &batch.bytes()[..batch.bytes().len().min(step)];
            if sent.is_empty() {
                assert!(outbox.is_empty());
                assert_eq!((outbox.waiting(), outbox.own()), (0, 0));
                assert_eq!(cursor, log.head());
                return got;
            }
            got.extend_from_slice(sent);
            cursor = outbox.advance(cursor, sent.len());
        }
    }

    #[test]
    fn everything_comes_in_order_whatever_the_socket_takes() {
        for step in [1, 2, 3, 7, 100] {
            let mut log = Log::default();
            let mut outbox = Outbox::default();
            let mut room = RoomLog::default();
            log.append(b"all-1 ");
            outbox.push(log.head(), &[b"own-1", b" "]);
            outbox.push(log.head(), &[b"own-2 "]);
            log.append(b"all-2 ");
            outbox.push_shared(log.head(), &room.append(b"room-1 "));
            outbox.push_shared(log.head(), &room.append(b"room-2 "));
            outbox.push(log.head(), &[b"own-3 "]);
            log.append(b"all-3");
            let got = drained(outbox, &log, 0, step);
            let expected = &b"all-1 own-1 own-2 all-2 room-1 room-2 own-3 all-3"[..];
            assert_eq!(got, expected, "{step} bytes at a time");
        }
    }

    #[test]
    fn more_than_a_batch_and_frames_larger_than_a_block() {
        let log = Log::default();
        let mut outbox = Outbox::default();
        let mut room = RoomLog::default();
        let mut expected = Vec::new();
        for size in [10, 200_000, 30, 3_000, 90_000] {
            let frame = vec![size as u8; size];
            expected.extend_from_slice(&frame);
            outbox.push_shared(0, &room.append(&frame));
        }
        assert!(drained(outbox, &log, 0, 10_000) == expected);
    }

    #[test]
    fn frames_of_one_room_are_one_entry_of_a_slow_client() {
        let mut outbox = Outbox::default();
        let mut room = RoomLog::default();
        for _ in 0..100_000 {
            outbox.push_shared(0, &room.append(b"0123456789"));
        }
        assert!(outbox.entries.len() < 40, "{}", outbox.entries.len());
        drop(outbox);
        assert!(room.last.upgrade().is_none());
    }
}

//! A wire that keeps what a slow client does not take, so that its senders need not wait.

use super::wire::{PlainWire, Wire};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Bytes kept for one slow client before it is cut off (docs/protocol.md, Limits).
const MOST_KEPT: usize = 64 * 1024 * 1024;

/// For a thread that does nothing but write.
const STACK: usize = 64 * 1024;

/// What happens to bytes that would bring more than 64 MiB to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The client is cut off.
    CutOff,
    /// They are kept as well.
    Keep,
    /// They are lost.
    Skip,
    /// The client is cut off; and of frames of such a length, those are lost that would wait behind
    /// another.
    SkipBehind(usize, usize),
}

/// TCP with a queue. A thread writes what waits in it, as long as something does.
pub(crate) struct QueuedWire(Arc<Shared>);

struct Shared {
    wire: PlainWire,
    overflow: Overflow,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Vec<u8>>,
    /// Bytes that wait, those included that the thread is about to write.
    bytes: usize,
    /// The thread is there: what comes must wait behind what it writes.
    has_writer: bool,
    /// The sending side ends behind what waits.
    finishing: bool,
    ended: bool,
}

impl QueuedWire {
    pub(crate) fn new(stream: TcpStream, overflow: Overflow) -> Self {
        Self(Arc::new(Shared {
            wire: PlainWire::patient(stream),
            overflow,
            queue: Mutex::default(),
        }))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits, until nothing does.
    fn write_waiting(&self) {
        let mut written = 0;
        loop {
            let next = {
                let mut queue = self.lock();
                queue.bytes = queue.bytes.saturating_sub(written);
                let next = queue.waiting.pop_front();
                queue.has_writer = next.is_some();
                if next.is_none() && queue.finishing {
                    self.wire.finish();
                }
                next
            };
            let Some(bytes) = next else {
                return;
            };
            if self.wire.send(&bytes).is_err() {
                self.end();
            }
            written = bytes.len();
        }
    }

    fn end(&self) {
        let mut queue = self.lock();
        queue.ended = true;
        queue.waiting.clear();
        self.wire.end();
    }
}

impl Wire for QueuedWire {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut queue = self.0.lock();
        if queue.ended {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if let Overflow::SkipBehind(least, most) = self.0.overflow
            && queue.has_writer
            && (least..=most).contains(&bytes.len())
        {
            return Ok(());
        }
        let sent = match queue.has_writer {
            true => 0,
            false => self.0.wire.send_now(bytes)?,
        };
        let rest = &bytes[sent..];
        if rest.is_empty() {
            return Ok(());
        }
        if queue.bytes + rest.len() > MOST_KEPT {
            match self.0.overflow {
                Overflow::CutOff | Overflow::SkipBehind(..) => {
                    return Err(io::Error::other("client too slow"));
                }
                Overflow::Skip if sent == 0 => return Ok(()),
                Overflow::Keep | Overflow::Skip => {}
            }
        }
        queue.bytes += rest.len();
        queue.waiting.push_back(rest.to_vec());
        if !queue.has_writer {
            let shared = Arc::clone(&self.0);
            let writer = thread::Builder::new().stack_size(STACK);
            writer.spawn(move || shared.write_waiting())?;
            queue.has_writer = true;
        }
        Ok(())
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.wire.recv(buffer)
    }

    fn finish(&self) {
        let mut queue = self.0.lock();
        queue.finishing = true;
        if !queue.has_writer {
            self.0.wire.finish();
        }
    }

    fn end(&self) {
        self.0.end();
    }

    fn reset(&self) {
        let mut queue = self.0.lock();
        queue.ended = true;
        queue.waiting.clear();
        self.0.wire.reset();
    }
}

//! What is to be written at a known time, and the thread that writes it.

use super::feed::Feeding;
use super::ledger::Ledger;
use super::lock;
use crate::threaded::Peer;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a frame is, so that the ledger can say when it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Frame {
    /// Of a request, and to which of its listeners.
    Delivery(usize, usize),
    /// To a client of another room.
    Stray(usize),
    /// Of a request.
    Result(usize),
    /// What a client is told before it is ready.
    Opening,
    /// So many messages, with which a client that changes rooms is told that it did.
    Answer(u64),
}

struct Written {
    to: Arc<Peer>,
    bytes: Vec<u8>,
    frame: Frame,
}

/// Frames by the time at which they are due, then in the order in which they came.
pub(super) struct Due {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// When a frame is due, and its number.
    order: BinaryHeap<Reverse<(u64, u64)>>,
    frames: std::collections::HashMap<u64, Written>,
    next: u64,
    is_over: bool,
}

impl Waiting {
    /// The frame that is due first.
    fn take_first(&mut self) -> Option<Written> {
        let Reverse((_, number)) = self.order.pop()?;
        self.frames.remove(&number)
    }
}

impl Due {
    /// Starts the thread.
    pub(super) fn start(
        ledger: Arc<Mutex<Ledger>>,
        feed: Option<Feeding>,
    ) -> io::Result<Arc<Self>> {
        let due = Arc::new(Self {
            waiting: Mutex::default(),
            news: Condvar::new(),
        });
        let own = Arc::clone(&due);
        let thread = std::thread::Builder::new().name("due".into());
        thread.spawn(move || own.write_all(&ledger, feed.as_ref()))?;
        Ok(due)
    }

    /// Has `bytes` written to a connection at a time in nanoseconds of the ledger.
    pub(super) fn push(&self, at_ns: u64, to: &Arc<Peer>, bytes: Vec<u8>, frame: Frame) {
        let mut waiting = self.lock();
        let number = waiting.next;
        waiting.next += 1;
        waiting.order.push(Reverse((at_ns, number)));
        let to = Arc::clone(to);
        waiting.frames.insert(number, Written { to, bytes, frame });
        self.news.notify_one();
    }

    /// Ends the thread; what waits is not written.
    pub(super) fn stop(&self) {
        self.lock().is_over = true;
        self.news.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next frame that is due, once it is.
    fn next(&self, ledger: &Mutex<Ledger>) -> Option<Written> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_over {
                return None;
            }
            if waiting.order.is_empty() {
                let woken = self.news.wait(waiting);
                waiting = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // The ledger's lock is taken by those who push, before this one. Meanwhile an earlier frame may
            // come: of a thread that was kept waiting with the time that it had read.
            drop(waiting);
            let now = lock(ledger).now_ns();
            waiting = self.lock();
            let Some(Reverse((at_ns, _))) = waiting.order.peek().copied() else {
                continue;
            };
            if now >= at_ns {
                return waiting.take_first();
            }
            let left = Duration::from_nanos(at_ns - now);
            let woken = self.news.wait_timeout(waiting, left);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn write_all(&self, ledger: &Mutex<Ledger>, feed: Option<&Feeding>) {
        while let Some(Written { to, bytes, frame }) = self.next(ledger) {
            // Noted before the write, so that no client has what is not in the ledger.
            let before = {
                let mut ledger = lock(ledger);
                if ledger.has_ended(to.id) {
                    continue;
                }
                let now = Some(ledger.now_ns());
                let before = match frame {
                    Frame::Delivery(..) => ledger.feed(to.id, feed),
                    _ => Vec::new(),
                };
                let told = &mut ledger.told;
                match frame {
                    Frame::Delivery(asked, copy) => told.asked[asked].copies[copy].written_ns = now,
                    Frame::Stray(stray) => told.strays[stray].written_ns = now,
                    Frame::Result(asked) => told.asked[asked].result_ns = now,
                    Frame::Answer(messages) => told.answers += messages,
                    Frame::Opening => {}
                }
                before
            };
            if !before.is_empty() {
                to.send(&before);
            }
            to.send(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Connection, Fed};
    use crate::threaded::{Speech, Wire};

    /// Keeps what is sent.
    #[derive(Default)]
    struct Kept(Mutex<Vec<u8>>);

    impl Wire for Kept {
        fn send(&self, bytes: &[u8]) -> io::Result<()> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(())
        }

        fn recv(&self, _: &mut [u8]) -> io::Result<usize> {
            Ok(0)
        }

        fn finish(&self) {}

        fn end(&self) {}

        fn reset(&self) {}
    }

    /// The thread that pushes read the time long before, and holds the ledger meanwhile.
    #[test]
    fn an_earlier_frame_that_comes_late_is_written_first_and_none_is_left_out() {
        let ledger = Arc::<Mutex<Ledger>>::default();
        let due = Due::start(Arc::clone(&ledger), None).unwrap();
        let kept = Arc::new(Kept::default());
        let wire = Arc::clone(&kept) as Arc<dyn Wire>;
        let peer = Arc::new(Peer::new(1, wire, Speech::Plain));
        let mut held = lock(&ledger);
        held.open(Connection {
            id: 1,
            client: None,
            room: None,
            was_refused: false,
            opened_ns: 0,
            ended_ns: None,
            fed: Fed::default(),
        });
        let now = held.now_ns();
        let ms = |ms: u64| now + ms * 1_000_000;
        due.push(ms(20), &peer, b"b".to_vec(), Frame::Opening);
        // timed: a bound from below. The thread has looked at the frame and waits for the ledger.
        std::thread::sleep(Duration::from_millis(10));
        due.push(ms(15), &peer, b"a".to_vec(), Frame::Opening);
        // timed: a bound from below. Both are due when the ledger is free.
        std::thread::sleep(Duration::from_millis(20));
        drop(held);
        due.push(ms(40), &peer, b"c".to_vec(), Frame::Opening);
        for _ in 0..3_000 {
            if kept.0.lock().unwrap().len() == 3 {
                break;
            }
            // timed: all looks together take far longer than any pause of a busy machine.
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(*kept.0.lock().unwrap(), b"abc");
        due.stop();
    }
}

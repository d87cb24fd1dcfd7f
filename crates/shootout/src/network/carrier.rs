//! A thread that carries packets in one direction, and counts them.

use super::line::{Fate, Line};
use crate::sample::cpus::pin_current;
use record::{NetworkTraffic, Recorder};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Packets that are read before those that are due are written.
const BATCH: usize = 32;
/// Longest packet: the longest of the interface, and room.
const ROOM: usize = 2048;
/// Bytes under way at most.
const UNDER_WAY: usize = 512 << 20;

#[derive(Debug, Default)]
struct Counts {
    packets: u64,
    bytes: u64,
    lost: u64,
    overflowed: u64,
    missed: u64,
    late: Recorder,
}

/// One direction at work, until it is dropped.
#[derive(Debug)]
pub(super) struct Carrier {
    counts: Arc<Mutex<Counts>>,
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Carrier {
    /// Carries what is sent through the interface of `from` to that of `to`, on `cpus` (all, when
    /// there are none).
    pub(super) fn start(from: File, to: File, line: Line, cpus: &[usize]) -> io::Result<Self> {
        let counts = Arc::new(Mutex::new(Counts::default()));
        let (stopped, stop) = io::pipe()?;
        let way = Way {
            from,
            to,
            line,
            stopped,
            counts: Arc::clone(&counts),
            under_way: VecDeque::new(),
            bytes_under_way: 0,
            begun: Instant::now(),
        };
        let cpus = cpus.to_vec();
        let thread = thread::Builder::new()
            .name("network".into())
            .spawn(move || {
                prefer(&cpus);
                way.run();
            })?;
        Ok(Self {
            counts,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// What was carried since it was asked last. `missed` are those of which the kernel knows.
    pub(super) fn traffic(&self, missed: u64) -> NetworkTraffic {
        let counts = std::mem::take(&mut *lock(&self.counts));
        NetworkTraffic {
            packets: counts.packets,
            bytes: counts.bytes,
            lost: counts.lost,
            overflowed: counts.overflowed,
            missed: counts.missed + missed,
            late: counts.late.latency(),
        }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

struct Way {
    from: File,
    to: File,
    line: Line,
    stopped: PipeReader,
    counts: Arc<Mutex<Counts>>,
    /// When each arrives.
    under_way: VecDeque<(u64, Box<[u8]>)>,
    bytes_under_way: usize,
    begun: Instant,
}

impl Way {
    fn run(mut self) {
        let mut room = [0; ROOM];
        loop {
            let has_more = self.take(&mut room);
            self.deliver();
            if !has_more && self.wait() {
                return;
            }
        }
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    /// Takes packets that were sent; true when there may be more.
    fn take(&mut self, room: &mut [u8]) -> bool {
        for _ in 0..BATCH {
            let Ok(length) = self.from.read(room) else {
                return false;
            };
            let now = self.now();
            let mut counts = lock(&self.counts);
            if self.bytes_under_way + length > UNDER_WAY {
                counts.missed += 1;
                continue;
            }
            counts.packets += 1;
            counts.bytes += length as u64;
            match self.line.take(now, length) {
                Fate::Arrives(at) => {
                    self.bytes_under_way += length;
                    self.under_way.push_back((at, room[..length].into()));
                }
                Fate::Lost => counts.lost += 1,
                Fate::Overflows => counts.overflowed += 1,
            }
        }
        true
    }

    /// Lets those arrive that are due.
    fn deliver(&mut self) {
        while let Some((at, packet)) = self.under_way.front() {
            let now = self.now();
            if *at > now {
                return;
            }
            let is_taken = self.to.write(packet).is_ok();
            let mut counts = lock(&self.counts);
            match is_taken {
                true => counts.late.record(now - at),
                false => counts.missed += 1,
            }
            drop(counts);
            self.bytes_under_way -= packet.len();
            self.under_way.pop_front();
        }
    }

    /// Until a packet was sent or is due; true when it is over.
    fn wait(&self) -> bool {
        let timeout = self.under_way.front().map(|(at, _)| {
            let left = at.saturating_sub(self.now());
            libc::timespec {
                tv_sec: (left / 1_000_000_000) as libc::time_t,
                tv_nsec: (left % 1_000_000_000) as libc::c_long,
            }
        });
        let awaited = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut both = [
            awaited(self.from.as_raw_fd()),
            awaited(self.stopped.as_raw_fd()),
        ];
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: two valid pollfds, and a time that outlives the call or none.
        let told = unsafe { libc::ppoll(both.as_mut_ptr(), 2, timeout, std::ptr::null()) };
        told > 0 && both[1].revents != 0
    }
}

/// On its processors, before other threads, and woken as exactly as the clock can. The kernel leaves
/// others a twentieth of a processor even beside such a thread (sched_rt_runtime_us in sched(7)).
pub(super) fn prefer(cpus: &[usize]) {
    // SAFETY: plain system calls, which change this thread alone. Where one is not permitted, packets
    // are late, which is counted.
    unsafe {
        let first = libc::sched_param { sched_priority: 1 };
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const first);
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
    }
    if !cpus.is_empty() {
        let _ = pin_current(cpus);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

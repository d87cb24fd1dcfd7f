//! Edge-triggered epoll with one receive per report and one buffer for all sockets.
//!
//! Edge-triggered, because level-triggered epoll looks at every reported socket once more in the
//! next wait, which is measurable at one report per few messages. It costs no second `recv`: one
//! that does not fill the buffer has emptied the socket, and whatever comes later is an edge of
//! its own. Only a full buffer, or a peer that has finished, makes it read on: a little at once, and
//! the rest in later turns, in which all such sockets take turns. A peer that sends faster than it
//! is read would otherwise keep a turn from ending.

use super::looks::Looks;
use super::stamping::{self, Offset};
use super::{Backend, Control, Event, Handler, Token, Turn, Waker};
use crate::clock;
use plan::Timestamps;
use socket2::Socket;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

/// Large enough that a burst of ordinary messages to one socket comes out in one call.
const BUFFER: usize = 256 * 1024;
const EVENTS: usize = 512;
/// Reads of one socket in a turn, where one was not enough: none while it brings a full buffer.
const READS: u32 = 4;
/// Bytes after which a turn leaves what it has not read to the next: some milliseconds of parsing,
/// even of frames without a payload.
const TURN: usize = 4 * 1024 * 1024;
const WAKER: u64 = u64::MAX;

pub(crate) struct Epoll {
    control: EpollControl,
    wake: Arc<File>,
    buffer: Box<[u8]>,
    /// The kernel's stamps are read, and converted with this.
    stamps: Option<Offset>,
    looks: Looks,
    events: Vec<libc::epoll_event>,
}

pub(crate) struct EpollControl {
    epoll: OwnedFd,
    kernel_stamps: bool,
    /// Sockets to close when the events of this turn have been handled.
    given_up: Vec<Socket>,
    unread: Unread,
    paused: HashSet<RawFd>,
    /// Those that were resumed and not read since: they may hold bytes that came long ago.
    resumed: HashSet<RawFd>,
}

/// Sockets that may hold bytes for which no further edge comes, in the order in which they are read.
#[derive(Default)]
struct Unread {
    /// Those that were given up meanwhile included.
    order: VecDeque<RawFd>,
    /// With the token, and whether the peer has finished.
    sockets: HashMap<RawFd, (Token, bool)>,
}

impl Unread {
    fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    fn push(&mut self, token: Token, socket: RawFd, finished: bool) {
        match self.sockets.entry(socket) {
            Entry::Occupied(mut known) => known.get_mut().1 |= finished,
            Entry::Vacant(new) => {
                new.insert((token, finished));
                self.order.push_back(socket);
            }
        }
    }

    fn pop(&mut self) -> Option<(Token, RawFd, bool)> {
        loop {
            let socket = self.order.pop_front()?;
            if let Some((token, finished)) = self.sockets.remove(&socket) {
                return Some((token, socket, finished));
            }
        }
    }

    fn forget(&mut self, socket: RawFd) {
        if self.sockets.remove(&socket).is_some() {
            self.order.retain(|other| *other != socket);
        }
    }
}

/// Token and descriptor travel in the event itself, so that a report needs no look-up.
const fn pack(token: Token, socket: RawFd) -> u64 {
    (token as u64) << 32 | socket as u32 as u64
}

const fn unpack(data: u64) -> (Token, RawFd) {
    ((data >> 32) as Token, data as u32 as RawFd)
}

impl EpollControl {
    fn ctl(&self, op: i32, socket: RawFd, events: i32, data: u64) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: data,
        };
        // SAFETY: `event` is valid for the call; the kernel copies it.
        let done = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), op, socket, &mut event) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    #[inline]
    fn is_paused(&self, socket: RawFd) -> bool {
        !self.paused.is_empty() && self.paused.contains(&socket)
    }

    #[inline]
    fn was_resumed(&mut self, socket: RawFd) -> bool {
        !self.resumed.is_empty() && self.resumed.remove(&socket)
    }

    #[cold]
    fn is_given_up(&self, socket: RawFd) -> bool {
        self.given_up
            .iter()
            .any(|given_up| given_up.as_raw_fd() == socket)
    }
}

impl Control for EpollControl {
    fn connecting(&mut self, token: Token, socket: RawFd) -> io::Result<()> {
        if self.kernel_stamps {
            stamping::enable(socket)?;
        }
        self.ctl(
            libc::EPOLL_CTL_ADD,
            socket,
            libc::EPOLLOUT,
            pack(token, socket),
        )
    }

    fn established(&mut self, token: Token, socket: RawFd, writable: bool) -> io::Result<()> {
        let readable = match self.is_paused(socket) {
            true => 0,
            false => libc::EPOLLIN | libc::EPOLLRDHUP,
        };
        let writable = if writable { libc::EPOLLOUT } else { 0 };
        self.ctl(
            libc::EPOLL_CTL_MOD,
            socket,
            readable | libc::EPOLLET | writable,
            pack(token, socket),
        )
    }

    fn pause(&mut self, token: Token, socket: RawFd, writable: bool) -> io::Result<()> {
        self.paused.insert(socket);
        self.unread.forget(socket);
        self.established(token, socket, writable)
    }

    /// The kernel looks at the socket anew, and reports what it holds by now.
    fn resume(&mut self, token: Token, socket: RawFd, writable: bool) -> io::Result<()> {
        if self.paused.remove(&socket) {
            self.resumed.insert(socket);
        }
        self.established(token, socket, writable)
    }

    fn close(&mut self, socket: Socket) {
        // It fails only for a socket that is not watched, which is the state asked for.
        let _ = self.ctl(libc::EPOLL_CTL_DEL, socket.as_raw_fd(), 0, 0);
        self.unread.forget(socket.as_raw_fd());
        self.paused.remove(&socket.as_raw_fd());
        self.resumed.remove(&socket.as_raw_fd());
        self.given_up.push(socket);
    }
}

impl Backend for Epoll {
    type Control = EpollControl;

    fn new(timestamps: Timestamps) -> io::Result<Self> {
        let kernel_stamps = timestamps == Timestamps::Kernel;
        // SAFETY: both calls take no pointers; the results are checked before they are owned.
        let (epoll, wake) = unsafe {
            (
                libc::epoll_create1(libc::EPOLL_CLOEXEC),
                libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK),
            )
        };
        if epoll < 0 || wake < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: both descriptors were just created and have no other owner.
        let (epoll, wake) = unsafe { (OwnedFd::from_raw_fd(epoll), File::from_raw_fd(wake)) };
        let control = EpollControl {
            epoll,
            kernel_stamps,
            given_up: Vec::new(),
            unread: Unread::default(),
            paused: HashSet::new(),
            resumed: HashSet::new(),
        };
        control.ctl(libc::EPOLL_CTL_ADD, wake.as_raw_fd(), libc::EPOLLIN, WAKER)?;
        Ok(Self {
            control,
            wake: Arc::new(wake),
            buffer: vec![0; BUFFER].into_boxed_slice(),
            stamps: kernel_stamps.then(Offset::new),
            looks: Looks::default(),
            events: Vec::with_capacity(EVENTS),
        })
    }

    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.wake))
    }

    fn control(&mut self) -> &mut EpollControl {
        &mut self.control
    }

    fn turn<H: Handler<EpollControl>>(
        &mut self,
        timeout: Duration,
        handler: &mut H,
    ) -> io::Result<Turn> {
        let is_behind = !self.control.unread.is_empty();
        let began_ns = clock::now_ns();
        let count = self.wait(if is_behind { Duration::ZERO } else { timeout })?;
        let mut turn = Turn {
            woke_ns: clock::now_ns(),
            ..Turn::default()
        };
        if let Some(offset) = &mut self.stamps {
            turn.clock_stepped = offset.measure(turn.woke_ns);
        }
        let earlier = self.control.unread.sockets.len();
        let mut read = 0;
        for index in 0..count {
            let libc::epoll_event { events, u64: data } = self.events[index];
            if data == WAKER {
                let _ = io::Read::read(&mut &*self.wake, &mut [0; 8]);
                continue;
            }
            let (token, socket) = unpack(data);
            let events = events as i32;
            if events & libc::EPOLLOUT != 0 {
                handler.on_event(&mut self.control, token, Event::Writable);
            }
            let finished = events & (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) != 0;
            // An error is reported of a paused socket too, and once more when it is resumed.
            if !finished && events & libc::EPOLLIN == 0 || self.control.is_paused(socket) {
                continue;
            }
            if read >= TURN || is_behind && self.control.unread.sockets.contains_key(&socket) {
                self.control.unread.push(token, socket, finished);
            } else {
                read += self.drain(token, socket, finished, true, &mut turn, handler);
            }
        }
        if is_behind {
            self.read_on(earlier, &mut turn, handler);
        }
        self.control.given_up.clear();
        if count < EVENTS {
            self.looks.complete(began_ns);
        }
        Ok(turn)
    }
}

impl Epoll {
    fn wait(&mut self, timeout: Duration) -> io::Result<usize> {
        let timeout = libc::timespec {
            tv_sec: timeout.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(timeout.subsec_nanos()),
        };
        // The call that waits for less than a millisecond (Linux 5.11); glibc has it since 2.35
        // only, hence by its number.
        // SAFETY: the pointer is valid for EVENTS entries, `set_len` below covers only those that
        // the kernel filled; the time outlives the call; there is no signal mask.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.control.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS as i32,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        if count < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error),
            };
        }
        // SAFETY: the kernel has filled `count` entries, and `count` is at most the capacity.
        unsafe { self.events.set_len(count as usize) };
        Ok(count as usize)
    }

    /// Continues the reads that an earlier turn left, each for a few buffers.
    #[cold]
    fn read_on<H: Handler<EpollControl>>(
        &mut self,
        sockets: usize,
        turn: &mut Turn,
        handler: &mut H,
    ) {
        let mut read = 0;
        for _ in 0..sockets {
            if read >= TURN {
                return;
            }
            let Some((token, socket, finished)) = self.control.unread.pop() else {
                return;
            };
            read += self.drain(token, socket, finished, false, turn, handler);
        }
    }

    /// Reads until the socket is empty; to the very end when the peer has `finished`, since no
    /// further edge would tell. What is too much at once is left for a later turn. `was_empty` before
    /// the wait that told of it. Counts the reads that brought bytes; returns the bytes.
    #[inline]
    fn drain<H: Handler<EpollControl>>(
        &mut self,
        token: Token,
        socket: RawFd,
        finished: bool,
        was_empty: bool,
        turn: &mut Turn,
        handler: &mut H,
    ) -> usize {
        let was_empty = was_empty && !self.control.was_resumed(socket);
        let mut bytes = 0;
        for _ in 0..READS {
            // The descriptor is open: the caller keeps a watched socket, `given_up` one that it
            // closed during this turn.
            let (received, stamp) = match self.stamps {
                Some(_) => stamping::receive(socket, &mut self.buffer),
                None => (receive(socket, &mut self.buffer), None),
            };
            if received <= 0 {
                if let Some(event) = end_of(received, finished) {
                    handler.on_event(&mut self.control, token, event);
                }
                return bytes;
            }
            turn.reads += 1;
            let received = received as usize;
            bytes += received;
            let read_ns = clock::now_ns();
            let is_whole = received < self.buffer.len();
            let (at_ns, there_ns, stamped) = match &self.stamps {
                Some(offset) => {
                    turn.unstamped += u64::from(stamp.is_none());
                    let at_ns = offset.arrival(stamp, read_ns);
                    (at_ns, at_ns, is_whole && offset.believes(stamp))
                }
                None => (read_ns, turn.woke_ns, false),
            };
            let event = Event::Data {
                bytes: &self.buffer[..received],
                at_ns,
                there_ns,
                since_ns: if was_empty {
                    self.looks.since_ns(at_ns)
                } else {
                    0
                },
                read_ns,
                stamped,
            };
            handler.on_event(&mut self.control, token, event);
            if is_whole && !finished || self.control.is_paused(socket) {
                return bytes;
            }
            if !is_whole {
                break;
            }
        }
        if !self.control.is_given_up(socket) {
            self.control.unread.push(token, socket, finished);
        }
        bytes
    }
}

#[inline]
fn receive(socket: RawFd, buffer: &mut [u8]) -> isize {
    // SAFETY: the buffer is valid for its length.
    unsafe {
        libc::recv(
            socket,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            libc::MSG_DONTWAIT,
        )
    }
}

/// What a `recv` without bytes means; nothing, when the socket is only empty.
#[cold]
fn end_of(received: isize, finished: bool) -> Option<Event<'static>> {
    if received == 0 {
        return Some(Event::End);
    }
    let error = io::Error::last_os_error();
    let is_empty = error.kind() == io::ErrorKind::WouldBlock;
    // The report was about a connection attempt, and told as writable.
    let is_attempt = finished && error.kind() == io::ErrorKind::NotConnected;
    (!is_empty && !is_attempt).then_some(Event::Failed(error))
}

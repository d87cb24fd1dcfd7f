//! io_uring: one multishot receive per socket into a ring of provided buffers, completions taken
//! in batches.
//!
//! The kernel receives into buffers of ours while the loop waits, so that a message costs no call
//! of its own. It does so only within the waits (IORING_SETUP_DEFER_TASKRUN) where it knows how, and never
//! beside the thread that handles the events. With the kernel's stamps a receive is a `recvmsg` whose control
//! data stands in the buffer before the bytes.
//!
//! A multishot receive cannot be held to a rate: while it takes bytes the peer's kernel sends more,
//! which it takes too. So a socket that was paused is read by calls of ours from then on.
//!
//! Sockets are connected and written to by system calls of the caller, as on any backend.

mod buffers;
mod moderation;
mod probe;
mod watches;

pub use probe::NoUring;
pub(crate) use probe::probe;

use super::looks::Looks;
use super::stamping::{self, Offset};
use super::{Backend, Control, Event, Handler, Token, Turn, Waker};
use crate::clock;
use buffers::{Buffers, GROUP};
use io_uring::types::{CancelBuilder, Fd, RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use moderation::Moderation;
use plan::Timestamps;
use socket2::Socket;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};
use std::sync::Arc;
use std::time::Duration;
use watches::{Ask, Name, Watches};

/// Requests that are handed over in one call; more are handed over in several.
const SUBMISSIONS: u32 = 1024;
/// Completions that fit before the kernel must keep them elsewhere.
const COMPLETIONS: u32 = 8192;
/// A wait that brought fewer has begun with all receives that were due: since Linux 6.13 it leaves
/// some to the next where there are more than 20 (IO_LOCAL_TW_DEFAULT_MAX).
const LEAVES_NONE: usize = 16;

pub(crate) struct Uring {
    /// Before `buffers`, so that no receive is under way when these are dropped.
    control: UringControl,
    buffers: Buffers,
    wake: Arc<File>,
    /// The waker is being waited for.
    waking: bool,
    /// The kernel's stamps are read, and converted with this.
    stamps: Option<Offset>,
    looks: Looks,
    /// What a call of ours has read.
    scratch: Box<[u8]>,
    moderation: Moderation,
    batch: Vec<cqueue::Entry>,
}

pub(crate) struct UringControl {
    ring: IoUring,
    /// The calling thread is the one that the ring works for.
    begun: bool,
    watches: Watches,
    /// How every `recvmsg` is asked for; where it lies must not change while requests are queued.
    message: Option<Box<libc::msghdr>>,
    under_way: u64,
}

// SAFETY: the message header holds no pointer but null ones; everything else may be sent.
unsafe impl Send for UringControl {}

impl UringControl {
    /// Queues a request; hands over those that are queued when there is no room.
    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: what the entries point to is owned by this backend and outlives its ring:
            // the message header and the buffers. Descriptors are open, `Watches` sees to it.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            self.ring.submit()?;
        }
    }

    fn receive(&mut self, slot: u32) -> io::Result<()> {
        let watch = self.watches.get(slot);
        if watch.receiving || watch.paused {
            return Ok(());
        }
        watch.receiving = true;
        let (socket, ask) = (Fd(watch.socket), watch.receive());
        let name = self.watches.name(slot, ask);
        let entry = match &self.message {
            _ if ask == Ask::Readable => {
                opcode::PollAdd::new(socket, (libc::POLLIN | libc::POLLRDHUP) as u32).build()
            }
            Some(message) => opcode::RecvMsgMulti::new(socket, &raw const **message, GROUP).build(),
            None => opcode::RecvMulti::new(socket, GROUP).build(),
        };
        self.push(&entry.user_data(name.pack()))
    }

    fn poll_writable(&mut self, slot: u32) -> io::Result<()> {
        let name = self.watches.name(slot, Ask::Writable);
        let watch = self.watches.get(slot);
        watch.wants_writable = true;
        if watch.polling {
            return Ok(());
        }
        watch.polling = true;
        let entry = opcode::PollAdd::new(Fd(watch.socket), libc::POLLOUT as u32).build();
        self.push(&entry.user_data(name.pack()))
    }
}

impl Control for UringControl {
    fn under_way(&mut self, messages: u64) {
        self.under_way = messages;
    }

    fn connecting(&mut self, token: Token, socket: RawFd) -> io::Result<()> {
        if self.message.is_some() {
            stamping::enable(socket)?;
        }
        let slot = self.watches.add(token, socket);
        self.poll_writable(slot)
    }

    fn established(&mut self, _: Token, socket: RawFd, writable: bool) -> io::Result<()> {
        let Some(slot) = self.watches.slot_of(socket) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        self.receive(slot)?;
        if writable {
            return self.poll_writable(slot);
        }
        self.watches.get(slot).wants_writable = false;
        Ok(())
    }

    fn pause(&mut self, token: Token, socket: RawFd, writable: bool) -> io::Result<()> {
        if let Some(slot) = self.watches.slot_of(socket) {
            let watch = self.watches.get(slot);
            let (ask, is_receiving) = (watch.receive(), watch.receiving);
            watch.paused = true;
            watch.paced = true;
            if is_receiving {
                let name = self.watches.name(slot, ask);
                let entry = opcode::AsyncCancel::new(name.pack()).build();
                self.push(&entry.user_data(Name::CANCEL.pack()))?;
            }
        }
        self.established(token, socket, writable)
    }

    /// A receive that is being cancelled still is asked for anew when it has ended.
    fn resume(&mut self, token: Token, socket: RawFd, writable: bool) -> io::Result<()> {
        if let Some(slot) = self.watches.slot_of(socket) {
            self.watches.get(slot).paused = false;
        }
        self.established(token, socket, writable)
    }

    fn close(&mut self, socket: Socket) {
        let raw = socket.as_raw_fd();
        if self.watches.give_up(socket) {
            let entry = opcode::AsyncCancel2::new(CancelBuilder::fd(Fd(raw)).all()).build();
            // A ring that takes no request fails the next wait, which ends the worker.
            let _ = self.push(&entry.user_data(Name::CANCEL.pack()));
        }
    }
}

impl Drop for UringControl {
    /// Ends what is under way: a ring that is only closed is taken down later, by another thread of
    /// the kernel, and holds the sockets till then.
    fn drop(&mut self) {
        if self.begun {
            let patience = Timespec::new().sec(1);
            let submitter = self.ring.submitter();
            let _ = submitter.register_sync_cancel(Some(patience), CancelBuilder::any());
        }
    }
}

impl Backend for Uring {
    type Control = UringControl;

    fn new(timestamps: Timestamps) -> io::Result<Self> {
        Self::on(set_up()?, timestamps)
    }

    fn begin(&mut self) -> io::Result<()> {
        self.control.ring.submitter().register_enable_rings()?;
        self.control.begun = true;
        Ok(())
    }

    fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.wake))
    }

    fn control(&mut self) -> &mut UringControl {
        &mut self.control
    }

    fn turn<H: Handler<UringControl>>(
        &mut self,
        timeout: Duration,
        handler: &mut H,
    ) -> io::Result<Turn> {
        self.await_waker()?;
        let began_ns = clock::now_ns();
        self.wait(timeout)?;
        let mut turn = Turn {
            woke_ns: clock::now_ns(),
            ..Turn::default()
        };
        if let Some(offset) = &mut self.stamps {
            turn.clock_stepped = offset.measure(turn.woke_ns);
        }
        let mut batch = std::mem::take(&mut self.batch);
        batch.extend(self.control.ring.completion());
        self.moderation.note(turn.woke_ns, batch.len());
        let mut leaves_none = batch.len() < LEAVES_NONE;
        for completion in batch.drain(..) {
            let name = Name::unpack(completion.user_data());
            match name.ask {
                Ask::Receive => {
                    // A receive that has ended may have left bytes.
                    leaves_none &= cqueue::more(completion.flags());
                    self.received(name, &completion, &mut turn, handler)?;
                }
                Ask::Readable => self.readable(name, &mut turn, handler)?,
                Ask::Writable => self.writable(name, handler),
                Ask::Wake => {
                    let _ = io::Read::read(&mut &*self.wake, &mut [0; 8]);
                    self.waking = false;
                }
                Ask::Cancel => {}
            }
        }
        self.batch = batch;
        self.buffers.publish();
        self.control.watches.parting.clear();
        if leaves_none {
            self.looks.complete(began_ns);
        }
        Ok(turn)
    }
}

impl Uring {
    /// The backend on a ring that is disabled yet.
    pub(super) fn on(ring: IoUring, timestamps: Timestamps) -> io::Result<Self> {
        // SAFETY: the call takes no pointers; the result is checked before it is owned.
        let wake = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if wake < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just created and has no other owner.
        let wake = unsafe { File::from_raw_fd(wake) };
        let kernel_stamps = timestamps == Timestamps::Kernel;
        let moderated = kernel_stamps && ring.params().is_feature_min_timeout();
        Ok(Self {
            buffers: Buffers::register(&ring.submitter())?,
            control: UringControl {
                ring,
                begun: false,
                watches: Watches::default(),
                message: kernel_stamps.then(stamped_message),
                under_way: u64::MAX,
            },
            wake: Arc::new(wake),
            waking: false,
            stamps: kernel_stamps.then(Offset::new),
            looks: Looks::default(),
            scratch: vec![0; buffers::SIZE].into_boxed_slice(),
            moderation: Moderation::new(moderated),
            batch: Vec::with_capacity(COMPLETIONS as usize),
        })
    }

    fn await_waker(&mut self) -> io::Result<()> {
        if self.waking {
            return Ok(());
        }
        self.waking = true;
        let entry = opcode::PollAdd::new(Fd(self.wake.as_raw_fd()), libc::POLLIN as u32).build();
        self.control.push(&entry.user_data(Name::WAKE.pack()))
    }

    /// Hands over what is queued and waits.
    fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        let want = self.moderation.want(timeout, self.control.under_way);
        let timeout = Timespec::from(timeout);
        let arguments = SubmitArgs::new()
            .timespec(&timeout)
            .min_wait_usec(want.patience_us);
        let submitter = self.control.ring.submitter();
        match submitter.submit_with_args(want.completions as usize, &arguments) {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error() {
                // Time is up; a signal; or completions that must be taken before more can be asked.
                Some(libc::ETIME | libc::EINTR | libc::EBUSY) => Ok(()),
                _ => Err(error),
            },
        }
    }

    #[cold]
    fn writable<H: Handler<UringControl>>(&mut self, name: Name, handler: &mut H) {
        self.control.watches.answered(name);
        let Some(watch) = self.control.watches.named(name) else {
            return;
        };
        if !watch.silent && std::mem::take(&mut watch.wants_writable) {
            let token = watch.token;
            handler.on_event(&mut self.control, token, Event::Writable);
        }
    }

    /// Reads a socket that was paused before, once; asks anew unless it is paused again.
    #[cold]
    fn readable<H: Handler<UringControl>>(
        &mut self,
        name: Name,
        turn: &mut Turn,
        handler: &mut H,
    ) -> io::Result<()> {
        self.control.watches.answered(name);
        let Some(watch) = self.control.watches.named(name) else {
            return Ok(());
        };
        if watch.silent || watch.paused {
            return Ok(());
        }
        let token = watch.token;
        // The descriptor is open: `Watches` keeps that of a socket which is not silent.
        match stamping::receive(watch.socket, &mut self.scratch) {
            (count @ 1.., stamp) => self.read(token, count as usize, stamp, turn, handler),
            (0, _) => self.over(token, name, Event::End, handler),
            _ => {
                let error = io::Error::last_os_error().raw_os_error().unwrap_or(0);
                self.refused(token, name, error, handler);
            }
        }
        match self.control.watches.named(name) {
            Some(watch) if !watch.silent => self.control.receive(name.slot),
            _ => Ok(()),
        }
    }

    /// Hands over the first `count` bytes of the scratch buffer.
    fn read<H: Handler<UringControl>>(
        &mut self,
        token: Token,
        count: usize,
        stamp: Option<u64>,
        turn: &mut Turn,
        handler: &mut H,
    ) {
        let read_ns = clock::now_ns();
        let is_whole = count < self.scratch.len();
        let (at_ns, there_ns, stamped) = match &self.stamps {
            Some(offset) => {
                turn.unstamped += u64::from(stamp.is_none());
                let at_ns = offset.arrival(stamp, read_ns);
                (at_ns, at_ns, is_whole && offset.believes(stamp))
            }
            None => (read_ns, turn.woke_ns, false),
        };
        turn.reads += 1;
        let event = Event::Data {
            bytes: &self.scratch[..count],
            at_ns,
            there_ns,
            since_ns: 0,
            read_ns,
            stamped,
        };
        handler.on_event(&mut self.control, token, event);
    }

    /// What a receive has brought; asks anew when it was its last word and the socket goes on.
    #[inline]
    fn received<H: Handler<UringControl>>(
        &mut self,
        name: Name,
        completion: &cqueue::Entry,
        turn: &mut Turn,
        handler: &mut H,
    ) -> io::Result<()> {
        let flags = completion.flags();
        let buffer = cqueue::buffer_select(flags);
        if !cqueue::more(flags) {
            self.control.watches.answered(name);
        }
        if let Some(watch) = self.control.watches.named(name)
            && !watch.silent
        {
            let token = watch.token;
            match (completion.result(), buffer) {
                (count @ 1.., Some(id)) => self.data(token, name, id, count, turn, handler),
                (0.., _) => self.over(token, name, Event::End, handler),
                (error, _) => self.refused(token, name, -error, handler),
            }
        }
        if let Some(id) = buffer {
            self.buffers.give_back(id);
        }
        if !cqueue::more(flags)
            && let Some(watch) = self.control.watches.named(name)
            && !watch.silent
        {
            return self.control.receive(name.slot);
        }
        Ok(())
    }

    #[inline]
    fn data<H: Handler<UringControl>>(
        &mut self,
        token: Token,
        name: Name,
        id: u16,
        count: i32,
        turn: &mut Turn,
        handler: &mut H,
    ) {
        // SAFETY: the completion in hand names this buffer, which is given back after the event.
        let filled = unsafe { self.buffers.filled(id, count as usize) };
        let read_ns = clock::now_ns();
        let out;
        let (bytes, at_ns, there_ns, stamped) = match (&self.stamps, &self.control.message) {
            (Some(offset), Some(message)) => {
                let Ok(parsed) = RecvMsgOut::parse(filled, message) else {
                    return;
                };
                out = parsed;
                let stamp = stamping::stamp_of(out.control_data());
                turn.unstamped += u64::from(stamp.is_none() && !out.payload_data().is_empty());
                let at_ns = offset.arrival(stamp, read_ns);
                let is_whole = filled.len() < buffers::SIZE;
                let stamped = is_whole && offset.believes(stamp);
                (out.payload_data(), at_ns, at_ns, stamped)
            }
            _ => (filled, read_ns, turn.woke_ns, false),
        };
        if bytes.is_empty() {
            return self.over(token, name, Event::End, handler);
        }
        turn.reads += 1;
        let event = Event::Data {
            bytes,
            at_ns,
            there_ns,
            since_ns: self.looks.since_ns(at_ns),
            read_ns,
            stamped,
        };
        handler.on_event(&mut self.control, token, event);
    }

    #[cold]
    fn refused<H: Handler<UringControl>>(
        &mut self,
        token: Token,
        name: Name,
        error: i32,
        handler: &mut H,
    ) {
        // Out of buffers, until those of this turn are given back; or nothing was there after all;
        // or the socket was paused.
        let goes_on = [libc::ENOBUFS, libc::EAGAIN, libc::EINTR, libc::ECANCELED];
        if !goes_on.contains(&error) {
            let error = io::Error::from_raw_os_error(error);
            self.over(token, name, Event::Failed(error), handler);
        }
    }

    /// The last event of a socket.
    #[cold]
    fn over<H: Handler<UringControl>>(
        &mut self,
        token: Token,
        name: Name,
        event: Event<'_>,
        handler: &mut H,
    ) {
        if let Some(watch) = self.control.watches.named(name) {
            watch.silent = true;
        }
        handler.on_event(&mut self.control, token, event);
    }
}

/// How a `recvmsg` is asked for whose control data may hold a stamp.
fn stamped_message() -> Box<libc::msghdr> {
    // SAFETY: all-zero bytes are a valid msghdr.
    let mut message: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
    message.msg_controllen = stamping::CONTROL as _;
    message
}

/// A ring that receives within waits only (Linux 6.1), or the best before that. Disabled until
/// [`Backend::begin`], on the thread that it is to serve.
fn set_up() -> io::Result<IoUring> {
    match builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(SUBMISSIONS)
    {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => set_up_cooperative(),
        ring => ring,
    }
}

/// A ring that receives when the loop makes any system call, without interrupting it (Linux 5.19).
pub(super) fn set_up_cooperative() -> io::Result<IoUring> {
    builder().setup_coop_taskrun().build(SUBMISSIONS)
}

fn builder() -> io_uring::Builder {
    let mut builder = IoUring::builder();
    builder
        .setup_cqsize(COMPLETIONS)
        .setup_submit_all()
        .setup_r_disabled();
    builder
}

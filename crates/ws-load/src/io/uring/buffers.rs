//! The ring of buffers that multishot receives take from and that we give back
//! (io_uring_register(2), IORING_REGISTER_PBUF_RING).
//!
//! It moves no data and knows no sockets. A buffer is the kernel's from [`Buffers::give_back`] to
//! the completion that names it, and ours from there on.

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

/// One group is enough: all sockets share it.
pub(super) const GROUP: u16 = 0;
/// Bytes of a buffer. A burst of ordinary messages fits; a message of megabytes comes in many.
pub(super) const SIZE: usize = 16 * 1024;
/// From one buffer to the next. Were it a power of two, the beginnings of all buffers would share a
/// few sets of the processor's caches, and each receive would go to memory.
const STRIDE: usize = SIZE + 17 * 64;
/// Buffers, a power of two. More than the completions of one wait usually name; when it is not
/// enough, receives end with ENOBUFS and are asked for again. The ring is used in turn, so each
/// buffer more is cache that a burst goes through.
const COUNT: u16 = 256;

pub(super) struct Buffers {
    entries: Pages,
    memory: Pages,
    /// How many buffers have been given to the kernel, modulo 2^16.
    tail: u16,
}

impl Buffers {
    /// Makes the buffers and gives all of them to the kernel.
    pub(super) fn register(submitter: &Submitter<'_>) -> io::Result<Self> {
        let entries = Pages::new(usize::from(COUNT) * size_of::<BufRingEntry>())?;
        let memory = Pages::new(usize::from(COUNT) * STRIDE)?;
        memory.advise_huge();
        // SAFETY: the pages hold COUNT entries and are unmapped only when the ring is gone: the
        // owner drops it before its buffers.
        unsafe {
            submitter.register_buf_ring_with_flags(
                entries.start.as_ptr() as u64,
                COUNT,
                GROUP,
                0,
            )?;
        }
        let mut buffers = Self {
            entries,
            memory,
            tail: 0,
        };
        for id in 0..COUNT {
            buffers.give_back(id);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// The first `len` bytes of a buffer that a completion has named.
    ///
    /// # Safety
    /// `id` must have been named by a completion and not have been given back since.
    #[inline]
    pub(super) unsafe fn filled(&self, id: u16, len: usize) -> &[u8] {
        assert!(id < COUNT && len <= SIZE, "buffer {id} of {len} bytes");
        // SAFETY: within the pages, as asserted; the kernel has filled it and leaves it alone, as
        // the caller promises.
        unsafe {
            let start = self.memory.start.as_ptr().add(usize::from(id) * STRIDE);
            std::slice::from_raw_parts(start, len)
        }
    }

    /// Returns a buffer; the kernel sees it with the next [`Buffers::publish`].
    #[inline]
    pub(super) fn give_back(&mut self, id: u16) {
        assert!(id < COUNT, "buffer {id}");
        let slot = usize::from(self.tail & (COUNT - 1));
        // SAFETY: the slot and the buffer are within the pages. No two buffers are in one slot, for
        // there are as many of both; the kernel reads a slot only once it is published. The tail
        // lies over the reserved bytes of the first slot, which none of these calls writes.
        unsafe {
            let entry = &mut *self.entries.start.as_ptr().cast::<BufRingEntry>().add(slot);
            entry.set_addr(self.memory.start.as_ptr().add(usize::from(id) * STRIDE) as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(id);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Shows the kernel what was given back.
    #[inline]
    pub(super) fn publish(&self) {
        // SAFETY: the tail is an aligned u16 within the first entry, and shared with the kernel.
        unsafe {
            let tail = BufRingEntry::tail(self.entries.start.as_ptr().cast());
            (*tail.cast::<AtomicU16>()).store(self.tail, Ordering::Release);
        }
    }
}

/// Zeroed memory that begins with a page.
struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory is owned, and reached through this value alone.
unsafe impl Send for Pages {}

impl Pages {
    fn new(len: usize) -> io::Result<Self> {
        // SAFETY: a new private mapping touches nothing that exists.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len })
    }

    /// Asks for large pages, which spare the processor's table of pages; a kernel may decline.
    fn advise_huge(&self) {
        // SAFETY: the mapping is ours, and the advice changes nothing of its content.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.len, libc::MADV_HUGEPAGE) };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this mapping was made with this length, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

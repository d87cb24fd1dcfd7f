//! The realtime clock, and a timer on it that epoll can wait for.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd, RawFd};

const SECOND: u64 = 1_000_000_000;

/// Nanoseconds of `CLOCK_REALTIME`.
pub(super) fn now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for the call. The clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

/// Becomes readable at a set moment, more exactly than the time-out of a poll.
#[derive(Debug)]
pub(super) struct Alarm(OwnedFd);

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: the call takes no pointer; a descriptor that it returns is new and has no other
        // owner.
        unsafe {
            let fd = libc::timerfd_create(libc::CLOCK_REALTIME, flags);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(OwnedFd::from_raw_fd(fd)))
        }
    }

    /// Sets another moment; until then it is not readable. `None` is never.
    pub(super) fn set(&self, at_ns: Option<u64>) -> io::Result<()> {
        // Zero would stop the timer; any moment in the past makes it readable at once.
        let at_ns = at_ns.map_or(0, |at_ns| at_ns.max(1));
        let zero = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let setting = libc::itimerspec {
            it_interval: zero,
            it_value: libc::timespec {
                tv_sec: (at_ns / SECOND) as libc::time_t,
                tv_nsec: (at_ns % SECOND) as libc::c_long,
            },
        };
        // SAFETY: the setting outlives the call, and the old one is not asked for.
        let done = unsafe {
            libc::timerfd_settime(
                self.0.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const setting,
                std::ptr::null_mut(),
            )
        };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

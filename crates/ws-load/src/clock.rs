//! The one monotonic clock of every time stamp that is subtracted.

use std::time::Duration;

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for the call. These clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of `CLOCK_MONOTONIC`; the same in all threads and processes of a machine.
#[inline]
pub(crate) fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of `CLOCK_REALTIME`, which may be stepped and is never subtracted from another clock
/// than itself without [`crate::io`] looking after it.
pub(crate) fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// CPU time that the calling thread has used, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time that this process has used in all its threads, in nanoseconds.
pub(crate) fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Has the kernel wake the calling thread when its time is over, and not up to 50 us later to wake
/// several threads at once.
pub(crate) fn wake_precisely() {
    // SAFETY: the option takes a number; where it is refused the wake-ups are only less exact.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// A duration in nanoseconds, as long as 584 years allow.
pub(crate) const fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

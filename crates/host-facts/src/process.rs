//! Readings of one process.

use procfs::process::Process;
use std::mem::MaybeUninit;
use std::time::Duration;

/// A clock of the kernel; `None` when there is no such clock (any more).
pub fn clock(id: libc::clockid_t) -> Option<Duration> {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call writes a timespec where it is given room for one.
    if unsafe { libc::clock_gettime(id, time.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: a call that succeeded has written it.
    let time = unsafe { time.assume_init() };
    Some(Duration::new(
        time.tv_sec.try_into().ok()?,
        time.tv_nsec.try_into().ok()?,
    ))
}

/// CPU time (user and system) of a process, ended threads included.
///
/// The clock of `clock_getcpuclockid(3)` counts nanoseconds, where `utime` and `stime` of
/// /proc/PID/stat count hundredths of a second, which is more than a short step takes.
pub fn cpu(pid: i32) -> Option<Duration> {
    let mut id = MaybeUninit::<libc::clockid_t>::uninit();
    // SAFETY: the call writes a clockid_t where it is given room for one.
    if unsafe { libc::clock_getcpuclockid(pid, id.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: a call that succeeded has written it.
    clock(unsafe { id.assume_init() })
}

/// Resident size in bytes; `None` when the process has ended.
pub fn resident(pid: i32) -> Option<u64> {
    let pages = Process::new(pid).ok()?.statm().ok()?.resident;
    Some(pages * procfs::page_size())
}

/// Proportional size in bytes; `None` when the process has ended or the kernel does not tell.
pub fn proportional(pid: i32) -> Option<u64> {
    let rollup = Process::new(pid).ok()?.smaps_rollup().ok()?;
    rollup
        .memory_map_rollup
        .0
        .iter()
        .find_map(|map| map.extension.map.get("Pss").copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    // timed: polls; the end is only for a hang.
    #[test]
    fn the_clock_of_another_process_runs_while_it_works() {
        let mut child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id() as i32;
        let begin = Instant::now();
        while cpu(pid).unwrap() < Duration::from_millis(30) {
            assert!(begin.elapsed() < Duration::from_secs(120));
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(cpu(pid), None);
        assert_eq!(resident(pid), None);
        assert_eq!(proportional(pid), None);
    }

    #[test]
    fn memory_of_this_process_is_read_in_bytes() {
        let pid = std::process::id() as i32;
        let before = (resident(pid).unwrap(), proportional(pid).unwrap());
        let mut block = vec![0u8; 64 << 20];
        block.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        std::hint::black_box(&block);
        let (resident, proportional) = (resident(pid).unwrap(), proportional(pid).unwrap());
        assert!(resident > before.0 + (60 << 20) && resident < before.0 + (200 << 20));
        assert!(proportional > before.1 + (60 << 20) && proportional <= resident + (4 << 20));
    }
}

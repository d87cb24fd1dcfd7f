//! Receive time stamps of the kernel: asked for per socket, read beside the bytes, converted to
//! the clock of [`crate::clock`].
//!
//! A stamp says when the last segment of a read arrived, on the realtime clock
//! (Documentation/networking/timestamping.rst, "SO_TIMESTAMPING", software receive). The offset of
//! that clock is measured anew in every turn of a loop. Where it jumps, which is an administrator
//! or NTP that steps the clock, the stamps of that turn are not believed.

use crate::clock;
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, RawFd};
use std::time::Duration;

/// Clocks that are slewed drift at most 500 ppm against one another, 25 us in an idle turn; twice
/// the offset's own error comes on top.
const STEP_NS: i64 = 200_000;
/// Two readings of a clock that are this close bound the error well enough. Undisturbed, they take much
/// less.
const CLOSE_NS: u64 = 20_000;
/// A lead that one reading confirms this well stays as it is.
const AGREES_NS: i64 = 1_000;
/// Tries of a measurement: a thread is hardly ever descheduled this often in a row.
const READINGS: u32 = 5;
/// Tries of a probe, 5 ms apart: a busy machine takes its time to begin with stamps.
const PROBES: u32 = 200;
const PROBE_PATIENCE: Duration = Duration::from_millis(50);

/// Asks for stamps on a socket.
pub(super) fn enable(socket: RawFd) -> io::Result<()> {
    let flags: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the option takes a C unsigned int, which outlives the call.
    let done = unsafe {
        libc::setsockopt(
            socket,
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of::<libc::c_uint>() as libc::socklen_t,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Receives what is there and the stamp of its last segment, nanoseconds of the realtime clock;
/// the count is as of `recv`.
#[inline]
pub(super) fn receive(socket: RawFd, buffer: &mut [u8]) -> (isize, Option<u64>) {
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let mut control = Control([0; CONTROL]);
    // SAFETY: all-zero bytes are a valid msghdr; the pointers in it outlive the call and are
    // valid for the lengths beside them.
    let (received, message) = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL as _;
        let received = libc::recvmsg(socket, &raw mut message, libc::MSG_DONTWAIT);
        (received, message)
    };
    let stamp = if received > 0 {
        stamp_in(&message)
    } else {
        None
    };
    (received, stamp)
}

/// Room for a header and three times of two words each.
pub(super) const CONTROL: usize = 128;

/// Control data must lie where a header may lie.
#[repr(align(16))]
struct Control([u8; CONTROL]);

/// The stamp in control data as `recvmsg` delivers it, aligned as a header is.
#[inline]
pub(super) fn stamp_of(control: &[u8]) -> Option<u64> {
    // SAFETY: all-zero bytes are a valid msghdr.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_control = control.as_ptr().cast_mut().cast();
    message.msg_controllen = control.len() as _;
    stamp_in(&message)
}

#[inline]
fn stamp_in(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled the control data and its length; the macros stay within it,
    // and a message of this type holds three timespecs, the software stamp first.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(found) = header.as_ref() {
            if found.cmsg_level == libc::SOL_SOCKET && found.cmsg_type == libc::SO_TIMESTAMPING {
                let times = libc::CMSG_DATA(header).cast::<libc::timespec>();
                let time = times.read_unaligned();
                let ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
                return (ns != 0).then_some(ns);
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

/// The realtime clock's lead over the clock of this crate.
#[derive(Debug)]
pub(super) struct Offset {
    lead_ns: i64,
    /// The clock was stepped since the turn before: what arrived meanwhile cannot be converted.
    stepped: bool,
}

impl Offset {
    pub(super) fn new() -> Self {
        Self {
            lead_ns: lead_ns(),
            stepped: false,
        }
    }

    /// Measures the lead at the beginning of a turn, just after `now_ns` was read. True when the
    /// clock was stepped. One reading is enough while it agrees with the lead that is known.
    pub(super) fn measure(&mut self, now_ns: u64) -> bool {
        let seen_ns = clock::realtime_ns() as i64 - now_ns as i64;
        if (seen_ns - self.lead_ns).abs() <= AGREES_NS {
            self.stepped = false;
            return false;
        }
        self.update(lead_ns())
    }

    fn update(&mut self, lead_ns: i64) -> bool {
        self.stepped = (lead_ns - self.lead_ns).abs() > STEP_NS;
        self.lead_ns = lead_ns;
        self.stepped
    }

    /// True when [`Offset::arrival`] is the time of the stamp.
    #[inline]
    pub(super) const fn believes(&self, stamp: Option<u64>) -> bool {
        stamp.is_some() && !self.stepped
    }

    /// A stamp on the clock of this crate: never after `read_ns`, when the bytes were in hand, and
    /// that time itself where there is no stamp to believe.
    #[inline]
    pub(super) fn arrival(&self, stamp: Option<u64>, read_ns: u64) -> u64 {
        match stamp {
            Some(stamp) if self.believes(Some(stamp)) => {
                (stamp as i64 - self.lead_ns).max(0) as u64
            }
            _ => read_ns,
        }
        .min(read_ns)
    }
}

/// How far the realtime clock is ahead of the monotonic one. Measured between two readings of the
/// latter, which bound the error. Measured again when the thread was descheduled between them, which
/// would look like a step of the clock.
pub(crate) fn lead_ns() -> i64 {
    let measure = || {
        let before = clock::now_ns();
        let realtime = clock::realtime_ns();
        let after = clock::now_ns();
        (
            after - before,
            realtime as i64 - (before + (after - before) / 2) as i64,
        )
    };
    let mut best = measure();
    for _ in 0..READINGS {
        if best.0 <= CLOSE_NS {
            break;
        }
        best = best.min(measure());
    }
    best.1
}

/// Why the kernel does not stamp what arrives.
#[derive(Debug, thiserror::Error)]
pub enum NoStamps {
    /// It was asked to, and did not.
    #[error("the kernel took SO_TIMESTAMPING and gave no stamps")]
    NotGiven,
    /// It cannot be asked to.
    #[error("SO_TIMESTAMPING is refused: {0}")]
    Refused(io::Error),
}

/// Whether the kernel stamps what arrives here, tried on a connection of its own.
///
/// # Errors
/// The reason, when it gives none.
pub(crate) fn probe() -> Result<(), NoStamps> {
    keep_on().map(drop)
}

/// Keeps the kernel making stamps while it exists: the kernel begins only some time after the first
/// socket of the machine asks for them, and stops with the last.
#[derive(Debug)]
pub(crate) struct Stamping {
    _asking: TcpStream,
}

/// Has the kernel make stamps, and waits until it does.
///
/// # Errors
/// The reason, when it gives none.
pub(crate) fn keep_on() -> Result<Stamping, NoStamps> {
    let tried = || -> io::Result<Option<Stamping>> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let mut near = TcpStream::connect(listener.local_addr()?)?;
        let (far, _) = listener.accept()?;
        enable(far.as_raw_fd())?;
        for _ in 0..PROBES {
            near.write_all(b"?")?;
            let mut buffer = [0; 16];
            far.set_read_timeout(Some(PROBE_PATIENCE))?;
            far.peek(&mut buffer)?;
            if receive(far.as_raw_fd(), &mut buffer).1.is_some() {
                return Ok(Some(Stamping { _asking: far }));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(None)
    };
    match tried() {
        Ok(Some(stamping)) => Ok(stamping),
        Ok(None) => Err(NoStamps::NotGiven),
        Err(error) => Err(NoStamps::Refused(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write, the stamp of its arrival and the read 30 ms later: from the beginning of the write to the
    /// arrival, from the end of the write to the arrival, and from the arrival to the read.
    // timed: a lower bound of the time between the write and the read.
    fn written_and_read() -> [i64; 3] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        enable(far.as_raw_fd()).unwrap();
        let before = clock::now_ns();
        near.write_all(b"hello").unwrap();
        let written = clock::now_ns();
        std::thread::sleep(Duration::from_millis(30));
        let mut offset = Offset::new();
        offset.measure(clock::now_ns());
        let mut buffer = [0; 16];
        let (received, stamp) = receive(far.as_raw_fd(), &mut buffer);
        let read_ns = clock::now_ns();
        assert_eq!(received, 5);
        let arrival = offset.arrival(stamp, read_ns);
        [
            arrival as i64 - before as i64,
            arrival as i64 - written as i64,
            read_ns as i64 - arrival as i64,
        ]
    }

    #[test]
    fn a_stamp_is_the_arrival_and_not_the_read() {
        let _stamping = keep_on().unwrap();
        let mut seen = Vec::new();
        // A busy machine may handle what arrives later than it was written.
        let is_right = (0..20).any(|_| {
            let [since_begin, since_end, until_read] = written_and_read();
            seen.push((since_begin, since_end, until_read));
            // The offset's own error is far below this.
            since_begin >= -100_000 && since_end <= 5_000_000 && until_read >= 24_000_000
        });
        assert!(is_right, "{seen:?}");
    }

    #[test]
    fn the_stamps_of_a_turn_in_which_the_clock_was_stepped_are_not_believed() {
        let mut offset = Offset {
            lead_ns: 1_000_000_000,
            stepped: false,
        };
        assert_eq!(offset.arrival(Some(1_000_000_400), 500), 400);
        assert_eq!(offset.arrival(Some(1_000_000_900), 500), 500);
        assert_eq!(offset.arrival(None, 500), 500);
        assert!(!offset.update(1_000_050_000));
        assert_eq!(offset.arrival(Some(1_000_050_400), 500), 400);
        assert!(offset.update(3_000_000_000));
        assert_eq!(offset.arrival(Some(3_000_000_400), 500), 500);
        assert!(!offset.update(3_000_000_000));
        assert_eq!(offset.arrival(Some(3_000_000_400), 500), 400);
    }

    #[test]
    fn a_lead_that_no_longer_agrees_is_measured_anew() {
        let known = Offset::new().lead_ns;
        let mut drifted = Offset {
            lead_ns: known + 60_000,
            stepped: true,
        };
        assert!(!drifted.measure(clock::now_ns()));
        assert!((drifted.lead_ns - known).abs() < 40_000, "{drifted:?}");
        let mut stepped = Offset {
            lead_ns: known + 10_000_000_000,
            stepped: false,
        };
        assert!(stepped.measure(clock::now_ns()));
        assert!((stepped.lead_ns - known).abs() < 40_000, "{stepped:?}");
        assert!(!stepped.measure(clock::now_ns()));
    }
}

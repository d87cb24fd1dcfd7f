//! Reads with the time at which the bytes arrived. It shares no code with the generator, so that no
//! mistake is in both.

use std::io;
use std::os::fd::AsRawFd;

/// Room for a header and three times of two words each.
const CONTROL: usize = 128;

/// Control data must lie where a header may lie.
#[repr(align(16))]
struct Control([u8; CONTROL]);

/// Asks for receive timestamps. A kernel that has none only leaves reads without a stamp.
pub(super) fn enable(socket: &impl AsRawFd) {
    let flags: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the option takes a C unsigned int, which outlives the call.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of::<libc::c_uint>() as libc::socklen_t,
        );
    }
}

/// Reads what is there: the number of bytes, and when the last of them arrived by the kernel's
/// stamp, in nanoseconds of the realtime clock.
pub(super) fn read(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let mut control = Control([0; CONTROL]);
    // SAFETY: an all-zero msghdr is valid; its pointers outlive the call and are valid for the
    // lengths beside them. What the macros walk is what the kernel has filled.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL as _;
        let count = libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT);
        if count < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while let Some(found) = header.as_ref() {
            if found.cmsg_level == libc::SOL_SOCKET && found.cmsg_type == libc::SO_TIMESTAMPING {
                let time = libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .read_unaligned();
                let ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
                return Ok((count as usize, (ns != 0).then_some(ns)));
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
        Ok((count as usize, None))
    }
}

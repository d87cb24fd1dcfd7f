//! Sends to many sockets in one system call, by io_uring. Where it cannot be had the caller sends
//! by calls of its own.

use io_uring::{IoUring, opcode, types};
use rustix::net::SendFlags;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sends of one system call.
pub(crate) const AT_ONCE: u32 = 64;

pub(crate) struct Ring {
    ring: IoUring,
}

/// What is to go to a socket.
pub(crate) struct Job<'a> {
    pub(crate) socket: BorrowedFd<'a>,
    pub(crate) bytes: &'a [u8],
}

impl Ring {
    /// # Errors
    ///
    /// The kernel is older than Linux 6.1, or does not permit it to this process.
    pub(crate) fn new() -> io::Result<Self> {
        // Nothing is to run but in this thread, and there only when it waits for completions.
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(AT_ONCE)?;
        Ok(Self { ring })
    }

    /// Sends what the sockets take at once of `AT_ONCE` jobs at most. Puts into `results`, for each
    /// job, how many bytes went or the negated number of the error.
    ///
    /// # Panics
    ///
    /// The ring itself has failed: whether the kernel still holds the bytes is not known.
    pub(crate) fn send(&mut self, jobs: &[Job<'_>], results: &mut Vec<i32>) {
        results.clear();
        results.resize(jobs.len(), 0);
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        for (number, job) in jobs.iter().enumerate() {
            let socket = types::Fd(job.socket.as_raw_fd());
            let size = job.bytes.len().try_into().unwrap_or(u32::MAX);
            let send = opcode::Send::new(socket, job.bytes.as_ptr(), size)
                .flags(flags.bits() as i32)
                .build()
                .user_data(number as u64);
            // SAFETY: socket and bytes are borrowed until this function returns, and it returns
            // only when every send has completed.
            unsafe { self.ring.submission().push(&send) }
                .expect("the ring has a place for each job");
        }
        let mut missing = jobs.len();
        while missing > 0 {
            match self.ring.submit_and_wait(missing) {
                // A signal, or no memory for the moment.
                Err(error) if is_passing(error.kind()) => {}
                Err(error) => panic!("io_uring has failed while it was sending: {error}"),
                Ok(_) => {}
            }
            for done in self.ring.completion() {
                results[done.user_data() as usize] = done.result();
                missing -= 1;
            }
        }
    }
}

fn is_passing(kind: ErrorKind) -> bool {
    use ErrorKind::{Interrupted, ResourceBusy, WouldBlock};
    matches!(kind, Interrupted | ResourceBusy | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn each_socket_gets_its_bytes() {
        let mut ring = match Ring::new() {
            Ok(ring) => ring,
            Err(error) => panic!("this test needs io_uring: {error}"),
        };
        let (a, mut of_a) = UnixStream::pair().expect("a pair of sockets");
        let (b, of_b) = UnixStream::pair().expect("a pair of sockets");
        drop(of_b);
        let large = vec![7; 16 * 1024 * 1024];
        let job = |socket, bytes| Job { socket, bytes };
        let jobs = [
            job(a.as_fd(), &b"one"[..]),
            job(b.as_fd(), b"two"),
            job(a.as_fd(), &large),
            job(a.as_fd(), &large),
        ];
        let mut results = Vec::new();
        ring.send(&jobs, &mut results);
        assert_eq!(results[..2], [3, -rustix::io::Errno::PIPE.raw_os_error()]);
        assert!((1..large.len() as i32).contains(&results[2]), "{results:?}");
        assert_eq!(results[3], -rustix::io::Errno::WOULDBLOCK.raw_os_error());
        let mut got = vec![0; 4];
        of_a.read_exact(&mut got).expect("it was sent");
        assert_eq!(got, b"one\x07");
    }
}

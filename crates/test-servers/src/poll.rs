//! epoll and accept4 behind safe functions. Knows no connection.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A level-triggered epoll instance.
#[derive(Debug)]
pub(crate) struct Poll(OwnedFd);

/// What to wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Interest {
    Read,
    ReadWrite,
}

/// One ready descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) token: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

impl Poll {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the descriptor is new and has no other owner.
        unsafe {
            let fd = checked(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            Ok(Self(OwnedFd::from_raw_fd(fd)))
        }
    }

    pub(crate) fn add(&self, fd: &impl AsRawFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, Interest::Read)
    }

    pub(crate) fn change(&self, fd: &impl AsRawFd, token: u64, to: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, to)
    }

    pub(crate) fn remove(&self, fd: &impl AsRawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::Read)
    }

    fn control(
        &self,
        op: libc::c_int,
        fd: &impl AsRawFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let events = match interest {
            Interest::Read => libc::EPOLLIN,
            Interest::ReadWrite => libc::EPOLLIN | libc::EPOLLOUT,
        };
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: token,
        };
        // SAFETY: `event` lives through the call, which copies it.
        checked(unsafe {
            libc::epoll_ctl(self.0.as_raw_fd(), op, fd.as_raw_fd(), &raw mut event)
        })?;
        Ok(())
    }

    /// Waits without limit and fills `ready`.
    pub(crate) fn wait(&self, ready: &mut Vec<Ready>) -> io::Result<()> {
        const BATCH: usize = 1024;
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; BATCH];
        // SAFETY: the array has room for the number of events that is given.
        let result = checked(unsafe {
            libc::epoll_wait(
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                BATCH as libc::c_int,
                -1,
            )
        });
        let count = match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            other => other? as usize,
        };
        ready.clear();
        ready.extend(events[..count].iter().map(|event| {
            let bits = event.events;
            let broken = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
            Ready {
                token: event.u64,
                readable: bits & (libc::EPOLLIN as u32 | broken) != 0,
                writable: bits & libc::EPOLLOUT as u32 != 0,
            }
        }));
        Ok(())
    }
}

/// Accepts one connection, non-blocking from its first moment.
pub(crate) fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    // SAFETY: no address is asked for; the descriptor is new and has no other owner.
    unsafe {
        let fd = checked(libc::accept4(
            listener.as_raw_fd(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
        ))?;
        Ok(TcpStream::from_raw_fd(fd))
    }
}

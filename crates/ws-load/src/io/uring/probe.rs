//! Whether io_uring can be had here: by doing with it what the backend does.
//!
//! A kernel may lack an operation, an administrator or a container's seccomp profile may forbid
//! the whole. Looking at version numbers would find neither.

use super::Uring;
use crate::io::{Backend, Control, Event, Handler, Token};
use plan::Timestamps;
use socket2::Socket;
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

const QUESTION: &[u8] = b"?";
const TURNS: u32 = 20;
const PATIENCE: Duration = Duration::from_millis(50);

/// Receives a byte of a loopback connection, with and without stamps as `timestamps` says.
///
/// # Errors
/// The reason, when it cannot.
pub(crate) fn probe(timestamps: Timestamps) -> Result<(), NoUring> {
    let made = Uring::new(timestamps);
    let mut uring = made.map_err(|error| NoUring::Setup(refusal(&error)))?;
    match attempt(&mut uring) {
        Ok(true) => Ok(()),
        Ok(false) => Err(NoUring::Silent),
        Err(source) => Err(NoUring::Receive {
            source,
            kernel: kernel(),
        }),
    }
}

/// Why io_uring cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum NoUring {
    /// No ring can be made; with the setting or the permission that is missing.
    #[error("{0}")]
    Setup(String),
    /// A receive brought nothing.
    #[error("a multishot receive brought nothing")]
    Silent,
    /// A receive failed.
    #[error("a multishot receive failed: {source}; it needs Linux 6.0, and this is {kernel}")]
    Receive {
        /// The cause.
        source: io::Error,
        /// The release of the running kernel.
        kernel: String,
    },
}

/// Why no ring could be made.
fn refusal(error: &io::Error) -> String {
    let setting = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    let setting = setting.as_deref().map_or("0", str::trim);
    match error.raw_os_error() {
        Some(libc::ENOSYS) => format!(
            "ENOSYS: the kernel ({}) was built without io_uring, or a sandbox hides that it has no io_uring; it came with Linux 5.1, and 6.0 is needed",
            kernel()
        ),
        Some(libc::EPERM) if setting != "0" => format!(
            "EPERM: the setting kernel.io_uring_disabled is {setting}; `sysctl kernel.io_uring_disabled=0` permits it"
        ),
        Some(libc::EPERM | libc::EACCES) => format!(
            "{}: io_uring_setup is forbidden, as by the seccomp profiles of containers; a profile that permits the calls io_uring_setup, io_uring_enter and io_uring_register is needed",
            if error.raw_os_error() == Some(libc::EPERM) {
                "EPERM"
            } else {
                "EACCES"
            }
        ),
        Some(libc::EINVAL) => format!(
            "EINVAL: the io_uring of this kernel ({}) is too old; 6.0 is needed",
            kernel()
        ),
        Some(libc::ENOMEM) => {
            "ENOMEM: too little memory may be locked for its rings; raise it with `ulimit -l`"
                .to_owned()
        }
        _ => format!("io_uring cannot be set up: {error}"),
    }
}

/// The release of the running kernel.
fn kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease");
    release.map_or_else(
        |_| "of unknown release".to_owned(),
        |text| text.trim().to_owned(),
    )
}

fn attempt(uring: &mut Uring) -> io::Result<bool> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    let socket = Socket::from(OwnedFd::from(far));
    let raw = socket.as_raw_fd();
    uring.begin()?;
    uring.control().connecting(0, raw)?;
    uring.control().established(0, raw, false)?;
    near.write_all(QUESTION)?;
    let mut answer = Answer::default();
    for _ in 0..TURNS {
        uring.turn(PATIENCE, &mut answer)?;
        match answer {
            Answer::Awaited => {}
            Answer::Bytes(equal) => {
                uring.control().close(socket);
                return Ok(equal);
            }
            Answer::Failed(error) => return Err(error),
        }
    }
    Ok(false)
}

#[derive(Default)]
enum Answer {
    #[default]
    Awaited,
    /// Something came; true if it is what was sent.
    Bytes(bool),
    Failed(io::Error),
}

impl<C: Control> Handler<C> for Answer {
    fn on_event(&mut self, _: &mut C, _: Token, event: Event<'_>) {
        match event {
            Event::Writable => {}
            Event::Data { bytes, .. } => *self = Self::Bytes(bytes == QUESTION),
            Event::End => *self = Self::Failed(io::ErrorKind::UnexpectedEof.into()),
            Event::Failed(error) => *self = Self::Failed(error),
        }
    }
}

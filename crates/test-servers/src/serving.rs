//! A server's loop on a thread of its own. Knows no protocol.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

/// A running loop; dropping it ends the loop.
#[derive(Debug)]
pub(crate) struct Serving {
    addr: SocketAddr,
    wake: UnixStream,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Serving {
    /// Runs the loop that `make` returns. That loop is to end when the other end of the socket that
    /// `make` is given is shut.
    pub(crate) fn start<F>(
        name: &str,
        listener: TcpListener,
        make: impl FnOnce(TcpListener, &UnixStream) -> io::Result<F>,
    ) -> io::Result<Self>
    where
        F: FnOnce() -> io::Result<()> + Send + 'static,
    {
        let addr = listener.local_addr()?;
        let (wake, woken) = UnixStream::pair()?;
        let serve = make(listener, &woken)?;
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                let result = serve();
                drop(woken);
                result
            })?;
        Ok(Self {
            addr,
            wake,
            thread: Some(thread),
        })
    }

    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Waits for the end of the loop, which ends by an error only.
    pub(crate) fn wait(mut self) -> io::Result<()> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(io::Error::other("the server thread panicked")),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.wake.shutdown(Shutdown::Both);
            let _ = thread.join();
        }
    }
}

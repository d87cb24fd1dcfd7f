//! Listening sockets. Says nothing about what is served on them.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Enough for a generator that opens everything at once; the kernel cuts it to `somaxconn`.
const BACKLOG: i32 = 4096;

/// A listener on `address` whose connections send without delay (Linux hands TCP_NODELAY down).
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    start(bind(address, false)?)
}

/// The same on a port that other listeners of this user may share (`SO_REUSEPORT`, socket(7)): the
/// kernel spreads the connections over them.
pub(crate) fn listen_sharing(address: SocketAddr) -> io::Result<TcpListener> {
    start(bind(address, true)?)
}

/// Holds a port for listeners that share it, and takes no connection.
pub(crate) fn hold_port(address: SocketAddr) -> io::Result<(Socket, SocketAddr)> {
    let socket = bind(address, true)?;
    let bound = socket.local_addr()?.as_socket();
    Ok((socket, bound.ok_or(io::ErrorKind::AddrNotAvailable)?))
}

fn bind(address: SocketAddr, sharing: bool) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if sharing {
        socket.set_reuse_port(true)?;
    }
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn start(socket: Socket) -> io::Result<TcpListener> {
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Lifts the soft limit on open files to the hard one; best effort.
pub(crate) fn raise_file_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both calls get a pointer to a live `rlimit` and keep none of it.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

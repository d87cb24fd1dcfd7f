//! The server's ends of connections, in the kernel's tables of TCP sockets.
//!
//! Such a table is of one network namespace. It has the ends of a server that is in the namespace of the
//! calling thread.

use crate::target::Target;
use procfs::FromReadSI as _;
use procfs::current_system_info;
use procfs::net::{TcpNetEntries, TcpNetEntry, TcpState};
use std::io;
use std::net::TcpStream;

/// Those of the thread: its process may have begun in another namespace. A server that listens on both
/// versions of IP has all its connections in the second table.
const TABLES: [&str; 2] = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];

/// The server's ends that are in the tables: for each the port of its client, and its state.
pub(crate) fn server_ends(target: &Target) -> impl Iterator<Item = (u16, TcpState)> {
    let server = target.addr.port();
    let read = |table| TcpNetEntries::from_file(table, current_system_info());
    let entries = TABLES.into_iter().filter_map(move |table| read(table).ok());
    let of_server = move |entry: &TcpNetEntry| entry.local_address.port() == server;
    entries
        .flat_map(|entries| entries.0)
        .filter(of_server)
        .map(|entry| (entry.remote_address.port(), entry.state))
}

/// Whether the end of a connection that is made for this is in the tables.
///
/// # Errors
/// When the server takes no connection.
pub(crate) fn are_visible(target: &Target) -> io::Result<bool> {
    let probe = TcpStream::connect_timeout(&target.addr, target.timeout)?;
    let port = probe.local_addr()?.port();
    Ok(server_ends(target).any(|(client, _)| client == port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{SocketAddr, TcpListener};
    use std::thread;

    #[test]
    fn the_end_of_a_client_that_is_gone_is_seen_until_it_is_closed() {
        // The second has its connections of IPv4 among those of IPv6.
        for bind in ["127.0.0.1:0", "[::]:0"] {
            let listener = TcpListener::bind(bind).unwrap();
            let server = listener.local_addr().unwrap().port();
            let target = Target::new(SocketAddr::from(([127, 0, 0, 1], server)));
            assert!(are_visible(&target).unwrap(), "{bind}");
            drop(listener.accept().unwrap());
            let client = TcpStream::connect(target.addr).unwrap();
            let port = client.local_addr().unwrap().port();
            let state = || {
                let mut ends = server_ends(&target).filter(|(client, _)| *client == port);
                ends.next().map(|(_, state)| state)
            };
            let (end, _) = listener.accept().unwrap();
            assert_eq!(state(), Some(TcpState::Established), "{bind}");
            drop(client);
            while state() == Some(TcpState::Established) {
                thread::yield_now();
            }
            assert_eq!(state(), Some(TcpState::CloseWait), "{bind}");
            drop(end);
            while state() == Some(TcpState::CloseWait) {
                thread::yield_now();
            }
        }
    }
}

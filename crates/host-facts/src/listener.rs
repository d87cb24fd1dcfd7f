//! Which processes listen on a port: the sockets of /proc/net/tcp and their owners in /proc/PID/fd.

use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use procfs::process::{FDTarget, all_processes};
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// The processes on this machine that listen for connections to `target`, lowest number first.
/// Empty when the address is another machine's, when no process listens, or when the process is
/// another user's and cannot be inspected.
///
/// Several processes own a port when they were forked after it was opened, or share it
/// (`SO_REUSEPORT`, socket(7)).
pub fn listeners(target: SocketAddr) -> Vec<u32> {
    if !is_ours(target.ip()) {
        return Vec::new();
    }
    let entries: Vec<TcpNetEntry> = [tcp(), tcp6()].into_iter().flatten().flatten().collect();
    let inodes: HashSet<u64> = entries
        .iter()
        .filter(|entry| entry.state == TcpState::Listen && serves(entry.local_address, target))
        .map(|entry| entry.inode)
        .collect();
    if inodes.is_empty() {
        return Vec::new();
    }
    let mut owners: Vec<u32> =
        all_processes()
            .into_iter()
            .flatten()
            .flatten()
            .filter(|process| {
                // A process may end meanwhile, or be another user's.
                process.fd().into_iter().flatten().flatten().any(
                    |fd| matches!(fd.target, FDTarget::Socket(inode) if inodes.contains(&inode)),
                )
            })
            .map(|process| process.pid as u32)
            .collect();
    owners.sort_unstable();
    owners
}

/// Only an address of this machine can be bound here.
fn is_ours(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

/// Whether a socket that listens on `local` takes connections to `target`. One that listens on any
/// IPv6 address takes those of IPv4, too, unless an option of it forbids that, which /proc does not
/// show.
fn serves(local: SocketAddr, target: SocketAddr) -> bool {
    local.port() == target.port()
        && (local.ip().is_unspecified() || local.ip().to_canonical() == target.ip().to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::process::{Command, Stdio};

    #[test]
    fn the_listener_of_a_port_is_found_by_its_address_and_by_any() {
        for bind in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
            let listener = TcpListener::bind(bind).unwrap();
            let port = listener.local_addr().unwrap().port();
            let target = SocketAddr::from(([127, 0, 0, 1], port));
            // A child of another test has the socket, too, until it becomes a program of its own.
            let found = (0..100).map(|_| listeners(target));
            let alone = found.map(|owners| owners == [std::process::id()]);
            assert!(alone.into_iter().any(|is_alone| is_alone), "{bind}");
        }
    }

    #[test]
    fn a_closed_port_and_another_address_have_no_listener() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(listeners(SocketAddr::from(([127, 0, 0, 2], port))), [0; 0]);
        assert_eq!(listeners(SocketAddr::from(([192, 0, 2, 1], port))), [0; 0]);
        drop(listener);
        assert_eq!(listeners(SocketAddr::from(([127, 0, 0, 1], port))), [0; 0]);
    }

    #[test]
    fn a_child_that_was_given_the_socket_is_an_owner_too() {
        use std::os::fd::{AsFd as _, OwnedFd};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap();
        let shared: OwnedFd = listener.as_fd().try_clone_to_owned().unwrap();
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::from(shared))
            .spawn()
            .unwrap();
        let owners = listeners(target);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(owners.contains(&child.id()), "{owners:?}");
        assert!(owners.contains(&std::process::id()), "{owners:?}");
    }
}

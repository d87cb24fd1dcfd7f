//! Which of the addresses of a server's name is loaded: the first that takes a connection.
//!
//! All clients of a run use one address, so that its figures are those of one server.

use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// A lost SYN is sent again after 1 s (RFC 6298, 2.1), and once more after 2 s.
const EACH: Duration = Duration::from_secs(2);

/// An address that was tried before the one that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassedOver {
    pub(crate) addr: SocketAddr,
    /// What it did, as the end of a sentence.
    pub(crate) why: String,
}

impl std::fmt::Display for PassedOver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.addr, self.why)
    }
}

/// The first of `candidates` that takes a connection from `local`, and those before it. The last
/// one is not tried, since the clients will try it and report the error. The same holds for those left
/// when `patience` is over, and for an address that this machine cannot try.
pub(crate) fn first_open(
    candidates: &[SocketAddr],
    local: Option<IpAddr>,
    patience: Duration,
) -> Option<(SocketAddr, Vec<PassedOver>)> {
    let end = Instant::now() + patience;
    let (last, others) = candidates.split_last()?;
    let mut passed_over = Vec::new();
    for &addr in others {
        let left = end.saturating_duration_since(Instant::now()).min(EACH);
        if left.is_zero() {
            return Some((addr, passed_over));
        }
        match attempt(addr, local, left) {
            Ok(()) => return Some((addr, passed_over)),
            Err(error) if is_machine_limit(&error) => return Some((addr, passed_over)),
            Err(error) => passed_over.push(PassedOver {
                addr,
                why: why(&error, left),
            }),
        }
    }
    Some((*last, passed_over))
}

fn attempt(addr: SocketAddr, local: Option<IpAddr>, patience: Duration) -> io::Result<()> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, None)?;
    if let Some(local) = local {
        socket.bind(&SockAddr::from(SocketAddr::new(local, 0)))?;
    }
    socket.connect_timeout(&SockAddr::from(addr), patience)
}

fn is_machine_limit(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn why(error: &io::Error, waited: Duration) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused the connection".to_owned(),
        io::ErrorKind::TimedOut => {
            format!("did not answer within {:.1} s", waited.as_secs_f64())
        }
        _ => format!("could not be reached ({error})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn listening(ip: [u8; 4]) -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((IpAddr::from(ip), 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        (listener, addr)
    }

    /// The port of a listener on another address, where nothing listens.
    fn refusing(at: SocketAddr) -> SocketAddr {
        SocketAddr::new(IpAddr::from([127, 0, 0, 9]), at.port())
    }

    #[test]
    fn the_first_address_that_opens_is_taken_and_those_before_it_are_named() {
        let (_one, open) = listening([127, 0, 0, 1]);
        let (_two, also_open) = listening([127, 0, 0, 2]);
        let refusing = refusing(open);
        let (addr, before) = first_open(&[refusing, open, also_open], None, PATIENCE).unwrap();
        assert_eq!(addr, open);
        assert_eq!(before.len(), 1);
        assert_eq!(
            before[0].to_string(),
            format!("{refusing} refused the connection")
        );
    }

    #[test]
    fn a_single_address_and_the_last_are_left_to_the_clients() {
        let (_listener, open) = listening([127, 0, 0, 1]);
        let refusing = refusing(open);
        assert_eq!(
            first_open(&[refusing], None, PATIENCE),
            Some((refusing, Vec::new()))
        );
        let (addr, before) = first_open(&[refusing, refusing], None, PATIENCE).unwrap();
        assert_eq!((addr, before.len()), (refusing, 1));
        assert_eq!(first_open(&[], None, PATIENCE), None);
    }

    #[test]
    fn without_patience_nothing_is_tried() {
        let (_listener, open) = listening([127, 0, 0, 1]);
        let refusing = refusing(open);
        let taken = first_open(&[refusing, open], None, Duration::ZERO);
        assert_eq!(taken, Some((refusing, Vec::new())));
    }
}

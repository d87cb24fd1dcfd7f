//! A network between server and clients that is not loopback.
//!
//! ```text
//!   the clients' namespace                                      the server's namespace
//!   websocket-bench -- wire 10.78.0.2 .3 .4                10.78.0.1 wire -- server, services
//!                            |                                      |
//!                            +---> a thread of this program: ------>+
//!                            |     delay, jitter, loss, rate        |
//!                            +<---------- and another <-------------+
//! ```
//!
//! Each side is a network namespace with an interface (TUN) whose packets this program carries to the
//! other side, late and not all, as [`record::Network`] asks for (`line`), and counts. Not netem:
//! many kernels lack it, it keeps no account of whether packets were on time, and it changes what
//! is below TCP segments joined for speed, which no network carries.
//!
//! Nothing has a name, so that nothing can be left: namespaces, addresses and interfaces go with the
//! descriptors and processes that hold them, however those end.

mod asked;
mod carrier;
mod line;
mod location;
mod namespace;
mod probe;

pub use asked::parse;
pub use location::Location;
pub use namespace::Inside;

use carrier::Carrier;
use line::Line;
use namespace::Namespace;
use record::{Network, NetworkProbe, NetworkTraffic};
use std::io;
use std::net::{Ipv4Addr, UdpSocket};

/// The address of the server.
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 1);
/// The addresses of the clients, as many as on loopback.
pub(crate) const CLIENTS: [Ipv4Addr; 3] = [
    Ipv4Addr::new(10, 78, 0, 2),
    Ipv4Addr::new(10, 78, 0, 3),
    Ipv4Addr::new(10, 78, 0, 4),
];

/// Why there is no network.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a network: {0}; {remedy}", remedy = remedy(.0))]
pub struct NetworkError(#[from] io::Error);

/// Two sides and what lies between them, until it is dropped.
#[derive(Debug)]
pub struct Link {
    // Dropped in this order: nothing is carried to a side that has gone.
    to_server: Carrier,
    to_clients: Carrier,
    asked: Network,
    cpus: Vec<usize>,
    clients: Namespace,
    server: Namespace,
}

impl Link {
    /// Makes the network; its threads run on `cpus` (all, when there are none).
    ///
    /// # Errors
    /// When this process may not, or the kernel cannot.
    pub fn new(asked: &Network, cpus: &[usize]) -> Result<Self, NetworkError> {
        let (clients, server) = (Namespace::new()?, Namespace::new()?);
        let of_clients = clients.interface(&CLIENTS)?;
        let of_server = server.interface(&[SERVER])?;
        let to_server = Carrier::start(
            of_clients.try_clone()?,
            of_server.try_clone()?,
            Line::new(asked, 0),
            cpus,
        )?;
        let to_clients = Carrier::start(of_server, of_clients, Line::new(asked, 1), cpus)?;
        Ok(Self {
            to_server,
            to_clients,
            asked: asked.clone(),
            cpus: cpus.to_vec(),
            clients,
            server,
        })
    }

    /// The kernel's congestion control on both sides.
    pub fn congestion_control(&self) -> Option<String> {
        self.server.congestion_control()
    }

    /// Puts the calling thread, and what it starts from then on, on the clients' side, until what is
    /// returned is dropped.
    ///
    /// # Errors
    /// What setns(2) says.
    pub fn enter(&self) -> io::Result<Inside> {
        self.clients.enter()
    }

    /// Sends datagrams from the clients' side to the server's and back.
    ///
    /// # Errors
    /// When a side has no sockets.
    pub fn probe(&self) -> io::Result<NetworkProbe> {
        let echoes = self.server.within(|| UdpSocket::bind((SERVER, 0)))??;
        let clients = self
            .clients
            .within(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))??;
        probe::probe(&self.asked, (&clients, &echoes), &self.cpus)
    }

    /// What was carried to the server and to the clients since this was asked last.
    ///
    /// # Errors
    /// When the kernel does not say what it dropped.
    pub fn traffic(&self) -> io::Result<(NetworkTraffic, NetworkTraffic)> {
        Ok((
            self.to_server.traffic(self.clients.missed()?),
            self.to_clients.traffic(self.server.missed()?),
        ))
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "namespaces and interfaces need root (CAP_SYS_ADMIN and CAP_NET_ADMIN): run it with sudo, \
             in a container with --privileged, or measure over loopback without --network"
        }
        io::ErrorKind::NotFound => {
            "load the kernel's module with `modprobe tun`, give a container --device /dev/net/tun, or \
             measure over loopback without --network"
        }
        _ => "measure over loopback without --network",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};
    use test_servers::skipped;

    fn link(asked: &str) -> Option<Link> {
        match Link::new(&parse(asked).unwrap(), &[]) {
            Ok(link) => Some(link),
            Err(error) => {
                skipped(&error.to_string());
                None
            }
        }
    }

    // timed: only that a network is not faster than it was asked to be.
    #[test]
    fn bytes_cross_late_and_are_counted() {
        let Some(link) = link("delay=20ms") else {
            return;
        };
        let listener = link
            .server
            .within(|| TcpListener::bind((SERVER, 0)).unwrap());
        let listener = listener.unwrap();
        let address = listener.local_addr().unwrap();
        let begun = Instant::now();
        let clients = link.clients.within(|| TcpStream::connect(address).unwrap());
        let mut clients = clients.unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(20));
        let sent = vec![7; 100_000];
        let mut server = listener.accept().unwrap().0;
        let mut had = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                clients.write_all(&sent).unwrap();
                drop(clients);
            });
            server.read_to_end(&mut had).unwrap();
        });
        assert_eq!(had, sent);
        let (to_server, to_clients) = link.traffic().unwrap();
        assert!(
            to_server.bytes > 100_000 && to_server.packets > 60,
            "{to_server:?}"
        );
        assert!(to_clients.packets >= 2, "{to_clients:?}");
        assert_eq!(
            (to_server.lost, to_server.missed, to_server.overflowed),
            (0, 0, 0)
        );
        assert_eq!(link.traffic().unwrap().0.packets, 0);
    }

    // timed: waits for datagrams as long as the network may take; nothing is asserted of slowness.
    #[test]
    fn a_probe_finds_the_round_trip_and_the_loss() {
        let Some(link) = link("delay=10ms loss=10%") else {
            return;
        };
        let found = link.probe().unwrap();
        assert_eq!(found.sent, 1000);
        // Of a thousand 190 are expected, and their standard deviation is 12.
        assert!((120..=260).contains(&found.lost), "{}", found.lost);
        assert!(found.round_trip.unwrap().min_ns >= 9_990_000);
    }

    #[test]
    fn a_thread_is_back_and_each_side_has_what_the_machine_has() {
        let Some(link) = link("delay=0ms") else {
            return;
        };
        let here = || std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        let ports = || std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
        let (before, own) = (here(), ports());
        {
            let _inside = link.enter().unwrap();
            assert_ne!(here(), before);
            assert_eq!(ports(), own);
            assert!(TcpListener::bind((CLIENTS[2], 0)).is_ok());
            assert!(TcpListener::bind((SERVER, 0)).is_err());
        }
        assert_eq!(here(), before);
        assert!(TcpListener::bind((CLIENTS[0], 0)).is_err());
    }

    #[test]
    fn a_refusal_says_what_would_help() {
        let of = |kind: io::ErrorKind| NetworkError(kind.into()).to_string();
        assert!(of(io::ErrorKind::PermissionDenied).contains("need root"));
        assert!(of(io::ErrorKind::NotFound).contains("modprobe tun"));
    }
}

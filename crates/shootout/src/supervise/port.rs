//! Ports for servers, where they are.
//!
//! They are below the range of outgoing connections, so that no client of an earlier run holds one.
//! A port is only seen to be free, not reserved: the caller tries again.

use crate::network::Location;
use crate::process::is_of_another_program;
use record::Environment;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;
/// The kernel releases the sockets of an io_uring only after its process has gone: 3 to 11 ms after,
/// at each of 126 ends of such a server on an idle machine.
const RELEASE: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(20);
static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port that is free now; another one at every call.
pub(super) fn free(place: &Location) -> Option<u16> {
    place.there(|| free_here(place.host())).ok()?
}

fn free_here(host: IpAddr) -> Option<u16> {
    let outgoing = Environment::collect()
        .local_ports
        .map_or(u16::MAX, |(first, _)| first);
    let below = outgoing.saturating_sub(FIRST).min(COUNT);
    // Programs that run at the same time begin at different places, far apart although their numbers
    // are near one another: the multiples of the golden ratio (Knuth, The Art of Computer
    // Programming, volume 3, 6.4).
    let begin = (std::process::id().wrapping_mul(0x9E37_79B9) >> 16) as u16 % COUNT;
    (0..below)
        .map(|_| FIRST + begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % below)
        .find(|port| TcpListener::bind((host, *port)).is_ok())
        .or_else(|| {
            let any = TcpListener::bind((host, 0)).ok()?;
            Some(any.local_addr().ok()?.port())
        })
}

/// True when a connection to it is accepted.
pub(super) fn listening(place: &Location, port: u16) -> bool {
    let address = SocketAddr::new(place.host(), port);
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok();
    place.there(connect).unwrap_or(false)
}

/// True when connections to it are accepted although its process has gone, and go on being so; not
/// where the port was taken meanwhile by a server that another program started.
pub(super) fn stays_open(place: &Location, port: u16) -> bool {
    let until = Instant::now() + RELEASE;
    while listening(place, port) {
        if Instant::now() >= until {
            let owners = host_facts::listeners(SocketAddr::new(place.host(), port));
            let is_other = |owner: &u32| is_of_another_program(*owner);
            return owners.is_empty() || !owners.iter().all(is_other);
        }
        std::thread::sleep(POLL);
    }
    false
}

//! What the network does to datagrams: round trips and loss, as a program on each side sees them.

use super::carrier::prefer;
use record::{Network, NetworkProbe, Recorder};
use std::collections::HashMap;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Datagrams, where loss is asked for and where none is.
const WITH_LOSS: u64 = 1000;
const WITHOUT_LOSS: u64 = 100;
/// Time between two, where the rate does not bound it more.
const APART: Duration = Duration::from_millis(1);
/// Bits of a datagram with its headers.
const BITS: u64 = (20 + 8 + 8) * 8;
/// For how long the last may be away beyond what the network takes.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the echo looks whether it is over.
const LOOKS: Duration = Duration::from_millis(20);

/// Sends datagrams from one side, has them sent back by the other, and looks at what comes, with
/// threads on `cpus` (all, when there are none).
pub(super) fn probe(
    network: &Network,
    (clients, echoes): (&UdpSocket, &UdpSocket),
    cpus: &[usize],
) -> io::Result<NetworkProbe> {
    clients.connect(echoes.local_addr()?)?;
    clients.set_nonblocking(true)?;
    echoes.set_read_timeout(Some(LOOKS))?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            prefer(cpus);
            echo(echoes, &is_over);
        });
        let exchanging = scope.spawn(|| {
            // What a busy machine does to these threads is not the network's.
            prefer(cpus);
            exchange(network, clients)
        });
        let found = exchanging.join();
        is_over.store(true, Ordering::Relaxed);
        found.unwrap_or_else(|_| Err(io::Error::other("a thread has failed")))
    })
}

fn exchange(network: &Network, clients: &UdpSocket) -> io::Result<NetworkProbe> {
    let sent = match network.loss > 0.0 {
        true => WITH_LOSS,
        false => WITHOUT_LOSS,
    };
    // Half of what the rate carries, so that none waits for another.
    let apart = network.rate.map_or(APART, |rate| {
        Duration::from_nanos(2 * BITS * 1_000_000_000 / rate).max(APART)
    });
    let longest = Duration::from_nanos(network.delay_ns + network.jitter_ns) + PATIENCE;
    let mut round_trips = Recorder::default();
    let mut away: HashMap<u64, Instant> = HashMap::new();
    let begun = Instant::now();
    let (mut number, mut last) = (0, begun);
    while number < sent || !away.is_empty() && last.elapsed() <= longest {
        while let Some(back) = receive(clients) {
            if let Some(left) = away.remove(&back) {
                round_trips.record(left.elapsed().as_nanos() as u64);
            }
        }
        if number < sent && begun.elapsed() >= apart * number as u32 {
            last = Instant::now();
            away.insert(number, last);
            clients.send(&number.to_be_bytes())?;
            number += 1;
        } else {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
    Ok(NetworkProbe {
        sent,
        lost: away.len() as u64,
        round_trip: round_trips.latency(),
    })
}

fn receive(socket: &UdpSocket) -> Option<u64> {
    let mut number = [0; 8];
    let length = socket.recv(&mut number).ok()?;
    (length == number.len()).then(|| u64::from_be_bytes(number))
}

/// Sends back what comes, until it is over.
fn echo(socket: &UdpSocket, is_over: &AtomicBool) {
    let mut room = [0; 64];
    while !is_over.load(Ordering::Relaxed) {
        if let Ok((length, from)) = socket.recv_from(&mut room) {
            let _ = socket.send_to(&room[..length], from);
        }
    }
}

//! The way between a node and the broker, where a workload cuts it: a listener on a port of its own that
//! passes bytes on in both directions.
//!
//! While it is cut no byte passes, and nothing that happens to a connection: no end, no reset. Connections
//! that are opened meanwhile are accepted by the kernel and wait. When it is healed, what waited passes.
//! What the kernel keeps for a socket bounds how much that is; more makes its sender wait.
//!
//! It works above TCP: no packet is lost, and no connection ends because of the cut itself.

use super::port;
use crate::network::Place;
use crate::sample::cpus::pin_current;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Bytes that are passed on at once.
const ROOM: usize = 64 * 1024;
/// Longest time for a connection to the broker: it is on the same machine.
const CONNECT: Duration = Duration::from_secs(1);
const ATTEMPTS: u32 = 3;

/// A way at work, until it is dropped.
#[derive(Debug)]
pub(super) struct Relay {
    port: u16,
    orders: Sender<Order>,
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
    is_cut: bool,
}

/// Whether nothing is to pass, and who waits for that.
type Order = (bool, SyncSender<()>);

impl Relay {
    /// Listens where the nodes are, on a thread on `cpus` (all, when there are none), for what is meant
    /// for the broker on the port `broker`.
    pub(super) fn start(place: &Place, broker: u16, cpus: &[usize]) -> io::Result<Self> {
        let broker = SocketAddr::new(place.host(), broker);
        // A socket belongs to the network of the thread that makes it, and so do those of a thread that
        // is started there.
        place.there(|| Self::start_here(place, broker, cpus))?
    }

    fn start_here(place: &Place, broker: SocketAddr, cpus: &[usize]) -> io::Result<Self> {
        let listener = bind(place)?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let (woken, wake) = io::pipe()?;
        let (orders, ordered) = mpsc::channel();
        let way = Way {
            listener,
            broker,
            woken,
            ordered,
            is_cut: false,
            pairs: Vec::new(),
        };
        let cpus = cpus.to_vec();
        let thread = thread::Builder::new().name("link".into()).spawn(move || {
            if !cpus.is_empty() {
                let _ = pin_current(&cpus);
            }
            way.run();
        })?;
        Ok(Self {
            port,
            orders,
            wake: Some(wake),
            thread: Some(thread),
            is_cut: false,
        })
    }

    /// Where it listens.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Cuts or heals it. When this returns, that is so.
    pub(super) fn set_cut(&mut self, cut: bool) {
        let (done, is_done) = mpsc::sync_channel(1);
        let told = self.orders.send((cut, done)).is_ok();
        let woken = self.wake.as_ref().map(|mut wake| wake.write_all(&[0]));
        if told && woken.is_some_and(|woken| woken.is_ok()) {
            let _ = is_done.recv();
        }
        self.is_cut = cut;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

fn bind(place: &Place) -> io::Result<TcpListener> {
    let mut attempt = 1;
    loop {
        let port = port::free(place).ok_or(ErrorKind::AddrInUse)?;
        match TcpListener::bind((place.host(), port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && attempt < ATTEMPTS => {
                attempt += 1
            }
            bound => return bound,
        }
    }
}

struct Way {
    listener: TcpListener,
    broker: SocketAddr,
    woken: PipeReader,
    ordered: Receiver<Order>,
    is_cut: bool,
    pairs: Vec<Pair>,
}

impl Way {
    fn run(mut self) {
        loop {
            while let Ok((cut, done)) = self.ordered.try_recv() {
                self.is_cut = cut;
                let _ = done.send(());
            }
            let Some(ready) = self.wait() else { return };
            if self.is_cut {
                continue;
            }
            let mut ready = ready.into_iter();
            self.pairs.retain_mut(|pair| {
                let is_ready = ready.next().unwrap_or(false);
                !is_ready || pair.pass()
            });
            self.accept();
        }
    }

    /// Waits until something can be done, and says which pairs can do something; `None` at the end.
    fn wait(&mut self) -> Option<Vec<bool>> {
        let mut polled = vec![polled(self.woken.as_raw_fd(), libc::POLLIN)];
        if !self.is_cut {
            polled.push(self::polled(self.listener.as_raw_fd(), libc::POLLIN));
            for pair in &self.pairs {
                polled.extend(pair.awaited());
            }
        }
        // SAFETY: so many valid pollfds.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, -1) };
        if polled[0].revents != 0 {
            match self.woken.read(&mut [0; 16]) {
                Ok(count) if count > 0 => {}
                _ => return None,
            }
        }
        let of_pairs = polled.get(2..).unwrap_or_default();
        let is_ready = |two: &[libc::pollfd]| two.iter().any(|one| one.revents != 0);
        Some(of_pairs.chunks(2).map(is_ready).collect())
    }

    fn accept(&mut self) {
        while let Ok((node, _)) = self.listener.accept() {
            // A node whose broker is away sees the end of its connection.
            if let Ok(broker) = TcpStream::connect_timeout(&self.broker, CONNECT)
                && let Ok(pair) = Pair::new([node, broker])
            {
                self.pairs.push(pair);
            }
        }
    }
}

fn polled(fd: i32, events: i16) -> libc::pollfd {
    libc::pollfd {
        fd,
        events,
        revents: 0,
    }
}

/// A connection of the node, and that to the broker which continues it.
struct Pair {
    ends: [TcpStream; 2],
    /// From the end of the same place to the other.
    under_way: [UnderWay; 2],
}

/// What was read and not yet written.
#[derive(Default)]
struct UnderWay {
    bytes: Vec<u8>,
    written: usize,
    /// Nothing more will be read.
    is_over: bool,
    /// The other end was told that.
    is_told: bool,
}

impl Pair {
    fn new(ends: [TcpStream; 2]) -> io::Result<Self> {
        for end in &ends {
            end.set_nodelay(true)?;
            end.set_nonblocking(true)?;
        }
        Ok(Self {
            ends,
            under_way: Default::default(),
        })
    }

    /// What is to be waited for at both ends.
    fn awaited(&self) -> [libc::pollfd; 2] {
        [0, 1].map(|at| {
            let (from, to) = (&self.under_way[at], &self.under_way[1 - at]);
            let mut events = 0;
            if from.is_empty() && !from.is_over {
                events |= libc::POLLIN;
            }
            if !to.is_empty() {
                events |= libc::POLLOUT;
            }
            // An end of which nothing is awaited would be told again and again that it is over.
            let fd = match events {
                0 => -1,
                _ => self.ends[at].as_raw_fd(),
            };
            polled(fd, events)
        })
    }

    /// Passes on what can be; false when both directions are over.
    fn pass(&mut self) -> bool {
        let [node, broker] = &self.ends;
        let [to_broker, to_node] = &mut self.under_way;
        let passed = to_broker
            .pass(node, broker)
            .and_then(|()| to_node.pass(broker, node));
        passed.is_ok() && !(to_broker.is_told && to_node.is_told)
    }
}

impl UnderWay {
    const fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    fn pass(&mut self, mut from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
        if self.is_empty() && !self.is_over {
            self.written = 0;
            self.bytes.resize(ROOM, 0);
            let read = from.read(&mut self.bytes);
            self.bytes.truncate(*read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => self.is_over = true,
                Err(error) if !is_later(&error) => return Err(error),
                _ => {}
            }
        }
        while !self.is_empty() {
            match to.write(&self.bytes[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        if self.is_over && !self.is_told {
            to.shutdown(Shutdown::Write)?;
            self.is_told = true;
        }
        Ok(())
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A relay to a broker of one connection, and both ends of it.
    fn joined() -> (Relay, TcpStream, TcpStream, TcpListener) {
        let place = Place::default();
        let broker = TcpListener::bind((place.host(), 0)).unwrap();
        let relay = Relay::start(&place, broker.local_addr().unwrap().port(), &[]).unwrap();
        let node = TcpStream::connect((place.host(), relay.port())).unwrap();
        let (end, _) = broker.accept().unwrap();
        (relay, node, end, broker)
    }

    fn read(mut from: &TcpStream, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        from.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn has_nothing(of: &TcpStream) -> bool {
        of.set_nonblocking(true).unwrap();
        let peeked = of.peek(&mut [0]);
        of.set_nonblocking(false).unwrap();
        peeked.is_err_and(|error| is_later(&error))
    }

    #[test]
    fn bytes_and_ends_pass_in_both_directions() {
        let (_relay, mut node, mut broker, _listener) = joined();
        node.write_all(b"to the broker").unwrap();
        broker.write_all(b"to the node").unwrap();
        assert_eq!(read(&broker, 13), b"to the broker");
        assert_eq!(read(&node, 11), b"to the node");
        // More than both kernels keep, so that a writer has to wait.
        let many = vec![7; 32 << 20];
        let writer = node.try_clone().unwrap();
        let sent = many.clone();
        let writing = thread::spawn(move || {
            (&writer).write_all(&sent).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut got = Vec::new();
        broker.read_to_end(&mut got).unwrap();
        writing.join().unwrap();
        assert!(got == many);
        broker.write_all(b"still").unwrap();
        drop(broker);
        let mut rest = Vec::new();
        node.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"still");
    }

    #[test]
    fn nothing_passes_a_cut_and_all_of_it_after_that() {
        let (mut relay, mut node, mut broker, listener) = joined();
        node.write_all(b"before").unwrap();
        assert_eq!(read(&broker, 6), b"before");
        relay.set_cut(true);
        assert!(relay.is_cut());
        node.write_all(b"within").unwrap();
        broker.write_all(b"within").unwrap();
        broker.shutdown(Shutdown::Write).unwrap();
        let mut second = TcpStream::connect((Place::default().host(), relay.port())).unwrap();
        second.write_all(b"second").unwrap();
        listener.set_nonblocking(true).unwrap();
        // timed: what must not come may come later than this looks, which only hides a fault.
        thread::sleep(Duration::from_millis(200));
        assert!(has_nothing(&broker) && has_nothing(&node));
        assert!(listener.accept().is_err());
        relay.set_cut(false);
        assert_eq!(read(&broker, 6), b"within");
        let mut rest = Vec::new();
        node.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"within");
        listener.set_nonblocking(false).unwrap();
        let (other, _) = listener.accept().unwrap();
        assert_eq!(read(&other, 6), b"second");
    }

    #[test]
    fn a_broker_that_is_away_ends_the_connection_of_the_node() {
        let (_relay, mut node, broker, listener) = joined();
        let port = node.peer_addr().unwrap();
        drop((broker, listener));
        assert_eq!(node.read(&mut [0]).unwrap_or(0), 0);
        let mut second = TcpStream::connect(port).unwrap();
        assert_eq!(second.read(&mut [0]).unwrap_or(0), 0);
    }
}

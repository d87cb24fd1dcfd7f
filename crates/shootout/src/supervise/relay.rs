//! The way between a node and the broker, where a workload cuts or slows it: a listener on a port of its own
//! that passes bytes on in both directions.
//!
//! While it is cut no byte passes, and nothing that happens to a connection: no end, no reset. Connections
//! that are opened meanwhile are accepted by the kernel and wait. When it is healed, what waited passes.
//! What the kernel keeps for a socket bounds how much that is; more makes its sender wait.
//!
//! While it is slow, everything passes [`LATER`] after it came: bytes, and the end of a direction. A new
//! connection is not kept back.
//!
//! It works above TCP: no packet is lost, and no connection ends because of the way itself.

use super::port;
use crate::network::Location;
use crate::sample::cpus::pin_current;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes that are passed on at once.
const ROOM: usize = 64 * 1024;
/// How much later everything passes a way that is slow.
const LATER: Duration = Duration::from_millis(200);
/// Bytes that a slow way keeps of a direction at most; more waits in the kernel.
const MOST: usize = 8 << 20;
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
    pace: Pace,
}

/// How a way passes on what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// At once.
    Free,
    /// [`LATER`].
    Slow,
    /// Not at all.
    Cut,
}

impl Pace {
    /// What a way is then.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Free => "whole",
            Self::Slow => "slow",
            Self::Cut => "cut",
        }
    }
}

/// How it is to pass on what comes, and who waits for that.
type Order = (Pace, SyncSender<()>);

impl Relay {
    /// Listens where the nodes are, on a thread on `cpus` (all, when there are none), for what is meant
    /// for the broker on the port `broker`.
    pub(super) fn start(place: &Location, broker: u16, cpus: &[usize]) -> io::Result<Self> {
        let broker = SocketAddr::new(place.host(), broker);
        // A socket belongs to the network of the thread that makes it, and so do those of a thread that
        // is started there.
        place.there(|| Self::start_here(place, broker, cpus))?
    }

    fn start_here(place: &Location, broker: SocketAddr, cpus: &[usize]) -> io::Result<Self> {
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
            pace: Pace::Free,
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
            pace: Pace::Free,
        })
    }

    /// Where it listens.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) const fn pace(&self) -> Pace {
        self.pace
    }

    /// Cuts, slows or heals it. When this returns, that is so; false where its thread has ended.
    pub(super) fn set_pace(&mut self, pace: Pace) -> bool {
        let (done, is_done) = mpsc::sync_channel(1);
        let told = self.orders.send((pace, done)).is_ok();
        let woken = self.wake.as_ref().map(|mut wake| wake.write_all(&[0]));
        let is_so = told && woken.is_some_and(|woken| woken.is_ok()) && is_done.recv().is_ok();
        if is_so {
            self.pace = pace;
        }
        is_so
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

fn bind(place: &Location) -> io::Result<TcpListener> {
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
    pace: Pace,
    pairs: Vec<Pair>,
}

impl Way {
    fn run(mut self) {
        loop {
            while let Ok((pace, done)) = self.ordered.try_recv() {
                self.pace = pace;
                if pace == Pace::Free {
                    self.pairs.iter_mut().for_each(Pair::hurry);
                }
                let _ = done.send(());
            }
            let Some(ready) = self.wait() else { return };
            if self.pace == Pace::Cut {
                continue;
            }
            let (now, pace) = (Instant::now(), self.pace);
            let mut ready = ready.into_iter();
            self.pairs.retain_mut(|pair| {
                let is_ready = ready.next().unwrap_or(false);
                !is_ready || pair.pass(now, pace)
            });
            self.accept();
        }
    }

    /// Waits until something can be done, and says which pairs can do something; `None` at the end.
    fn wait(&mut self) -> Option<Vec<bool>> {
        let mut polled = vec![polled(self.woken.as_raw_fd(), libc::POLLIN)];
        let mut timeout_ms = -1;
        if self.pace != Pace::Cut {
            polled.push(self::polled(self.listener.as_raw_fd(), libc::POLLIN));
            for pair in &self.pairs {
                polled.extend(pair.awaited(self.pace));
            }
            if let Some(due) = self.pairs.iter().filter_map(Pair::due).min() {
                let left = due.saturating_duration_since(Instant::now());
                timeout_ms = left.as_micros().div_ceil(1000) as i32;
            }
        }
        // SAFETY: so many valid pollfds.
        unsafe {
            libc::poll(
                polled.as_mut_ptr(),
                polled.len() as libc::nfds_t,
                timeout_ms,
            )
        };
        if polled[0].revents != 0 {
            match self.woken.read(&mut [0; 16]) {
                Ok(count) if count > 0 => {}
                _ => return None,
            }
        }
        let now = Instant::now();
        let of_pairs = polled.get(2..).unwrap_or_default().chunks(2);
        let is_ready = |(two, pair): (&[libc::pollfd], &Pair)| {
            two.iter().any(|one| one.revents != 0) || pair.due().is_some_and(|due| due <= now)
        };
        Some(of_pairs.zip(&self.pairs).map(is_ready).collect())
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
    /// Each with the time from which on it passes.
    waiting: VecDeque<(Instant, Vec<u8>)>,
    /// Bytes of all that waits.
    held: usize,
    /// How much of the first is written.
    written: usize,
    /// The other end takes no more for now.
    is_blocked: bool,
    /// Nothing more will be read; when the other end is to be told that.
    over: Option<Instant>,
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
    fn awaited(&self, pace: Pace) -> [libc::pollfd; 2] {
        [0, 1].map(|at| {
            let (from, to) = (&self.under_way[at], &self.under_way[1 - at]);
            let mut events = 0;
            if from.takes_more(pace) {
                events |= libc::POLLIN;
            }
            if to.is_blocked {
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

    /// When something passes next that was kept back.
    fn due(&self) -> Option<Instant> {
        self.under_way.iter().filter_map(UnderWay::due).min()
    }

    /// What was kept back passes now.
    fn hurry(&mut self) {
        let now = Instant::now();
        for under_way in &mut self.under_way {
            for (due, _) in &mut under_way.waiting {
                *due = now;
            }
            under_way.over = under_way.over.map(|_| now);
        }
    }

    /// Passes on what can be; false when both directions are over.
    fn pass(&mut self, now: Instant, pace: Pace) -> bool {
        let [node, broker] = &self.ends;
        let [to_broker, to_node] = &mut self.under_way;
        let passed = to_broker
            .pass((node, broker), now, pace)
            .and_then(|()| to_node.pass((broker, node), now, pace));
        passed.is_ok() && !(to_broker.is_told && to_node.is_told)
    }
}

impl UnderWay {
    fn takes_more(&self, pace: Pace) -> bool {
        let most = match pace {
            Pace::Slow => MOST,
            // What is not written yet was read too soon.
            _ => 1,
        };
        self.over.is_none() && self.held < most
    }

    fn due(&self) -> Option<Instant> {
        let first = self.waiting.front().map(|(due, _)| *due);
        let end = self.over.filter(|_| !self.is_told);
        first.or(end).filter(|_| !self.is_blocked)
    }

    fn pass(
        &mut self,
        (mut from, to): (&TcpStream, &TcpStream),
        now: Instant,
        pace: Pace,
    ) -> io::Result<()> {
        if self.takes_more(pace) {
            let later = match pace {
                Pace::Slow => LATER,
                _ => Duration::ZERO,
            };
            let mut bytes = [0; ROOM];
            match from.read(&mut bytes) {
                Ok(0) => self.over = Some(now + later),
                Ok(count) => {
                    self.waiting
                        .push_back((now + later, bytes[..count].to_vec()));
                    self.held += count;
                }
                Err(error) if is_later(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.write(to, now)?;
        let is_over = self.over.is_some_and(|at| at <= now);
        if is_over && self.waiting.is_empty() && !self.is_told {
            to.shutdown(Shutdown::Write)?;
            self.is_told = true;
        }
        Ok(())
    }

    fn write(&mut self, mut to: &TcpStream, now: Instant) -> io::Result<()> {
        self.is_blocked = false;
        while let Some((_, bytes)) = self.waiting.front().filter(|(due, _)| *due <= now) {
            match to.write(&bytes[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if is_later(&error) => {
                    self.is_blocked = true;
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
            if self.written == bytes.len() {
                self.held -= bytes.len();
                self.written = 0;
                self.waiting.pop_front();
            }
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
        let place = Location::default();
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
        assert!(relay.set_pace(Pace::Cut));
        assert_eq!(relay.pace(), Pace::Cut);
        node.write_all(b"within").unwrap();
        broker.write_all(b"within").unwrap();
        broker.shutdown(Shutdown::Write).unwrap();
        let mut second = TcpStream::connect((Location::default().host(), relay.port())).unwrap();
        second.write_all(b"second").unwrap();
        listener.set_nonblocking(true).unwrap();
        // timed: what must not come may come later than this looks, which only hides a fault.
        thread::sleep(Duration::from_millis(200));
        assert!(has_nothing(&broker) && has_nothing(&node));
        assert!(listener.accept().is_err());
        assert!(relay.set_pace(Pace::Free));
        assert_eq!(read(&broker, 6), b"within");
        let mut rest = Vec::new();
        node.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"within");
        listener.set_nonblocking(false).unwrap();
        let (other, _) = listener.accept().unwrap();
        assert_eq!(read(&other, 6), b"second");
    }

    #[test]
    fn everything_passes_a_slow_way_later_and_in_order() {
        let (mut relay, mut node, mut broker, _listener) = joined();
        assert!(relay.set_pace(Pace::Slow));
        // timed: what passes too soon is seen on any machine, and nothing is too late.
        let began = Instant::now();
        node.write_all(b"first").unwrap();
        broker.write_all(b"other").unwrap();
        assert_eq!(read(&broker, 5), b"first");
        assert_eq!(read(&node, 5), b"other");
        // timed: the same.
        assert!(began.elapsed() >= LATER);
        // Twenty messages are kept back together, not one after the other, and then the end.
        let texts: Vec<_> = (0..20).map(|number| format!("{number:02}")).collect();
        for text in &texts {
            node.write_all(text.as_bytes()).unwrap();
        }
        // timed: the same.
        let ended = Instant::now();
        node.shutdown(Shutdown::Write).unwrap();
        let mut rest = String::new();
        broker.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, texts.concat());
        // timed: the same.
        assert!(ended.elapsed() >= LATER);
    }

    #[test]
    fn what_a_slow_way_keeps_passes_when_it_is_healed() {
        let (mut relay, node, mut broker, _listener) = joined();
        assert!(relay.set_pace(Pace::Slow));
        // More than it keeps and both kernels do.
        let many = vec![7; 32 << 20];
        let (mut writer, sent) = (node.try_clone().unwrap(), many.clone());
        let writing = thread::spawn(move || {
            writer.write_all(&sent).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        read(&broker, 1);
        assert!(relay.set_pace(Pace::Free));
        let mut got = Vec::new();
        broker.read_to_end(&mut got).unwrap();
        writing.join().unwrap();
        assert_eq!(got.len() + 1, many.len());
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

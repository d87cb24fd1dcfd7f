//! The broker: passes each broadcast to all nodes, in one order, but for those that it is to lose.

use super::frames::{Frame, Kind};
use crate::listen::listen;
use crate::threaded::WRITE_TIMEOUT;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What a broker does wrong, and where it listens.
#[derive(Clone, Copy, Debug)]
pub struct BrokerOptions {
    /// Where it listens; port 0 takes a free one.
    pub address: SocketAddr,
    /// Passes so many messages before it does anything wrong.
    pub after: u64,
    /// Takes so many messages and passes them to no node.
    pub drop: u64,
    /// Ends all its connections when it has dropped as many as it is to drop.
    pub then_close: bool,
    /// Passes so many messages twice; those that follow the ones that it drops.
    pub twice: u64,
    /// Passes each message this much later.
    pub delay: Duration,
}

impl Default for BrokerOptions {
    /// One that does nothing wrong, on a free port of loopback.
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            after: 0,
            drop: 0,
            then_close: false,
            twice: 0,
            delay: Duration::ZERO,
        }
    }
}

/// A broker at work; dropping it ends it and all its connections.
#[derive(Debug)]
pub struct Broker {
    addr: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    options: BrokerOptions,
    nodes: Mutex<Vec<(u64, TcpStream)>>,
    dropped: AtomicU64,
    stopping: AtomicBool,
}

/// A broadcast that waits until it is passed on.
struct Waiting {
    due: Instant,
    from: u64,
    frame: Frame,
}

/// What becomes of a broadcast.
enum Fate {
    Passes,
    Dropped,
    Twice,
}

impl Broker {
    /// Starts one on threads of its own.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn start(options: BrokerOptions) -> io::Result<Self> {
        let listener = listen(options.address)?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            options,
            nodes: Mutex::default(),
            dropped: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
        });
        let (publish, published) = mpsc::channel();
        let passing = Arc::clone(&shared);
        thread::Builder::new()
            .name("passing".into())
            .spawn(move || passing.pass_all(&published))?;
        let accepted = Arc::clone(&shared);
        let accepting = thread::Builder::new()
            .name("accept".into())
            .spawn(move || accepted.accept_all(&listener, &publish))?;
        Ok(Self {
            addr,
            shared,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// How many nodes are connected to it.
    pub fn nodes(&self) -> usize {
        self.shared.nodes().len()
    }

    /// How many messages it has dropped.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::SeqCst)
    }

    /// Serves until the process is ended.
    pub fn wait(mut self) {
        if let Some(thread) = self.accepting.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let Some(thread) = self.accepting.take() else {
            return;
        };
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the accept call, which has no other way out.
        let _ = TcpStream::connect(self.addr);
        let _ = thread.join();
        self.shared.close_all();
    }
}

impl Shared {
    fn nodes(&self) -> MutexGuard<'_, Vec<(u64, TcpStream)>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept_all(self: &Arc<Self>, listener: &TcpListener, publish: &Sender<Waiting>) {
        for id in 0.. {
            let accepted = listener.accept();
            if self.stopping.load(Ordering::SeqCst) {
                return;
            }
            let Ok((stream, _)) = accepted else {
                thread::sleep(Duration::from_millis(1));
                continue;
            };
            let ours = stream.set_write_timeout(Some(WRITE_TIMEOUT));
            let Ok(ours) = ours.and_then(|()| stream.try_clone()) else {
                continue;
            };
            self.nodes().push((id, ours));
            let (shared, publish) = (Arc::clone(self), publish.clone());
            thread::spawn(move || {
                shared.hear(id, stream, &publish);
                shared.nodes().retain(|(other, _)| *other != id);
            });
        }
    }

    fn hear(&self, from: u64, mut stream: TcpStream, publish: &Sender<Waiting>) {
        while let Ok(frame) = Frame::read(&mut stream) {
            let due = Instant::now() + self.options.delay;
            if publish.send(Waiting { due, from, frame }).is_err() {
                return;
            }
        }
    }

    /// Passes on what is due, in the order in which it came.
    fn pass_all(&self, published: &Receiver<Waiting>) {
        let mut counted = 0;
        for waiting in published {
            thread::sleep(waiting.due.saturating_duration_since(Instant::now()));
            counted += u64::from(waiting.frame.is_counted);
            let fate = match waiting.frame.is_counted {
                true => self.fate(counted),
                false => Fate::Passes,
            };
            self.pass(&waiting, &fate);
        }
    }

    /// What becomes of the message of that number, from 1.
    fn fate(&self, number: u64) -> Fate {
        let BrokerOptions {
            after, drop, twice, ..
        } = self.options;
        match number {
            number if number <= after => Fate::Passes,
            number if number <= after + drop => Fate::Dropped,
            number if number <= after + drop + twice => Fate::Twice,
            _ => Fate::Passes,
        }
    }

    fn pass(&self, waiting: &Waiting, fate: &Fate) {
        let times = match fate {
            Fate::Passes => 1,
            Fate::Dropped => 0,
            Fate::Twice => 2,
        };
        let message = Frame {
            kind: Kind::Message,
            ..waiting.frame.clone()
        };
        let taken = Frame {
            kind: Kind::Taken,
            bytes: Vec::new(),
            ..waiting.frame
        };
        // One that takes nothing any more ends by its reader.
        for (id, node) in self.nodes().iter_mut() {
            let mut sent = (0..times).try_for_each(|_| message.write(node));
            if *id == waiting.from {
                sent = sent.and_then(|()| taken.write(node));
            }
            if sent.is_err() {
                let _ = node.shutdown(Shutdown::Both);
            }
        }
        if times == 0 {
            let dropped = self.dropped.fetch_add(1, Ordering::SeqCst) + 1;
            if self.options.then_close && dropped == self.options.drop {
                self.close_all();
            }
        }
    }

    fn close_all(&self) {
        for (_, node) in self.nodes().iter() {
            let _ = node.shutdown(Shutdown::Both);
        }
    }
}

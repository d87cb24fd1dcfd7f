//! A gate before a server: the first connections go through at once, later ones by a schedule.
//!
//! What comes later is accepted and waits until its turn, so that its upgrade is answered at a known
//! time. The schedule begins when the first connection that went through has ended: that is the cut,
//! as the server sees it. What is known of each moment are clock readings around it, so that a busy
//! machine makes them less exact and not wrong. With a thread per direction and connection it is for
//! some dozens.

use crate::listen::listen;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// When a gate lets connections through.
#[derive(Clone, Copy, Debug)]
pub struct GateOptions {
    /// The server behind it.
    pub behind: SocketAddr,
    /// So many go through at once.
    pub free: u32,
    /// From the first end of a connection to the first that is let through after it.
    pub opens_after: Duration,
    /// From one that is let through to the next.
    pub interval: Duration,
}

/// A running gate; dropping it ends it. Connections that went through live on.
#[derive(Debug)]
pub struct Gate {
    addr: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    options: GateOptions,
    ends: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<TcpStream>,
    /// The first end of a connection that went through.
    ended: Option<Instant>,
    /// How many connections were let through after that.
    let_through: u32,
    passages: Passages,
}

/// What a gate has seen.
#[derive(Clone, Debug, Default)]
pub struct Passages {
    /// How many connections came that had to wait.
    pub came: u32,
    /// When bytes of clients came, in order; the first of each connection, its upgrade, is left out.
    pub requests: Vec<Instant>,
    /// Of each connection that had to wait, in the order of the answers: the clock before and after
    /// the first bytes of the server were written to it.
    pub answers: Vec<(Instant, Instant)>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for (number, client) in (0..).zip(listener.incoming()) {
            if self.ends.load(Ordering::SeqCst) {
                return;
            }
            let Ok(client) = client else { continue };
            if number < self.options.free {
                // One that cannot be joined to the server is closed, which its client tells.
                let _ = self.join(client, false);
            } else {
                let mut state = self.state();
                state.waiting.push(client);
                state.passages.came += 1;
                drop(state);
                self.changed.notify_all();
            }
        }
    }

    /// Lets through what waits, each at its moment or as soon as it has come.
    fn open(self: &Arc<Self>) {
        let mut state = self.state();
        loop {
            if self.ends.load(Ordering::SeqCst) {
                return;
            }
            let done = state.let_through;
            let due = state
                .ended
                .map(|ended| ended + self.options.opens_after + done * self.options.interval);
            let now = Instant::now();
            match due {
                Some(due) if due <= now && !state.waiting.is_empty() => {
                    let client = state.waiting.remove(0);
                    state.let_through += 1;
                    drop(state);
                    let _ = self.join(client, true);
                    state = self.state();
                }
                Some(due) if due > now => {
                    let waited = self.changed.wait_timeout(state, due - now);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                _ => {
                    let waited = self.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Carries bytes between a client, which may have had to wait, and the server, both ways.
    fn join(self: &Arc<Self>, client: TcpStream, waited: bool) -> io::Result<()> {
        let server = TcpStream::connect(self.options.behind)?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
        let shared = Arc::clone(self);
        thread::spawn(move || {
            carry(from_client, to_server, |number, came, _| {
                if number > 0 {
                    shared.state().passages.requests.push(came);
                }
            });
            shared.state().ended.get_or_insert_with(Instant::now);
            shared.changed.notify_all();
        });
        let shared = Arc::clone(self);
        thread::spawn(move || {
            carry(server, client, |number, before, after| {
                if number == 0 && waited {
                    shared.state().passages.answers.push((before, after));
                }
            });
        });
        Ok(())
    }
}

/// Carries bytes one way and notes each write: its number, and the clock before and after it.
fn carry(mut from: TcpStream, mut to: TcpStream, mut note: impl FnMut(u64, Instant, Instant)) {
    let mut buffer = [0; 4096];
    let mut number = 0;
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let before = Instant::now();
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
        note(number, before, Instant::now());
        number += 1;
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

impl Gate {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When the system denies a socket or a thread.
    pub fn start(options: GateOptions) -> io::Result<Self> {
        let listener = listen((Ipv4Addr::LOCALHOST, 0).into())?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            options,
            ends: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let (accepting, opening) = (Arc::clone(&shared), Arc::clone(&shared));
        let name = |name: &str| thread::Builder::new().name(name.to_owned());
        let threads = vec![
            name("gate-accept").spawn(move || accepting.accept(&listener))?,
            name("gate-open").spawn(move || opening.open())?,
        ];
        Ok(Self {
            addr,
            shared,
            threads,
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What it has seen so far.
    pub fn passages(&self) -> Passages {
        let mut seen = self.shared.state().passages.clone();
        seen.requests.sort_unstable();
        seen.answers.sort_unstable();
        seen
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        {
            let _state = self.shared.state();
            self.shared.changed.notify_all();
        }
        // Wakes the accept call, which has no other way out.
        let _ = TcpStream::connect(self.addr);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

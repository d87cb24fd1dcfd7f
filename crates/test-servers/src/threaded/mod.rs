//! A correct server with a thread per connection, whose behaviour can be replaced.
//!
//! Every misbehaving server is made of it: what is not overridden in [`Behaviour`] follows the
//! protocol. Meant for thousands of connections at most, and for clients that read.

mod behaviour;
mod hub;
mod queued;
mod request;
mod rooms;
mod session;
mod speech;
mod wire;

pub(crate) use behaviour::{Behaviour, Ended, FrameFilter, Honest, Upgrade};
pub(crate) use hub::{Hub, Peer};
pub(crate) use queued::{Overflow, QueuedWire};
pub(crate) use request::{Rejection, Reply, Request, stamp_of_digits};
pub(crate) use rooms::{Act, RoomRequest};
pub(crate) use speech::{Answer, Asked, Rejected, Speaker, Speech, read, text_frame};
pub(crate) use wire::{PlainWire, WRITE_TIMEOUT, Wire};

use crate::listen::{listen, raise_file_limit};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Enough for a read buffer on the heap and JSON of ordinary depth.
const STACK: usize = 256 * 1024;

/// Turns an accepted socket into a wire.
pub(crate) type MakeWire = Box<dyn Fn(TcpStream) -> io::Result<Arc<dyn Wire>> + Send + Sync>;

/// A running server; dropping it ends it and all its connections.
pub(crate) struct Server {
    addr: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    hub: Arc<Hub>,
    behaviour: Arc<dyn Behaviour>,
    make_wire: MakeWire,
    stopping: AtomicBool,
    wires: Mutex<HashMap<u64, Arc<dyn Wire>>>,
    next_id: AtomicU64,
}

impl Server {
    pub(crate) fn start(
        address: SocketAddr,
        behaviour: Arc<dyn Behaviour>,
        make_wire: MakeWire,
    ) -> io::Result<Self> {
        raise_file_limit();
        let listener = listen(address)?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            hub: Arc::new(Hub::default()),
            behaviour,
            make_wire,
            stopping: AtomicBool::new(false),
            wires: Mutex::default(),
            next_id: AtomicU64::new(0),
        });
        let accepting = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("accept".into())
            .spawn(move || accepting.accept_all(&listener))?;
        Ok(Self {
            addr,
            shared,
            thread: Some(thread),
        })
    }

    pub(crate) fn start_plain(address: SocketAddr, behaviour: impl Behaviour) -> io::Result<Self> {
        let make_wire = Box::new(|stream| Ok(Arc::new(PlainWire::new(stream)?) as Arc<dyn Wire>));
        Self::start(address, Arc::new(behaviour), make_wire)
    }

    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.shared.hub
    }

    /// Serves until the process is ended.
    pub(crate) fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the accept call, which has no other way out.
        let _ = TcpStream::connect(self.addr);
        let _ = thread.join();
        for wire in self.shared.lock_wires().values() {
            wire.end();
        }
    }
}

impl Shared {
    fn lock_wires(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<dyn Wire>>> {
        self.wires.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept_all(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.stopping.load(Ordering::SeqCst) {
                return;
            }
            let Ok((stream, _)) = accepted else {
                std::thread::sleep(std::time::Duration::from_millis(1));
                continue;
            };
            let Ok(wire) = (self.make_wire)(stream) else {
                continue;
            };
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            self.lock_wires().insert(id, Arc::clone(&wire));
            let shared = Arc::clone(self);
            let spawned = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn(move || {
                    session::serve(id, &wire, &shared.hub, &*shared.behaviour);
                    shared.lock_wires().remove(&id);
                });
            if spawned.is_err() {
                self.lock_wires().remove(&id);
            }
        }
    }
}

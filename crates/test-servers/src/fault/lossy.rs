//! A server that leaves out the deliveries that its caller chooses.

use crate::threaded::{Act, Behaviour, Hub, Peer, Reply, Request, RoomRequest, Server};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A delivery that is due. All numbers count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The connection, in the order of the accepts.
    pub connection: u64,
    /// How often it had subscribed to a topic before the subscription that this is for; 0 of a
    /// broadcast.
    pub resubscribed: u64,
    /// How many deliveries were due to it before, those that were left out included; to a subscriber,
    /// since it subscribed last.
    pub nth: u64,
    /// The broadcast or publication.
    pub broadcast: u64,
}

/// A running server that loses messages by plan; dropping it ends it and all its connections.
pub struct LossyServer {
    server: Server,
    dropped: Arc<AtomicU64>,
}

type Drops = Box<dyn Fn(Delivery) -> bool + Send + Sync>;

struct Lossy {
    drops: Drops,
    dropped: Arc<AtomicU64>,
    due: Mutex<Due>,
}

#[derive(Default)]
struct Due {
    broadcasts: u64,
    /// By connection.
    deliveries: HashMap<u64, u64>,
    /// Subscriptions so far, by connection.
    subscriptions: HashMap<u64, u64>,
}

impl LossyServer {
    /// Starts one on a free port of 127.0.0.1 that leaves out what `drops` is true of.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(drops: impl Fn(Delivery) -> bool + Send + Sync + 'static) -> io::Result<Self> {
        let dropped = Arc::<AtomicU64>::default();
        let behaviour = Lossy {
            drops: Box::new(drops),
            dropped: Arc::clone(&dropped),
            due: Mutex::default(),
        };
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Ok(Self {
            server: Server::start_plain(address, behaviour)?,
            dropped,
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Deliveries that were left out so far.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for LossyServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LossyServer").field(&self.addr()).finish()
    }
}

impl Lossy {
    fn due(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fan_out<'p>(&self, peers: impl Iterator<Item = &'p Arc<Peer>>, frame: &[u8]) {
        let mut due = self.due();
        let broadcast = due.broadcasts;
        due.broadcasts += 1;
        for peer in peers {
            let subscriptions = due.subscriptions.get(&peer.id).copied();
            let nth = due.deliveries.entry(peer.id).or_default();
            let delivery = Delivery {
                connection: peer.id,
                resubscribed: subscriptions.unwrap_or(1) - 1,
                nth: *nth,
                broadcast,
            };
            *nth += 1;
            if (self.drops)(delivery) {
                self.dropped.fetch_add(1, Ordering::SeqCst);
            } else {
                peer.send(frame);
            }
        }
    }
}

impl Behaviour for Lossy {
    fn broadcast(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        self.fan_out(hub.lock().iter(), &request.frame(Reply::Broadcast));
        from.send(&request.frame(Reply::Result));
    }

    fn room(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: &RoomRequest) {
        match request.act {
            Act::Publish(_) => {
                let peers = hub.lock();
                let members = peers.iter().filter(|peer| peer.follows(&request.topic));
                self.fan_out(members, &request.message(from.speech));
                from.send(&request.answer(true));
            }
            Act::Subscribe => {
                let mut due = self.due();
                *due.subscriptions.entry(from.id).or_default() += 1;
                due.deliveries.insert(from.id, 0);
                drop(due);
                self.serve_room(hub, from, request);
            }
            Act::Unsubscribe => self.serve_room(hub, from, request),
        }
    }
}

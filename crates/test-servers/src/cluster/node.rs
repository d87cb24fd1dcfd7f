//! A node: a server whose broadcasts go to the broker and come back from it.

use super::frames::{Frame, Kind};
use crate::threaded::{
    Behaviour, Hub, Overflow, Peer, QueuedWire, Reply, Request, Server, WRITE_TIMEOUT, Wire,
};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use ws_proto::Opcode;

/// How long a node waits before it tries again to reach its broker.
const PAUSE: Duration = Duration::from_millis(20);
/// Service restart (the IANA registry of close codes of RFC 6455).
const RESTART: u16 = 1012;

/// What a node does wrong, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct NodeOptions {
    /// Where it listens; port 0 takes a free one.
    pub address: SocketAddr,
    /// The broker.
    pub broker: SocketAddr,
    /// Passes so many broadcasts on before it does anything wrong.
    pub after: u64,
    /// Answers so many broadcasts as if they had reached everyone, and passes none of them on.
    pub forget: u64,
    /// Ends the connections of its clients when that to the broker ends, so that they know.
    pub loud: bool,
}

impl NodeOptions {
    /// One that does nothing wrong, on a free port of loopback.
    pub fn new(broker: SocketAddr) -> Self {
        Self {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            broker,
            after: 0,
            forget: 0,
            loud: false,
        }
    }
}

/// A node at work; dropping it ends it and all its connections.
pub struct Node {
    server: Option<Server>,
    member: Arc<Member>,
    listening: Option<JoinHandle<()>>,
}

/// What a node has to do with its broker.
struct Member {
    options: NodeOptions,
    way: Mutex<Way>,
    /// Broadcasts of load generators so far.
    counted: AtomicU64,
    stopping: AtomicBool,
}

#[derive(Default)]
struct Way {
    broker: Option<TcpStream>,
    next: u64,
    /// Who is to get which result when the broker has taken the broadcast of that number.
    awaited: HashMap<u64, (Arc<Peer>, Vec<u8>)>,
}

impl Node {
    /// Starts one on threads of its own. It serves at once, and has its broker when that is there.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn start(options: NodeOptions) -> io::Result<Self> {
        let member = Arc::new(Member {
            options,
            way: Mutex::default(),
            counted: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
        });
        let behaviour = Arc::new(Publishing(Arc::clone(&member)));
        // A client that reads slowly holds up no other, and not what the broker has for them.
        let make_wire = Box::new(|stream| {
            Ok(Arc::new(QueuedWire::new(stream, Overflow::CutOff)) as Arc<dyn Wire>)
        });
        let server = Server::start(options.address, behaviour, make_wire)?;
        let (hub, hearing) = (Arc::clone(server.hub()), Arc::clone(&member));
        let listening = thread::Builder::new()
            .name("broker".into())
            .spawn(move || hearing.hear_all(&hub))?;
        Ok(Self {
            server: Some(server),
            member,
            listening: Some(listening),
        })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        let server = self.server.as_ref();
        server.map_or(self.member.options.address, Server::addr)
    }

    /// Serves until the process is ended.
    pub fn wait(mut self) {
        if let Some(server) = self.server.take() {
            server.wait();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.member.stopping.store(true, Ordering::SeqCst);
        if let Some(broker) = &self.member.way().broker {
            let _ = broker.shutdown(Shutdown::Both);
        }
        if let Some(thread) = self.listening.take() {
            let _ = thread.join();
        }
    }
}

struct Publishing(Arc<Member>);

impl Behaviour for Publishing {
    fn broadcast(&self, _hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        self.0.publish(from, &request);
    }
}

impl Member {
    fn way(&self) -> MutexGuard<'_, Way> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, from: &Arc<Peer>, request: &Request) {
        let result = request.frame(Reply::Result);
        let is_counted = request.stamp().is_some();
        if is_counted && self.forgets() {
            from.send(&result);
            return;
        }
        let mut bytes = vec![match request.opcode {
            Opcode::Binary => b'b',
            _ => b't',
        }];
        bytes.extend(request.message(Reply::Broadcast));
        let mut way = self.way();
        let number = way.next;
        way.next += 1;
        let Some(broker) = &mut way.broker else {
            return;
        };
        let frame = Frame {
            kind: Kind::Publish,
            number,
            is_counted,
            bytes,
        };
        match frame.write(broker) {
            Ok(()) => {
                way.awaited.insert(number, (Arc::clone(from), result));
            }
            // A part of a frame may have been taken. The reader notices the end.
            Err(_) => {
                let _ = broker.shutdown(Shutdown::Both);
            }
        }
    }

    /// Whether it forgets this broadcast.
    fn forgets(&self) -> bool {
        let NodeOptions { after, forget, .. } = self.options;
        let number = self.counted.fetch_add(1, Ordering::SeqCst);
        (after..after + forget).contains(&number)
    }

    /// Hears the broker, and connects again when it has gone.
    fn hear_all(&self, hub: &Hub) {
        while !self.stopping.load(Ordering::SeqCst) {
            let joined = TcpStream::connect(self.options.broker);
            if let Ok(mut broker) = joined
                && self.join(&broker).is_ok()
            {
                while let Ok(frame) = Frame::read(&mut broker) {
                    self.take(&frame, hub);
                }
                self.leave(hub);
            }
            thread::sleep(PAUSE);
        }
    }

    fn join(&self, broker: &TcpStream) -> io::Result<()> {
        broker.set_nodelay(true)?;
        broker.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let mut way = self.way();
        way.broker = Some(broker.try_clone()?);
        if self.stopping.load(Ordering::SeqCst) {
            broker.shutdown(Shutdown::Both)?;
        }
        Ok(())
    }

    fn leave(&self, hub: &Hub) {
        *self.way() = Way::default();
        if self.options.loud {
            for peer in hub.lock().iter() {
                peer.send_frame(Opcode::Close, &RESTART.to_be_bytes());
                peer.wire.end();
            }
        }
    }

    fn take(&self, frame: &Frame, hub: &Hub) {
        match frame.kind {
            Kind::Message => deliver(&frame.bytes, hub),
            Kind::Taken => {
                let awaited = self.way().awaited.remove(&frame.number);
                if let Some((peer, result)) = awaited {
                    peer.send(&result);
                }
            }
            Kind::Publish => {}
        }
    }
}

/// Hands a broadcast of a node to the clients of this one.
fn deliver(bytes: &[u8], hub: &Hub) {
    let Some((opcode, message)) = bytes.split_first() else {
        return;
    };
    let opcode = match opcode {
        b'b' => Opcode::Binary,
        _ => Opcode::Text,
    };
    let Ok(request) = Request::parse(opcode, message) else {
        return;
    };
    let peers = hub.lock();
    let broadcast = request.broadcast(&peers);
    for peer in peers.iter() {
        broadcast.send(peer);
    }
}

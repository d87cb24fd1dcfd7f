//! A server of Socket.IO with connection state recovery, which ends connections and knows what each client
//! missed.

use crate::Framework;
use crate::threaded::{
    Behaviour, Hub, Overflow, Peer, QueuedWire, Reply, Request, Server, Upgrade, Wire, text_frame,
};
use crate::upgrade::{Refusal, RequestHead};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use ws_proto::Opcode;

/// What a [`Resuming`] does.
#[derive(Clone, Copy, Debug)]
pub struct ResumingOptions {
    /// The connections of clients with odd numbers end at the broadcast of this number.
    pub cut_at: usize,
    /// They are turned away until each of them has tried, and so many broadcasts came since.
    pub away: usize,
    /// It knows no client that comes back.
    pub knows_none: bool,
    /// Of what each client missed, so many of the latest do not come.
    pub forgets: usize,
    /// So many of the first come twice.
    pub doubles: usize,
    /// So many that the client had before come again.
    pub repeats: usize,
}

/// What a [`Resuming`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Broadcasts that it took.
    pub taken: u64,
    /// Clients that came back and that it knew.
    pub clients: u64,
    /// Messages that they missed and were sent, each counted once.
    pub made_good: u64,
    /// Messages that they missed and were not sent.
    pub forgotten: u64,
    /// Messages that were sent twice.
    pub doubled: u64,
    /// Messages that they had before and were sent again.
    pub repeated: u64,
}

/// A running server; dropping it ends it and all its connections.
pub struct Resuming {
    server: Server,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Every broadcast as the event that it is, without its end.
    events: Vec<String>,
    /// By connection: the number of its client.
    clients: HashMap<u64, u64>,
    /// The clients that were cut off, and those of them that were turned away.
    cut: HashSet<u64>,
    turned_away: HashSet<u64>,
    /// From so many broadcasts on they are let in again.
    opens_at: Option<usize>,
    told: Resumed,
}

struct Knows {
    options: ResumingOptions,
    state: Arc<Mutex<State>>,
}

impl Resuming {
    /// Starts one on a free port of 127.0.0.1. Each connection says whose it is by `n=NUMBER` at the end
    /// of its URL.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(options: ResumingOptions) -> io::Result<Self> {
        let state = Arc::<Mutex<State>>::default();
        let behaviour = Knows {
            options,
            state: Arc::clone(&state),
        };
        let make_wire = Box::new(|stream| {
            Ok(Arc::new(QueuedWire::new(stream, Overflow::Keep)) as Arc<dyn Wire>)
        });
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Ok(Self {
            server: Server::start(address, Arc::new(behaviour), make_wire)?,
            state,
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// What it has done.
    pub fn told(&self) -> Resumed {
        lock(&self.state).told
    }
}

impl fmt::Debug for Resuming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Resuming").field(&self.addr()).finish()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// An event as it is sent, with its offset behind its arguments.
    fn frame(&self, number: usize) -> Vec<u8> {
        let event = &self.events[number];
        text_frame(&format!("{event},\"0-{number}\"]"))
    }

    /// A client that was cut off is turned away.
    fn turns_away(&mut self, client: u64, away: usize) -> bool {
        if !self.cut.contains(&client) {
            return false;
        }
        if self.opens_at.is_some_and(|at| self.events.len() >= at) {
            return false;
        }
        self.turned_away.insert(client);
        if self.opens_at.is_none() && self.turned_away.len() == self.cut.len() {
            self.opens_at = Some(self.events.len() + away);
        }
        true
    }
}

impl Knows {
    /// A client enters the namespace.
    fn enter(&self, hub: &Hub, from: &Peer, auth: &[u8]) {
        let auth: Value = serde_json::from_slice(auth).unwrap_or_default();
        let mut state = lock(&self.state);
        let offset = auth["offset"].as_str().and_then(|of| of.strip_prefix("0-"));
        let offset = offset.and_then(|of| of.parse::<usize>().ok());
        let known = (auth["pid"].as_str(), offset, self.options.knows_none);
        let pid = match known {
            (Some(pid), Some(offset), false) if pid.starts_with("pid-") => {
                self.make_good(&mut state, from, offset);
                pid.to_owned()
            }
            (_, offset, _) => {
                let missed = offset.map_or(0, |offset| state.events.len() - offset - 1);
                state.told.forgotten += missed as u64;
                format!("pid-{}", from.id)
            }
        };
        let ready = text_frame(&format!(r#"40{{"sid":"namespace","pid":"{pid}"}}"#));
        // Locked meanwhile, so that no broadcast comes between.
        hub.set_member(from, true, Some(&ready));
    }

    fn make_good(&self, state: &mut State, from: &Peer, offset: usize) {
        let first = offset + 1;
        let end = state.events.len();
        let known = end.saturating_sub(self.options.forgets).max(first);
        let again = first.saturating_sub(self.options.repeats)..first;
        let twice = first..(first + self.options.doubles).min(known);
        let frames: Vec<u8> = again
            .clone()
            .chain(first..known)
            .flat_map(|number| {
                let copies = 1 + usize::from(twice.contains(&number));
                state.frame(number).repeat(copies)
            })
            .collect();
        from.send(&frames);
        state.told.clients += 1;
        state.told.made_good += (known - first) as u64;
        state.told.forgotten += (end - known) as u64;
        state.told.doubled += twice.len() as u64;
        state.told.repeated += again.len() as u64;
    }
}

impl Behaviour for Knows {
    fn framework(&self) -> Framework {
        Framework::SocketIo
    }

    fn upgrade(&self, id: u64, head: &RequestHead) -> Option<Upgrade> {
        let client = head.target.rsplit_once("n=");
        let client = client.and_then(|(_, number)| number.parse().ok());
        let client = client.unwrap_or_default();
        let mut state = lock(&self.state);
        if state.turns_away(client, self.options.away) {
            return Some(Upgrade {
                answer: Refusal::Plain.response().into(),
                open: false,
            });
        }
        state.clients.insert(id, client);
        Some(Upgrade {
            answer: head.accept_by(self.framework()).into_bytes(),
            open: true,
        })
    }

    fn message(
        &self,
        hub: &Arc<Hub>,
        from: &Arc<Peer>,
        opcode: Opcode,
        message: &[u8],
    ) -> Result<(), u16> {
        match message.strip_prefix(b"40") {
            Some(auth) => {
                self.enter(hub, from, auth);
                Ok(())
            }
            None => self.handle(hub, from, opcode, message),
        }
    }

    fn broadcast(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let number = state.events.len();
        let event = String::from_utf8_lossy(&request.message(Reply::Broadcast)).into_owned();
        state.events.push(event.trim_end_matches(']').to_owned());
        state.told.taken += 1;
        let frame = state.frame(number);
        let peers = hub.lock();
        for peer in peers.iter().filter(|peer| peer.is_member()) {
            peer.send(&frame);
        }
        let result = String::from_utf8_lossy(&request.message(Reply::Result)).into_owned();
        let result = result.trim_end_matches(']');
        from.send(&text_frame(&format!("{result},\"0-{number}\"]")));
        if number != self.options.cut_at {
            return;
        }
        for peer in peers.iter() {
            let client = state.clients.get(&peer.id).copied().unwrap_or_default();
            if client % 2 == 1 {
                state.cut.insert(client);
                peer.wire.end();
            }
        }
    }
}

//! A server with faults of many classes in one run, which keeps count of them.

use super::delivery::{padding, reset};
use crate::Framework;
use crate::threaded::{Act, Behaviour, Hub, Peer, Rejection, Reply, Request, RoomRequest, Server};
use record::Faults;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use ws_proto::{Opcode, encode_frame};

/// The last broadcasts, so many of them, are never held back: their senders may have no later one.
const NOT_HELD: u64 = 64;
/// Any bit of the nonce in a stamp (docs/protocol.md).
const OTHER_RUN: u64 = 1 << 60;

/// What a [`MixedServer`] is to do wrong in a run of so many broadcasts.
#[derive(Clone, Copy, Debug)]
pub struct Misdeeds {
    /// Broadcasts of the run. Each class is spread evenly over them, at most one of a class to a
    /// broadcast.
    pub broadcasts: u64,
    /// How many of each class:
    /// `lost` leaves out a delivery; `duplicate` makes one twice; `corrupt` flips a bit of the
    /// padding; `reordered` swaps two broadcasts of one sender to one listener; `misdirected` adds
    /// a delivery of another run, or with rooms one to a client of another room; `unanswered` leaves out a result; `refused` adds an error answer
    /// (not in every message format); `malformed` adds a message that no dialect has;
    /// `disconnected` resets a connection other than the sender's, and the delivery to it counts as
    /// lost.
    pub faults: Faults,
}

/// What a [`MixedServer`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Faults of each class.
    pub faults: Faults,
    /// Broadcasts.
    pub broadcasts: u64,
    /// Those of them that every listener got and whose sender was answered.
    pub whole: u64,
    /// Deliveries that were due and made, copies beyond the first left out.
    pub deliveries: u64,
    /// Messages of any kind, from the first broadcast on.
    pub messages: u64,
    /// From the first broadcast to the last write.
    pub lasting: Duration,
}

/// A running server that misbehaves by plan; dropping it ends it and all its connections.
pub struct MixedServer {
    server: Server,
    ledger: Arc<Mutex<Ledger>>,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) done: Done,
    /// When the first broadcast came.
    pub(super) began: Option<Instant>,
    /// By sender: the listener and the frame that waits for its successor.
    held: HashMap<u64, (u64, Vec<u8>)>,
    /// Connections that were reset.
    gone: Vec<u64>,
}

pub(super) struct Mixed {
    pub(super) misdeeds: Misdeeds,
    framework: Framework,
    pub(super) ledger: Arc<Mutex<Ledger>>,
}

impl MixedServer {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(misdeeds: Misdeeds, framework: Framework) -> io::Result<Self> {
        let ledger = Arc::<Mutex<Ledger>>::default();
        let behaviour = Mixed {
            misdeeds,
            framework,
            ledger: Arc::clone(&ledger),
        };
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Ok(Self {
            server: Server::start_plain(address, behaviour)?,
            ledger,
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// What it has done so far.
    pub fn done(&self) -> Done {
        lock(&self.ledger).done
    }
}

impl fmt::Debug for MixedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MixedServer").field(&self.addr()).finish()
    }
}

pub(super) fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Misdeeds {
    /// Whether a class with `count` faults has one in broadcast `number`, counted from 0.
    pub(super) const fn strikes(&self, count: u64, number: u64) -> bool {
        let all = if self.broadcasts == 0 {
            1
        } else {
            self.broadcasts
        };
        number < all && (number + 1) * count / all > number * count / all
    }
}

impl Mixed {
    /// The listener that gets the fault of this class in this broadcast.
    pub(super) fn victim(peers: &[Arc<Peer>], number: u64, class: u64) -> Option<&Arc<Peer>> {
        let place = (number + class) % peers.len().max(1) as u64;
        peers.get(place as usize)
    }

    fn deliver(&self, peers: &[Arc<Peer>], from: &Peer, mut request: Request) {
        let mut ledger = lock(&self.ledger);
        let ledger = &mut *ledger;
        let number = ledger.done.broadcasts;
        ledger.done.broadcasts += 1;
        let began = *ledger.began.get_or_insert_with(Instant::now);
        let planned = self.misdeeds.faults;
        let strikes = |count| self.misdeeds.strikes(count, number);
        let mut whole = true;
        if strikes(planned.disconnected) {
            let victim = peers
                .iter()
                .find(|peer| peer.id != from.id && !ledger.gone.contains(&peer.id));
            if let Some(victim) = victim {
                ledger.gone.push(victim.id);
                reset(peers, Some(victim.id));
                victim.wire.end();
                ledger.done.faults.disconnected += 1;
                ledger.done.faults.lost += 1;
                whole = false;
            }
        }
        let listeners: Vec<Arc<Peer>> = peers
            .iter()
            .filter(|peer| peer.is_member() && !ledger.gone.contains(&peer.id))
            .cloned()
            .collect();
        let frame = request.frame(Reply::Broadcast);
        whole &= self.fan_out(ledger, number, from, &listeners, &frame);
        let result = request.frame(Reply::Result);
        let mut extra = |class, frame: &[u8]| {
            if let Some(victim) = Self::victim(&listeners, number, class) {
                victim.send(frame);
                ledger.done.messages += 1;
                return 1;
            }
            0
        };
        let faults = &mut ledger.done.faults;
        if strikes(planned.malformed) {
            let mut nonsense = Vec::new();
            encode_frame(&mut nonsense, Opcode::Text, None, b"{");
            faults.malformed += extra(3, &nonsense);
        }
        if strikes(planned.refused) {
            let why = Rejection::MissingPayload { broadcast: true };
            let refusal = from.speech.complaint(why, request.reference_mut());
            faults.refused += extra(4, &refusal);
        }
        if strikes(planned.misdirected) && request.change_stamp(OTHER_RUN) {
            faults.misdirected += extra(5, &request.frame(Reply::Broadcast));
        }
        whole &= self.answer(ledger, number, from, &result);
        ledger.done.whole += u64::from(whole);
        ledger.done.lasting = began.elapsed();
    }

    /// Sends a frame to each listener, as far as no fault strikes. True when each got it.
    pub(super) fn fan_out(
        &self,
        ledger: &mut Ledger,
        number: u64,
        from: &Peer,
        listeners: &[Arc<Peer>],
        frame: &[u8],
    ) -> bool {
        let planned = self.misdeeds.faults;
        let strikes = |count| self.misdeeds.strikes(count, number);
        let is_victim = |peer: &Peer, class| {
            Self::victim(listeners, number, class).is_some_and(|victim| victim.id == peer.id)
        };
        let mut whole = true;
        for peer in listeners {
            if self.swaps(ledger, number, from, peer, frame) {
                continue;
            }
            if strikes(planned.lost) && is_victim(peer, 0) {
                ledger.done.faults.lost += 1;
                whole = false;
                continue;
            }
            let mut copy = frame.to_vec();
            if strikes(planned.corrupt) && is_victim(peer, 1) {
                copy[padding(frame)] ^= 1;
                ledger.done.faults.corrupt += 1;
            }
            peer.send(&copy);
            ledger.done.deliveries += 1;
            ledger.done.messages += 1;
            if strikes(planned.duplicate) && is_victim(peer, 2) {
                peer.send(frame);
                ledger.done.faults.duplicate += 1;
                ledger.done.messages += 1;
            }
        }
        whole
    }

    /// Answers the sender, or not. True when it was answered.
    pub(super) fn answer(
        &self,
        ledger: &mut Ledger,
        number: u64,
        from: &Peer,
        result: &[u8],
    ) -> bool {
        let unanswered = self
            .misdeeds
            .strikes(self.misdeeds.faults.unanswered, number);
        if unanswered {
            ledger.done.faults.unanswered += 1;
        } else {
            from.send(result);
            ledger.done.messages += 1;
        }
        !unanswered
    }

    /// Holds a broadcast back from its listener, or sends it before the one that was held back.
    /// False when it does neither.
    fn swaps(
        &self,
        ledger: &mut Ledger,
        number: u64,
        from: &Peer,
        to: &Peer,
        frame: &[u8],
    ) -> bool {
        let held = ledger.held.get(&from.id);
        if held.is_some_and(|(listener, _)| *listener == to.id) {
            let (_, first) = ledger.held.remove(&from.id).unwrap_or_default();
            to.send(frame);
            to.send(&first);
            ledger.done.faults.reordered += 1;
            ledger.done.deliveries += 2;
            ledger.done.messages += 2;
            return true;
        }
        let planned = self.misdeeds.faults.reordered;
        let begins = ledger.held.is_empty()
            && ledger.done.faults.reordered < planned
            && number + NOT_HELD < self.misdeeds.broadcasts;
        if begins {
            ledger.held.insert(from.id, (to.id, frame.to_vec()));
        }
        begins
    }
}

impl Behaviour for Mixed {
    fn framework(&self) -> Framework {
        self.framework
    }

    fn broadcast(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let peers = hub.lock();
        self.deliver(&peers, from, request);
    }

    fn room(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: &RoomRequest) {
        match request.act {
            Act::Publish(_) => {
                let peers = hub.lock();
                self.publish(&peers, from, request);
            }
            _ => self.serve_room(hub, from, request),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_dealt_out_as_often_as_it_was_told() {
        for (broadcasts, count) in [(400, 0), (400, 1), (400, 7), (400, 399), (400, 400)] {
            let misdeeds = Misdeeds {
                broadcasts,
                faults: Faults::default(),
            };
            let struck = (0..broadcasts + 10).filter(|n| misdeeds.strikes(count, *n));
            assert_eq!(struck.count() as u64, count);
        }
    }
}

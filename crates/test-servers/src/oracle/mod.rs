//! A server that knows what it did: each message goes out a known time after its request, each fault
//! is made by number, and a ledger has all of it.

mod due;
mod feed;
mod ledger;
mod parts;
mod watch;

pub use feed::{Fed, Feeding};
pub use ledger::{Asked, Connection, Copy, Fate, Told};
pub use parts::{Parting, Parts};

use crate::Framework;
use crate::liar::{DeflatedWire, Lie};
use crate::threaded::{
    Act, Behaviour, Ended, Hub, Overflow, Peer, QueuedWire, Rejection, Reply, Request, RoomRequest,
    Server, Upgrade, Wire, stamp_of_digits,
};
use crate::tls::TlsWire;
use crate::upgrade::{Refusal, RequestHead};
use due::{Due, Frame};
use ledger::Ledger;
use rustls::ServerConfig;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use watch::Watch;
use ws_proto::Opcode;

/// One fault in so many messages, from a first one on; none in no messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strikes {
    /// Distance between two of them.
    pub every: u64,
    /// The first, counted from 0.
    pub first: u64,
}

impl Strikes {
    const fn hits(self, number: u64) -> bool {
        self.every > 0 && number >= self.first && (number - self.first).is_multiple_of(self.every)
    }
}

/// What an [`Oracle`] does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OracleOptions {
    /// The message format.
    pub framework: Framework,
    /// From the arrival of a request to the write of each delivery, of an echo, and of what a
    /// subscription is answered.
    pub delay: Duration,
    /// From the deliveries of a request to its result.
    pub result: Duration,
    /// Broadcasts and publications reach all but their sender.
    pub passes_sender_over: bool,
    /// Their senders get no result.
    pub acknowledges_nothing: bool,
    /// Publications of a client that is not subscribed to the topic are refused, in every format.
    pub members_only: bool,
    /// Deliveries and echoes that are left out, by their number.
    pub lost: Strikes,
    /// Those that are made twice.
    pub duplicate: Strikes,
    /// Those with a changed byte in their padding.
    pub corrupt: Strikes,
    /// Publications that a client of another room gets as well, by the number of the request.
    pub misdirected: Strikes,
    /// Results that are left out, by the number of the request.
    pub unanswered: Strikes,
    /// Subscriptions that are passed over, by their number among those of connections that had one
    /// before.
    pub ignored: Strikes,
    /// A connection is ended that sends no heartbeat for so long.
    pub silence: Option<Duration>,
    /// Each heartbeat of text is followed by so many questions, which the client has to answer with what
    /// it was asked: `{"type":"question","what":5}` with `{"type":"answer","to":5}`.
    pub asks: u32,
    /// Heartbeats that are not answered, by their number.
    pub unheard: Strikes,
    /// New connections are refused from so long after the first request on.
    pub closes_door: Option<Duration>,
    /// What each connection is sent without asking, if anything. Only text has it.
    pub feed: Option<Feeding>,
    /// What comes before the last message of each echo, if anything. Only text has it.
    pub parts: Option<Parting>,
    /// `/ticket?n=NUMBER` gives a client its ticket over HTTP, which it shows by `ticket=` in the URL of
    /// each connection.
    pub tickets: bool,
    /// Where more clients than this are connected, messages take [`CROWDED`] longer.
    pub comfortable: Option<u32>,
}

/// How much longer a message takes where there are too many clients.
pub const CROWDED: Duration = Duration::from_millis(1500);

/// A running server; dropping it ends it and all its connections.
pub struct Oracle {
    server: Server,
    told: Arc<Mutex<Ledger>>,
    due: Arc<Due>,
    watch: Arc<Watch>,
}

struct Knows {
    options: OracleOptions,
    ledger: Arc<Mutex<Ledger>>,
    due: Arc<Due>,
    watch: Arc<Watch>,
}

impl Oracle {
    /// Starts one on a free port of 127.0.0.1. Each connection says whose it is by `n=NUMBER` in the
    /// query of its URL.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(options: OracleOptions) -> io::Result<Self> {
        Self::start_on(options, |stream| {
            stream.set_nodelay(true)?;
            Ok(Arc::new(QueuedWire::new(stream, Overflow::Keep)) as Arc<dyn Wire>)
        })
    }

    /// The same over TLS with this certificate. It is for clients that read: one that does not has the
    /// others wait.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start_tls(options: OracleOptions, config: Arc<ServerConfig>) -> io::Result<Self> {
        Self::start_on(options, move |stream| {
            stream.set_nodelay(true)?;
            Ok(Arc::new(TlsWire::new(stream, Arc::clone(&config))?) as Arc<dyn Wire>)
        })
    }

    fn start_on(
        options: OracleOptions,
        wire: impl Fn(TcpStream) -> io::Result<Arc<dyn Wire>> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let ledger = Arc::<Mutex<Ledger>>::default();
        let due = Due::start(Arc::clone(&ledger), options.feed)?;
        let watch = Watch::start(options.silence, &ledger)?;
        let behaviour = Knows {
            options,
            ledger: Arc::clone(&ledger),
            due: Arc::clone(&due),
            watch: Arc::clone(&watch),
        };
        let make_wire = Box::new(move |stream| {
            Ok(Arc::new(DeflatedWire::new(Lie::None, wire(stream)?)) as Arc<dyn Wire>)
        });
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        Ok(Self {
            server: Server::start(address, Arc::new(behaviour), make_wire)?,
            told: ledger,
            due,
            watch,
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// How many clients are connected.
    pub fn connected(&self) -> u64 {
        lock(&self.told).connected()
    }

    /// What it has done.
    pub fn told(&self) -> Told {
        let ledger = lock(&self.told);
        let mut told = ledger.told.clone();
        for connection in &mut told.connections {
            connection.fed = ledger.fed(connection.id);
        }
        told
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        self.due.stop();
        self.watch.stop();
    }
}

impl fmt::Debug for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Oracle").field(&self.addr()).finish()
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message and the room that it is for.
struct Message<'a> {
    stamp: Option<u64>,
    room: Option<u32>,
    kind: Option<&'a str>,
    repeats: Option<u64>,
    delivery: &'a [u8],
    result: Option<Vec<u8>>,
    /// What comes before each delivery.
    parting: Option<Parting>,
}

impl Knows {
    /// Enters a request, and has its messages go out when they are due.
    fn enter(&self, from: &Arc<Peer>, to: &[&Arc<Peer>], others: &[&Arc<Peer>], of: Message<'_>) {
        let mut ledger = lock(&self.ledger);
        let now = ledger.now_ns();
        let number = ledger.told.asked.len();
        let delay = match self.options.comfortable {
            Some(most) if ledger.connected() > u64::from(most) => self.options.delay + CROWDED,
            _ => self.options.delay,
        };
        let at = now + delay.as_nanos() as u64;
        let parted = of.parting.zip(of.stamp);
        let (before, parts) = parted.map_or_else(Default::default, |(parting, stamp)| {
            parting.frames(stamp, number as u64)
        });
        let mut copies = Vec::with_capacity(to.len());
        for peer in to {
            let fate = self.fate(ledger.next_delivery());
            copies.push(Copy::new(peer.id, ledger.client(peer.id), fate));
            let mut frame = of.delivery.to_vec();
            match fate {
                Fate::Lost => continue,
                Fate::Doubled => frame.extend_from_slice(of.delivery),
                Fate::Corrupt => frame[crate::fault::padding(of.delivery)] ^= 1,
                Fate::Whole => {}
            }
            frame.splice(0..0, before.iter().copied());
            self.due
                .push(at, peer, frame, Frame::Delivery(number, copies.len() - 1));
        }
        if self.options.misdirected.hits(number as u64)
            && let Some(stranger) = others.get(number % others.len().max(1))
        {
            let client = ledger.client(stranger.id);
            ledger
                .told
                .strays
                .push(Copy::new(stranger.id, client, Fate::Whole));
            let stray = ledger.told.strays.len() - 1;
            self.due
                .push(at, stranger, of.delivery.to_vec(), Frame::Stray(stray));
        }
        let answers =
            !self.options.acknowledges_nothing && !self.options.unanswered.hits(number as u64);
        let result = of.result.filter(|_| answers);
        let asked = Asked {
            client: ledger.client(from.id),
            stamp: of.stamp,
            room: of.room,
            kind: of.kind.map(str::to_owned),
            repeats: of.repeats,
            at_ns: now,
            copies,
            parts,
            awaits_result: result.is_some(),
            result_ns: None,
        };
        ledger.told.asked.push(asked);
        if let Some(frame) = result {
            let at = at + self.options.result.as_nanos() as u64;
            self.due.push(at, from, frame, Frame::Result(number));
        }
    }

    /// A member hears what this client sends.
    fn is_told(&self, member: &Peer, from: &Peer) -> bool {
        !self.options.passes_sender_over || member.id != from.id
    }

    fn fate(&self, number: u64) -> Fate {
        let OracleOptions {
            lost,
            duplicate,
            corrupt,
            ..
        } = self.options;
        match number {
            number if lost.hits(number) => Fate::Lost,
            number if duplicate.hits(number) => Fate::Doubled,
            number if corrupt.hits(number) => Fate::Corrupt,
            _ => Fate::Whole,
        }
    }

    /// A subscription of this connection is passed over.
    fn ignores(&self, connection: u64) -> bool {
        let mut ledger = lock(&self.ledger);
        let again = ledger.subscribes(connection);
        let ignores = again.is_some_and(|number| self.options.ignored.hits(number));
        ledger.told.ignored += u64::from(ignores);
        ignores
    }

    /// The door is closed.
    fn is_closed(&self) -> bool {
        let ledger = lock(&self.ledger);
        let first = ledger.told.asked.first();
        let since = first.map(|asked| Duration::from_nanos(ledger.now_ns() - asked.at_ns));
        self.options
            .closes_door
            .zip(since)
            .is_some_and(|(at, since)| since >= at)
    }
}

impl Knows {
    /// The answer to a request for a ticket.
    fn ticket(&self, target: &str) -> Option<String> {
        let is_asked = self.options.tickets && target.starts_with("/ticket?");
        let client = client_of(target).filter(|_| is_asked)?;
        lock(&self.ledger).told.tickets.push(client);
        let body = format!("{{\"ticket\":\"{}\"}}", ticket_of(client));
        let length = body.len();
        Some(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ))
    }
}

impl Behaviour for Knows {
    fn framework(&self) -> Framework {
        self.options.framework
    }

    fn upgrade(&self, id: u64, head: &RequestHead) -> Option<Upgrade> {
        if let Some(answer) = self.ticket(&head.target) {
            let answer = answer.into_bytes();
            return Some(Upgrade {
                answer,
                open: false,
            });
        }
        let closed = self.is_closed().then_some(Refusal::Plain);
        let refusal = head.refusal_by(self.options.framework).or(closed);
        let mut ledger = lock(&self.ledger);
        let opened_ns = ledger.now_ns();
        let is_wrong = self.options.tickets && !shows_ticket(&head.target);
        ledger.told.wrong_tickets += u64::from(is_wrong);
        ledger.open(Connection {
            id,
            client: client_of(&head.target),
            room: None,
            was_refused: refusal.is_some(),
            opened_ns,
            ended_ns: None,
            fed: Fed::default(),
        });
        let (answer, open) = match refusal {
            Some(refusal) => (refusal.response().into(), false),
            None => (head.accept_by(self.options.framework).into_bytes(), true),
        };
        Some(Upgrade { answer, open })
    }

    fn opened(&self, peer: &Arc<Peer>) {
        let now_ns = lock(&self.ledger).now_ns();
        self.watch.lives(peer, now_ns);
    }

    fn message(
        &self,
        hub: &Arc<Hub>,
        from: &Arc<Peer>,
        opcode: Opcode,
        message: &[u8],
    ) -> Result<(), u16> {
        match self.takes(from, opcode, message) {
            true => Ok(()),
            false => self.handle(hub, from, opcode, message),
        }
    }

    fn echo(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let peers = hub.lock();
        let others: Vec<_> = peers.iter().filter(|peer| peer.id != from.id).collect();
        let message = Message {
            stamp: request.stamp(),
            room: None,
            kind: request.aside("kind"),
            repeats: request.aside("last").and_then(stamp_of_digits),
            delivery: &request.frame(Reply::Echo),
            result: None,
            parting: self.options.parts,
        };
        self.enter(from, &[from], &others, message);
    }

    fn broadcast(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: Request) {
        let peers = hub.lock();
        let is_told = |peer: &&Arc<Peer>| peer.is_member() && self.is_told(peer, from);
        let members: Vec<_> = peers.iter().filter(is_told).collect();
        let message = Message {
            stamp: request.stamp(),
            room: None,
            kind: None,
            repeats: None,
            delivery: &request.frame(Reply::Broadcast),
            result: Some(request.frame(Reply::Result)),
            parting: None,
        };
        self.enter(from, &members, &[], message);
    }

    fn asked_of_room(
        &self,
        hub: &Arc<Hub>,
        from: &Arc<Peer>,
        request: &RoomRequest,
    ) -> Result<(), u16> {
        let is_member = from.follows(&request.topic);
        let wants_to_publish = matches!(request.act, Act::Publish(_));
        let is_outsider = wants_to_publish && !is_member;
        lock(&self.ledger).told.outsiders += u64::from(is_outsider);
        if is_outsider && self.options.members_only {
            return self.reject(
                from,
                from.speech
                    .refuse(Rejection::UnknownTopic, request.reference()),
            );
        }
        match request.refusal(is_member) {
            Some(why) => self.reject(from, from.speech.refuse(why, request.reference())),
            None => {
                self.room(hub, from, request);
                Ok(())
            }
        }
    }

    fn room(&self, hub: &Arc<Hub>, from: &Arc<Peer>, request: &RoomRequest) {
        // Locked to the end, so that no client subscribes or publishes meanwhile.
        let peers = hub.lock();
        let topic = &request.topic;
        let subscribed = from.follows(topic);
        match request.act {
            Act::Publish(_) => {
                let is_told = |peer: &&Arc<Peer>| peer.follows(topic) && self.is_told(peer, from);
                let members: Vec<_> = peers.iter().filter(is_told).collect();
                // One that follows none is not ready, and would fail where a message comes.
                let is_elsewhere =
                    |peer: &&Arc<Peer>| !peer.follows(topic) && !peer.topics().is_empty();
                let others: Vec<_> = peers.iter().filter(is_elsewhere).collect();
                let message = Message {
                    stamp: request.stamp(),
                    room: room_of(topic),
                    kind: None,
                    repeats: None,
                    delivery: &request.message(from.speech),
                    result: Some(request.answer(true)),
                    parting: None,
                };
                return self.enter(from, &members, &others, message);
            }
            Act::Subscribe if self.ignores(from.id) => return,
            Act::Subscribe if subscribed => {}
            Act::Subscribe => from.topics().push(topic.clone()),
            Act::Unsubscribe => {
                from.topics().retain(|other| other != topic);
                lock(&self.ledger).told.unsubscribed += 1;
            }
        }
        let answer = request.answer(subscribed);
        let mut ledger = lock(&self.ledger);
        let at = ledger.now_ns() + self.options.delay.as_nanos() as u64;
        let is_first = matches!(request.act, Act::Subscribe) && !ledger.has_changed_rooms(from.id);
        if let (true, Some(connection)) = (is_first, ledger.connection(from.id)) {
            connection.room = room_of(topic);
        }
        let frame = match is_first {
            true => Frame::Opening,
            false => Frame::Answer(frames_in(&answer)),
        };
        self.due.push(at, from, answer, frame);
    }

    fn ping(&self, from: &Arc<Peer>, payload: &[u8]) {
        let mut ledger = lock(&self.ledger);
        ledger.told.pings += 1;
        let feed = ledger.feed(from.id, self.options.feed.as_ref());
        drop(ledger);
        if !feed.is_empty() {
            from.send(&feed);
        }
        from.send_frame(Opcode::Pong, payload);
    }

    fn ended(&self, _hub: &Arc<Hub>, peer: &Arc<Peer>, _how: Ended) {
        self.watch.forget(peer.id);
        let mut ledger = lock(&self.ledger);
        let now = ledger.now_ns();
        if let Some(connection) = ledger.connection(peer.id) {
            connection.ended_ns = Some(now);
        }
    }
}

/// How many unmasked frames these are.
fn frames_in(mut bytes: &[u8]) -> u64 {
    let mut count = 0;
    while let [_, length, rest @ ..] = bytes {
        let (header, length) = match length & 0x7F {
            126 => (2, u64::from(u16::from_be_bytes([rest[0], rest[1]]))),
            127 => (
                8,
                rest[..8]
                    .iter()
                    .fold(0, |all, byte| all << 8 | u64::from(*byte)),
            ),
            short => (0, u64::from(short)),
        };
        bytes = &rest[header + length as usize..];
        count += 1;
    }
    count
}

/// The number in `n=NUMBER`.
fn client_of(target: &str) -> Option<u64> {
    parameter(target, "n=")?.parse().ok()
}

fn parameter<'t>(target: &'t str, name: &str) -> Option<&'t str> {
    let (_, query) = target.split_once('?')?;
    let mut pairs = query.split('&');
    pairs.find_map(|pair| pair.strip_prefix(name))
}

/// The ticket of a client, which no other has.
fn ticket_of(client: u64) -> String {
    format!("t{}", client * 7 + 3)
}

fn shows_ticket(target: &str) -> bool {
    let due = client_of(target).map(ticket_of);
    due.is_some() && due.as_deref() == parameter(target, "ticket=")
}

/// The number in `room-NUMBER`, or at the end of a topic like it.
fn room_of(topic: &str) -> Option<u32> {
    let (_, number) = topic.rsplit_once("room-")?;
    number.parse().ok()
}

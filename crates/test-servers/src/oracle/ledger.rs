//! What the oracle saw and did. Times are nanoseconds since it started.

use super::feed::{Fed, Feeding, Stream};
use super::parts::Parts;
use std::collections::HashMap;
use std::time::Instant;

/// Everything that an [`super::Oracle`] saw and did.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Requests, in the order of their arrival.
    pub asked: Vec<Asked>,
    /// Deliveries to clients of another room.
    pub strays: Vec<Copy>,
    /// Connections, in the order of their upgrade requests.
    pub connections: Vec<Connection>,
    /// Publications of clients that were not subscribed to the topic.
    pub outsiders: u64,
    /// Requests of connections to end a subscription.
    pub unsubscribed: u64,
    /// Subscriptions of connections that had one before.
    pub resubscribed: u64,
    /// Those of them that were passed over.
    pub ignored: u64,
    /// Messages with which the others, and the requests to end one, were answered.
    pub answers: u64,
    /// Deliveries of MQTT that clients acknowledged.
    pub acknowledged: u64,
    /// Pings of clients.
    pub pings: u64,
    /// Heartbeats of clients.
    pub beats: u64,
    /// Those of them that were not answered.
    pub unheard: u64,
    /// Heartbeats that name another client than the one that sent them.
    pub wrong_beats: u64,
    /// Questions that clients were asked.
    pub questions: u64,
    /// Answers that repeat the oldest question which has no answer.
    pub right_answers: u64,
    /// All other answers.
    pub wrong_answers: u64,
    /// The clients of connections that were ended since they sent no heartbeat.
    pub silenced: Vec<Option<u64>>,
    /// Clients that asked for a ticket over HTTP, in their order.
    pub tickets: Vec<u64>,
    /// Upgrade requests that do not show the ticket of their client.
    pub wrong_tickets: u64,
}

/// A heartbeat that says nothing of its client.
pub(super) struct Silent;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The number of its client.
    pub client: Option<u64>,
    /// The stamp in its payload.
    pub stamp: Option<u64>,
    /// The room that it was published to.
    pub room: Option<u32>,
    /// Its kind, where it says one. Only text has it.
    pub kind: Option<String>,
    /// The stamp of an earlier answer that it repeats as its `last`.
    pub repeats: Option<u64>,
    /// When it came.
    pub at_ns: u64,
    /// What was due to each of its listeners.
    pub copies: Vec<Copy>,
    /// What was to be found in the parts of each of these.
    pub parts: Parts,
    /// The sender is to get a result.
    pub awaits_result: bool,
    /// When that was about to be written.
    pub result_ns: Option<u64>,
}

/// A delivery to one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The connection.
    pub connection: u64,
    /// The number of its client.
    pub client: Option<u64>,
    /// What became of it.
    pub fate: Fate,
    /// When it was about to be written; absent where the connection was gone by then, or it was lost.
    pub written_ns: Option<u64>,
}

/// What the server made of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It went out once, as it was.
    Whole,
    /// It was left out.
    Lost,
    /// It went out twice.
    Doubled,
    /// It went out with another byte in its padding.
    Corrupt,
}

/// A connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its number.
    pub id: u64,
    /// The number of its client.
    pub client: Option<u64>,
    /// The room that it subscribed to first.
    pub room: Option<u32>,
    /// It was not upgraded.
    pub was_refused: bool,
    /// When its upgrade request came.
    pub opened_ns: u64,
    /// When its end was seen.
    pub ended_ns: Option<u64>,
    /// What was to be found in its feed.
    pub fed: Fed,
}

impl Copy {
    pub(super) const fn new(connection: u64, client: Option<u64>, fate: Fate) -> Self {
        Self {
            connection,
            client,
            fate,
            written_ns: None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Ledger {
    began: Instant,
    pub(super) told: Told,
    /// Where a connection stands in `told.connections`.
    places: HashMap<u64, usize>,
    deliveries: u64,
    /// How often a connection subscribed.
    subscriptions: HashMap<u64, u64>,
    /// The feed of each connection.
    streams: HashMap<u64, Stream>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            told: Told::default(),
            places: HashMap::new(),
            deliveries: 0,
            subscriptions: HashMap::new(),
            streams: HashMap::new(),
        }
    }
}

impl Ledger {
    pub(super) fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    pub(super) fn open(&mut self, connection: Connection) {
        self.places
            .insert(connection.id, self.told.connections.len());
        self.told.connections.push(connection);
    }

    pub(super) fn connection(&mut self, id: u64) -> Option<&mut Connection> {
        let place = self.places.get(&id)?;
        self.told.connections.get_mut(*place)
    }

    pub(super) fn has_ended(&mut self, id: u64) -> bool {
        let connection = self.connection(id);
        connection.is_none_or(|connection| connection.ended_ns.is_some())
    }

    pub(super) fn client(&self, id: u64) -> Option<u64> {
        self.told.connections[*self.places.get(&id)?].client
    }

    /// The number of the next delivery.
    pub(super) const fn next_delivery(&mut self) -> u64 {
        self.deliveries += 1;
        self.deliveries - 1
    }

    /// What comes next of a connection's feed, as frames.
    pub(super) fn feed(&mut self, id: u64, of: Option<&Feeding>) -> Vec<u8> {
        let is_silent = |of: &&Feeding| {
            let client = self.client(id);
            client.is_some_and(|client| of.silent.hits(client))
        };
        match of.filter(|of| !is_silent(of)) {
            None => Vec::new(),
            Some(of) => self.streams.entry(id).or_default().next(of),
        }
    }

    /// What was to be found in it.
    pub(super) fn fed(&self, id: u64) -> Fed {
        self.streams.get(&id).map_or_else(Fed::default, |of| of.fed)
    }

    /// A connection has subscribed more than once.
    pub(super) fn has_changed_rooms(&self, id: u64) -> bool {
        self.subscriptions.get(&id).is_some_and(|count| *count > 1)
    }

    /// How many connections there are.
    pub(super) fn connected(&self) -> u64 {
        let all = self.told.connections.iter();
        all.filter(|of| !of.was_refused && of.ended_ns.is_none())
            .count() as u64
    }

    /// Counts a subscription. Returns its number among those of connections that had one before, if it
    /// is one.
    pub(super) fn subscribes(&mut self, id: u64) -> Option<u64> {
        let before = self.subscriptions.entry(id).or_default();
        *before += 1;
        if *before == 1 {
            return None;
        }
        self.told.resubscribed += 1;
        Some(self.told.resubscribed - 1)
    }
}

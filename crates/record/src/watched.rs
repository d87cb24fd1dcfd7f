//! What became of each message while connections ended and came back.

use super::{Latency, Told};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of the messages of a watched step. A delivery is one message to one client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// Messages that were due.
    pub planned: u64,
    /// Those of them that were sent. Of the others the client that was to publish had no connection.
    pub sent: u64,
    /// Messages that were sent and confirmed: the server gave the publisher its result.
    pub confirmed: u64,
    /// The dialect has no result, so that no message can be confirmed.
    pub has_no_results: bool,
    /// Deliveries of the messages that were confirmed.
    pub of_confirmed: Fates,
    /// Deliveries of messages that were sent but not confirmed. The server may never have got them.
    pub of_unconfirmed: Fates,
    /// Clients that lost a message of which they were told nothing.
    pub silent_clients: u64,
    /// Messages that came once more on the same connection.
    pub duplicate: u64,
    /// Messages that came once more, on another connection of the same client.
    pub repeated: u64,
    /// Messages that came for the first time to a client after a later one of the same publisher.
    pub reordered: u64,
    /// Messages that the server refused to publish, with an error answer.
    pub refused: u64,
    /// Clients whose connection lasted from the first message to the end.
    pub bystanders: u64,
    /// From the moment at which a message was due until it came to a client of the same node, live.
    /// Absent where none was.
    pub same_node: Option<Latency>,
    /// The same to a client of another node.
    pub cross_node: Option<Latency>,
    /// The same to clients whose connection lasted to the end, of any node.
    pub bystander_latency: Option<Latency>,
    /// What became of the messages over time.
    pub timeline: Timeline,
}

/// Deliveries by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fates {
    /// Came on the connection that the client had when it was sent.
    pub live: u64,
    /// Came on a connection that the client made later: the server kept it for the client.
    pub made_good: u64,
    /// Did not come, and the connection stayed: the client was told nothing.
    pub lost_silent: u64,
    /// Did not come, was sent within the first second of a connection, and before anything came on it.
    pub lost_joining: u64,
    /// Did not come, and the connection ended before the message was due to have come.
    pub lost_cut: u64,
    /// Did not come, and the client had no connection when it was sent.
    pub lost_away: u64,
}

impl Fates {
    /// All deliveries. As every sum here, it stops at the highest number: a record of a stranger may have
    /// counts whose sum is higher.
    pub const fn all(&self) -> u64 {
        self.came().saturating_add(self.lost())
    }

    /// Those that came.
    pub const fn came(&self) -> u64 {
        self.live.saturating_add(self.made_good)
    }

    /// Those that did not come.
    pub const fn lost(&self) -> u64 {
        self.lost_silent
            .saturating_add(self.lost_joining)
            .saturating_add(self.lost_cut)
            .saturating_add(self.lost_away)
    }

    /// Adds others.
    pub const fn add(&mut self, other: Self) {
        self.live = self.live.saturating_add(other.live);
        self.made_good = self.made_good.saturating_add(other.made_good);
        self.lost_silent = self.lost_silent.saturating_add(other.lost_silent);
        self.lost_joining = self.lost_joining.saturating_add(other.lost_joining);
        self.lost_cut = self.lost_cut.saturating_add(other.lost_cut);
        self.lost_away = self.lost_away.saturating_add(other.lost_away);
    }
}

/// A step in parts of equal length, by when messages were due. Entry *i* of each list is of the part from
/// *i* to *i* + 1 times `tick_ns` after the first message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Length of a part in nanoseconds.
    pub tick_ns: u64,
    /// Messages that were sent.
    pub sent: Vec<u64>,
    /// Those of them that were confirmed.
    pub confirmed: Vec<u64>,
    /// Deliveries as in [`Fates`], of confirmed messages and others.
    pub live: Vec<u64>,
    /// Deliveries as in [`Fates`].
    pub made_good: Vec<u64>,
    /// Deliveries as in [`Fates`].
    pub lost_silent: Vec<u64>,
    /// Deliveries as in [`Fates`].
    pub lost_joining: Vec<u64>,
    /// Deliveries as in [`Fates`].
    pub lost_cut: Vec<u64>,
    /// Deliveries as in [`Fates`].
    pub lost_away: Vec<u64>,
    /// Clients that were ready when the part ended.
    pub ready: Vec<u64>,
    /// The longest time until a message of the part came live, in nanoseconds; 0 where none did.
    pub slowest_ns: Vec<u64>,
}

impl Timeline {
    /// One without anything, of so many parts.
    pub fn new(tick_ns: u64, parts: usize) -> Self {
        let empty = || vec![0; parts];
        Self {
            tick_ns,
            sent: empty(),
            confirmed: empty(),
            live: empty(),
            made_good: empty(),
            lost_silent: empty(),
            lost_joining: empty(),
            lost_cut: empty(),
            lost_away: empty(),
            ready: empty(),
            slowest_ns: empty(),
        }
    }

    /// How many parts there are.
    pub const fn parts(&self) -> usize {
        self.sent.len()
    }
}

/// A fault of the plan, and when it really happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultDone {
    /// As it was planned.
    pub planned: plan::Fault,
    /// When it was due with its jitter, in nanoseconds from the first message on.
    pub due_ns: u64,
    /// When it began. Absent where it did not.
    pub began_ns: Option<u64>,
    /// When it was done: processes had ended, or the part was ready again.
    pub ended_ns: Option<u64>,
    /// Why it did not happen as planned, in words.
    pub failure: Option<Told>,
}

/// What the library of a server promises where a node or a broker fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// A message may be lost, and comes no more than once.
    AtMostOnce,
    /// A confirmed message comes, perhaps more than once.
    AtLeastOnce,
    /// A client that comes back gets what it missed.
    Resumes,
}

impl Claim {
    /// The word of manifests and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtMostOnce => "at-most-once",
            Self::AtLeastOnce => "at-least-once",
            Self::Resumes => "resumes",
        }
    }
}

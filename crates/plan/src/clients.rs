//! Who the clients are and how many of them.

use super::{Life, Reconnect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of the clients that behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Population {
    /// Its weight among all populations, at least 1.
    pub share: u32,
    /// How its clients read.
    pub reads: Reading,
    /// Whether its clients leave during a step.
    pub life: Life,
    /// Whether and when clients that are gone come back.
    pub reconnect: Reconnect,
}

impl Population {
    /// True of clients that samples wait for, and that send: they stay, and read everything.
    pub const fn is_awaited(&self) -> bool {
        matches!(self.reads, Reading::Full) && !self.leaves()
    }

    /// True of clients that are cut off and are to come back.
    pub const fn returns_after_cut(&self) -> bool {
        matches!(self.life, Life::Cut(_)) && matches!(self.reconnect, Reconnect::Backoff(_))
    }

    /// True of clients that leave during a step.
    pub const fn leaves(&self) -> bool {
        !matches!(self.life, Life::Stays)
    }
}

impl Default for Population {
    fn default() -> Self {
        Self {
            share: 1,
            reads: Reading::Full,
            life: Life::Stays,
            reconnect: Reconnect::default(),
        }
    }
}

/// How clients read what they are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// As fast as the bytes come.
    #[default]
    Full,
    /// Nothing, once they are ready, until they are closed.
    Stopped,
    /// So many bytes of their sockets per second, once they are ready. What the server sends beyond
    /// them fills a small receive buffer, and then waits at the server.
    #[serde(rename = "bytes_per_second")]
    BytesPerSecond(u32),
}

/// How the number of clients is chosen, step by step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clients {
    /// The same number more in each step, until a step is over the limit.
    Steps(Steps),
    /// A search for the highest load within the limit.
    Search(Search),
}

impl Clients {
    /// Steps of equal size.
    pub const fn steps(first: u32, add: u32, count: Option<u32>) -> Self {
        Self::Steps(Steps { first, add, count })
    }

    /// Clients of the first step.
    pub const fn first(&self) -> u32 {
        match self {
            Self::Steps(steps) => steps.first,
            Self::Search(search) => search.first,
        }
    }
}

impl Default for Clients {
    fn default() -> Self {
        Self::Steps(Steps::default())
    }
}

/// Steps of equal size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Steps {
    /// Clients of the first step.
    pub first: u32,
    /// Clients added for each further step; 0 for steps of the same size.
    pub add: u32,
    /// Number of steps after which the run ends, if the limit has not ended it before.
    pub count: Option<u32>,
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            first: 100,
            add: 100,
            count: None,
        }
    }
}

/// What a search varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchOf {
    /// The number of clients.
    #[default]
    Clients,
    /// The rate of an open loop, which begins with `load.open.rate`.
    Rate,
}

/// A search for the highest load within the limit, in place of steps of equal size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// What is varied.
    pub of: SearchOf,
    /// Clients of the first step; of every step when the rate is varied.
    pub first: u32,
    /// Each side of the edge is tried until more than half of so many tries agree; on the way there
    /// one try decides.
    pub tries: u32,
    /// It ends when the highest load that passed and the lowest that failed differ by no more than
    /// this share of the latter.
    pub precision: f64,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            of: SearchOf::Clients,
            first: 100,
            tries: 3,
            precision: 0.02,
        }
    }
}

//! A check, and what came of it.

use crate::context::Context;
use crate::failure::Checked;
use crate::target::{Dialect, ProtocolRequest};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::fmt;
use std::time::Duration;

/// One clause of RFC 6455 or one rule of the protocol, made checkable.
pub struct Check {
    /// Unique and stable, such as `rfc6455-5.5.2-ping`: manifests name checks by it in waivers.
    pub id: &'static str,
    /// Where the rule stands: `RFC 6455, 5.5.2` or `protocol, The ack rule`.
    pub section: &'static str,
    /// What the check does.
    pub description: &'static str,
    /// What a conforming server does then.
    pub expectation: &'static str,
    pub(crate) scope: Scope,
    /// The request that the check needs.
    pub(crate) needs: Option<ProtocolRequest>,
    pub(crate) run: fn(&mut Context<'_>) -> Checked,
}

/// On which dialects a check is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Once, with whichever dialect comes first.
    Once,
    /// Once for each dialect of the target.
    Each,
    /// On this dialect alone.
    Only(Dialect),
    /// Once, where the target speaks text and binary on one connection.
    Both,
    /// On each dialect whose messages are JSON.
    Json,
    /// On each dialect in which a server answers the messages of a connection in their order.
    Ordered,
    /// On each dialect in which a client joins something before it is served.
    Joined,
    /// Once, where the target has compression.
    Deflate,
    /// Once, where the kernel shows the sockets of the target.
    Sockets,
    /// Once, where the memory of the target is known.
    Memory,
    /// Once, where it is known and the target has compression.
    DeflateMemory,
    /// On both serializers of Phoenix.
    Phoenix,
    /// On each dialect with topics.
    Topics,
    /// On each of those in which a server answers the messages of a connection in their order.
    OrderedTopics,
}

impl Scope {
    /// Why a check of this scope does not apply to a server that speaks this dialect; `None` when
    /// it applies.
    pub(crate) fn reason_against(self, dialect: Dialect) -> Option<&'static str> {
        const NOT_SPOKEN: &str = "the server does not speak it";
        const NO_TOPICS: &str = "binary has no topics";
        let (applies, reason) = match self {
            Self::Once
            | Self::Each
            | Self::Deflate
            | Self::Sockets
            | Self::Memory
            | Self::DeflateMemory => (true, NOT_SPOKEN),
            Self::Only(only) => (dialect == only, NOT_SPOKEN),
            Self::Both => (
                matches!(dialect, Dialect::Text | Dialect::Binary),
                NOT_SPOKEN,
            ),
            Self::Json => (dialect != Dialect::Binary, NOT_SPOKEN),
            Self::Phoenix => (dialect.is_phoenix(), NOT_SPOKEN),
            Self::Topics => (dialect.has_topics(), NO_TOPICS),
            Self::OrderedTopics if !dialect.has_topics() => (false, NO_TOPICS),
            Self::Ordered | Self::OrderedTopics => (
                dialect.speech().is_ordered(),
                "Action Cable keeps no order between a broadcast and its result",
            ),
            Self::Joined => (
                dialect.speech().leave().is_some(),
                "there is nothing to join in text and binary",
            ),
        };
        (!applies).then_some(reason)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("id", &self.id).finish()
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The server did as expected.
    Pass,
    /// It did not.
    Fail {
        /// What it did, in words.
        observed: String,
    },
    /// The check does not apply to the server.
    Skipped {
        /// Why not, in words.
        reason: String,
    },
}

/// A check that was run or skipped, on one dialect where dialects matter.
#[derive(Clone, Debug)]
pub struct CheckRun {
    /// The check.
    pub check: &'static Check,
    /// The dialect that it was run on; `None` when the check has nothing to do with dialects.
    pub dialect: Option<Dialect>,
    /// What it found.
    pub verdict: Found,
    /// How long it took.
    pub elapsed: Duration,
}

impl CheckRun {
    /// True for [`Found::Fail`].
    pub const fn failed(&self) -> bool {
        matches!(self.verdict, Found::Fail { .. })
    }
}

/// Names the rule, the expectation and, on a failure, what was seen instead.
impl fmt::Display for CheckRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Check {
            id,
            section,
            expectation,
            ..
        } = self.check;
        write!(f, "{id}")?;
        if let Some(dialect) = self.dialect {
            write!(f, " ({dialect})")?;
        }
        match &self.verdict {
            Found::Pass => write!(f, ": pass"),
            Found::Skipped { reason } => write!(f, ": skipped: {reason}"),
            Found::Fail { observed } => {
                write!(f, ": FAIL [{section}] expected: {expectation}; {observed}")
            }
        }
    }
}

impl Serialize for CheckRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (verdict, observed, reason) = match &self.verdict {
            Found::Pass => ("pass", None, None),
            Found::Fail { observed } => ("fail", Some(observed), None),
            Found::Skipped { reason } => ("skipped", None, Some(reason)),
        };
        let mut out = serializer.serialize_struct("Outcome", 9)?;
        out.serialize_field("id", self.check.id)?;
        out.serialize_field("section", self.check.section)?;
        out.serialize_field("description", self.check.description)?;
        out.serialize_field("expectation", self.check.expectation)?;
        out.serialize_field("dialect", &self.dialect)?;
        out.serialize_field("verdict", verdict)?;
        out.serialize_field("observed", &observed)?;
        out.serialize_field("reason", &reason)?;
        out.serialize_field("elapsed_ms", &(self.elapsed.as_secs_f64() * 1e3))?;
        out.end()
    }
}

//! Requests whose answers do not carry their stamps: which stamp an answer is for.

use super::Verifier;
use crate::dialect::{Codec, Kind, identifier};
use plan::Audience;
use std::collections::{HashMap, VecDeque};

/// The stamps of requests without an answer, by client.
#[derive(Debug)]
pub(super) enum Asked {
    /// Answers carry stamps; nothing is kept.
    Stamped,
    /// Answers come in the order of the requests: oldest first.
    InOrder(HashMap<u32, VecDeque<u64>>),
    /// Results name identifiers.
    Identified(HashMap<u32, HashMap<u16, u64>>),
}

impl Asked {
    pub(super) fn new(codec: &dyn Codec) -> Self {
        if codec.answers_in_order() {
            Self::InOrder(HashMap::new())
        } else if codec.answers_by_identifier() {
            Self::Identified(HashMap::new())
        } else {
            Self::Stamped
        }
    }

    /// A client is about to send the request with this stamp.
    #[inline]
    pub(super) fn note(&mut self, slot: u32, stamp: u64) {
        match self {
            Self::Stamped => {}
            Self::InOrder(asked) => asked.entry(slot).or_default().push_back(stamp),
            Self::Identified(asked) => {
                let of_client = asked.entry(slot).or_default();
                of_client.insert(identifier(stamp), stamp);
            }
        }
    }

    /// A client begins anew.
    pub(super) fn forget(&mut self, slot: u32) {
        match self {
            Self::Stamped => {}
            Self::InOrder(asked) => drop(asked.remove(&slot)),
            Self::Identified(asked) => drop(asked.remove(&slot)),
        }
    }

    /// The oldest request of a client that has no answer, which has one now.
    pub(super) fn take_oldest(&mut self, slot: u32) -> Option<u64> {
        match self {
            Self::InOrder(asked) => asked.get_mut(&slot)?.pop_front(),
            _ => None,
        }
    }

    /// The request of a client with this identifier that has no result, which has one now.
    pub(super) fn take(&mut self, slot: u32, identifier: u16) -> Option<u64> {
        match self {
            Self::Identified(asked) => asked.get_mut(&slot)?.remove(&identifier),
            _ => None,
        }
    }
}

impl Verifier {
    /// The answer to the oldest request of a client that has none.
    pub(super) fn answered_in_order(&mut self, slot: u32, kind: Option<u32>, at_ns: u64) {
        let Some(stamp) = self.asked.take_oldest(slot) else {
            self.faults.duplicate += 1;
            return;
        };
        if kind.is_some() && kind != self.kind_of(stamp) {
            self.faults.corrupt += 1;
        }
        self.account(slot, Kind::Echo, stamp, None, at_ns);
    }

    /// The result of the request of a client that has this identifier.
    pub(super) fn acknowledged(&mut self, slot: u32, identifier: u16, at_ns: u64) {
        let stamp = self.asked.take(slot, identifier);
        let Some((stamp, step)) = stamp.zip(self.step.as_ref()) else {
            self.faults.duplicate += 1;
            return;
        };
        let kind = match step.audience {
            Audience::Room(_) => Kind::Published,
            _ => Kind::Result,
        };
        self.account(slot, kind, stamp, None, at_ns);
    }

    /// A client is about to send the request with this stamp.
    #[inline]
    pub(crate) fn asked(&mut self, slot: u32, stamp: u64) {
        self.asked.note(slot, stamp);
    }
}

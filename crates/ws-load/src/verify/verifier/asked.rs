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
    /// Answers name the sequences or identifiers of requests.
    Identified(HashMap<u32, HashMap<u64, u64>>),
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

    /// A client is about to send the request with this stamp and sequence.
    #[inline]
    pub(super) fn note(&mut self, slot: u32, stamp: u64, sequence: Option<u64>) {
        match self {
            Self::Stamped => {}
            Self::InOrder(asked) => asked.entry(slot).or_default().push_back(stamp),
            Self::Identified(asked) => {
                let of_client = asked.entry(slot).or_default();
                let named = sequence.unwrap_or_else(|| identifier(stamp).into());
                of_client.insert(named, stamp);
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

    /// The same, which waits on.
    pub(super) fn peek_oldest(&self, slot: u32) -> Option<u64> {
        match self {
            Self::InOrder(asked) => asked.get(&slot)?.front().copied(),
            _ => None,
        }
    }

    /// The request of a client with this sequence or identifier, which has no answer and waits on.
    pub(super) fn peek(&self, slot: u32, named: u64) -> Option<u64> {
        match self {
            Self::Identified(asked) => asked.get(&slot)?.get(&named).copied(),
            _ => None,
        }
    }

    /// The oldest request of a client that has no answer, which has one now.
    pub(super) fn take_oldest(&mut self, slot: u32) -> Option<u64> {
        match self {
            Self::InOrder(asked) => asked.get_mut(&slot)?.pop_front(),
            _ => None,
        }
    }

    /// The request of a client with this sequence or identifier that has no answer, which has one now.
    pub(super) fn take(&mut self, slot: u32, named: u64) -> Option<u64> {
        match self {
            Self::Identified(asked) => asked.get_mut(&slot)?.remove(&named),
            _ => None,
        }
    }
}

impl Verifier {
    /// The kind of the request with this stamp, where there are several.
    pub(super) fn kind_of(&self, stamp: u64) -> Option<u32> {
        let of_script = || {
            let step = self.steps.now.as_ref()?;
            let index = self
                .terms
                .stamps
                .sample(stamp)?
                .checked_sub(step.first_sample)?;
            step.kind(u32::try_from(index).ok()?)
        };
        of_script().or_else(|| self.codec.request_kind(stamp))
    }

    /// The answer to the oldest request of a client that has none.
    pub(super) fn answered_in_order(&mut self, slot: u32, kind: Option<u32>, at_ns: u64) {
        let Some(stamp) = self.asked.take_oldest(slot) else {
            self.tally.faults.duplicate += 1;
            return;
        };
        if kind.is_some() && kind != self.kind_of(stamp) {
            self.tally.faults.corrupt += 1;
        }
        self.account_last(slot, Kind::Echo, stamp, None, at_ns);
    }

    /// The result of the request of a client that has this identifier.
    pub(super) fn acknowledged(&mut self, slot: u32, identifier: u16, at_ns: u64) {
        let stamp = self.asked.take(slot, identifier.into());
        let Some((stamp, step)) = stamp.zip(self.steps.now.as_ref()) else {
            self.tally.faults.duplicate += 1;
            return;
        };
        let kind = match step.audience {
            Audience::Room(_) => Kind::Published,
            _ => Kind::Result,
        };
        self.account(slot, kind, stamp, None, at_ns);
    }

    /// The answer to the request of a client that has this sequence.
    pub(super) fn numbered(
        &mut self,
        slot: u32,
        kind: Kind,
        (sequence, of_kind): (u64, Option<u32>),
        topic: Option<u32>,
        at_ns: u64,
    ) {
        let Some(stamp) = self.asked.take(slot, sequence) else {
            self.tally.faults.duplicate += 1;
            return;
        };
        if of_kind.is_some() && of_kind != self.kind_of(stamp) {
            self.tally.faults.corrupt += 1;
        }
        self.account_last(slot, kind, stamp, topic, at_ns);
    }

    /// A client is about to send the request with this stamp, and with this sequence if requests say one.
    #[inline]
    pub(crate) fn asked(&mut self, slot: u32, stamp: u64, sequence: Option<u64>) {
        self.asked.note(slot, stamp, sequence);
    }
}

//! Access for the bench of dialects. Not part of the interface.

use super::envelope::Envelopes;
use crate::dialect::{Codec, Incoming, codec};
use plan::Plan;
use std::fmt;
use std::sync::Arc;

/// A dialect as the verifier uses it.
pub struct Recogniser {
    codec: Arc<dyn Codec>,
    envelopes: Envelopes,
}

impl Recogniser {
    /// That of a plan, which has to be a valid one.
    pub fn new(plan: &Plan) -> Self {
        let codec = codec(plan, None);
        Self {
            envelopes: Envelopes::new(codec.stamp_form()),
            codec,
        }
    }

    /// Parses a message: its stamp, if it is an intact answer.
    pub fn parse(&self, message: &[u8]) -> Option<u64> {
        let (message, _) = self.codec.cut(message);
        match self.codec.parse(message) {
            Ok(Incoming::Message {
                stamp,
                intact: true,
                ..
            }) => Some(stamp),
            _ => None,
        }
    }

    /// Parses an intact answer and keeps its envelope.
    pub fn learn(&mut self, message: &[u8]) {
        if let Ok(Incoming::Message { kind, stamp, .. }) = self.codec.parse(message) {
            self.envelopes.learn(0, message, kind, stamp, &*self.codec);
        }
    }

    /// Recognises a message whose envelope is known: its stamp.
    pub fn recognise(&self, message: &[u8]) -> Option<u64> {
        let known = self.envelopes.recognise(0, message, &*self.codec);
        known.map(|(_, stamp)| stamp)
    }
}

impl fmt::Debug for Recogniser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recogniser").finish_non_exhaustive()
    }
}

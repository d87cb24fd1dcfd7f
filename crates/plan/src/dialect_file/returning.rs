//! What clients that come back send to get what they missed.

use super::DialectFile;
use crate::{Part, parts};

impl DialectFile {
    /// The messages of clients that come back.
    pub fn returning(&self) -> impl Iterator<Item = &str> {
        let rules = self.open.receive.iter();
        let of_rules = rules.filter_map(|rule| rule.returning.as_deref());
        self.open.returning.as_deref().into_iter().chain(of_rules)
    }

    /// The names of the values that a client keeps for its next connections: those that are captured and
    /// that such messages name.
    pub fn kept(&self) -> Vec<&str> {
        let names = self.returning().flat_map(names);
        let rules = || self.open.receive.iter().chain(&self.receive);
        let is_captured = |name: &&str| rules().any(|rule| rule.capture.contains_key(*name));
        let mut kept: Vec<&str> = names.filter(is_captured).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// The names of what a client has to be told before it is ready. A value that only messages of
    /// clients that come back name is none of them.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        let kept = self.kept();
        self.captured()
            .filter(move |name| !kept.contains(name) || self.is_named_otherwise(name))
    }

    fn is_named_otherwise(&self, name: &str) -> bool {
        let signatures = self.open.signatures.values();
        let signed = signatures.flat_map(|of| [of.key.as_str(), of.of.as_str()]);
        let rules = self.open.receive.iter();
        let beat = self.heartbeat.iter();
        let mut texts = rules
            .filter_map(|rule| rule.send.as_deref())
            .chain(self.open.send.as_deref())
            .chain(self.send.subscribe.as_deref())
            .chain(signed)
            .chain(self.requests())
            .chain(beat.flat_map(|beat| [beat.send.as_str(), beat.every.as_str()]));
        texts.any(|text| names(text).any(|of| of == name))
    }
}

/// The variables of a message.
fn names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).into_iter().filter_map(|part| match part {
        Part::Variable(name) => Some(name),
        Part::Text(_) => None,
    })
}

//! The ledger of faults: what a server did wrong in a step, counted per class.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts of what went wrong, one per message or connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Faults {
    /// Deliveries (or echoes) that were due and did not come in time.
    pub lost: u64,
    /// Deliveries, results or echoes beyond the one that was due.
    pub duplicate: u64,
    /// Deliveries that overtook an earlier one of the same sender.
    pub reordered: u64,
    /// Messages whose payload is not the one that was sent.
    pub corrupt: u64,
    /// Messages to a client that they were not meant for.
    pub misdirected: u64,
    /// Results that were due and did not come in time.
    pub unanswered: u64,
    /// Error answers of the server to a correct request. In a `connect` run: connections that were
    /// refused, ended or not upgraded in time.
    pub refused: u64,
    /// Frames or messages that break RFC 6455 or the dialect.
    pub malformed: u64,
    /// Connections that ended and that the generator did not close.
    pub disconnected: u64,
}

/// A class of faults: its name, its count, and what it means.
pub type FaultClass = (&'static str, u64);

impl Faults {
    /// Every class with its count, in a stable order.
    pub const fn classes(&self) -> [FaultClass; 9] {
        [
            ("lost", self.lost),
            ("duplicate", self.duplicate),
            ("reordered", self.reordered),
            ("corrupt", self.corrupt),
            ("misdirected", self.misdirected),
            ("unanswered", self.unanswered),
            ("refused", self.refused),
            ("malformed", self.malformed),
            ("disconnected", self.disconnected),
        ]
    }

    /// True when nothing went wrong.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// All faults together.
    pub fn total(&self) -> u64 {
        let counts = self.classes().map(|(_, count)| count);
        counts.into_iter().fold(0, u64::saturating_add)
    }

    /// Those that are not among `some`.
    pub const fn without(&self, some: &Self) -> Self {
        Self {
            lost: self.lost.saturating_sub(some.lost),
            duplicate: self.duplicate.saturating_sub(some.duplicate),
            reordered: self.reordered.saturating_sub(some.reordered),
            corrupt: self.corrupt.saturating_sub(some.corrupt),
            misdirected: self.misdirected.saturating_sub(some.misdirected),
            unanswered: self.unanswered.saturating_sub(some.unanswered),
            refused: self.refused.saturating_sub(some.refused),
            malformed: self.malformed.saturating_sub(some.malformed),
            disconnected: self.disconnected.saturating_sub(some.disconnected),
        }
    }

    /// Adds the counts of another part of the same step.
    pub fn merge(&mut self, other: &Self) {
        self.lost = self.lost.saturating_add(other.lost);
        self.duplicate = self.duplicate.saturating_add(other.duplicate);
        self.reordered = self.reordered.saturating_add(other.reordered);
        self.corrupt = self.corrupt.saturating_add(other.corrupt);
        self.misdirected = self.misdirected.saturating_add(other.misdirected);
        self.unanswered = self.unanswered.saturating_add(other.unanswered);
        self.refused = self.refused.saturating_add(other.refused);
        self.malformed = self.malformed.saturating_add(other.malformed);
        self.disconnected = self.disconnected.saturating_add(other.disconnected);
    }
}

impl std::fmt::Display for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named: Vec<String> = self
            .classes()
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        if named.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&named.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_a_class_and_is_merged() {
        let ones: Faults = serde_json::from_value(serde_json::json!({
            "lost": 1, "duplicate": 1, "reordered": 1, "corrupt": 1, "misdirected": 1,
            "unanswered": 1, "refused": 1, "malformed": 1, "disconnected": 1,
        }))
        .unwrap();
        let fields = serde_json::to_value(ones).unwrap();
        assert_eq!(ones.total() as usize, fields.as_object().unwrap().len());
        let mut twice = ones;
        twice.merge(&ones);
        assert!(twice.classes().iter().all(|(_, count)| *count == 2));
        assert_eq!(twice.without(&ones), ones);
        assert!(ones.without(&twice).is_empty());
    }

    /// The numbers of a feed are what a server says.
    #[test]
    fn counts_beyond_all_numbers_are_still_faults() {
        let mut faults = Faults {
            lost: u64::MAX - 1,
            duplicate: 2,
            ..Faults::default()
        };
        assert!(!faults.is_empty());
        let other = faults;
        faults.merge(&other);
        assert_eq!((faults.lost, faults.duplicate), (u64::MAX, 4));
    }

    #[test]
    fn faults_are_named_in_words() {
        let faults = Faults {
            lost: 3,
            corrupt: 1,
            ..Faults::default()
        };
        assert_eq!(faults.to_string(), "3 lost, 1 corrupt");
        assert_eq!(Faults::default().to_string(), "none");
    }
}

//! Answers in parts: numbered messages before the last message of an echo, with faults by number. What a
//! client must find in them is counted here.

use super::Strikes;
use crate::threaded::text_frame;
use serde::{Deserialize, Serialize};

/// The parts of each echo: `{"type":"part","id":"00000000000000ab","index":1}`, and the next ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parting {
    /// How many an answer has; at least 3 where there are faults.
    pub each: u64,
    /// Answers whose second part is left out, by the number of the request.
    pub lost: Strikes,
    /// Answers whose second part comes twice.
    pub repeated: Strikes,
    /// Answers whose second part comes after the third.
    pub swapped: Strikes,
}

/// What a client must find in the parts of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Answers that have any.
    pub answers: u64,
    /// Messages.
    pub messages: u64,
    /// Numbers that were left out.
    pub missing: u64,
    /// Numbers that came twice.
    pub repeats: u64,
    /// Numbers that came after a higher one.
    pub steps_back: u64,
}

impl Parts {
    /// Adds those of another answer.
    pub const fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.messages += other.messages;
        self.missing += other.missing;
        self.repeats += other.repeats;
        self.steps_back += other.steps_back;
    }
}

impl Parting {
    /// The frames of the parts of an answer.
    pub(super) fn frames(&self, stamp: u64, request: u64) -> (Vec<u8>, Parts) {
        let mut numbers: Vec<u64> = (1..=self.each).collect();
        let mut parts = Parts {
            answers: u64::from(self.each > 0),
            ..Parts::default()
        };
        if self.lost.hits(request) {
            numbers.remove(1);
            parts.missing = 1;
        } else if self.repeated.hits(request) {
            numbers.insert(1, 2);
            parts.repeats = 1;
        } else if self.swapped.hits(request) {
            numbers.swap(1, 2);
            parts.steps_back = 1;
        }
        parts.messages = numbers.len() as u64;
        let frame = |number| {
            text_frame(&format!(
                r#"{{"type":"part","id":"{stamp:016x}","index":{number}}}"#
            ))
        };
        (numbers.into_iter().flat_map(frame).collect(), parts)
    }
}

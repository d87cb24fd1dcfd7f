//! A feed: numbered messages that the server sends before whatever else it sends to a connection, with
//! faults by number. What a client must find in them is counted here.

use super::Strikes;
use crate::threaded::text_frame;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The feed of each connection: `{"type":"feed","of":0,"seq":1,"sent":1760000000000000}`, its time in
/// microseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Feeding {
    /// Numbers before each delivery, each echo, and each answer to a ping.
    pub burst: u32,
    /// Sequences that they are of, in turn. Each begins with 1.
    pub keys: u32,
    /// Messages say that they were sent so long before they were.
    pub stale: Duration,
    /// Messages say that they will be sent so long after they were.
    pub early: Duration,
    /// Clients that get nothing, by their number.
    pub silent: Strikes,
    /// Numbers that are left out. The first number of a sequence has no fault.
    pub lost: Strikes,
    /// Those that come twice.
    pub repeated: Strikes,
    /// Those that come after the next one.
    pub swapped: Strikes,
}

/// What a client must find in what was sent to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Messages.
    pub messages: u64,
    /// Times at which a number was too high.
    pub gaps: u64,
    /// Numbers that were left out before another that was sent.
    pub missing: u64,
    /// Numbers that came twice.
    pub repeats: u64,
    /// Numbers that came after a higher one.
    pub steps_back: u64,
}

impl Fed {
    /// Adds those of another connection.
    pub const fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.gaps += other.gaps;
        self.missing += other.missing;
        self.repeats += other.repeats;
        self.steps_back += other.steps_back;
    }
}

/// One sequence of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    latest: u64,
    /// Left out since a number was sent.
    left_out: u64,
}

/// The feed of one connection.
#[derive(Debug, Default)]
pub(super) struct Stream {
    sequences: Vec<Sequence>,
    turn: usize,
    pub(super) fed: Fed,
}

impl Stream {
    /// The frames of the next numbers.
    pub(super) fn next(&mut self, of: &Feeding) -> Vec<u8> {
        let keys = of.keys.max(1) as usize;
        self.sequences.resize(keys, Sequence::default());
        let mut frames = Vec::new();
        for _ in 0..of.burst {
            let key = self.turn % keys;
            self.turn += 1;
            for number in self.numbers(of, key) {
                let sent = sent_us(of);
                let text = format!(r#"{{"type":"feed","of":{key},"seq":{number},"sent":{sent}}}"#);
                frames.extend(text_frame(&text));
                self.fed.messages += 1;
            }
        }
        frames
    }

    /// What goes out for the next number of a sequence.
    fn numbers(&mut self, of: &Feeding, key: usize) -> Vec<u64> {
        let (sequence, fed) = (&mut self.sequences[key], &mut self.fed);
        let number = sequence.latest + 1;
        sequence.latest = number;
        let is_first = number == 1;
        if of.lost.hits(number) && !is_first {
            sequence.left_out += 1;
            return Vec::new();
        }
        let is_swapped = of.swapped.hits(number) && !is_first;
        let left_out = std::mem::take(&mut sequence.left_out);
        fed.missing += left_out;
        fed.gaps += u64::from(left_out > 0 || is_swapped);
        if is_swapped {
            sequence.latest += 1;
            fed.steps_back += 1;
            return vec![number + 1, number];
        }
        if of.repeated.hits(number) && !is_first {
            fed.repeats += 1;
            return vec![number, number];
        }
        vec![number]
    }
}

fn sent_us(of: &Feeding) -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    (now + of.early).saturating_sub(of.stale).as_micros()
}

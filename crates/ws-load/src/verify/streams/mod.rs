//! Answers that come in parts: when the first part of each came, how far apart they are, and whether one
//! of them is missing.
//!
//! An answer costs memory from its first part to its last message: an entry, and the latest gaps of its
//! numbers. A part costs none, but for a number that is not the next.

use super::ledger::Sent;
use super::numbers::{Numbers, Seen};
use crate::dialect::Said;
use crate::message::StreamsPart;
use std::collections::HashMap;

/// The answers under way of a worker's clients.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// By the sample of the step.
    under_way: HashMap<u32, Stream>,
    part: StreamsPart,
}

/// An answer of which a part has come.
#[derive(Debug)]
struct Stream {
    slot: u32,
    is_timed: bool,
    first_ns: u64,
    last_ns: u64,
    parts: u64,
    repeats: u64,
    missing: u64,
    numbers: Option<Numbers>,
}

/// A part that came to the client that asked, and whose answer is awaited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    pub(crate) index: u32,
    pub(crate) slot: u32,
    pub(crate) sent: Sent,
    pub(crate) is_timed: bool,
    pub(crate) at_ns: u64,
}

/// The fault that a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartFault {
    Duplicate,
    Reordered,
    Malformed,
}

/// What an answer lacked when it ended, and what it had too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) missing: u64,
    pub(crate) surplus: u64,
    pub(crate) is_unreadable: bool,
}

impl Streams {
    /// A part came.
    pub(crate) fn part(&mut self, came: Came, number: Said<u64>) -> Option<PartFault> {
        let totals = &mut self.part;
        let Came { at_ns, .. } = came;
        totals.parts += u64::from(came.is_timed);
        let stream = match self.under_way.get_mut(&came.index) {
            Some(stream) => {
                if came.is_timed {
                    let between_ns = at_ns.saturating_sub(stream.last_ns);
                    totals.between.record(between_ns);
                }
                (stream.last_ns, stream.parts) = (at_ns, stream.parts + 1);
                stream
            }
            None => {
                if came.is_timed {
                    totals.answers += 1;
                    totals.first.record(at_ns.saturating_sub(came.sent.due_ns));
                }
                let begun = Stream::begin(came);
                self.under_way.entry(came.index).or_insert(begun)
            }
        };
        stream.number(number, totals)
    }

    /// The last message of an answer came, which says how many parts it has, or does not.
    pub(crate) fn ends(&mut self, index: u32, parts: Said<u64>) -> Ended {
        let stream = self.under_way.remove(&index);
        if let Some(stream) = stream.as_ref().filter(|stream| stream.is_timed) {
            self.part.per_answer.record(stream.parts, 1_000_000_000);
            let ns = stream.last_ns.saturating_sub(stream.first_ns);
            if ns > 0 {
                self.part.per_second.record(stream.parts - 1, ns);
            }
        }
        let (came, by_number) = stream.map_or((0, 0), |of| (of.parts - of.repeats, of.missing));
        let ended = match parts {
            Said::NotAsked | Said::Unreadable => Ended {
                missing: by_number,
                surplus: 0,
                is_unreadable: parts == Said::Unreadable,
            },
            Said::This(parts) => Ended {
                missing: by_number.max(parts.saturating_sub(came)),
                surplus: came.saturating_sub(parts),
                is_unreadable: false,
            },
        };
        let counts = &mut self.part.counts;
        counts.missing = counts.missing.saturating_add(ended.missing);
        counts.repeats = counts.repeats.saturating_add(ended.surplus);
        counts.unreadable += u64::from(ended.is_unreadable);
        ended
    }

    /// A part of an answer that no client awaits.
    pub(crate) const fn unawaited(&mut self) {
        self.part.counts.unawaited += 1;
    }

    /// The connection of a client has ended, or the step: what its answers lack by their numbers.
    pub(crate) fn cut(&mut self, is_of: impl Fn(u32) -> bool, is_by_connection: bool) -> u64 {
        let mut missing = 0_u64;
        let mut count = 0;
        self.under_way.retain(|_, stream| {
            let is_cut = is_of(stream.slot);
            if is_cut {
                count += u64::from(stream.is_timed);
                missing = missing.saturating_add(stream.missing);
            }
            !is_cut
        });
        match is_by_connection {
            true => self.part.cut += count,
            false => self.part.unfinished += count,
        }
        let counts = &mut self.part.counts;
        counts.missing = counts.missing.saturating_add(missing);
        missing
    }

    /// What came since it was last taken.
    pub(crate) fn take(&mut self) -> StreamsPart {
        std::mem::take(&mut self.part)
    }
}

impl Stream {
    const fn begin(came: Came) -> Self {
        Self {
            slot: came.slot,
            is_timed: came.is_timed,
            first_ns: came.at_ns,
            last_ns: came.at_ns,
            parts: 1,
            repeats: 0,
            missing: 0,
            numbers: None,
        }
    }

    fn number(&mut self, said: Said<u64>, totals: &mut StreamsPart) -> Option<PartFault> {
        let counts = &mut totals.counts;
        let number = match said {
            Said::NotAsked => return None,
            Said::Unreadable => {
                counts.unreadable += 1;
                return Some(PartFault::Malformed);
            }
            Said::This(number) => number,
        };
        let Some(numbers) = &mut self.numbers else {
            // The first that comes is 0 or 1; if it is neither, those from 1 on are missing.
            let begun = match number {
                0 => Numbers::begin(0, false, 0),
                _ => Numbers::from_one(),
            };
            let begun = self.numbers.insert(begun);
            if let (1.., Seen::Ahead { missing }) = (number, begun.note(number)) {
                self.missing = missing;
            }
            return None;
        };
        match numbers.note(number) {
            Seen::Ahead { missing } => {
                self.missing = self.missing.saturating_add(missing);
                None
            }
            Seen::Back { was_missing } => {
                self.missing = self.missing.saturating_sub(u64::from(was_missing));
                counts.steps_back += 1;
                Some(PartFault::Reordered)
            }
            Seen::AfterStep | Seen::Repeat => {
                self.repeats += 1;
                counts.repeats += 1;
                Some(PartFault::Duplicate)
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! A worker's part of the drops of a step, and what becomes of all parts.

use record::{DropCause, DropHow, DropTimes, Told};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Most intervals of a step.
const MOST_INTERVALS: u64 = 3_600;

/// What tells one cause from another: how the connection ended, and the code of the close frame.
type Cause = (DropHow, Option<u16>);

/// Connections that ended in a step and that the generator did not close.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DropsPart {
    causes: Vec<(Cause, Dropped)>,
}

/// Those of one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Dropped {
    /// How the first ended, in words.
    first: String,
    /// How many, by the second of the step.
    seconds: BTreeMap<u32, u64>,
}

impl DropsPart {
    /// A connection ended in this second of the step. The words are asked for when it is the first of its
    /// cause.
    pub(crate) fn note(&mut self, cause: Cause, second: u32, words: impl FnOnce() -> String) {
        let dropped = self.place(cause);
        if dropped.seconds.is_empty() {
            dropped.first = words();
        }
        *dropped.seconds.entry(second).or_default() += 1;
    }

    /// Adds the part of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        for (cause, theirs) in other.causes {
            let ours = self.place(cause);
            if ours.seconds.is_empty() {
                ours.first = theirs.first;
            }
            for (second, count) in theirs.seconds {
                let sum = ours.seconds.entry(second).or_default();
                *sum = sum.saturating_add(count);
            }
        }
    }

    /// A peer may close with any of 65,536 codes: the causes after the first ones are one.
    fn place(&mut self, cause: Cause) -> &mut Dropped {
        let has_room = self.causes.len() < DropTimes::MOST_CAUSES - 1;
        let known = |cause| self.causes.iter().position(|(of, _)| *of == cause);
        let cause = match has_room || known(cause).is_some() {
            true => cause,
            false => (DropHow::Other, None),
        };
        let place = known(cause).unwrap_or_else(|| {
            self.causes.push((cause, Dropped::default()));
            self.causes.len() - 1
        });
        &mut self.causes[place].1
    }

    /// The same for people; `None` where no connection ended.
    pub(crate) fn into_record(self) -> Option<DropTimes> {
        let all = self.causes.iter().flat_map(|(_, of)| of.seconds.keys());
        let last = u64::from(*all.max()?);
        let mut seconds = 1;
        while last / seconds >= MOST_INTERVALS {
            seconds *= 2;
        }
        let mut causes: Vec<DropCause> = self
            .causes
            .into_iter()
            .map(|of| cause(of, seconds))
            .collect();
        causes.sort_by_key(|cause| (Reverse(cause.count), cause.how, cause.code));
        Some(DropTimes {
            interval_ns: seconds.saturating_mul(1_000_000_000),
            causes,
        })
    }
}

fn cause(((how, code), dropped): (Cause, Dropped), seconds: u64) -> DropCause {
    let mut intervals = BTreeMap::new();
    for (second, count) in &dropped.seconds {
        let sum: &mut u64 = intervals.entry(u64::from(*second) / seconds).or_default();
        *sum = sum.saturating_add(*count);
    }
    DropCause {
        how,
        code,
        count: intervals.values().copied().fold(0, u64::saturating_add),
        first: Told::from(dropped.first),
        intervals,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(drops: &[(Cause, u32)]) -> DropsPart {
        let mut part = DropsPart::default();
        for (number, (cause, second)) in drops.iter().enumerate() {
            part.note(*cause, *second, || format!("drop {number}"));
        }
        part
    }

    const GOING_AWAY: Cause = (DropHow::Closed, Some(1001));
    const RESET: Cause = (DropHow::Reset, None);

    #[test]
    fn parts_are_added_and_the_most_frequent_cause_is_first() {
        let mut part = noted(&[(RESET, 3), (GOING_AWAY, 1), (GOING_AWAY, 1)]);
        part.merge(noted(&[(GOING_AWAY, 2)]));
        let times = part.into_record().expect("some ended");
        assert_eq!(times.interval_ns, 1_000_000_000);
        let [first, second] = &times.causes[..] else {
            panic!("two causes: {times:?}");
        };
        assert_eq!(
            (first.how, first.code, first.count),
            (GOING_AWAY.0, GOING_AWAY.1, 3)
        );
        assert_eq!(first.intervals, BTreeMap::from([(1, 2), (2, 1)]));
        assert_eq!(first.first, "drop 1");
        assert_eq!((second.how, second.count), (DropHow::Reset, 1));
    }

    #[test]
    fn any_number_of_codes_takes_a_bounded_number_of_causes_and_none_is_left_out() {
        let all: Vec<(Cause, u32)> = (0..1000)
            .map(|code| ((DropHow::Closed, Some(code)), 0))
            .collect();
        let mut part = noted(&all[..500]);
        part.merge(noted(&all[500..]));
        let times = part.into_record().expect("some ended");
        assert_eq!(times.causes.len(), DropTimes::MOST_CAUSES);
        assert_eq!(times.count(), 1000);
        assert_eq!(
            (times.causes[0].how, times.causes[0].count),
            (DropHow::Other, 969)
        );
    }

    #[test]
    fn of_a_long_step_intervals_are_wider() {
        let times = noted(&[(RESET, 0), (RESET, 7_201)])
            .into_record()
            .expect("some ended");
        assert_eq!(times.interval_ns, 4_000_000_000);
        assert_eq!(
            times.causes[0].intervals,
            BTreeMap::from([(0, 1), (1_800, 1)])
        );
        assert_eq!(DropsPart::default().into_record(), None);
    }
}

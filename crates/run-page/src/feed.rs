//! The table of what a server sent by itself.

use crate::figures;
use record::{FeedClock, StepRecord};

pub(crate) const COLUMNS: [&str; 11] = [
    "clients",
    "got nothing",
    "messages",
    "messages/s",
    "of each client",
    "missing",
    "repeats",
    "steps back",
    "age p50",
    "age p99",
    "clock",
];

/// The row of a step; `None` without a feed.
pub(crate) fn row(step: &StepRecord) -> Option<[String; COLUMNS.len()]> {
    let of = step.feed.as_deref()?;
    let none = || "–".to_owned();
    let count = |number: Option<u64>| number.map_or_else(none, figures::count);
    let numbers = of.numbers.as_ref();
    let age = of.age.as_ref();
    let ages = age.and_then(|age| age.age.as_ref());
    let time = |ns: Option<u64>| ns.map_or_else(none, |ns| figures::time(ns as f64));
    Some([
        figures::count(of.clients),
        figures::count(of.silent_clients),
        figures::count(of.messages),
        crate::scale::label(of.per_second),
        of.per_client
            .map_or_else(none, |rates| crate::scale::label(rates.median)),
        count(numbers.map(|of| of.missing)),
        count(numbers.map(|of| of.repeats)),
        count(numbers.map(|of| of.steps_back)),
        time(ages.map(|of| of.p50_ns)),
        time(ages.map(|of| of.p99_ns)),
        match age.map(|age| age.clock) {
            None => none(),
            Some(FeedClock::Shared) => "shared".to_owned(),
            Some(FeedClock::Unknown) => "unknown".to_owned(),
        },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Feed, FeedNumbers};

    #[test]
    fn a_step_without_a_feed_has_no_row_and_what_is_not_known_has_no_figure() {
        let mut step = StepRecord::default();
        assert_eq!(row(&step), None);
        step.feed = Some(Box::new(Feed {
            clients: 1_500,
            silent_clients: 2,
            messages: 12_000,
            elapsed_ns: 1_000_000_000,
            per_second: 12_000.0,
            per_client: None,
            numbers: Some(FeedNumbers {
                missing: 3,
                ..FeedNumbers::default()
            }),
            age: None,
        }));
        let row = row(&step).unwrap();
        assert_eq!(row[..3], ["1,500", "2", "12,000"]);
        assert_eq!(row[4..], ["–", "3", "0", "0", "–", "–", "–"]);
    }
}

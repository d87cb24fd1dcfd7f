use super::*;

const MS: u64 = 1_000_000;

fn came(index: u32, at_ms: u64) -> Came {
    Came {
        index,
        slot: index % 10,
        sent: Sent {
            due_ns: 10 * MS,
            at_ns: 12 * MS,
            sender: index % 10,
        },
        is_timed: true,
        at_ns: at_ms * MS,
    }
}

/// The parts of one answer, by their numbers, and how it ended.
fn answer(streams: &mut Streams, numbers: &[u64], parts: Said<u64>) -> (Vec<PartFault>, Ended) {
    let faults = numbers.iter().zip(20..);
    let faults = faults
        .filter_map(|(number, at_ms)| streams.part(came(0, at_ms), Said::This(*number)))
        .collect();
    (faults, streams.ends(0, parts))
}

fn ended(missing: u64, surplus: u64) -> Ended {
    Ended {
        missing,
        surplus,
        is_unreadable: false,
    }
}

#[test]
fn times_count_from_the_intended_moment_and_rates_between_the_parts() {
    let mut streams = Streams::default();
    for at_ms in [20, 30, 50] {
        assert_eq!(streams.part(came(0, at_ms), Said::NotAsked), None);
    }
    assert_eq!(streams.ends(0, Said::NotAsked), ended(0, 0));
    assert_eq!(streams.part(came(1, 40), Said::NotAsked), None);
    assert_eq!(streams.ends(1, Said::NotAsked), ended(0, 0));
    // An answer without a part is in no figure.
    assert_eq!(streams.ends(2, Said::NotAsked), ended(0, 0));
    let of = streams.take().into_record();
    assert_eq!((of.answers, of.parts), (2, 4));
    let first = of.first.unwrap();
    assert_eq!((first.count, first.min_ns / MS), (2, 9));
    assert_eq!(of.between.unwrap().count, 2);
    let each = of.per_answer.unwrap();
    assert_eq!((each.min, each.max), (1, 3));
    // Two parts after the first in 30 ms; an answer of one part has no rate.
    let rate = of.per_second.unwrap().median;
    assert!((rate - 2.0 / 0.03).abs() < 0.1, "{rate}");
}

#[test]
fn numbers_begin_with_0_or_1_and_rise_by_1() {
    use PartFault::{Duplicate, Reordered};
    let mut streams = Streams::default();
    let mut ends = |numbers: &[u64]| answer(&mut streams, numbers, Said::NotAsked);
    assert_eq!(ends(&[0, 1, 2]), (vec![], ended(0, 0)));
    assert_eq!(ends(&[1, 2, 3]), (vec![], ended(0, 0)));
    assert_eq!(ends(&[0, 2, 5]), (vec![], ended(3, 0)));
    assert_eq!(ends(&[3, 4]), (vec![], ended(2, 0)));
    assert_eq!(ends(&[3, 1, 2]), (vec![Reordered, Reordered], ended(0, 0)));
    assert_eq!(ends(&[1, 0]), (vec![Reordered], ended(0, 0)));
    assert_eq!(ends(&[1, 2, 2]), (vec![Duplicate], ended(0, 0)));
    assert_eq!(ends(&[0, 0]), (vec![Duplicate], ended(0, 0)));
    let numbers = streams.take().into_record().numbers;
    assert_eq!(
        (numbers.missing, numbers.repeats, numbers.steps_back),
        (5, 2, 3)
    );
}

#[test]
fn a_count_tells_what_is_missing_at_the_end() {
    let mut streams = Streams::default();
    let mut ends = |numbers: &[u64], parts| answer(&mut streams, numbers, Said::This(parts)).1;
    assert_eq!(ends(&[1, 2], 2), ended(0, 0));
    assert_eq!(ends(&[1, 2], 4), ended(2, 0));
    assert_eq!(ends(&[1, 3], 4), ended(2, 0));
    assert_eq!(ends(&[1, 2, 3], 2), ended(0, 1));
    // A part that came twice is a fault already.
    assert_eq!(ends(&[1, 1, 2], 2), ended(0, 0));
    assert_eq!(ends(&[], 2), ended(2, 0));
    let unreadable = answer(&mut streams, &[1], Said::Unreadable).1;
    assert!(unreadable.is_unreadable);
}

#[test]
fn answers_end_with_their_connection_or_with_the_step() {
    let mut streams = Streams::default();
    for index in [3, 13, 4, 5] {
        streams.part(came(index, 20), Said::This(1));
        streams.part(came(index, 21), Said::This(3));
    }
    let untimed = Came {
        is_timed: false,
        ..came(15, 20)
    };
    streams.part(untimed, Said::This(1));
    assert_eq!(streams.cut(|slot| slot == 3, true), 2);
    assert_eq!(streams.cut(|_| true, false), 2);
    assert!(streams.under_way.is_empty());
    let of = streams.take().into_record();
    assert_eq!((of.cut, of.unfinished, of.numbers.missing), (2, 2, 4));
    assert_eq!((of.answers, of.parts, of.per_answer), (4, 8, None));
}

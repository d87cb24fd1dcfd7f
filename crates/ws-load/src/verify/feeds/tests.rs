//! What a worker counts of feeds, by moments that the test sets.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn feeds() -> Feeds {
    let terms = FeedTerms {
        is_numbered: true,
        is_dated: true,
    };
    Feeds::new(terms, true)
}

fn numbered(sequence: u64, number: u64) -> FeedMessage {
    of(sequence, number, false)
}

fn of(sequence: u64, number: u64, resumes: bool) -> FeedMessage {
    FeedMessage {
        number: Said::This(FeedNumber {
            sequence,
            number,
            resumes,
        }),
        sent_ns: Said::NotAsked,
    }
}

/// Gives a client messages of these numbers.
fn tell(feeds: &mut Feeds, slot: u32, numbers: &[u64]) -> Vec<Option<FeedFault>> {
    let tell = |number: &u64| feeds.message(slot, &numbered(0, *number), 1, || 0);
    numbers.iter().map(tell).collect()
}

#[test]
fn each_client_and_each_key_has_numbers_of_its_own() {
    let mut feeds = feeds();
    feeds.begin_step(0, 0);
    for slot in [0, 5] {
        feeds.client_ready(slot, 0);
        tell(&mut feeds, slot, &[3, 4, 6, 7]);
        for number in [100, 102] {
            feeds.message(slot, &numbered(9, number), 1, || 0);
        }
    }
    let part = feeds.finish(SECOND);
    let numbers = part.numbers.unwrap();
    assert_eq!((part.clients, part.silent, part.messages), (2, 0, 12));
    assert_eq!(
        (numbers.gaps, numbers.missing, numbers.steps_back),
        (4, 4, 0)
    );
}

#[test]
fn numbers_are_followed_between_steps_and_begin_anew_with_a_connection() {
    let mut feeds = feeds();
    feeds.client_ready(0, 0);
    tell(&mut feeds, 0, &[1, 2, 4]);
    feeds.begin_step(10, 0);
    tell(&mut feeds, 0, &[5, 7]);
    let part = feeds.finish(SECOND);
    assert_eq!((part.messages, part.numbers.unwrap().missing), (2, 2));
    feeds.begin_step(SECOND, 0);
    assert_eq!(tell(&mut feeds, 0, &[6, 8]), [None, None]);
    feeds.client_gone(0, SECOND);
    // What is still in the read that brought the end.
    tell(&mut feeds, 0, &[50]);
    feeds.client_ready(0, SECOND);
    tell(&mut feeds, 0, &[1, 2]);
    let numbers = feeds.finish(2 * SECOND).numbers.unwrap();
    let due = FeedNumbers {
        after_step: 1,
        ..FeedNumbers::default()
    };
    assert_eq!(numbers, due);
}

#[test]
fn numbers_that_resume_outlast_a_connection_and_a_room() {
    let mut feeds = feeds();
    feeds.begin_step(0, 0);
    feeds.client_ready(0, 0);
    for (number, leaves) in [(1, true), (3, false), (3, false), (5, false)] {
        for (sequence, resumes) in [(0, true), (1, false)] {
            feeds.message(0, &of(sequence, number, resumes), 1, || 0);
        }
        if leaves {
            feeds.client_left_room(0);
        } else {
            feeds.client_ready(0, 0);
        }
    }
    // 2 is between two rooms; 4 is between two connections, where nothing is known to be missing.
    let numbers = feeds.finish(SECOND).numbers.unwrap();
    assert_eq!((numbers.missing, numbers.repeats), (1, 1));
}

#[test]
fn more_keys_than_are_followed_are_counted_and_not_looked_at() {
    let mut feeds = feeds();
    feeds.begin_step(0, 0);
    feeds.client_ready(0, 0);
    let keys = MOST_FEED_KEYS as u64 + 3;
    for number in [1, 5] {
        for key in 0..keys {
            feeds.message(0, &numbered(key, number), 1, || 0);
        }
    }
    let numbers = feeds.finish(SECOND).numbers.unwrap();
    assert_eq!((numbers.unfollowed, numbers.gaps), (6, keys - 3));
}

#[test]
fn rates_are_over_the_time_that_a_client_was_there() {
    let mut feeds = feeds();
    feeds.client_ready(0, 0);
    feeds.begin_step(10 * SECOND, 0);
    // There for all of the step, for a second in two parts, and for a moment.
    feeds.client_ready(1, 11 * SECOND);
    feeds.client_gone(1, 11 * SECOND + SECOND / 2);
    feeds.client_ready(1, 12 * SECOND);
    feeds.client_ready(2, 14 * SECOND - 5);
    tell(&mut feeds, 0, &[1; 8]);
    tell(&mut feeds, 1, &[1; 30]);
    feeds.client_gone(1, 12 * SECOND + SECOND / 2);
    tell(&mut feeds, 2, &[1]);
    let part = feeds.finish(14 * SECOND);
    assert_eq!((part.clients, part.silent), (3, 0));
    let rates = part.into_record().per_client.unwrap();
    assert_eq!((rates.min, rates.max), (2.0, 30.0));

    feeds.begin_step(20 * SECOND, 0);
    let part = feeds.finish(21 * SECOND);
    assert_eq!((part.clients, part.silent, part.messages), (2, 2, 0));
}

#[test]
fn ages_below_0_are_counted_apart_and_those_of_a_warm_up_not_at_all() {
    let mut feeds = feeds();
    feeds.client_ready(0, 0);
    feeds.begin_step(0, u64::MAX);
    let dated = |sent_ns| FeedMessage {
        number: Said::NotAsked,
        sent_ns,
    };
    let mut tell = |sent_ns, at_ns| {
        feeds.message(0, &dated(sent_ns), at_ns, || 5 * SECOND);
        if at_ns == 1 {
            feeds.age_from(7);
        }
    };
    tell(Said::This(SECOND), 1);
    tell(Said::This(2 * SECOND), 6);
    tell(Said::This(3 * SECOND), 7);
    tell(Said::This(5 * SECOND + 20), 8);
    tell(Said::This(5 * SECOND + 9), 8);
    tell(Said::Unreadable, 8);
    let age = feeds.finish(SECOND).into_record().age.unwrap();
    assert_eq!(
        (age.negative, age.most_negative_ns, age.unreadable),
        (2, 20, 1)
    );
    let ages = age.age.unwrap();
    assert_eq!(ages.count, 1);
    assert!(ages.max_ns.abs_diff(2 * SECOND) < SECOND / 500, "{ages:?}");
}

#[test]
fn what_cannot_be_read_is_malformed() {
    let mut feeds = feeds();
    feeds.begin_step(0, 0);
    feeds.client_ready(0, 0);
    let message = FeedMessage {
        number: Said::Unreadable,
        sent_ns: Said::NotAsked,
    };
    let fault = feeds.message(0, &message, 1, || 0);
    assert_eq!(fault, Some(FeedFault::Malformed));
    assert_eq!(feeds.finish(SECOND).numbers.unwrap().unreadable, 1);
}

//! Visits in virtual time. Messages are sent every 100 ms and complete 10 ms later.

use super::*;
use crate::figures::{Arrival, Latencies};
use crate::message::StepTerms;
use crate::plan::{Audience, Parties};
use crate::verify::{Keeper, Read, Sent as SentAt, Terms};
use plan::{Cut, Life, Nanos, Population, Rooms};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const SLOT: u32 = 3;
/// So that 0 is a moment like any other.
const START: u64 = 1_000_000 * MS;

const fn terms(samples: u32, audience: Audience) -> Terms {
    Terms {
        audience,
        seed: 1,
        step: StepTerms {
            first_sample: 0,
            samples,
            warm_up: 0,
            by_clock: true,
            clients: 5,
        },
        keeper: Keeper::Process,
        parties: Parties::Same(1),
        populations: Vec::new(),
        limits_completion: true,
        script: None,
    }
}

/// Of 60 clients in so many rooms, of which half leave.
fn terms_of_rooms(samples: u32, rooms: u32) -> Terms {
    let leaves = Population {
        life: Life::Cut(Cut { at: Nanos(0) }),
        ..Population::default()
    };
    let mut terms = terms(samples, Audience::Room(Rooms::Equal(rooms)));
    terms.step.clients = 60;
    terms.populations = vec![Population::default(), leaves];
    terms.parties = terms
        .audience
        .parties(&terms.populations, 60, std::iter::once((0, 1)));
    terms
}

const fn sent_ns(index: u32) -> u64 {
    START + index as u64 * 100 * MS
}

/// The ledger when all samples have been sent, and all but `open` are complete.
fn complete(samples: u32, open: &[u32]) -> StepLedger {
    complete_of(terms(samples, Audience::Everyone), open)
}

fn complete_of(terms: Terms, open: &[u32]) -> StepLedger {
    let ledger = StepLedger::new(terms);
    let mut latencies = Latencies::default();
    for index in 0..ledger.len() {
        let at_ns = sent_ns(index);
        let sent = SentAt {
            due_ns: at_ns,
            at_ns,
            sender: 0,
        };
        ledger.sent(index, sent);
        if !open.contains(&index) {
            let last = Arrival {
                at_ns: at_ns + 10 * MS,
                earliest_ns: at_ns + 10 * MS,
            };
            ledger.settle(index, last, Read::default(), &mut latencies);
        }
    }
    ledger
}

/// A client that is ready at the send of `ready`, hears these 5 ms after they were sent, and leaves
/// just before the send of `left`. Returns what it lost and how often it heard something again.
fn visit(
    step: &StepLedger,
    ready: u32,
    left: u32,
    hears: impl IntoIterator<Item = u32>,
) -> (u64, usize) {
    let mut visits = Visits::default();
    visits.begin(SLOT, 0, sent_ns(ready), ready);
    let notes: Vec<bool> = hears
        .into_iter()
        .map(|index| visits.note(SLOT, index, sent_ns(index.max(ready)) + 5 * MS, step))
        .collect();
    let again = notes.iter().filter(|is_new| !**is_new).count();
    let lost = visits.end(SLOT, sent_ns(left), Some(step));
    assert!(!visits.has(SLOT));
    (lost, again)
}

#[test]
fn a_visit_that_heard_all_has_lost_nothing_whatever_it_missed_at_its_borders() {
    let step = complete(2_000, &[]);
    assert_eq!(visit(&step, 100, 400, 100..400), (0, 0));
    // The server knew it after 2 s, and the last second was on its way when it left.
    assert_eq!(visit(&step, 100, 400, 120..390), (0, 0));
    assert_eq!(visit(&step, 0, 2_000, 0..2_000), (0, 0));
    // Too short to say.
    assert_eq!(visit(&step, 100, 150, []), (0, 0));
}

#[test]
fn what_is_missing_within_is_lost() {
    let step = complete(2_000, &[]);
    let without = |missing: &[u32]| {
        let missing = missing.to_vec();
        (100..400).filter(move |index| !missing.contains(index))
    };
    assert_eq!(visit(&step, 100, 400, without(&[200])), (1, 0));
    assert_eq!(visit(&step, 100, 400, without(&[128, 191, 192])), (3, 0));
    // The first that it heard came before this one was sent.
    assert_eq!(visit(&step, 100, 400, without(&[101])), (1, 0));
    // Complete at 38.81 s; the latest that it heard was sent at 39.9 s, or not a second later.
    assert_eq!(visit(&step, 100, 400, without(&[388])), (1, 0));
    assert_eq!(visit(&step, 100, 400, without(&[389])), (0, 0));
}

#[test]
fn a_client_that_hears_nothing_any_more_has_lost_what_it_waited_for() {
    let step = complete(2_000, &[]);
    // Sent more than 5 s after it was ready, and complete more than 5 s before it left.
    assert_eq!(visit(&step, 100, 400, []), (349 - 150, 0));
    // Heard until 20 s, and there until 40 s.
    assert_eq!(visit(&step, 100, 400, 100..200), (349 - 199, 0));
}

#[test]
fn what_is_not_complete_is_not_required() {
    let step = complete(2_000, &[200, 201]);
    let hears = (100..400).filter(|index| !(200..203).contains(index));
    assert_eq!(visit(&step, 100, 400, hears), (1, 0));
}

#[test]
fn a_message_that_came_twice_is_told_wherever_it_stood() {
    let step = complete(2_000, &[]);
    let twice = |again: &[u32]| (100..400).chain(again.to_vec());
    assert_eq!(visit(&step, 100, 400, twice(&[399, 300, 130])), (0, 3));
    // Sent before it was ready: it may have had it in its visit before.
    assert_eq!(visit(&step, 100, 400, [3, 3]), (249, 0));
}

#[test]
fn memory_is_bounded_and_what_falls_out_of_it_is_counted() {
    let samples = 200_000;
    let step = complete(samples, &[]);
    let mut visits = Visits::default();
    visits.begin(SLOT, 0, sent_ns(0), 0);
    for index in (0..samples).filter(|index| index % 100 != 7) {
        assert!(visits.note(SLOT, index, sent_ns(index), &step));
        let visit = visits.of[SLOT as usize].as_ref().unwrap();
        assert!(visit.bits.len() <= WORDS);
    }
    let lost = visits.end(SLOT, sent_ns(samples), Some(&step));
    assert_eq!(lost, u64::from(samples / 100));
}

#[test]
fn a_step_begins_and_ends_all_visits_that_are_under_way() {
    let step = complete(200, &[]);
    let mut visits = Visits::default();
    for slot in [1, 5, 7] {
        visits.begin(slot, 0, START, 0);
    }
    assert_eq!(visits.end(5, START, Some(&step)), 0);
    visits.begin_step(START);
    assert_eq!(visits.count(), 2);
    for index in (0..200).filter(|index| *index != 60) {
        let at_ns = sent_ns(index);
        assert!(visits.note(1, index, at_ns, &step) && visits.note(7, index, at_ns, &step));
    }
    assert_eq!(visits.end_step(sent_ns(200), &step), 2);
    assert_eq!(visits.count(), 2);
    assert_eq!(
        [1, 5, 7, 9].map(|slot| visits.has(slot)),
        [true, false, true, false]
    );
}

proptest! {
    /// The bits against a set of all that came.
    #[test]
    fn it_counts_as_a_plain_set_does(
        ready in 0u32..300, length in 1u32..600, missed in prop::collection::btree_set(0u32..900, 0..40),
        again in prop::collection::vec(0u32..900, 0..10),
    ) {
        let step = complete(900, &[]);
        let left = (ready + length).min(900);
        let there = || ready..left;
        let heard: Vec<u32> = there().filter(|index| !missed.contains(index)).collect();
        let again: Vec<u32> = again.into_iter().filter(|index| heard.contains(index)).collect();
        let (lost, twice) = visit(&step, ready, left, heard.iter().chain(&again).copied());
        let whole = Heard {
            ready_ns: sent_ns(ready),
            first_ns: heard.first().map(|first| sent_ns(*first) + 5 * MS),
            latest_sent_ns: heard.last().map_or(0, |last| sent_ns(*last)),
            left_ns: sent_ns(left),
        };
        let required = |index: &u32| must_hear(whole, Sent {
            sent_ns: sent_ns(*index),
            completed_ns: sent_ns(*index) + 10 * MS,
        });
        let expected = there().filter(|index| missed.contains(index)).filter(required).count();
        prop_assert_eq!((lost, twice), (expected as u64, tracked(&again, ready)));
    }
}

proptest! {
    /// Nothing of another room is required, and nothing of it takes a place.
    #[test]
    fn in_rooms_it_counts_as_a_plain_set_does(
        rooms in 1u32..6, room in 0u32..6, ready in 0u32..300, length in 1u32..600,
        missed in prop::collection::btree_set(0u32..900, 0..200),
        open in prop::collection::vec(0u32..900, 0..3),
    ) {
        let step = complete_of(terms_of_rooms(900, rooms), &open);
        let room = room % rooms;
        let left = (ready + length).min(900);
        let of_room: Vec<u32> = (0..900).filter(|index| step.room(*index) == room).collect();
        let there = of_room.iter().filter(|index| (ready..left).contains(index));
        let heard: Vec<u32> = there.filter(|index| !missed.contains(index)).copied().collect();
        let mut visits = Visits::default();
        visits.begin(SLOT, room, sent_ns(ready), step.of_room(room).before(ready));
        for index in &heard {
            prop_assert!(visits.note(SLOT, *index, sent_ns(*index) + 5 * MS, &step));
        }
        let whole = Heard {
            ready_ns: sent_ns(ready),
            first_ns: heard.first().map(|first| sent_ns(*first) + 5 * MS),
            latest_sent_ns: heard.last().map_or(0, |last| sent_ns(*last)),
            left_ns: sent_ns(left),
        };
        let required = |index: &&u32| must_hear(whole, Sent {
            sent_ns: sent_ns(**index),
            completed_ns: sent_ns(**index) + 10 * MS,
        });
        let lacking = of_room.iter().filter(|index| !heard.contains(index) && !open.contains(index));
        let expected = lacking.filter(required).count();
        prop_assert_eq!(visits.end(SLOT, sent_ns(left), Some(&step)), expected as u64);
    }
}

/// However many clients a server tells nothing, and however many rooms there are.
#[test]
fn what_a_silent_server_has_lost_is_counted_whole() {
    let (samples, rooms, clients) = (20_000, 50, 2_000);
    let step = complete_of(terms_of_rooms(samples, rooms), &[]);
    let mut visits = Visits::default();
    for slot in 0..clients {
        visits.begin(slot, slot % rooms, sent_ns(0), 0);
    }
    let heard = Heard {
        ready_ns: sent_ns(0),
        first_ns: None,
        latest_sent_ns: 0,
        left_ns: sent_ns(samples),
    };
    let is_lost = |index: &u32| {
        let message = Sent {
            sent_ns: sent_ns(*index),
            completed_ns: sent_ns(*index) + 10 * MS,
        };
        must_hear(heard, message)
    };
    let of_all_rooms = (0..samples).filter(is_lost).count() as u64;
    let lost = visits.end_step(sent_ns(samples), &step);
    assert_eq!(lost, of_all_rooms * u64::from(clients / rooms));
}

/// Those that stand in a word that the visit has from its beginning.
fn tracked(again: &[u32], ready: u32) -> usize {
    again.iter().filter(|index| **index >= ready & !63).count()
}

/// Each echo is for the client that asked, which stays.
#[test]
fn a_long_visit_among_echoes_lacks_nothing() {
    let of = |audience| visit(&complete_of(terms(300, audience), &[]), 0, 200, []).0;
    assert_eq!(of(Audience::Sender), 0);
    assert!(of(Audience::Everyone) > 50);
}

//! Clients that leave and come back: checked by themselves, and waited for by no sample.

use super::*;

/// A broadcast each 100 ms, of which the client in slot 0 has everything 1 ms later.
const EACH: u64 = 100_000;
const SAMPLES: u32 = 60;

/// After the last broadcast.
const END_NS: u64 = (SAMPLES as u64 + 1) * EACH * US;

/// The client in slot 1 hears those of `hears`, and leaves after the last.
fn visited(hears: impl Fn(u32) -> usize) -> Verifier {
    let mut verifier = visiting(hears);
    verifier.visit_ends(1, END_NS);
    assert!(!verifier.is_visiting(1));
    verifier
}

/// The same of one that is still there.
fn visiting(hears: impl Fn(u32) -> usize) -> Verifier {
    let mut verifier = verifier(1);
    let terms = with(TERMS, |of| {
        of.step.samples = SAMPLES;
        of.step.clients = 2;
    });
    let step = open(&mut verifier, terms);
    verifier.visit_begins(1, 0);
    for index in 0..SAMPLES {
        let due = (u64::from(index) + 1) * EACH;
        send(&step, index, 0, due);
        let at = due + 1_000;
        verifier.reading.read.at_ns = at * US;
        hear(&mut verifier, 0, "broadcast", index, at);
        hear(&mut verifier, 0, "broadcastResult", index, at);
        for _ in 0..hears(index) {
            hear(&mut verifier, 1, "broadcast", index, at);
        }
    }
    verifier
}

#[test]
fn what_it_must_have_heard_is_lost_once_where_the_step_is_given_up() {
    let mut verifier = visiting(|index| usize::from(index != 20));
    verifier.give_up_step(true, END_NS);
    assert_faults(&verifier, "1 lost");
    verifier.visits_end(2 * END_NS);
    assert_faults(&verifier, "1 lost");
    let mut interrupted = visiting(|index| usize::from(index != 20));
    interrupted.give_up_step(false, END_NS);
    assert_faults(&interrupted, "none");
}

#[test]
fn a_client_that_heard_everything_has_lost_nothing_and_no_latency_is_of_it() {
    let mut verifier = visited(|_| 1);
    assert_faults(&verifier, "none");
    assert_eq!(
        verifier.tally.latencies.delivery.count(),
        u64::from(SAMPLES)
    );
    let visits = verifier.take_visited();
    assert_eq!((visits.messages, visits.lost), (u64::from(SAMPLES), 0));
}

#[test]
fn what_came_before_a_step_is_counted_for_no_kind_of_client() {
    let mut verifier = visited(|_| 1);
    assert!(verifier.tally.messages > u64::from(SAMPLES));
    verifier.begin_messages();
    assert_eq!(verifier.tally.messages, 0);
    assert_eq!(verifier.take_visited().messages, 0);
}

#[test]
fn what_it_must_have_heard_is_lost_and_what_comes_twice_is_a_duplicate() {
    assert_faults(&visited(|index| usize::from(index != 20)), "1 lost");
    // The last second lies in the border.
    assert_faults(&visited(|index| usize::from(index != 55)), "none");
    assert_faults(
        &visited(|index| if index == 30 { 2 } else { 1 }),
        "1 duplicate",
    );
    let mut both = visited(|index| match index {
        20..23 => 0,
        30 => 3,
        _ => 1,
    });
    assert_faults(&both, "3 lost, 2 duplicate");
    let visits = both.take_visited();
    assert_eq!((visits.lost, visits.duplicate), (3, 2));
}

#[test]
fn what_was_not_sent_and_what_is_for_a_sender_alone_is_misdirected() {
    let mut verifier = verifier(1);
    let step = open(&mut verifier, TERMS);
    verifier.visit_begins(1, 0);
    send(&step, 0, 0, 100);
    hear(&mut verifier, 1, "broadcast", 1, 150);
    assert_faults(&verifier, "1 misdirected");
    hear(&mut verifier, 1, "broadcastResult", 0, 160);
    assert_faults(&verifier, "2 misdirected");
    hear_stamp(&mut verifier, 1, "broadcast", STAMPS.stamp(3), 170);
    // Of an earlier step: it may be behind.
    assert_faults(&verifier, "2 misdirected");
}

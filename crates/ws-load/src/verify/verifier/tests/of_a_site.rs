//! What a worker of one site of two verifies.

use super::*;
use crate::message::Share;

/// The clients 0, 2 and 4 of six, at site 0 of 2, and three samples of client 1.
fn at_a_site(dialect: Dialect, limited: Measure, terms: Terms) -> (Verifier, [u32; 3]) {
    let mut verifier = verifier_of(dialect, limited, (0, 2), 3);
    let terms = with(terms, |of| {
        (of.step.samples, of.step.clients) = (40, 6);
        of.keeper = Keeper::Site {
            share: Share { number: 0, of: 2 },
            in_flight: 40,
        };
    });
    let step = StepLedger::new(terms);
    let elsewhere: Vec<u32> = (0..40).filter(|i| step.sender(*i) == 1).take(3).collect();
    verifier.open_step(Arc::new(step));
    (verifier, elsewhere.try_into().unwrap())
}

#[test]
fn deliveries_of_another_site_s_samples_are_timed_when_it_said_when_it_sent_them() {
    for (limited, at_most) in [(Measure::Delivery, vec![110]), (Measure::Ack, vec![])] {
        let (mut verifier, [a, b, c]) = at_a_site(Dialect::Text, limited, TERMS);
        let step = Arc::clone(verifier.step().unwrap());
        hear(&mut verifier, 0, "broadcast", b, 200);
        verifier.reading.slack_ns = 40 * US;
        hear(&mut verifier, 0, "broadcast", a, 210);
        hear(&mut verifier, 0, "broadcast", a, 211);
        assert_faults(&verifier, "none");
        assert_eq!(verifier.tally.latencies.delivery.count(), 0);
        step.sent_elsewhere(a, sent(100, 1));
        step.sent_elsewhere(b, sent(120, 1));
        // The next one that waits brings it to light.
        hear(&mut verifier, 0, "broadcast", c, 220);
        assert_faults(&verifier, "1 duplicate, 1 reordered");
        assert_eq!(us(&verifier.tally.latencies.delivery), [80, 110]);
        assert_eq!(us(&verifier.tally.latencies.shared.error), [40]);
        assert_eq!(us(&verifier.tally.latencies.shared.at_most), at_most);
        verifier.close_step();
        assert_faults(&verifier, "1 duplicate, 1 reordered, 1 misdirected");
    }
}

#[test]
fn the_end_of_a_step_counts_what_was_confirmed_and_times_no_warm_up() {
    let (_, [a, ..]) = at_a_site(Dialect::Text, Measure::Delivery, TERMS);
    let terms = with(TERMS, |of| of.step.warm_up = a + 1);
    // This dialect keeps no order.
    let (mut verifier, [a, b, c]) = at_a_site(Dialect::ActionCable, Measure::Delivery, terms);
    let step = Arc::clone(verifier.step().unwrap());
    verifier.reading.slack_ns = 10 * US;
    for (index, slot) in [(b, 0), (a, 0), (c, 0), (c, 0), (c, 1)] {
        hear(&mut verifier, slot, "broadcast", index, 200);
    }
    verifier.client_lost(2);
    verifier.settle_lost();
    step.sent_elsewhere(a, sent(100, 1));
    step.sent_elsewhere(b, sent(120, 1));
    verifier.close_step();
    assert_eq!(us(&verifier.tally.latencies.delivery), [80]);
    assert_eq!(us(&verifier.tally.latencies.shared.error), [10]);
    assert_faults(&verifier, "2 lost, 3 misdirected");
}

#[test]
fn the_coordinator_is_told_when_a_broadcast_is_settled_here() {
    let (mut verifier, [whole, lost, _]) = at_a_site(Dialect::Text, Measure::Completion, TERMS);
    let own = (0..).find(|i| ![whole, lost].contains(i)).unwrap();
    verifier.step().unwrap().sent(own, sent(100, 2));
    verifier.reading.read.at_ns = 200 * US;
    verifier.reading.read.unread_ns = 5 * US;
    for (slot, at) in [(0, 150), (1, 190), (2, 170)] {
        assert!(verifier.done.is_empty());
        hear(&mut verifier, slot, "broadcast", whole, at);
        hear(&mut verifier, slot, "broadcast", own, at);
    }
    hear(&mut verifier, 1, "broadcastResult", own, 195);
    hear(&mut verifier, 0, "broadcast", lost, 190);
    hear(&mut verifier, 1, "broadcast", lost, 190);
    verifier.client_lost(2);
    verifier.settle_lost();
    let done = [whole, own, lost].map(|index| Done {
        index,
        last_ns: 190 * US,
        earliest_ns: 190 * US,
        read_ns: 200 * US,
        unread_ns: 5 * US,
        by_result: index == own,
        abandoned: index == lost,
    });
    assert_eq!((verifier.finished, &verifier.done[..]), (3, &done[..]));
    assert_eq!(verifier.tally.latencies.delivery.count(), 3);
    assert_eq!(verifier.tally.latencies.completion.count(), 0);
    assert_faults(&verifier, "none");
}

#[test]
fn an_echo_has_both_ends_at_its_site_and_is_completed_there() {
    let terms = with(echoes(), |of| {
        (of.step.by_clock, of.step.warm_up) = (true, 1)
    });
    let (mut verifier, _) = at_a_site(Dialect::Text, Measure::Completion, terms);
    let step = Arc::clone(verifier.step().unwrap());
    verifier.reading.slack_ns = 10 * US;
    for index in 0..2 {
        step.sent(index, sent(100, 2));
        hear(&mut verifier, 1, "echo", index, 150 + u64::from(index));
    }
    step.sent(2, sent(100, 4));
    verifier.client_lost(2);
    verifier.settle_lost();
    assert_eq!(us(&verifier.tally.latencies.completion), [51]);
    assert_eq!(us(&verifier.tally.latencies.uncorrected), [31]);
    assert_eq!(us(&verifier.tally.latencies.shared.at_most), [51]);
    assert_eq!(us(&verifier.tally.latencies.shared.at_least), [41]);
    let abandoned = |done: &Done| (done.index, done.abandoned);
    let done: Vec<_> = verifier.done.iter().map(abandoned).collect();
    assert_eq!(done, [(0, false), (1, false), (2, true)]);
    assert_eq!(verifier.finished, 3);
    assert_faults(&verifier, "1 lost");
}

/// A client in slot 3 leaves after 20 s. It heard nothing, and no other client of this site was to hear
/// what it missed.
#[test]
fn a_client_that_leaves_must_have_heard_what_all_sites_had() {
    const SECOND: u64 = 1_000_000;
    for (complete, words) in [(None, "none"), (Some(16), "none"), (Some(14), "1 lost")] {
        let terms = with(TERMS, |of| {
            of.parties = Parties::Same(0);
            of.step.by_clock = true;
        });
        let (mut verifier, [a, ..]) = at_a_site(Dialect::Text, Measure::Completion, terms);
        let step = Arc::clone(verifier.step().unwrap());
        verifier.visit_begins(3, 0);
        step.sent_elsewhere(a, sent(6 * SECOND, 1));
        if let Some(seconds) = complete {
            step.complete_everywhere(a, seconds * SECOND * US);
        }
        verifier.visit_ends(3, 20 * SECOND * US);
        assert_faults(&verifier, words);
    }
}

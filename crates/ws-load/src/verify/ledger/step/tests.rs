//! The shared half of the ledger alone.

use super::*;

fn ledger(parties: u32) -> StepLedger {
    with(|terms| terms.parties = Parties::Same(parties))
}

/// A read of what had arrived 100 ns before.
fn read(at_ns: u64) -> Read {
    Read {
        at_ns,
        unread_ns: 100,
        is_result: false,
    }
}

/// A step of three broadcasts to ten clients of one worker, changed.
fn with(change: impl FnOnce(&mut Terms)) -> StepLedger {
    let mut terms = Terms {
        audience: Audience::Everyone,
        seed: 1,
        step: StepTerms {
            first_sample: 100,
            samples: 3,
            warm_up: 0,
            by_clock: false,
            clients: 10,
        },
        keeper: Keeper::Process,
        parties: Parties::Same(1),
        populations: Vec::new(),
        limits_completion: true,
        script: None,
    };
    change(&mut terms);
    StepLedger::new(terms)
}

/// What is settled when a party is done, and the completions that are recorded of it.
fn party_done(
    ledger: &StepLedger,
    index: u32,
    last: impl Into<Arrival>,
    read: Read,
) -> (Option<Done>, Latencies) {
    let mut latencies = Latencies::default();
    let done = ledger.settle(index, last.into(), read, &mut latencies);
    (done, latencies)
}

/// Half of a microsecond: what a histogram tells apart of such times.
const RESOLUTION_NS: u64 = 512;

#[track_caller]
fn assert_time(recorder: &record::Recorder, expected_ns: u64) {
    let times: Vec<(u64, u64)> = recorder.samples().collect();
    let [(ns, 1)] = times[..] else {
        panic!("{times:?}");
    };
    assert_eq!(ns / RESOLUTION_NS, expected_ns / RESOLUTION_NS);
}

#[test]
fn a_sample_completes_with_its_last_party_at_its_latest_receipt() {
    let ledger = ledger(3);
    let (index, sender) = ledger.release().unwrap();
    assert!(sender < 10);
    assert_eq!(ledger.when_sent(index), None);
    let sent = Sent {
        due_ns: 400,
        at_ns: 1000,
        sender: 4,
    };
    ledger.sent(index, sent);
    assert_eq!(ledger.when_sent(index), Some(sent));
    assert_eq!(ledger.oldest_open(), Some(1000));
    assert_eq!(party_done(&ledger, index, 1500, read(1500)).0, None);
    assert_eq!(party_done(&ledger, index, 1900, read(1900)).0, None);
    let (done, latencies) = party_done(&ledger, index, 1200, read(2100));
    let done = done.unwrap();
    assert_eq!(
        (done.last_ns, done.read_ns, done.abandoned),
        (1900, 2100, false)
    );
    assert_time(&latencies.completion, 1500);
    assert_eq!(latencies.shared.at_least.count(), 0);
    assert_eq!((ledger.settled(), ledger.completed_timed()), (1, 1));
    assert_eq!(ledger.oldest_open(), None);
}

#[test]
fn no_more_samples_are_released_than_there_are() {
    let ledger = ledger(1);
    let released: Vec<u32> = std::iter::from_fn(|| ledger.release().map(|(i, _)| i)).collect();
    assert_eq!(released, [0, 1, 2]);
    assert_eq!((ledger.released(), ledger.clients()), (3, 10));
    assert_eq!(ledger.when_sent(99), None);
}

#[test]
fn by_the_clock_nothing_is_released_and_the_warm_up_is_not_timed() {
    let ledger = with(|terms| {
        terms.step.by_clock = true;
        terms.step.warm_up = 1;
    });
    assert_eq!((ledger.release(), ledger.released()), (None, 0));
    let sent = |at_ns| Sent {
        due_ns: at_ns,
        at_ns,
        sender: 0,
    };
    ledger.sent(1, sent(20));
    ledger.sent(0, sent(10));
    assert_eq!(ledger.released(), 2);
    assert_eq!(ledger.oldest_open(), Some(10));
    assert!(party_done(&ledger, 0, 30, read(30)).0.is_some());
    assert_eq!(ledger.oldest_open(), Some(20));
    assert_eq!((ledger.settled(), ledger.completed_timed()), (1, 0));
    assert!(party_done(&ledger, 1, 30, read(35)).0.is_some());
    assert_eq!((ledger.completed_timed(), ledger.timed()), (1, 2));
    assert_eq!(ledger.oldest_open(), None);
    assert_eq!((ledger.sent_by(19), ledger.sent_by(20)), (0, 1));
    assert_eq!(ledger.flight(), None);
}

#[test]
fn the_number_in_flight_is_integrated_over_the_timed_samples_until_they_were_read() {
    let ledger = with(|terms| {
        terms.step.by_clock = true;
        terms.step.warm_up = 1;
        terms.parties = Parties::Same(2);
    });
    for (index, at_ns) in [(0, 1000), (1, 2000), (2, 2500)] {
        ledger.sent(
            index,
            Sent {
                due_ns: 0,
                at_ns,
                sender: 0,
            },
        );
    }
    party_done(&ledger, 0, 9000, read(9000));
    party_done(&ledger, 0, 9000, read(9000));
    party_done(&ledger, 1, 3000, read(3040));
    party_done(&ledger, 1, 3010, read(3030));
    party_done(&ledger, 2, 3800, read(3900));
    assert_eq!(ledger.flight(), None);
    // The other party's message was the last to arrive, and 50 ns old when this was read.
    party_done(&ledger, 2, 3700, read(3850));
    let flight = Flight {
        area_ns: (3030 - 2000) + (3850 - 2500),
        known_after_ns: 20 + 50,
        unread_ns: 20 + 50,
    };
    assert_eq!(ledger.flight(), Some(flight));
}

#[test]
fn a_result_that_comes_last_is_waited_for_and_is_no_lateness() {
    let ledger = with(|terms| {
        terms.step.samples = 1;
    });
    let sent = Sent {
        due_ns: 1000,
        at_ns: 1000,
        sender: 0,
    };
    ledger.sent(0, sent);
    let result = Read {
        is_result: true,
        ..read(9000)
    };
    party_done(&ledger, 0, 3000, result);
    let flight = Flight {
        area_ns: 8000,
        known_after_ns: 6000,
        unread_ns: 100,
    };
    assert_eq!(ledger.flight(), Some(flight));
}

#[test]
fn an_abandoned_sample_is_settled_and_never_complete() {
    let ledger = ledger(2);
    for index in 0..3 {
        ledger.sent(
            index,
            Sent {
                due_ns: 1000,
                at_ns: 1000,
                sender: 0,
            },
        );
    }
    ledger.abandon(0);
    assert_eq!(party_done(&ledger, 0, 3000, read(3000)).0, None);
    let settled = party_done(&ledger, 0, 1000, read(3000));
    assert!(settled.0.unwrap().abandoned);
    assert_eq!(settled.1.completion.count(), 0);
    assert_eq!((ledger.settled(), ledger.completed_timed()), (1, 0));
    assert_eq!(party_done(&ledger, 1, 3000, read(3000)).0, None);
    ledger.abandon(1);
    let settled = party_done(&ledger, 1, 1000, read(3000));
    assert!(settled.0.unwrap().abandoned, "whichever party it was");
    assert!(!ledger.is_over());
    party_done(&ledger, 2, 3000, read(3000));
    assert!(party_done(&ledger, 2, 3000, read(3000)).0.is_some());
    assert!(ledger.is_over());
    assert_eq!(ledger.completed_timed(), 1);
    assert_eq!(ledger.flight(), None);
}

#[test]
fn a_sample_is_overdue_whatever_was_settled_or_sent_since_it_was_looked_for() {
    let ledger = with(|terms| {
        terms.step.by_clock = true;
    });
    let send = |index, at_ns| {
        let sent = Sent {
            due_ns: at_ns,
            at_ns,
            sender: 0,
        };
        ledger.sent(index, sent);
    };
    assert!(!ledger.is_overdue(1000, 100));
    send(1, 1010);
    assert!(
        !ledger.is_overdue(1105, 100),
        "the one before was not sent yet"
    );
    send(0, 1020);
    assert!(!ledger.is_overdue(1105, 100));
    assert!(ledger.is_overdue(1111, 100));
    party_done(&ledger, 1, 1111, read(1111));
    assert!(!ledger.is_overdue(1112, 100));
    send(2, 1113);
    assert!(ledger.is_overdue(1121, 100));
    party_done(&ledger, 0, 1125, read(1125));
    assert!(!ledger.is_overdue(1126, 100));
    assert!(!ledger.is_overdue(1213, 100));
    assert!(ledger.is_overdue(1214, 100));
    party_done(&ledger, 2, 1214, read(1214));
    assert!(!ledger.is_overdue(9000, 100));
}

/// The last to arrive shares a stamp, and one of another party is known to have come after that
/// might have been the earliest.
#[test]
fn a_completion_is_known_as_well_as_the_best_of_its_last_receipts() {
    let ledger = with(|terms| {
        terms.parties = Parties::Same(2);
        terms.step.by_clock = true;
    });
    ledger.sent(
        0,
        Sent {
            due_ns: 400,
            at_ns: 1000,
            sender: 4,
        },
    );
    let shared = Arrival {
        at_ns: 1900,
        earliest_ns: 600,
    };
    assert_eq!(party_done(&ledger, 0, 1500, read(1500)).0, None);
    let settled = party_done(&ledger, 0, shared, read(1900));
    let latencies = settled.1;
    assert_time(&latencies.completion, 1500);
    assert_time(&latencies.uncorrected, 900);
    assert_time(&latencies.shared.at_most, 1500);
    assert_time(&latencies.shared.at_least, 1100);
}

#[test]
fn what_was_held_back_is_late_until_it_is_taken() {
    let ledger = with(|terms| {
        terms.step.by_clock = true;
        terms.step.warm_up = 1;
        terms.step.samples = 4;
    });
    let late = |end_ns| ledger.late_by_backpressure(end_ns);
    assert_eq!((late(u64::MAX), ledger.never_taken()), (0, 0));
    assert!(
        ledger.hold_back(0, 10),
        "of the warm-up, which is not timed"
    );
    assert!(ledger.hold_back(2, 20));
    assert_eq!(ledger.released(), 3);
    assert!(!ledger.hold_back(2, 25), "known already");
    assert!(ledger.hold_back(1, 30));
    assert_eq!(ledger.released(), 3);
    assert_eq!(ledger.oldest_open(), Some(10));
    assert_eq!((late(u64::MAX), ledger.never_taken()), (2, 2));
    let sent = Sent {
        due_ns: 15,
        at_ns: 100,
        sender: 0,
    };
    ledger.sent(2, sent);
    assert_eq!((late(99), late(100), ledger.never_taken()), (2, 1, 1));
    ledger.take_back(2);
    assert_eq!(ledger.when_sent(2), None);
    assert_eq!((late(100), ledger.never_taken()), (2, 2));
}

#[test]
fn what_is_taken_back_was_not_in_flight() {
    let ledger = with(|terms| {
        terms.step.samples = 1;
    });
    let sent = |at_ns| Sent {
        due_ns: 400,
        at_ns,
        sender: 0,
    };
    ledger.sent(0, sent(500));
    ledger.take_back(0);
    ledger.sent(0, sent(1000));
    party_done(&ledger, 0, 1500, read(1600));
    let flight = ledger.flight().unwrap();
    assert_eq!((flight.area_ns, flight.known_after_ns), (600, 100));
}

/// Of an echo the site of its sender, of a broadcast the coordinator.
#[test]
fn a_completion_is_recorded_by_the_one_who_knows_both_ends() {
    let share = Share { number: 0, of: 2 };
    let site = Keeper::Site {
        share,
        in_flight: 1,
    };
    for (audience, keeper, expected) in [
        (Audience::Sender, Keeper::Process, 1),
        (Audience::Everyone, Keeper::Process, 1),
        (Audience::Sender, site, 1),
        (Audience::Everyone, site, 0),
        (Audience::Sender, Keeper::Coordinator, 0),
        (Audience::Everyone, Keeper::Coordinator, 1),
    ] {
        let ledger = with(|terms| (terms.audience, terms.keeper) = (audience, keeper));
        let sent = Sent {
            due_ns: 1000,
            at_ns: 1000,
            sender: 0,
        };
        ledger.sent(0, sent);
        let (done, latencies) = party_done(&ledger, 0, 1500, read(1600));
        assert_eq!(done.unwrap().last_ns, 1500);
        assert_eq!(
            latencies.completion.count(),
            expected,
            "{audience:?} {keeper:?}"
        );
    }
}

/// A closed loop goes on when a sample is settled, and none is without this site.
#[test]
fn a_site_knows_which_samples_another_may_have_sent() {
    let share = Share { number: 0, of: 2 };
    let of_a_site = |in_flight| {
        with(|terms| {
            terms.step.samples = 40;
            terms.keeper = Keeper::Site { share, in_flight };
        })
    };
    let ledger = of_a_site(1);
    let of_others: Vec<u32> = (0..40)
        .filter(|of| !share.has(ledger.sender(*of)))
        .collect();
    let ledger = of_a_site(of_others[3]);
    let may_be = |ledger: &StepLedger| -> Vec<u32> {
        (0..50)
            .filter(|of| ledger.may_be_sent_elsewhere(*of).is_some())
            .collect()
    };
    assert_eq!(may_be(&ledger), of_others[..3]);
    let sent = Sent {
        due_ns: 7,
        at_ns: 9,
        sender: 1,
    };
    ledger.sent_elsewhere(of_others[2], sent);
    assert_eq!(ledger.released(), of_others[2] + 1);
    assert_eq!(ledger.when_sent(of_others[2]), Some(sent));
}

/// What the clients of a site have says nothing of those elsewhere, least of all where none of them waits.
#[test]
fn a_site_learns_of_the_coordinator_that_a_sample_is_complete() {
    for parties in [0, 1] {
        let ledger = with(|terms| {
            let share = Share { number: 0, of: 2 };
            terms.keeper = Keeper::Site {
                share,
                in_flight: 1,
            };
            terms.parties = Parties::Same(parties);
        });
        let sent = Sent {
            due_ns: 1000,
            at_ns: 1000,
            sender: 1,
        };
        ledger.sent_elsewhere(0, sent);
        if parties > 0 {
            assert!(party_done(&ledger, 0, 1500, read(1500)).0.is_some());
        }
        assert_eq!(ledger.when_complete(0), None);
        ledger.complete_everywhere(0, 1900);
        ledger.complete_everywhere(99, 1900);
        assert_eq!(ledger.when_complete(0), Some(1900));
    }
}

//! The shared half of the ledger under every order in which two or three threads may take their steps
//! and see one another's writes. `make loom` runs these models; an ordinary test run has none of them.

use super::*;
use loom::sync::Arc;
use loom::thread;

/// Tries every order. A larger model would need a bound: LOOM_MAX_PREEMPTIONS=3 looks at those with
/// at most three forced switches between threads.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    loom::model(model);
}

fn ledger(samples: u32, parties: u32) -> Arc<StepLedger> {
    Arc::new(StepLedger::new(terms(samples, parties)))
}

const fn terms(samples: u32, parties: u32) -> Terms {
    Terms {
        audience: Audience::Everyone,
        seed: 1,
        step: StepTerms {
            first_sample: 0,
            samples,
            warm_up: 0,
            by_clock: false,
            clients: 4,
        },
        keeper: Keeper::Process,
        parties: Parties::Same(parties),
        populations: Vec::new(),
        limits_completion: true,
        script: None,
    }
}

const fn sent(due_ns: u64, at_ns: u64) -> Sent {
    Sent {
        due_ns,
        at_ns,
        sender: 3,
    }
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    /// It is complete with this last receipt.
    Complete(Arrival),
    Abandoned,
}

const fn complete(at_ns: u64, earliest_ns: u64) -> Settled {
    Settled::Complete(Arrival { at_ns, earliest_ns })
}

/// A party's last receipt, read when it came.
fn done(ledger: &StepLedger, index: u32, last: impl Into<Arrival>) -> Option<Settled> {
    let last = last.into();
    let read = Read {
        at_ns: last.at_ns,
        ..Read::default()
    };
    let mut latencies = Latencies::default();
    let done = ledger.settle(index, last, read, &mut latencies)?;
    let is_complete = latencies.completion.count() == 1;
    assert_ne!(is_complete, done.abandoned);
    Some(match done.abandoned {
        true => Settled::Abandoned,
        false => Settled::Complete(done.last()),
    })
}

/// Runs `other` on a thread of its own beside `own`; what both return.
fn beside<T: 'static>(
    ledger: &Arc<StepLedger>,
    other: impl FnOnce(&StepLedger) -> T + 'static,
    own: impl FnOnce(&StepLedger) -> T,
) -> [T; 2] {
    let shared = Arc::clone(ledger);
    let thread = thread::spawn(move || other(&shared));
    let own = own(ledger);
    [thread.join().unwrap(), own]
}

#[test]
fn one_of_two_workers_completes_a_sample_at_the_latest_receipt() {
    explore(|| {
        let ledger = ledger(1, 2);
        let settled = beside(
            &ledger,
            |ledger| {
                ledger.sent(0, sent(900, 1000));
                done(ledger, 0, 1500)
            },
            |ledger| match ledger.when_sent(0) {
                Some(_) => done(ledger, 0, 1900),
                None => None,
            },
        );
        let late = match ledger.is_open(0) {
            true => done(&ledger, 0, 1900),
            false => None,
        };
        let settled: Vec<Settled> = settled.into_iter().chain([late]).flatten().collect();
        assert_eq!(settled, [complete(1900, 1900)]);
        assert_eq!((ledger.settled(), ledger.completed_timed()), (1, 1));
        assert!(ledger.is_over());
    });
}

/// Of receipts that share stamps both ends are the latest of all parties.
#[test]
fn the_latest_receipt_is_the_latest_of_three_workers() {
    explore(|| {
        let ledger = ledger(1, 3);
        ledger.sent(0, sent(100, 100));
        let shared = Arc::clone(&ledger);
        let first = thread::spawn(move || done(&shared, 0, 500).is_some());
        let [second, third] = beside(
            &ledger,
            |ledger| {
                let last = Arrival {
                    at_ns: 700,
                    earliest_ns: 300,
                };
                done(ledger, 0, last)
            },
            |ledger| done(ledger, 0, 400),
        );
        let completions = second.into_iter().chain(third);
        let of_others: Vec<Settled> = completions.collect();
        match first.join().unwrap() {
            true => assert_eq!(of_others, []),
            false => assert_eq!(of_others, [complete(700, 500)]),
        }
        assert_eq!((ledger.settled(), ledger.completed_timed()), (1, 1));
    });
}

#[test]
fn a_sample_that_was_abandoned_is_never_complete() {
    explore(|| {
        let ledger = ledger(1, 2);
        ledger.sent(0, sent(100, 100));
        let settled = beside(
            &ledger,
            |ledger| {
                ledger.abandon(0);
                done(ledger, 0, 200)
            },
            |ledger| done(ledger, 0, 300),
        );
        let settled: Vec<Settled> = settled.into_iter().flatten().collect();
        assert_eq!(settled, [Settled::Abandoned]);
        assert_eq!((ledger.settled(), ledger.completed_timed()), (1, 0));
        assert_eq!(ledger.flight(), None);
    });
}

/// The kernel does not take the whole of a request at first, and the peer answers its beginning.
#[test]
fn what_is_taken_back_counts_from_the_send_that_was_taken() {
    explore(|| {
        let ledger = ledger(1, 2);
        let [by_sender, by_other] = beside(
            &ledger,
            |ledger| {
                ledger.sent(0, sent(1000, 1000));
                ledger.take_back(0);
                ledger.sent(0, sent(2000, 2000));
                (done(ledger, 0, 2500), false)
            },
            |ledger| {
                let Some(seen) = ledger.when_sent(0) else {
                    return (None, false);
                };
                assert!([1000, 2000].contains(&seen.at_ns), "{seen:?}");
                assert!([1000, 2000].contains(&seen.due_ns), "{seen:?}");
                assert_eq!(seen.sender, 3);
                (done(ledger, 0, 2200), true)
            },
        );
        let late = match by_other.1 {
            true => None,
            false => done(&ledger, 0, 2200),
        };
        let settled: Vec<Settled> = [by_sender.0, by_other.0, late]
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(settled, [complete(2500, 2500)]);
        let area_ns = ledger.flight().unwrap().area_ns;
        assert!([200, 500].contains(&area_ns), "{area_ns}");
    });
}

#[test]
fn every_index_is_released_once() {
    explore(|| {
        let ledger = ledger(3, 1);
        let take = |ledger: &StepLedger| {
            let mut taken: Vec<u32> = Vec::new();
            taken.extend(ledger.release().map(|(index, _)| index));
            taken.extend(ledger.release().map(|(index, _)| index));
            taken
        };
        let taken = beside(&ledger, take, take);
        assert!(taken.iter().all(|of_one| of_one.is_sorted()), "{taken:?}");
        let mut all = taken.concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
        assert_eq!((ledger.release(), ledger.released()), (None, 3));
    });
}

/// The controller looks for overdue samples while a worker holds one back and then sends it.
#[test]
fn a_sample_that_is_held_back_has_been_under_way_since_then() {
    explore(|| {
        let ledger = ledger(1, 1);
        let [first, seen] = beside(
            &ledger,
            |ledger| {
                let first = ledger.hold_back(0, 500);
                ledger.sent(0, sent(450, 900));
                [Some(u64::from(first)), None]
            },
            |ledger| [ledger.oldest_open(), ledger.oldest_open()],
        );
        assert_eq!(first[0], Some(1));
        // The send is noted after the moment at which it was due; a look between the two sees that.
        for since_ns in seen.into_iter().flatten() {
            assert!([500, 450, 900].contains(&since_ns), "{since_ns}");
        }
        assert_eq!(ledger.oldest_open(), Some(900));
        assert_eq!(ledger.late_by_backpressure(899), 1);
        assert_eq!(ledger.never_taken(), 0);
    });
}

#[test]
fn one_of_two_that_hold_the_same_sample_back_is_the_first() {
    explore(|| {
        let ledger = ledger(1, 1);
        let first = beside(
            &ledger,
            |ledger| ledger.hold_back(0, 500),
            |ledger| ledger.hold_back(0, 600),
        );
        assert_eq!(first.into_iter().filter(|first| *first).count(), 1);
        assert_eq!((ledger.released(), ledger.never_taken()), (1, 1));
    });
}

/// Marks and parties are in one number, and none is lost.
#[test]
fn marks_of_one_worker_survive_the_receipts_of_another() {
    explore(|| {
        let ledger = ledger(1, 2);
        let settled = beside(
            &ledger,
            |ledger| {
                ledger.hold_back(0, 500);
                ledger.abandon(0);
                done(ledger, 0, 700)
            },
            |ledger| done(ledger, 0, 600),
        );
        let settled: Vec<Settled> = settled.into_iter().flatten().collect();
        assert_eq!(settled, [Settled::Abandoned]);
        assert!(!ledger.is_open(0));
        assert_eq!(ledger.never_taken(), 1);
    });
}

#[test]
fn an_echo_that_came_is_not_open_to_those_who_see_it_settled() {
    explore(|| {
        let ledger = Arc::new(StepLedger::new(Terms {
            audience: Audience::Sender,
            ..terms(1, 1)
        }));
        let shared = Arc::clone(&ledger);
        let worker = thread::spawn(move || {
            shared.sent(0, sent(100, 100));
            assert!(shared.take_echo(0));
            assert!(!shared.take_echo(0));
            done(&shared, 0, 300)
        });
        if ledger.is_over() {
            assert!(!ledger.is_open(0));
            assert_eq!(ledger.oldest_open(), None);
            assert_eq!(ledger.when_sent(0), Some(sent(100, 100)));
        }
        let settled = worker.join().unwrap();
        assert!(matches!(settled, Some(Settled::Complete(_))));
    });
}

/// The worker that settles the last sample of a closed loop reports it, whichever that is.
#[test]
fn the_end_of_a_step_is_seen_by_a_worker_that_settles_its_last_samples() {
    explore(|| {
        let ledger = ledger(2, 1);
        ledger.release();
        ledger.release();
        for index in 0..2 {
            ledger.sent(index, sent(100, 100));
        }
        let finish = |index: u32, at_ns: u64| {
            move |ledger: &StepLedger| {
                let settled = done(ledger, index, at_ns);
                assert!(matches!(settled, Some(Settled::Complete(_))));
                ledger.release().is_none() && ledger.is_over()
            }
        };
        let ends = beside(&ledger, finish(0, 300), finish(1, 400));
        assert!(ends.contains(&true), "{ends:?}");
        assert_eq!((ledger.settled(), ledger.completed_timed()), (2, 2));
        assert_eq!(ledger.flight().unwrap().area_ns, 200 + 300);
    });
}

#[test]
fn the_counters_of_a_step_are_those_of_its_samples_in_the_end() {
    explore(|| {
        let ledger = ledger(2, 2);
        for index in 0..2 {
            ledger.sent(index, sent(100, 100));
        }
        let settled = beside(
            &ledger,
            |ledger| {
                ledger.abandon(1);
                [done(ledger, 0, 200), done(ledger, 1, 300)]
            },
            |ledger| [done(ledger, 1, 400), done(ledger, 0, 500)],
        );
        let settled: Vec<Settled> = settled.into_iter().flatten().flatten().collect();
        let abandoned = settled.iter().filter(|of| **of == Settled::Abandoned);
        assert_eq!((settled.len(), abandoned.count()), (2, 1));
        assert!(ledger.is_over());
        assert_eq!(ledger.completed_timed(), 1);
    });
}

//! What a message costs does not grow with the number of samples under way: a quadratic ledger would be
//! at 16 times as much here.

use super::*;
use crate::clock;

const FEW: u32 = 4_000;
const MANY: u32 = 64_000;
/// Caches are shared with whatever else runs here.
const MOST: f64 = 6.0;

/// CPU time per sample of a step of so many that are all under way at once, by two senders.
fn cost(audience: Audience, samples: u32, play: fn(&StepLedger, &mut Window)) -> f64 {
    let senders: Vec<u32> = (0..samples).map(|index| index % 2).collect();
    let ledger = step(audience, &senders);
    let mut window = Window::default();
    let began = clock::thread_cpu_ns();
    play(&ledger, &mut window);
    (clock::thread_cpu_ns() - began) as f64 / f64::from(samples)
}

#[track_caller]
fn assert_constant(audience: Audience, play: fn(&StepLedger, &mut Window)) {
    let ratio = || cost(audience, MANY, play) / cost(audience, FEW, play);
    let least = (0..5).map(|_| ratio()).fold(f64::INFINITY, f64::min);
    assert!(least < MOST, "{least:.1} times as much");
}

fn deliver(ledger: &StepLedger, window: &mut Window, index: u32, slot: u32) {
    match window.deliver(ledger, LISTENERS, index, slot, 1_000_000.into()) {
        Received::Due { overtaken, .. } => assert!(!overtaken),
        other => panic!("{other:?}"),
    }
}

fn answer(ledger: &StepLedger, window: &mut Window, index: u32) {
    due(window.result(ledger, LISTENERS, index, index % 2, 1_000_000.into()));
}

#[test]
fn an_echo_costs_the_same_however_many_are_under_way() {
    assert_constant(Audience::Sender, |ledger, window| {
        for index in 0..ledger.len() {
            deliver(ledger, window, index, index % 2);
        }
    });
}

#[test]
fn broadcasts_that_come_in_order_cost_the_same() {
    assert_constant(Audience::Everyone, |ledger, window| {
        for index in 0..ledger.len() {
            (0..3).for_each(|slot| deliver(ledger, window, index, slot));
            answer(ledger, window, index);
        }
    });
}

/// One client has everything before the next has anything, and one sender's come before another's.
#[test]
fn broadcasts_that_lag_at_some_clients_cost_the_same() {
    assert_constant(Audience::Everyone, |ledger, window| {
        for slot in 0..3 {
            for sender in 0..2 {
                for index in (sender..ledger.len()).step_by(2) {
                    deliver(ledger, window, index, slot);
                }
            }
        }
        (0..ledger.len()).for_each(|index| answer(ledger, window, index));
    });
}

#[test]
fn a_stuck_first_sample_makes_the_later_ones_no_dearer() {
    for audience in [Audience::Sender, Audience::Everyone] {
        assert_constant(audience, |ledger, window| {
            for index in 1..ledger.len() {
                match ledger.audience {
                    Audience::Everyone => {
                        (0..3).for_each(|slot| deliver(ledger, window, index, slot));
                        answer(ledger, window, index);
                    }
                    _ => deliver(ledger, window, index, index % 2),
                }
            }
        });
    }
}

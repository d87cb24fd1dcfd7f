//! Samples of other sites: site 0 of 2 has the clients 0, 2 and 4 in the slots 0, 1 and 2.

use super::*;
use crate::message::{Share, StepTerms};
use crate::verify::ledger::{Keeper, Terms};
use plan::{Cut, Life, Nanos, Population};

const SITE: Listeners<'static> = Listeners {
    workers: 2,
    ..LISTENERS
};

fn site_ledger(in_flight: u32) -> StepLedger {
    ledger_of(40, in_flight)
}

fn ledger_of(samples: u32, in_flight: u32) -> StepLedger {
    StepLedger::new(terms(samples, in_flight))
}

fn terms(samples: u32, in_flight: u32) -> Terms {
    Terms {
        audience: Audience::Everyone,
        seed: 1,
        step: StepTerms {
            first_sample: 0,
            samples,
            warm_up: 0,
            by_clock: false,
            clients: 6,
        },
        keeper: Keeper::Site {
            share: Share { number: 0, of: 2 },
            in_flight,
        },
        parties: Parties::Same(1),
        populations: Vec::new(),
        limits_completion: false,
        script: None,
    }
}

/// The samples whose planned sender is client 1 of the other site.
fn of_client_1(ledger: &StepLedger) -> Vec<u32> {
    (0..ledger.len())
        .filter(|i| ledger.sender(*i) == 1)
        .collect()
}

fn sent(at_ns: u64, sender: u32) -> Sent {
    Sent {
        due_ns: at_ns,
        at_ns,
        sender,
    }
}

/// Another client sends in the place of one that leaves, maybe one of another site.
#[test]
fn a_sample_that_is_drawn_for_a_client_that_leaves_may_come_from_another_site() {
    let leaves = Population {
        life: Life::Cut(Cut { at: Nanos::secs(1) }),
        ..Population::default()
    };
    let mut terms = terms(40, 0);
    terms.step.by_clock = true;
    terms.step.clients = 20;
    terms.populations = vec![Population::default(), leaves];
    let ledger = StepLedger::new(terms);
    let mut moved = 0;
    for index in 0..40 {
        let drawn = crate::plan::sender_of(1, index.into(), 20);
        let sender = ledger.sender(index);
        let elsewhere = (sender % 2 == 1).then_some(sender as u32);
        assert_eq!(ledger.may_be_sent_elsewhere(index), elsewhere, "{index}");
        moved += u32::from(drawn.is_multiple_of(2) && sender % 2 == 1);
    }
    assert!(moved > 0);
}

const NOT_YET: Received = Received::Unconfirmed { party_done: None };

#[test]
fn the_latency_waits_for_the_word_of_the_sender_s_site() {
    let ledger = site_ledger(40);
    let index = of_client_1(&ledger)[0];
    let mut window = Window::default();
    let mut deliver = |slot, at| window.deliver(&ledger, SITE, index, slot, Arrival::from(at));
    assert_eq!(deliver(0, 150), NOT_YET);
    assert_eq!(deliver(0, 151), NOT_YET);
    ledger.sent_elsewhere(index, sent(100, 1));
    assert_eq!(due(deliver(1, 180)), (80, false, None));
    assert_eq!(deliver(1, 181), Received::Duplicate);
    assert_eq!(due(deliver(2, 160)), (60, false, Some(180)));
    let confirmed = window.take_confirmed().unwrap();
    assert_eq!(confirmed.latencies, [(index, 50, 0)]);
    let twice = Faults {
        duplicate: 1,
        ..Faults::default()
    };
    assert_eq!(confirmed.faults, twice);
    assert!(window.take_confirmed().is_none());
    assert_eq!(window.close(&ledger, SITE), Missing::default());
}

#[test]
fn the_word_on_a_sample_is_taken_when_others_come() {
    let ledger = site_ledger(40);
    let [first, second, ..] = of_client_1(&ledger)[..] else {
        panic!("client 1 sends two samples");
    };
    let mut window = Window::default();
    window.deliver(&ledger, SITE, first, 0, Arrival::from(150));
    ledger.sent_elsewhere(first, sent(100, 1));
    assert!(window.take_confirmed().is_none());
    window.deliver(&ledger, SITE, second, 0, Arrival::from(160));
    let confirmed = window.take_confirmed().unwrap();
    assert_eq!(confirmed.latencies, [(first, 50, 0)]);
}

#[test]
fn a_sample_is_complete_here_before_its_send_is_reported() {
    let ledger = site_ledger(40);
    let index = of_client_1(&ledger)[0];
    let mut window = Window::default();
    let mut deliver = |slot, at| window.deliver(&ledger, SITE, index, slot, Arrival::from(at));
    deliver(0, 150);
    deliver(2, 190);
    let done = Received::Unconfirmed {
        party_done: Some(190.into()),
    };
    assert_eq!(deliver(1, 170), done);
    ledger.sent_elsewhere(index, sent(100, 1));
    assert_eq!(deliver(1, 171), Received::Duplicate);
    let latencies = window.take_confirmed().unwrap().latencies;
    assert_eq!(latencies, [(index, 50, 0), (index, 90, 0), (index, 70, 0)]);
}

#[test]
fn what_no_site_has_sent_is_too_much_and_not_missing() {
    let ledger = site_ledger(40);
    let index = of_client_1(&ledger)[0];
    let mut window = Window::default();
    for slot in [0, 0, 1] {
        assert_eq!(
            window.deliver(&ledger, SITE, index, slot, Arrival::from(150)),
            NOT_YET
        );
    }
    let missing = Missing {
        unsent: 3,
        ..Missing::default()
    };
    assert_eq!(window.close(&ledger, SITE), missing);
    assert!(window.take_confirmed().is_none());
}

#[test]
fn only_what_another_site_may_have_sent_by_now_waits() {
    let ledger = site_ledger(1);
    let mut window = Window::default();
    let own = (0..40)
        .find(|i| ledger.sender(*i).is_multiple_of(2))
        .unwrap();
    let later = of_client_1(&ledger).into_iter().find(|i| *i > 0).unwrap();
    for index in [own, later, 40] {
        let received = window.deliver(&ledger, SITE, index, 0, Arrival::from(150));
        assert_eq!(received, Received::NotDue, "{index}");
    }
    let foreign = of_client_1(&ledger)[0];
    let ledger = site_ledger(foreign + 1);
    let result = window.result(&ledger, SITE, foreign, 0, Arrival::from(150));
    assert_eq!(result, Received::NotDue);
    assert_eq!(
        window.deliver(&ledger, SITE, foreign, 0, Arrival::from(150)),
        NOT_YET
    );
    let result = window.result(&ledger, SITE, foreign, 0, Arrival::from(150));
    assert_eq!(result, Received::NotDue);
}

#[test]
fn order_is_checked_before_and_after_the_confirmation() {
    let ledger = site_ledger(40);
    let chain = of_client_1(&ledger);
    let mut window = Window::default();
    let mut deliver =
        |n: usize, slot| window.deliver(&ledger, SITE, chain[n], slot, Arrival::from(200));
    deliver(1, 0);
    deliver(0, 0);
    deliver(0, 1);
    deliver(1, 1);
    ledger.sent_elsewhere(chain[0], sent(110, 1));
    ledger.sent_elsewhere(chain[1], sent(120, 1));
    ledger.sent_elsewhere(chain[2], sent(130, 1));
    assert!(!due(deliver(2, 2)).1);
    assert!(due(deliver(1, 2)).1);
    assert!(due(deliver(0, 2)).1);
    let confirmed = window.take_confirmed().unwrap();
    assert_eq!(
        (confirmed.faults.reordered, confirmed.faults.total()),
        (1, 1)
    );
    assert_eq!(confirmed.latencies.len(), 4);
}

/// A sender that is lost is stood in for by another client of its worker.
#[test]
fn a_stand_in_is_in_its_own_chain() {
    let ledger = site_ledger(40);
    let chain = of_client_1(&ledger);
    let mut window = Window::default();
    let mut deliver =
        |n: usize, slot| window.deliver(&ledger, SITE, chain[n], slot, Arrival::from(200));
    deliver(0, 0);
    deliver(1, 0);
    ledger.sent_elsewhere(chain[0], sent(110, 1));
    ledger.sent_elsewhere(chain[1], sent(120, 5));
    assert!(!due(deliver(1, 1)).1);
    assert!(!due(deliver(0, 1)).1, "the other is another sender's");
    assert!(window.take_confirmed().unwrap().faults.is_empty());
}

/// The same where the chain is so long that the latest sample of each client is kept.
#[test]
fn a_stand_in_takes_its_place_out_of_a_long_chain() {
    let ledger = ledger_of(1_000, 1_000);
    let chain = of_client_1(&ledger);
    let (before, last) = (chain[70], chain[71]);
    let mut window = Window::default();
    let mut deliver =
        |index: u32, slot| window.deliver(&ledger, SITE, index, slot, Arrival::from(200));
    for index in &chain[..70] {
        assert_eq!(deliver(*index, 0), NOT_YET);
    }
    assert_eq!(deliver(last, 0), NOT_YET);
    ledger.sent_elsewhere(last, sent(130, 5));
    assert!(!due(deliver(last, 1)).1);
    ledger.sent_elsewhere(before, sent(120, 1));
    assert!(!due(deliver(before, 0)).1, "the other is another sender's");
    assert!(window.take_confirmed().unwrap().faults.is_empty());
}

#[test]
fn a_client_that_goes_after_its_delivery_takes_nothing_away() {
    let ledger = site_ledger(40);
    let index = of_client_1(&ledger)[0];
    let mut window = Window::default();
    for slot in 0..3 {
        window.deliver(&ledger, SITE, index, slot, Arrival::from(110));
    }
    let mut done = Vec::new();
    let missing = window.clients_lost(&ledger, SITE, &Lost::new(&[0b100], None), |i, _| {
        done.push(i)
    });
    assert_eq!((missing, done), (Missing::default(), Vec::new()));
    ledger.sent_elsewhere(index, sent(100, 1));
    assert!(!settle(&ledger, index, 110).unwrap().abandoned);
}

#[test]
fn a_lost_client_misses_what_is_unconfirmed() {
    let ledger = site_ledger(40);
    let index = of_client_1(&ledger)[0];
    let mut window = Window::default();
    window.deliver(&ledger, SITE, index, 0, Arrival::from(110));
    window.deliver(&ledger, SITE, index, 1, Arrival::from(120));
    let mut done = Vec::new();
    let missing = window.clients_lost(&ledger, SITE, &Lost::new(&[0b100], None), |i, at| {
        done.push((i, at.at_ns))
    });
    assert_eq!((missing, done), (Missing::default(), vec![(index, 120)]));
    ledger.sent_elsewhere(index, sent(100, 1));
    assert_eq!(window.close(&ledger, SITE), Missing::default());
    assert_eq!(window.take_confirmed().unwrap().faults.lost, 1);
}

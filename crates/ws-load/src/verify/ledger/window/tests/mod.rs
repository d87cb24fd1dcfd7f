//! The ledger of one worker alone.

mod cost;
mod model;
mod of_a_site;

use super::*;
use crate::figures::Latencies;
use crate::message::{Done, StepTerms};
use crate::plan::{Hearing as _, Parties};
use crate::verify::ledger::{Keeper, Read, Terms};
use plan::{Population, Rooms};

const ALIVE: [u64; 1] = [0b111];

const LISTENERS: Listeners<'static> = Listeners {
    alive: &ALIVE,
    count: 3,
    worker: 0,
    workers: 1,
    seats: None,
};

const fn terms(audience: Audience, samples: u32, clients: u64, parties: Parties) -> Terms {
    Terms {
        audience,
        seed: 1,
        step: StepTerms {
            first_sample: 0,
            samples,
            warm_up: 0,
            by_clock: false,
            clients,
        },
        keeper: Keeper::Process,
        parties,
        populations: Vec::new(),
        limits_completion: false,
        script: None,
    }
}

fn step(audience: Audience, senders: &[u32]) -> StepLedger {
    let samples = senders.len() as u32;
    let ledger = StepLedger::new(terms(audience, samples, 3, Parties::Same(1)));
    for (index, sender) in senders.iter().enumerate() {
        ledger.release();
        ledger.sent(
            index as u32,
            Sent {
                due_ns: 100 + index as u64,
                at_ns: 100 + index as u64,
                sender: *sender,
            },
        );
    }
    ledger
}

fn settle(ledger: &StepLedger, index: u32, last_ns: u64) -> Option<Done> {
    let read = Read {
        at_ns: last_ns,
        unread_ns: 0,
        is_result: false,
    };
    ledger.settle(index, last_ns.into(), read, &mut Latencies::default())
}

fn due(received: Received) -> (u64, bool, Option<u64>) {
    match received {
        Received::Due {
            latency_ns,
            overtaken,
            party_done,
        } => (latency_ns, overtaken, party_done.map(|last| last.at_ns)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_broadcast_is_done_with_its_last_delivery_and_result() {
    let ledger = step(Audience::Everyone, &[1]);
    let mut window = Window::default();
    let mut deliver = |slot, at| window.deliver(&ledger, LISTENERS, 0, slot, Arrival::from(at));
    assert_eq!(due(deliver(0, 110)), (10, false, None));
    assert_eq!(deliver(0, 111), Received::Duplicate);
    assert_eq!(due(deliver(2, 150)), (50, false, None));
    assert_eq!(due(deliver(1, 130)), (30, false, None));
    assert_eq!(
        window.result(&ledger, LISTENERS, 0, 0, Arrival::from(160)),
        Received::NotDue
    );
    assert_eq!(
        due(window.result(&ledger, LISTENERS, 0, 1, Arrival::from(160))),
        (60, false, Some(150))
    );
    assert_eq!(
        window.result(&ledger, LISTENERS, 0, 1, Arrival::from(161)),
        Received::Duplicate
    );
    assert_eq!(
        window.deliver(&ledger, LISTENERS, 0, 2, Arrival::from(162)),
        Received::Duplicate
    );
}

#[test]
fn of_two_that_were_sent_at_once_none_overtakes_the_other() {
    let ledger = step(Audience::Everyone, &[1, 1]);
    let at_once = ledger.when_sent(0).unwrap();
    ledger.sent(1, at_once);
    let mut window = Window::default();
    for slot in 0..3 {
        due(window.deliver(&ledger, LISTENERS, 1, slot, 150.into()));
    }
    due(window.result(&ledger, LISTENERS, 1, 1, 150.into()));
    for slot in 0..3 {
        let (_, overtaken, _) = due(window.deliver(&ledger, LISTENERS, 0, slot, 160.into()));
        assert!(!overtaken);
    }
}

#[test]
fn an_echo_is_due_to_its_sender_alone() {
    let ledger = step(Audience::Sender, &[1]);
    let mut window = Window::default();
    assert_eq!(
        window.deliver(&ledger, LISTENERS, 0, 2, Arrival::from(110)),
        Received::NotDue
    );
    assert_eq!(
        due(window.deliver(&ledger, LISTENERS, 0, 1, Arrival::from(120))),
        (20, false, Some(120))
    );
    assert_eq!(
        window.deliver(&ledger, LISTENERS, 0, 1, Arrival::from(121)),
        Received::Duplicate
    );
}

/// Three samples of client 1, received whole; whether one of them was overtaken.
fn play_whole(audience: Audience, window: &mut Window) -> bool {
    let ledger = step(audience, &[1, 1, 1]);
    let slots = match audience {
        Audience::Sender => 1..2,
        _ => 0..3,
    };
    let mut any_overtaken = false;
    for index in 0..3 {
        for slot in slots.clone() {
            let received = window.deliver(&ledger, LISTENERS, index, slot, 900.into());
            any_overtaken |= due(received).1;
        }
        if audience == Audience::Everyone {
            due(window.result(&ledger, LISTENERS, index, 1, 900.into()));
        }
        settle(&ledger, index, 900);
    }
    assert_eq!(window.close(&ledger, LISTENERS).deliveries, 0);
    window.reset();
    any_overtaken
}

#[test]
fn nothing_of_a_step_is_in_the_next() {
    for (audience, missing) in [(Audience::Sender, 3), (Audience::Everyone, 9)] {
        let mut window = Window::default();
        assert!(!play_whole(audience, &mut window));
        assert!(!play_whole(audience, &mut window));
        let unheard = step(audience, &[1, 1, 1]);
        assert_eq!(window.close(&unheard, LISTENERS).deliveries, missing);
        assert_eq!(window.close(&unheard, LISTENERS).deliveries, 0, "told once");
    }
}

#[test]
fn what_was_never_sent_is_not_due() {
    let ledger = step(Audience::Everyone, &[]);
    let mut window = Window::default();
    assert_eq!(
        window.deliver(&ledger, LISTENERS, 0, 0, Arrival::from(1)),
        Received::NotDue
    );
    assert_eq!(
        window.deliver(&ledger, LISTENERS, 7, 0, Arrival::from(1)),
        Received::NotDue
    );
}

#[test]
fn a_delivery_after_a_later_one_of_its_sender_was_overtaken() {
    let ledger = step(Audience::Everyone, &[1, 2, 1, 1]);
    let mut window = Window::default();
    let mut deliver =
        |index, slot| due(window.deliver(&ledger, LISTENERS, index, slot, Arrival::from(200))).1;
    assert!(!deliver(1, 0), "another sender's may come first");
    assert!(!deliver(3, 0), "nothing later has come yet");
    assert!(deliver(0, 0), "the last of the chain was faster");
    assert!(deliver(2, 0));
    assert!(!deliver(0, 1));
    assert!(!deliver(2, 1));
    assert!(!deliver(3, 1));
}

#[test]
fn a_sample_sent_later_under_a_lower_index_overtakes_even_when_all_of_it_has_come() {
    let ledger = step(Audience::Everyone, &[1, 1]);
    for (index, at_ns) in [(0, 101), (1, 100)] {
        ledger.sent(
            index,
            Sent {
                due_ns: at_ns,
                at_ns,
                sender: 1,
            },
        );
    }
    let mut window = Window::default();
    for slot in 0..3 {
        due(window.deliver(&ledger, LISTENERS, 0, slot, Arrival::from(200)));
    }
    due(window.result(&ledger, LISTENERS, 0, 1, Arrival::from(210)));
    assert!(due(window.deliver(&ledger, LISTENERS, 1, 0, Arrival::from(220))).1);
}

#[test]
fn a_lost_delivery_makes_no_later_one_out_of_order() {
    let ledger = step(Audience::Everyone, &[1, 1]);
    let mut window = Window::default();
    assert!(!due(window.deliver(&ledger, LISTENERS, 1, 0, Arrival::from(200))).1);
    assert_eq!(window.close(&ledger, LISTENERS).deliveries, 5);
}

#[test]
fn a_lost_client_is_counted_once_and_waited_for_no_more() {
    let ledger = step(Audience::Everyone, &[1, 0]);
    let mut window = Window::default();
    window.deliver(&ledger, LISTENERS, 0, 0, Arrival::from(110));
    window.deliver(&ledger, LISTENERS, 0, 2, Arrival::from(120));
    let mut done = Vec::new();
    let missing = window.clients_lost(&ledger, LISTENERS, &Lost::new(&[0b010], None), |i, at| {
        done.push((i, at.at_ns))
    });
    assert_eq!(
        missing,
        Missing {
            deliveries: 2,
            results: 1,
            ..Missing::default()
        }
    );
    assert_eq!(done, [(0, 120)]);
    for index in [0, 1] {
        assert!(settle(&ledger, index, 120).unwrap().abandoned);
    }
    let left = Listeners {
        alive: &[0b101],
        count: 2,
        ..LISTENERS
    };
    assert_eq!(
        window.close(&ledger, left),
        Missing {
            deliveries: 2,
            results: 1,
            ..Missing::default()
        },
        "the other two of the second sample, and its sender's result"
    );
}

#[test]
fn closing_counts_all_that_is_missing() {
    let ledger = step(Audience::Everyone, &[1, 2]);
    let mut window = Window::default();
    window.deliver(&ledger, LISTENERS, 0, 0, Arrival::from(110));
    assert_eq!(
        window.close(&ledger, LISTENERS),
        Missing {
            deliveries: 5,
            results: 2,
            ..Missing::default()
        }
    );
}

#[test]
fn what_is_not_known_of_receipts_is_not_known_of_their_completion() {
    let at = |earliest_ns, at_ns| Arrival { at_ns, earliest_ns };
    let ledger = step(Audience::Everyone, &[1]);
    let mut window = Window::default();
    window.deliver(&ledger, LISTENERS, 0, 0, at(105, 150));
    window.deliver(&ledger, LISTENERS, 0, 1, 120.into());
    window.deliver(&ledger, LISTENERS, 0, 2, at(0, 130));
    let received = window.result(&ledger, LISTENERS, 0, 1, at(0, 160));
    let Received::Due { party_done, .. } = received else {
        panic!("{received:?}");
    };
    assert_eq!(party_done, Some(at(120, 150)));
    let ledger = step(Audience::Sender, &[1]);
    let received = Window::default().deliver(&ledger, LISTENERS, 0, 1, at(20, 150));
    let Received::Due { party_done, .. } = received else {
        panic!("{received:?}");
    };
    assert_eq!(party_done, Some(at(100, 150)), "not before its request");
}

#[test]
fn what_comes_after_the_end_is_late_if_it_is_of_the_step() {
    for audience in [Audience::Everyone, Audience::Sender] {
        let ledger = step(audience, &[1, 1]);
        let mut window = Window::default();
        window.close(&ledger, LISTENERS);
        let mut deliver = |index| window.deliver(&ledger, LISTENERS, index, 1, 900.into());
        assert_eq!([0, 1].map(&mut deliver), [Received::Duplicate; 2]);
        assert_eq!([2, 3].map(deliver), [Received::NotDue; 2]);
    }
}

#[test]
fn order_is_known_of_each_of_many_clients_in_a_long_chain() {
    let ledger = step(Audience::Everyone, &[1; 100]);
    let alive = [u64::MAX, (1 << 36) - 1];
    let listeners = Listeners {
        alive: &alive,
        count: 100,
        ..LISTENERS
    };
    let mut window = Window::default();
    let mut is_overtaken =
        |index, slot| due(window.deliver(&ledger, listeners, index, slot, 900.into())).1;
    let in_order = (0..100).filter(|index| *index != 70);
    assert_eq!(in_order.filter(|index| is_overtaken(*index, 99)).count(), 0);
    assert!(is_overtaken(70, 99));
    assert!(!is_overtaken(70, 98));
}

/// Clients 0 and 2 of this worker are in one room, 1 and 3 of the other worker in the other.
#[test]
fn samples_of_rooms_without_a_client_here_are_passed_over() {
    const ROOMS: Audience = Audience::Room(Rooms::Equal(2));
    let clients = 4;
    let workers = [(0, 2), (1, 2)].into_iter();
    let parties = ROOMS.parties(&[Population::default()], clients, workers);
    let ledger = StepLedger::new(terms(ROOMS, 50, clients, parties));
    let mut seats = Seats::default();
    (0..2).for_each(|slot| seats.enter(slot, 0, true));
    let listeners = Listeners {
        alive: &[0b11],
        count: 2,
        worker: 0,
        workers: 2,
        seats: Some(&seats),
    };
    let mut window = Window::default();
    let mut last = 0;
    while let Some((index, sender)) = ledger.release() {
        let sent = Sent {
            due_ns: 100,
            at_ns: 100,
            sender: sender as u32,
        };
        ledger.sent(index, sent);
        if ledger.room(index) == 0 {
            for slot in 0..2 {
                due(window.deliver(&ledger, listeners, index, slot, 900.into()));
            }
            due(window.result(&ledger, listeners, index, sent.sender / 2, 900.into()));
            last = index;
        }
    }
    assert_eq!(window.broadcasts.first, last + 1);
    assert!(last > 25, "{last}");
}

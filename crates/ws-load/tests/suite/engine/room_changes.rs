//! Clients that change rooms, or leave and come back to theirs, while messages flow.

use super::plan;
use crate::engine::common::run_undisturbed;
use ::plan::{Arrivals, Audience, ChangesRoom, Clients, ComesAndGoes, Life, Load, Nanos, OpenLoop, Plan, Population, Rooms};
use record::{Churn, End, Faults, StepRecord};
use std::net::SocketAddr;
use std::thread;
use test_servers::Framework;
use test_servers::fault::{Delivery, LossyServer};
use test_servers::liar::{LiarServer, Lie};

const CLIENTS: u32 = 20;
/// Those that do not stay.
const CHANGE: u64 = 10;
const SAMPLES: u64 = 1_200;

const CHANGES_ROOM: Life = Life::ChangesRoom(ChangesRoom {
    stays: Nanos::millis(1_500),
    away: Nanos::millis(50),
});

/// 50 messages a second to each of four rooms, for six seconds.
fn rooms(server: SocketAddr, life: Life) -> Plan {
    plan(server).with(|plan| {
        plan.audience = Audience::Room(Rooms::Equal(4));
        plan.load = Load::Open(OpenLoop {
            rate: 200.0,
            ramp: None,
            arrivals: Arrivals::Constant,
            duration: Nanos::secs(6),
            warm_up: Nanos(0),
        });
        plan.clients = Clients::steps(CLIENTS, 1, Some(1));
        plan.generator.threads = 2;
        plan.populations = vec![
            Population::default(),
            Population {
                life,
                ..Population::default()
            },
        ];
    })
}

fn carried_out(server: SocketAddr, life: Life) -> (StepRecord, Box<Churn>) {
    let measured = run_undisturbed(&rooms(server, life));
    assert_eq!(measured.outcome.end, End::StepsDone, "{:?}", measured.outcome);
    let [step] = &measured.steps[..] else {
        panic!("{:?}", measured.outcome);
    };
    assert_eq!(step.samples, SAMPLES);
    let churn = step.churn.clone().unwrap();
    assert_eq!(churn.clients, CHANGE);
    (step.clone(), churn)
}

/// The same against a server that leaves these out, and how many it has left out.
fn against(drops: fn(Delivery) -> bool, life: Life) -> (StepRecord, Box<Churn>, u64) {
    let server = LossyServer::start(drops).unwrap();
    let (step, churn) = carried_out(server.addr(), life);
    (step, churn, server.dropped())
}

/// What came without the messages to those that stay and the answers to all requests.
fn rest(step: &StepRecord, answers: u64) -> u64 {
    let stayed = step.delivery.as_ref().unwrap().count;
    step.generator.messages - stayed - SAMPLES - answers
}

#[test]
fn what_a_client_must_hear_changes_with_its_room() {
    thread::scope(|scope| {
        let honest = scope.spawn(|| against(|_| false, CHANGES_ROOM));
        // In the middle of a visit: known to the server, and passed by later messages if it lasts.
        let middle = scope.spawn(|| against(|of| of.resubscribed > 0 && of.nth == 5, CHANGES_ROOM));
        // Before the client has heard anything.
        let first = scope.spawn(|| against(|of| of.resubscribed > 0 && of.nth == 0, CHANGES_ROOM));

        let (step, churn, _) = honest.join().unwrap();
        assert!(step.faults.is_empty(), "{}", step.faults);
        let changes = churn.rooms.as_ref().unwrap();
        assert_eq!((changes.clients, changes.unanswered), (CHANGE, 0));
        // 40 in the mean; the draws are the same each time, the answers take their time.
        assert!(changes.left >= 15, "{changes:?}");
        assert!(changes.left - changes.joined <= CHANGE, "{changes:?}");
        assert_eq!(changes.join.as_ref().unwrap().count, changes.joined);
        assert_eq!(churn.visits, CHANGE + changes.joined);
        // 50 a second to each, less the times between rooms.
        assert!(churn.messages >= 1_500, "{churn:?}");
        assert_eq!(churn.messages, rest(&step, changes.left + changes.joined));
        assert_eq!((churn.attempts, churn.left, churn.disconnected), (0, 0, 0));

        let (step, churn, dropped) = middle.join().unwrap();
        assert!((1..=dropped).contains(&churn.lost), "{} {dropped}", churn.lost);
        let lost = Faults {
            lost: churn.lost,
            ..Faults::default()
        };
        assert_eq!(step.faults, lost);

        let (step, churn, dropped) = first.join().unwrap();
        assert!(dropped >= 10, "{dropped}");
        assert_eq!(churn.lost, 0);
        assert!(step.faults.is_empty(), "{}", step.faults);
    });
}

#[test]
fn a_room_that_was_left_must_be_silent() {
    let server = LiarServer::start_as(Lie::RoomKeepsLeavers, Framework::Plain).unwrap();
    let (step, churn) = carried_out(server.addr(), CHANGES_ROOM);
    let misdirected = step.faults.misdirected;
    assert!(misdirected > 100, "{}", step.faults);
    let expected = Faults {
        misdirected,
        ..Faults::default()
    };
    assert_eq!(step.faults, expected);
    assert!(churn.rooms.unwrap().joined >= 10);
}

#[test]
fn a_client_that_comes_back_is_in_its_room_again() {
    const COMES_AND_GOES: Life = Life::ComesAndGoes(ComesAndGoes {
        stays: Nanos::millis(1_500),
        away: Nanos::millis(50),
    });
    thread::scope(|scope| {
        let honest = scope.spawn(|| against(|_| false, COMES_AND_GOES));
        let middle = scope.spawn(|| {
            against(|of| of.connection >= CLIENTS.into() && of.nth == 5, COMES_AND_GOES)
        });
        let (step, churn, _) = honest.join().unwrap();
        assert!(step.faults.is_empty(), "{}", step.faults);
        assert!(churn.reconnected >= 10 && churn.rooms.is_none(), "{churn:?}");
        assert!(churn.messages >= 1_500, "{churn:?}");
        assert_eq!(churn.messages, rest(&step, 0));
        let (step, churn, dropped) = middle.join().unwrap();
        assert!((1..=dropped).contains(&churn.lost), "{} {dropped}", churn.lost);
        assert_eq!(step.faults.total(), churn.lost, "{}", step.faults);
    });
}

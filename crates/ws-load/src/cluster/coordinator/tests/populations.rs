//! Clients that no sample waits for, over sites: some of these have no others.

use super::{calmly, closed, plan, run};
use crate::Measured;
use ::plan::{
    Arrivals, Audience, Backoff, Clients, ComesAndGoes, Life, Load, Nanos, OpenLoop, Plan,
    Population, Reading, Reconnect, Rooms,
};
use record::{End, StepRecord};
use std::cell::Cell;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;
use test_servers::fault::{Delivery, LossyServer};
use test_servers::{Delay, DelayOptions, DelayServer, NullOptions, NullServer};

/// So many to one that stays and reads everything that of a few clients it is the first alone.
const NEARLY_ALL: u32 = 1_000;

fn slow(share: u32) -> Population {
    Population {
        share,
        reads: Reading::BytesPerSecond(4096),
        ..Population::default()
    }
}

fn comes_and_goes(share: u32, stays_ms: u64) -> Population {
    Population {
        share,
        life: Life::ComesAndGoes(ComesAndGoes {
            stays: Nanos::millis(stays_ms),
            away: Nanos::millis(50),
        }),
        reconnect: Reconnect::Backoff(Backoff {
            first: Nanos::millis(50),
            most: Nanos::millis(200),
            ..Backoff::default()
        }),
        ..Population::default()
    }
}

fn by_the_clock(rate: f64, seconds: u64) -> Load {
    Load::Open(OpenLoop {
        rate,
        ramp: None,
        arrivals: Arrivals::Constant,
        duration: Nanos::secs(seconds),
        warm_up: Nanos(0),
    })
}

fn with(addr: SocketAddr, audience: Audience, other: Population, load: Load) -> Plan {
    plan(addr).with(|plan| {
        plan.audience = audience;
        plan.populations = vec![Population::default(), other];
        plan.load = load;
    })
}

fn only_step(measured: &Measured) -> &StepRecord {
    let [step] = &measured.steps[..] else {
        panic!("{:?}", measured.outcome);
    };
    step
}

fn assert_passes(plan: &Plan, sites: usize) {
    let measured = calmly(|| run(plan, sites));
    let step = only_step(&measured);
    assert!(step.faults.is_empty(), "{}", step.faults);
    assert_eq!(
        measured.outcome.end,
        End::StepsDone,
        "{:?}",
        measured.outcome
    );
    assert_eq!(step.samples, step.samples_planned);
}

#[test]
fn samples_are_sent_by_clients_that_read_everything_at_whichever_site() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let [equal, members] = [Rooms::Equal(3), Rooms::Members(3)].map(Audience::Room);
    for audience in [Audience::Everyone, equal, members] {
        for other in [slow(1), slow(NEARLY_ALL)] {
            assert_passes(&with(server.addr(), audience, other, closed()), 2);
        }
    }
}

/// What is on its way when a client leaves is no loss. One site has clients that leave, and no other.
#[test]
fn a_message_that_other_sites_wait_for_need_not_have_come_to_a_client_that_left() {
    let server = DelayServer::start(DelayOptions {
        delay: Delay::Constant(Duration::from_millis(50)),
        ..DelayOptions::default()
    })
    .unwrap();
    let other = comes_and_goes(NEARLY_ALL, 300);
    let load = by_the_clock(100.0, 2);
    assert_passes(&with(server.addr(), Audience::Everyone, other, load), 2);
}

/// 10 messages a second in each of 20 rooms, whose members are clients of one site each, as far as there
/// are sites.
fn in_small_rooms(sites: usize, drops: fn(Delivery) -> bool) -> (Measured, u64) {
    const CLIENTS: u32 = 60;
    let server = LossyServer::start(drops).unwrap();
    let rooms = Audience::Room(Rooms::Members(3));
    let load = by_the_clock(200.0, 5);
    let plan = with(server.addr(), rooms, comes_and_goes(1, 1_000), load).with(|plan| {
        plan.clients = Clients::steps(CLIENTS, 10, Some(1));
    });
    (run(&plan, sites), server.dropped())
}

#[test]
fn what_clients_of_small_rooms_must_have_heard_does_not_depend_on_the_sites() {
    let takes_its_time = |_| {
        // timed: a message is on its way for longer; whatever that does, the server is honest.
        sleep(Duration::from_millis(1));
        false
    };
    let honest = calmly(|| in_small_rooms(4, takes_its_time).0);
    let step = only_step(&honest);
    assert!(step.faults.is_empty(), "{}", step.faults);
    assert!(step.churn.as_ref().unwrap().reconnected > 20);

    // In the middle of a visit: known to the server, and passed by later messages if it lasts.
    let dropped = Cell::new(0);
    let lossy = calmly(|| {
        let (measured, count) = in_small_rooms(2, |of| of.connection >= 60 && of.nth == 3);
        dropped.set(count);
        measured
    });
    let step = only_step(&lossy);
    let (lost, dropped) = (step.churn.as_ref().unwrap().lost, dropped.get());
    assert!((1..=dropped).contains(&lost), "{lost} of {dropped}");
    assert_eq!(step.faults.total(), lost, "{}", step.faults);
}

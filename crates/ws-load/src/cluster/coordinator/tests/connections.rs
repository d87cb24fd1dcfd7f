//! Connections that are opened and held by several sites.

use super::{Channel, Field, calmly, plan};
use crate::cluster::{ClockRelation, Site, run_on};
use crate::{Measured, RunError};
use ::plan::{Arrivals, Audience, Clients, Connect, Load, Nanos};
use record::{Drops, End, Event, Verdict};
use std::sync::{Arc, Mutex, mpsc};
use test_servers::{NullOptions, NullServer};

/// The clocks of the sites are seconds apart, from the coordinator's and from each other's.
const SITES: [ClockRelation; 2] = [
    ClockRelation {
        offset_ns: 5_000_000_000,
        bound_ns: 1000,
    },
    ClockRelation {
        offset_ns: -9_000_000_000,
        bound_ns: 1000,
    },
];

#[test]
fn each_site_opens_and_holds_its_share() {
    for rate in [None, Some(200.0)] {
        let measured = calmly(|| {
            let server = NullServer::start(NullOptions::default()).unwrap();
            let plan = plan(server.addr()).with(|plan| {
                plan.audience = Audience::Sender;
                plan.load = Load::Connect(Connect {
                    rate,
                    arrivals: Arrivals::Constant,
                    hold: Nanos(1_500_000_000),
                    ping_interval: Nanos(1_500_000_000),
                    ping_timeout: Nanos(1_500_000_000),
                });
                plan.generator.threads = 2;
                plan.clients = Clients::steps(20, 11, Some(2));
            });
            Field::new(&plan, &SITES).run(&plan, &false.into(), &mut |_| {})
        });
        assert_eq!(measured.outcome.end, End::StepsDone, "{measured:?}");
        for (step, (clients, added)) in measured.steps.iter().zip([(20, 20), (31, 11)]) {
            let of = step
                .connections
                .as_deref()
                .expect("a connect step has them");
            assert_eq!(
                (step.clients, of.planned, of.opened),
                (clients, added, added)
            );
            assert_eq!(step.completion.as_ref().unwrap().count, added);
            assert!(of.pings.sent >= clients, "{:?}", of.pings);
            assert_eq!(of.pings.answered, of.pings.sent);
            assert_eq!(of.drops, Drops::default());
            // A rate that the seconds between the clocks were part of would be below four.
            assert!(of.opened_per_second > 5.0, "{}", of.opened_per_second);
            let shares: Vec<u64> = step.sites.iter().map(|site| site.clients).collect();
            assert_eq!(shares, [clients.div_ceil(2), clients / 2]);
        }
    }
}

/// 40 connections at 10 per second, held for long. The second site is lost at the first event that
/// `when` is true for.
fn loses_a_site(when: impl Fn(&Event) -> bool) -> Measured {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let plan = plan(server.addr()).with(|plan| {
        plan.audience = Audience::Sender;
        plan.load = Load::Connect(Connect {
            rate: Some(10.0),
            arrivals: Arrivals::Constant,
            hold: Nanos(600_000_000_000),
            ping_interval: Nanos(1_000_000_000),
            ping_timeout: Nanos(1_000_000_000),
        });
        plan.clients = Clients::steps(40, 10, Some(1));
    });
    let field = Field::new(&plan, &[ClockRelation::default(); 2]);
    let (channel, said) = (field.channels[1].clone(), field.said.clone());
    let mut is_lost = false;
    field.run(&plan, &false.into(), &mut |event| {
        if !is_lost && when(event) {
            is_lost = true;
            Field::lose(&channel, 1, &said);
        }
    })
}

/// The step is there with the figures of the site that is left, and says what it is.
#[track_caller]
fn assert_partial(measured: &Measured) {
    assert_eq!(measured.outcome.end, End::WorkerLost, "{measured:?}");
    let [step] = measured.steps.as_slice() else {
        panic!("{measured:?}");
    };
    assert_eq!(step.verdict, Verdict::Noisy);
    let reasons = step.verdict_reasons.join("; ");
    assert!(reasons.contains("worker site-1 was lost"), "{reasons}");
    let of = step.connections.as_deref().unwrap();
    assert_eq!(of.planned, 40);
    assert!((1..=20).contains(&of.opened), "{}", of.opened);
    assert_eq!(step.completion.as_ref().unwrap().count, of.opened);
}

#[test]
fn a_site_that_is_lost_while_connections_are_opened_leaves_what_the_others_measured() {
    let measured = loses_a_site(
        |event| matches!(event, Event::Connecting { connected, .. } if *connected >= 8),
    );
    assert_partial(&measured);
    assert_eq!(measured.steps[0].connections.as_ref().unwrap().held_ns, 0);
}

#[test]
fn a_site_that_is_lost_while_connections_are_held_leaves_what_the_others_measured() {
    let measured =
        loses_a_site(|event| matches!(event, Event::Holding { held_ns, .. } if *held_ns > 0));
    assert_partial(&measured);
    let of = measured.steps[0].connections.as_deref().unwrap();
    assert_eq!(of.opened, 20);
    assert!(of.held_ns > 0);
}

#[test]
fn more_sites_than_handshakes_at_once_are_refused() {
    let plan = plan(([127, 0, 0, 1], 1).into()).with(|plan| plan.connection.at_once = 1);
    let sites = SITES.map(|clock| Site {
        name: "site".to_owned(),
        transport: Box::new(Arc::new(Channel {
            commands: Mutex::new(None),
            clock,
        })),
    });
    let (_, heard) = mpsc::channel();
    let refused = run_on(&plan, sites.into(), heard, None, &false.into(), &mut |_| {});
    let error = refused.unwrap_err();
    let is_told = matches!(
        error,
        RunError::TooManySites {
            sites: 2,
            at_once: 1
        }
    );
    assert!(is_told, "{error}");
}

//! Connections that are opened and held: every one is counted, and every one that ends.

use super::plan;
use crate::engine::common::{CLOSED, run};
use ::plan::{Arrivals, Audience, Clients, Connect, Load, Nanos, Plan};
use record::{Connections, Drops, End, StepRecord, Verdict};
use std::net::SocketAddr;
use test_servers::fault::{Fault, FaultServer};
use test_servers::{Framework, NullOptions, NullServer};

/// Forty connections, held for at least one ping of each. The time-out is longer than any pause of a
/// busy machine.
fn held(addr: SocketAddr, rate: Option<f64>) -> Plan {
    plan(addr).with(|plan| { plan.audience = Audience::Sender; plan.load = Load::Connect(Connect {
            rate,
            arrivals: Arrivals::Poisson,
            hold: Nanos(3_000_000_000),
            ping_interval: Nanos(3_000_000_000),
            ping_timeout: Nanos(3_000_000_000),
        }); plan.generator.threads = 2; plan.clients = Clients::steps(40, 10, Some(1)); })
}

fn connections(step: &StepRecord) -> &Connections {
    step.connections
        .as_deref()
        .expect("a connect step has them")
}

#[test]
fn all_are_opened_pinged_and_answered_with_and_without_a_clock() {
    for rate in [None, Some(200.0)] {
        let server = NullServer::start(NullOptions::default()).unwrap();
        let mut plan = held(server.addr(), rate);
        plan.clients = Clients::steps(40, 10, Some(2));
        // A busy machine keeps no rate: such a run says so, and is made again.
        let mut runs = (0..20).map(|_| run(&plan));
        let measured = runs
            .find(|of| of.outcome.end != End::GeneratorLimited)
            .expect("a run that kept its rate");
        assert_eq!(
            measured.outcome.end,
            End::StepsDone,
            "{:?}",
            measured.outcome
        );
        for (step, (clients, added)) in measured.steps.iter().zip([(40, 40), (50, 10)]) {
            let of = connections(step);
            assert_eq!(
                (step.clients, of.planned, of.opened),
                (clients, added, added)
            );
            assert_eq!(step.rate, rate);
            assert_eq!(step.send_lag.is_some(), rate.is_some());
            assert_eq!(step.completion.as_ref().unwrap().count, added);
            assert_eq!(of.tcp.as_ref().unwrap().count, added);
            assert!(of.tcp.as_ref().unwrap().max_ns <= step.completion.as_ref().unwrap().max_ns);
            assert!(of.pings.sent >= clients, "{:?}", of.pings);
            assert_eq!(of.pings.answered, of.pings.sent);
            assert_eq!(of.pings.round_trip.as_ref().unwrap().count, of.pings.sent);
            assert_eq!(of.drops, Drops::default());
            assert!(of.held_ns >= 3_000_000_000);
            assert!(step.faults.is_empty());
        }
    }
}

/// What is received while connections are held is the pongs.
#[test]
fn a_step_counts_its_own_messages_and_none_of_the_steps_before() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let mut plan = held(server.addr(), None);
    plan.clients = Clients::steps(40, 10, Some(3));
    if let Load::Connect(connect) = &mut plan.load {
        connect.hold = Nanos(300_000_000);
        connect.ping_interval = Nanos(300_000_000);
    }
    let measured = run(&plan);
    assert_eq!(measured.steps.len(), 3);
    for step in &measured.steps {
        let answered = connections(step).pings.answered;
        assert!(answered >= step.clients);
        assert_eq!(step.generator.messages, answered);
    }
}

#[test]
fn the_schedule_is_kept_whatever_the_server_does() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let measured = run(&held(server.addr(), Some(50.0)));
    let of = connections(&measured.steps[0]);
    // Forty starts at fifty per second, by chance a little faster. Without the schedule this server
    // would take all of them at once: it takes thousands per second.
    assert!(of.opened_per_second < 200.0, "{}", of.opened_per_second);
}

#[test]
fn exactly_the_connections_that_end_are_dropped_each_in_its_class() {
    let drops = Drops::default();
    for (fault, count, expected) in [
        (Fault::ResetsAtPing, 3, Drops { reset: 3, ..drops }),
        (Fault::ClosesAtPing, 5, Drops { closed: 5, ..drops }),
        (
            Fault::IgnoresPings,
            4,
            Drops {
                unanswered: 4,
                ..drops
            },
        ),
        (
            Fault::SpoilsPongs,
            2,
            Drops {
                unanswered: 2,
                ..drops
            },
        ),
    ] {
        let server = FaultServer::start(fault, count).unwrap();
        let measured = run(&held(server.addr(), Some(400.0)));
        let step = &measured.steps[0];
        let of = connections(step);
        assert_eq!(of.drops, expected, "{fault:?}");
        assert_eq!(step.faults.disconnected, count, "{fault:?}");
        assert_eq!(step.faults.total(), count, "{fault:?}");
        let pings = &of.pings;
        assert_eq!(
            pings.sent,
            pings.answered + pings.unanswered + pings.cut_off
        );
        assert_eq!(pings.unanswered, expected.unanswered, "{fault:?}");
        let spoilt = if fault == Fault::SpoilsPongs {
            count
        } else {
            0
        };
        assert_eq!(pings.unasked_pongs, spoilt);
        assert_eq!(step.verdict, Verdict::Fail);
        assert_eq!(measured.outcome.end, End::ServerLost);
    }
}

#[test]
fn a_server_that_answers_no_ping_at_all_loses_everyone() {
    let server = FaultServer::start(Fault::IgnoresPings, u64::MAX).unwrap();
    let mut plan = held(server.addr(), None);
    if let Load::Connect(connect) = &mut plan.load {
        connect.hold = Nanos::secs(60);
    }
    // Ends long before the minute is over: no connection is left to hold.
    let measured = run(&plan);
    let of = connections(&measured.steps[0]);
    assert_eq!(of.drops.unanswered, 40);
    assert_eq!((of.pings.sent, of.pings.unanswered), (40, 40));
    assert!(of.held_ns < 30_000_000_000);
}

#[test]
fn connections_that_are_not_upgraded_are_failures_and_the_others_are_held() {
    let server = FaultServer::start(Fault::NeverAnswers, 1).unwrap();
    let mut plan = held(server.addr(), Some(1000.0));
    plan.connection.timeout = Nanos(300_000_000);
    let measured = run(&plan);
    let (step, outcome) = (&measured.steps[0], &measured.outcome);
    assert_eq!((connections(step).opened, step.faults.refused), (0, 40));
    assert_eq!(outcome.end, End::ConnectFailed);
    assert!(
        outcome.detail.contains("0 of 40 connections were opened"),
        "{}",
        outcome.detail
    );
    assert!(
        outcome.detail.contains("connection.timeout"),
        "{}",
        outcome.detail
    );
}

#[test]
fn a_port_without_a_listener_is_named() {
    for rate in [None, Some(1000.0)] {
        let measured = run(&held(CLOSED, rate));
        assert_eq!(measured.outcome.end, End::ConnectFailed);
        assert_eq!(measured.steps[0].faults.refused, 40);
        assert!(measured.outcome.detail.contains("refused the connection"));
    }
}

#[test]
fn a_subscription_is_part_of_the_opening() {
    for framework in [Framework::Phoenix, Framework::ActionCable] {
        let server = FaultServer::start_as(Fault::Drops, 0, framework).unwrap();
        let mut plan = held(server.addr(), None);
        plan.message.dialect = match framework {
            Framework::Phoenix => ::plan::Dialect::Phoenix,
            _ => ::plan::Dialect::ActionCable,
        };
        let measured = run(&plan);
        assert_eq!(connections(&measured.steps[0]).opened, 40, "{framework:?}");
        assert!(measured.steps[0].faults.is_empty());
    }
}

//! A server that loses messages while clients are cut off and come back: what counts as its loss, and
//! what may be the storm's.

use super::plan;
use crate::engine::common::run_undisturbed;
use ::plan::{Arrivals, Audience, Backoff, Clients, Cut, Life, Load, Nanos, OpenLoop, Plan, Population, Reconnect};
use record::{End, StepRecord};
use std::net::SocketAddr;
use std::thread;
use test_servers::fault::{Delivery, LossyServer};

const CLIENTS: u32 = 20;
/// Those that are cut, half a second after the first of 600 broadcasts, and back soon after.
const CUT: u64 = 10;
const BROADCASTS: u64 = 600;

fn storm(server: SocketAddr) -> Plan {
    plan(server).with(|plan| {
        plan.audience = Audience::Everyone;
        plan.load = Load::Open(OpenLoop {
            rate: 100.0,
            ramp: None,
            arrivals: Arrivals::Constant,
            duration: Nanos::secs(6),
            warm_up: Nanos(0),
        });
        plan.clients = Clients::steps(CLIENTS, 1, Some(1));
        plan.generator.threads = 2;
        // What is lost is waited for until all have been sent.
        plan.limits.sample_timeout = Nanos::secs(7);
        let reconnect = Reconnect::Backoff(Backoff {
            first: Nanos::millis(100),
            most: Nanos::millis(400),
            ..Backoff::default()
        });
        plan.populations = vec![
            Population::default(),
            Population {
                life: Life::Cut(Cut {
                    at: Nanos::millis(500),
                }),
                reconnect,
                ..Population::default()
            },
        ];
    })
}

/// The step of a storm against a server that leaves these out, and how many it has left out.
fn against(drops: fn(Delivery) -> bool) -> (StepRecord, u64) {
    let server = LossyServer::start(drops).unwrap();
    let measured = run_undisturbed(&storm(server.addr()));
    assert_ne!(
        measured.outcome.end,
        End::Interrupted,
        "{:?}",
        measured.outcome
    );
    let [step] = &measured.steps[..] else {
        panic!("{:?}", measured.outcome);
    };
    (step.clone(), server.dropped())
}

/// True of the connection of a client that has come back.
const fn is_back(delivery: Delivery) -> bool {
    delivery.connection >= CLIENTS as u64
}

#[test]
fn only_what_a_client_must_have_heard_is_lost_by_the_server() {
    thread::scope(|scope| {
        let runs = [
            // In the middle of a visit: known to the server, and passed by later messages.
            scope.spawn(|| {
                let (step, dropped) = against(|of| is_back(of) && of.nth == 20);
                (step, dropped, CUT)
            }),
            // At its beginning, before the client has heard anything, and in the last second before
            // the step ends.
            scope.spawn(|| {
                let (step, dropped) =
                    against(|of| is_back(of) && (of.nth < 5 || of.broadcast + 60 >= BROADCASTS));
                (step, dropped, 0)
            }),
        ];
        for run in runs {
            let (step, dropped, lost) = run.join().unwrap();
            assert!(dropped >= CUT, "{dropped}");
            let churn = step.churn.as_ref().unwrap();
            assert_eq!(churn.reconnected, CUT, "{churn:?}");
            assert_eq!((churn.lost, step.faults.lost), (lost, lost), "{churn:?}");
            assert_eq!(step.faults.total(), lost, "{}", step.faults);
            // No sample waits for those that left.
            assert_eq!(step.samples, BROADCASTS);
        }
    });
}

/// Of a client that stays each message is required, storm or not.
#[test]
fn a_bystander_must_hear_everything_during_the_storm() {
    // The cut is due with the 51st broadcast.
    let (step, dropped) = against(|of| of.connection < CLIENTS.into() && of.broadcast == 60);
    let churn = step.churn.as_ref().unwrap();
    // The cut ones have gone by then, as far as the server knows already.
    assert!((10..=20).contains(&dropped), "{dropped}");
    assert_eq!((churn.lost, step.faults.lost), (0, 10), "{churn:?}");
    assert_eq!(step.faults.total(), 10, "{}", step.faults);
    assert_eq!(step.samples, BROADCASTS - 1);
}

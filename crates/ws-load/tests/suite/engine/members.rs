//! Rooms in which samples wait for some of the clients only: who publishes, and what is waited for.
//!
//! The server is one of Phoenix's kind: it refuses a publisher that is not subscribed.

use super::plan;
use crate::engine::common::run_undisturbed;
use ::plan::{Arrivals, Audience, Clients, ComesAndGoes, Dialect, Life, Load, Nanos, OpenLoop, Plan, Population, Reading, Rooms};
use record::{End, StepRecord};
use test_servers::Framework;
use test_servers::liar::{LiarServer, Lie};

const CLIENTS: u32 = 20;

fn server() -> LiarServer {
    LiarServer::start_as(Lie::None, Framework::Phoenix).unwrap()
}

fn closed() -> Load {
    Load::closed(4, 60)
}

fn open() -> Load {
    Load::Open(OpenLoop {
        rate: 100.0,
        ramp: None,
        arrivals: Arrivals::Constant,
        duration: Nanos::secs(1),
        warm_up: Nanos(0),
    })
}

/// A population that reads slowly, with so many clients to each one that reads everything.
fn slow(share: u32) -> Population {
    Population {
        share,
        reads: Reading::BytesPerSecond(4096),
        ..Population::default()
    }
}

fn rooms(server: &LiarServer, rooms: Rooms, other: Population) -> Plan {
    plan(server.addr()).with(|plan| {
        plan.target.url = format!("ws://{}/socket/websocket", server.addr());
        plan.audience = Audience::Room(rooms);
        plan.message.dialect = Dialect::Phoenix;
        plan.message.padding = 30;
        plan.clients = Clients::steps(CLIENTS, 1, Some(1));
        plan.populations = vec![Population::default(), other];
    })
}

/// The only step of a run in which the server does everything right.
fn passed(plan: &Plan) -> StepRecord {
    let measured = run_undisturbed(plan);
    let [step] = &measured.steps[..] else {
        panic!("{:?}", measured.outcome);
    };
    assert!(step.faults.is_empty(), "{}", step.faults);
    assert_eq!(measured.outcome.end, End::StepsDone, "{:?}", measured.outcome);
    assert_eq!(step.samples, step.samples_planned);
    step.clone()
}

#[test]
fn a_publisher_is_of_the_room_whoever_reads_slowly() {
    let server = server();
    for (sizes, threads, load) in [
        (Rooms::Equal(4), 1, closed()),
        (Rooms::Members(5), 3, closed()),
        (Rooms::Equal(4), 2, open()),
    ] {
        let step = passed(&rooms(&server, sizes, slow(1)).with(|plan| {
            plan.load = load;
            plan.generator.threads = threads;
        }));
        // The results of all reach clients that read everything.
        assert_eq!(step.ack.unwrap().count, step.samples, "{sizes:?} {threads}");
        assert!(step.slow_readers.unwrap().messages > 0);
    }
}

/// All clients are in one room, and samples wait for one of them.
#[test]
fn a_worker_without_a_client_that_samples_wait_for_holds_nothing_up() {
    let server = server();
    for (threads, load) in [(2, closed()), (8, closed()), (3, open())] {
        let step = passed(&rooms(&server, Rooms::Equal(1), slow(1_000)).with(|plan| {
            plan.load = load;
            plan.generator.threads = threads;
        }));
        assert_eq!(step.delivery.unwrap().count, step.samples);
        assert_eq!(step.ack.unwrap().count, step.samples);
    }
}

/// Each client has a room for itself, and half of them read slowly, or come and go.
#[test]
fn a_room_without_a_client_that_samples_wait_for_gets_no_messages() {
    let server = server();
    let leaves = Population {
        life: Life::ComesAndGoes(ComesAndGoes {
            stays: Nanos::millis(500),
            away: Nanos::millis(50),
        }),
        ..Population::default()
    };
    for other in [slow(1), leaves] {
        let step = passed(&rooms(&server, Rooms::Members(1), other).with(|plan| {
            plan.load = open();
            plan.generator.threads = 2;
        }));
        assert_eq!(step.delivery.unwrap().count, step.samples);
        assert_eq!(step.ack.unwrap().count, step.samples);
        assert_eq!(step.slow_readers.map_or(0, |slow| slow.messages), 0);
        assert_eq!(step.churn.map_or(0, |churn| churn.messages), 0);
    }
}

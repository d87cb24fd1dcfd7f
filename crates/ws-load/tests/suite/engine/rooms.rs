//! Rooms: each message to every client of its room, once, and to no other client.

use super::plan;
use crate::engine::common::run_undisturbed;
use ::plan::{Arrivals, Audience, Clients, Load, Nanos, OpenLoop, Plan, Rooms, Zipf};
use record::{Faults, StepRecord, Verdict};
use test_servers::fault::{Fault, FaultServer};
use test_servers::Framework;
use test_servers::liar::{LiarServer, Lie};

const CLIENTS: u32 = 20;
const MEMBERS: u64 = 5;
const SAMPLES: u32 = 30;

fn rooms(addr: std::net::SocketAddr, rooms: Rooms) -> Plan {
    plan(addr).with(|plan| {
        plan.audience = Audience::Room(rooms);
        plan.load = Load::closed(4, SAMPLES);
        plan.clients = Clients::steps(CLIENTS, 1, Some(1));
    })
}

fn only_step(plan: &Plan) -> StepRecord {
    let measured = run_undisturbed(plan);
    let [step] = &measured.steps[..] else {
        panic!("{measured:?}");
    };
    step.clone()
}

/// Deliveries, results and messages of a step without a fault.
fn counts(step: &StepRecord) -> (u64, u64, u64) {
    assert_eq!(step.verdict, Verdict::Pass, "{:?}", step.verdict_reasons);
    assert!(step.faults.is_empty(), "{}", step.faults);
    let count = |latency: &Option<record::Latency>| latency.as_ref().unwrap().count;
    assert_eq!(count(&step.completion), step.samples);
    let (delivery, ack) = (count(&step.delivery), count(&step.ack));
    (delivery, ack, step.generator.messages)
}

#[test]
fn every_message_reaches_its_room_and_the_result_its_publisher() {
    let server = LiarServer::start_as(Lie::None, Framework::Plain).unwrap();
    let samples = u64::from(SAMPLES);
    for sizes in [Rooms::Equal(4), Rooms::Members(5)] {
        for threads in [1, 3] {
            for padding in [0, 70_000] {
                let step = only_step(&rooms(server.addr(), sizes).with(|plan| {
                    plan.generator.threads = threads;
                    plan.message.padding = padding;
                }));
                let all = (samples * MEMBERS, samples, samples * (MEMBERS + 1));
                assert_eq!(counts(&step), all);
            }
        }
    }
}

#[test]
fn rooms_of_different_sizes_get_what_is_sent_by_the_clock() {
    let server = LiarServer::start_as(Lie::None, Framework::Plain).unwrap();
    let zipf = Zipf {
        rooms: 7,
        exponent: 1.2,
    };
    let step = only_step(&rooms(server.addr(), Rooms::Zipf(zipf)).with(|plan| {
        plan.generator.threads = 2;
        plan.load = Load::Open(OpenLoop {
            rate: 200.0,
            ramp: None,
            arrivals: Arrivals::Poisson,
            duration: Nanos::secs(1),
            warm_up: Nanos(0),
        });
    }));
    let (deliveries, results, messages) = counts(&step);
    assert_eq!(results, step.samples);
    assert_eq!(messages, deliveries + results);
    assert!((results + 1..results * u64::from(CLIENTS)).contains(&deliveries));
}

#[test]
fn each_way_to_miss_a_room_is_counted_exactly_and_by_its_name() {
    let samples = u64::from(SAMPLES);
    let strangers = (u64::from(CLIENTS) - MEMBERS) * samples;
    let expected = [
        (Lie::RoomReachesStrangers, 300, Faults { misdirected: strangers, ..Faults::default() }),
        (Lie::RoomDeliversTwice, 300, Faults { duplicate: samples, ..Faults::default() }),
        (Lie::RoomSpoils, 1000, Faults { corrupt: samples, ..Faults::default() }),
        // The first one ends the step: nothing comes after it.
        (Lie::RoomForgetsOne, 300, Faults { lost: 1, ..Faults::default() }),
    ];
    for (lie, padding, faults) in expected {
        let server = LiarServer::start_as(lie, Framework::Plain).unwrap();
        let step = only_step(&rooms(server.addr(), Rooms::Members(5)).with(|plan| {
            plan.load = Load::closed(1, SAMPLES);
            plan.message.padding = padding;
            plan.generator.threads = 2;
            plan.limits.time = Nanos::secs(3);
            plan.limits.sample_timeout = Nanos::secs(4);
        }));
        assert_eq!(step.faults, faults, "{lie:?}");
    }
}

#[test]
fn a_server_that_confirms_no_subscription_is_told_as_one() {
    let server = FaultServer::start(Fault::Freezes, 0).unwrap();
    let mut plan = rooms(server.addr(), Rooms::Members(5));
    plan.connection.timeout = Nanos::secs(1);
    let measured = run_undisturbed(&plan);
    assert!(measured.steps.is_empty());
    let words = format!("{:?}", measured.outcome);
    assert!(words.contains("did not answer as a server of text does"), "{words}");
}

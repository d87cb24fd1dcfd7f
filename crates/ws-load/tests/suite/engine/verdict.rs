//! A verdict blames the side that was the limit.

use super::plan;
use crate::engine::common::run;
use ::plan::{Arrivals, Audience, Clients, Load, Nanos, OpenLoop, Plan, Search, SearchOf, Timestamps};
use record::{End, StepRecord, Verdict};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use test_servers::{NullOptions, NullServer};

const MS: u64 = 1_000_000;

fn server() -> NullServer {
    NullServer::start(NullOptions::default()).unwrap()
}

fn at(rate: f64) -> Load {
    Load::Open(OpenLoop {
        rate,
        ramp: None,
        arrivals: Arrivals::Poisson,
        duration: Nanos(300 * MS),
        warm_up: Nanos(100 * MS),
    })
}

/// One step of echoes, one at a time.
fn echoes(addr: SocketAddr) -> Plan {
    plan(addr).with(|plan| { plan.audience = Audience::Sender; plan.load = Load::closed(1, 300); plan.clients = Clients::steps(10, 10, Some(1)); })
}

#[test]
fn littles_law_holds_in_both_loops_with_both_stamps() {
    let server = server();
    for audience in [Audience::Sender, Audience::Everyone] {
        for timestamps in [Timestamps::User, Timestamps::Kernel] {
            for load in [Load::closed(4, 300), at(500.0)] {
                let plan = echoes(server.addr()).with(|plan| {
                    plan.audience = audience;
                    plan.generator.timestamps = timestamps;
                    plan.load = load.clone();
                });
                match load {
                    // A thread that loses its core sends late: that four are under way is seen in the
                    // best of several runs, and the law in each.
                    Load::Closed(_) => {
                        let seen = (0..10).map(|_| lawful(&plan).in_flight.unwrap().seen);
                        let most = seen.inspect(|seen| assert!(*seen <= 4.0)).find(|seen| *seen >= 2.0);
                        assert!(most.is_some(), "{audience:?} {timestamps:?}");
                    }
                    // The time that was not timed is not in the throughput either.
                    _ => {
                        let step = lawful(&plan);
                        assert_eq!(step.sent, Some(step.samples_planned));
                    }
                }
            }
        }
    }
}

/// The only step of a run, of which Little's law holds. One that the machine cut short has no such figure,
/// and is made again.
fn lawful(plan: &Plan) -> StepRecord {
    let mut steps = (0..20).map(|_| run(plan).steps.swap_remove(0));
    let step = steps.find(|step| step.in_flight.is_some()).expect("a whole step");
    let law = step.in_flight.unwrap();
    assert!(law.deviation < 0.01, "{law:?} of {plan:?}");
    assert!(law.unread_ns <= law.known_after_ns);
    let is_kernel = plan.generator.timestamps == Timestamps::Kernel;
    assert_eq!(law.unread_ns > 0.0, is_kernel, "{law:?}");
    step
}

#[test]
fn a_load_near_the_ceiling_excuses_a_failure_and_takes_no_success() {
    let server = server();
    let against = |ceiling: Option<f64>, limit_ns: u64| {
        let mut plan = echoes(server.addr());
        plan.limits.time = Nanos(limit_ns);
        ws_load::run_with_ceiling(&plan, ceiling, &AtomicBool::new(false), &mut |_| {}).unwrap()
    };
    let limited = against(Some(1.0), 1);
    assert_eq!(limited.outcome.end, End::GeneratorLimited);
    assert_eq!(limited.steps[0].verdict, Verdict::GeneratorLimited);
    assert!(
        limited.outcome.detail.contains("`selftest`"),
        "{:?}",
        limited.outcome
    );
    for ceiling in [None, Some(1e9)] {
        let failed = against(ceiling, 1);
        assert_eq!(failed.outcome.end, End::OverLimit, "{:?}", failed.outcome);
        assert_eq!(failed.steps[0].verdict, Verdict::Fail);
    }
    let passed = against(Some(1.0), 5_000 * MS);
    assert_eq!(passed.outcome.end, End::StepsDone);
    assert_eq!(passed.outcome.carried_clients, Some(10));
    assert_eq!(passed.steps[0].verdict_reasons.len(), 1);
}

#[test]
fn a_search_ends_where_the_generator_does_and_blames_no_server() {
    let server = server();
    let measured = run(&echoes(server.addr()).with(|plan| { plan.load = at(5e6); plan.clients = Clients::Search(Search {
            of: SearchOf::Rate,
            first: 10,
            tries: 3,
            precision: 0.05,
        }); }));
    assert_eq!(
        measured.outcome.end,
        End::GeneratorLimited,
        "{:?}",
        measured.outcome
    );
    // Once might have been a bad moment of the machine.
    assert_eq!(measured.steps.len(), 5);
    let edge = measured.outcome.edge.unwrap();
    assert_eq!((edge.passed, edge.failed), (None, None));
    assert!(
        measured.outcome.detail.contains("lower load.open.rate"),
        "{:?}",
        measured.outcome
    );
}

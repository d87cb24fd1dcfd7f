//! Sends by the clock: as many as planned, timed from the planned moment, whatever the server does.

use super::plan;
use crate::engine::common::run_undisturbed;
use ::plan::{Arrivals, Audience, Clients, Dialect, Load, Nanos, OpenLoop, Ramp};
use record::End;
use test_servers::fault::{Fault, FaultServer};
use test_servers::{NullOptions, NullServer};

const MS: u64 = 1_000_000;

fn at(rate: f64) -> OpenLoop {
    OpenLoop {
        rate,
        ramp: None,
        arrivals: Arrivals::Constant,
        duration: Nanos(400 * MS),
        warm_up: Nanos(0),
    }
}

fn server() -> NullServer {
    NullServer::start(NullOptions::default()).unwrap()
}

#[test]
fn every_planned_send_is_made_and_accounted_for_on_any_number_of_threads() {
    let server = server();
    for audience in [Audience::Everyone, Audience::Sender] {
        for threads in [1, 3] {
            for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
                let measured = run_undisturbed(&plan(server.addr()).with(|plan| { plan.audience = audience; plan.generator.threads = threads; plan.message.dialect = Dialect::Binary; plan.load = Load::Open(OpenLoop {
                        arrivals,
                        ..at(250.0)
                    }); }));
                assert_eq!(measured.outcome.end, End::StepsDone, "{measured:?}");
                for step in &measured.steps {
                    assert!(step.faults.is_empty(), "{}", step.faults);
                    assert_eq!(step.samples, step.samples_planned);
                    if arrivals == Arrivals::Constant {
                        assert_eq!(step.samples_planned, 100);
                    }
                    for latency in [&step.completion, &step.uncorrected, &step.send_lag] {
                        assert_eq!(latency.as_ref().unwrap().count, step.samples);
                    }
                    // The last of 100 sends at 250 a second is due after 396 ms.
                    assert!(step.elapsed_ns > 300 * MS, "{}", step.elapsed_ns);
                }
            }
        }
    }
}

#[test]
fn the_warm_up_is_sent_and_not_timed() {
    let server = server();
    let measured = run_undisturbed(&plan(server.addr()).with(|plan| { plan.load = Load::Open(OpenLoop {
            warm_up: Nanos(100 * MS),
            ramp: Some(Ramp {
                to: 200.0,
                over: Nanos(100 * MS),
            }),
            ..at(200.0)
        }); plan.clients = Clients::steps(10, 10, Some(1)); }));
    let step = &measured.steps[0];
    assert_eq!((step.samples_planned, step.samples), (80, 80));
    assert_eq!(step.delivery.as_ref().unwrap().count, 80 * step.clients);
    assert_eq!(step.generator.messages, 100 * (step.clients + 1));
}

#[test]
fn a_server_that_stops_answering_moves_no_send() {
    let server = FaultServer::start(Fault::Freezes, 10).unwrap();
    let mut plan = plan(server.addr()).with(|plan| { plan.audience = Audience::Sender; plan.load = Load::Open(at(250.0)); plan.clients = Clients::steps(10, 10, Some(1)); });
    plan.limits.sample_timeout = Nanos::secs(3);
    plan.limits.time = Nanos::secs(2);
    let measured = run_undisturbed(&plan);
    assert_eq!(measured.outcome.end, End::TimedOut, "{measured:?}");
    let step = &measured.steps[0];
    assert_eq!((step.samples_planned, step.samples), (100, 10));
    // All the others were sent nevertheless, and are missing.
    assert_eq!(step.faults.lost, 90, "{}", step.faults);
}

#[test]
fn a_schedule_without_a_send_to_time_is_told() {
    let server = server();
    let measured = run_undisturbed(&plan(server.addr()).with(|plan| { plan.load = Load::Open(at(0.001)); }));
    // The first send of a constant rate is due at once; with a warm-up nothing is left to time.
    assert_eq!(measured.steps[0].samples, 1);
    let measured = run_undisturbed(&plan(server.addr()).with(|plan| { plan.load = Load::Open(OpenLoop {
            warm_up: Nanos(MS),
            ..at(0.001)
        }); }));
    assert!(measured.steps.is_empty());
    assert!(
        measured
            .outcome
            .detail
            .contains("1 sends, 1 of them in the warm-up"),
        "{}",
        measured.outcome.detail
    );
}

//! What a run over sites counts and times when the server is right.

use super::{calmly, echo, kernel_stamps, open, plan, run};
use crate::Measured;
use ::plan::{Clients, Load, Measure, Nanos, Search, SearchOf};
use record::{End, Faults, Latency, StepRecord, Verdict};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, NullOptions, NullServer};

fn only_step(measured: &Measured) -> &StepRecord {
    assert_eq!(measured.outcome.end, End::StepsDone, "{measured:?}");
    assert_eq!(measured.steps.len(), 1);
    let step = &measured.steps[0];
    assert_eq!(step.faults, Faults::default());
    assert_eq!(step.verdict, Verdict::Pass, "{:?}", step.verdict_reasons);
    step
}

fn count(latency: &Option<Latency>) -> u64 {
    latency.as_ref().map_or(0, |latency| latency.count)
}

#[test]
fn a_closed_loop_broadcast_is_whole_on_any_number_of_sites_and_threads() {
    for (sites, threads) in [(1, 1), (2, 1), (3, 1), (2, 2)] {
        let server = NullServer::start(NullOptions::default()).unwrap();
        let plan = kernel_stamps(plan(server.addr()).with(|plan| {
            plan.generator.threads = threads;
            plan.load = Load::closed(4, 50);
        }));
        let measured = run(&plan, sites);
        let step = only_step(&measured);
        assert_eq!((step.clients, step.samples), (10, 50));
        assert_eq!(count(&step.completion), 50);
        assert_eq!(count(&step.delivery), 500);
        assert_eq!(count(&step.ack), 50);
        assert_eq!(step.generator.messages, 550);
        // All but the four that filled the loop were released.
        assert_eq!(count(&step.release_delay), 46);
        let law = step.in_flight.expect("the step is complete");
        assert!(law.deviation < 0.05, "{law:?}");

        let clients: Vec<u64> = step.sites.iter().map(|site| site.clients).collect();
        assert_eq!(clients.len(), sites);
        assert_eq!(clients.iter().sum::<u64>(), 10);
        assert!(clients.iter().max().unwrap() - clients.iter().min().unwrap() <= 1);
        for (number, site) in step.sites.iter().enumerate() {
            assert_eq!(site.name.as_str(), format!("site-{number}"));
            assert!(site.messages >= 50 * site.clients && site.resident_bytes > 0);
            assert_eq!((site.samples_planned, site.sent), (None, None));
        }
    }
}

#[test]
fn an_echo_is_timed_where_it_is_sent() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let measured = run(&echo(plan(server.addr())), 2);
    let step = only_step(&measured);
    assert_eq!((step.samples, count(&step.completion)), (20, 20));
    assert_eq!((count(&step.delivery), step.generator.messages), (0, 20));
    assert!(step.sites.iter().all(|site| site.messages > 0));
}

#[test]
fn an_open_loop_is_one_schedule_over_all_sites() {
    for workload in [|plan| plan, echo] {
        let server = NullServer::start(NullOptions::default()).unwrap();
        let plan = workload(plan(server.addr()).with(|plan| {
            plan.load = open(400.0);
            plan.generator.threads = 2;
        }));
        let alone = crate::run(&plan, &false.into(), &mut |_| {}).unwrap();
        let measured = calmly(|| run(&plan, 2));
        let step = only_step(&measured);
        assert_eq!(step.samples_planned, alone.steps[0].samples_planned);
        assert_eq!(step.samples, step.samples_planned);
        for latency in [&step.completion, &step.uncorrected, &step.send_lag] {
            assert_eq!(count(latency), step.samples);
        }
        let planned: Vec<u64> = step
            .sites
            .iter()
            .filter_map(|s| s.samples_planned)
            .collect();
        assert_eq!(planned.len(), 2);
        assert_eq!(planned.iter().sum::<u64>(), step.samples_planned);
        assert!(planned.iter().all(|planned| *planned > 0));
        let sent: u64 = step.sites.iter().filter_map(|site| site.sent).sum();
        assert_eq!(Some(sent), step.sent);
        assert!(step.release_delay.is_none());
    }
}

#[test]
fn later_steps_open_more_clients_everywhere() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let plan = plan(server.addr()).with(|plan| {
        plan.clients = Clients::steps(1, 2, Some(3));
    });
    let measured = run(&plan, 3);
    assert_eq!(measured.outcome.end, End::StepsDone, "{measured:?}");
    let clients: Vec<u64> = measured.steps.iter().map(|step| step.clients).collect();
    assert_eq!(clients, [1, 3, 5]);
    assert!(measured.steps.iter().all(StepRecord::passed));
    assert_eq!(measured.outcome.carried_clients, Some(5));
}

/// The connection that opened last gets a broadcast 60 ms after all others; half of the senders are
/// at the other site.
#[test]
fn the_last_listener_is_waited_for_at_whichever_site_it_is() {
    for load in [Load::closed(2, 20), open(40.0)] {
        let server = DelayServer::start(DelayOptions {
            delay: Delay::Constant(Duration::from_millis(10)),
            last_listener: Duration::from_millis(60),
            ..DelayOptions::default()
        })
        .unwrap();
        let plan = kernel_stamps(plan(server.addr()).with(|plan| {
            plan.load = load;
        }));
        let measured = calmly(|| run(&plan, 2));
        let step = only_step(&measured);
        let of = |measure| step.measured(measure).expect("it was measured");
        assert!(of(Measure::Completion).min_ns >= 69_900_000);
        assert!((9_900_000..69_000_000).contains(&of(Measure::Delivery).p50_ns));
        assert!((9_900_000..69_000_000).contains(&of(Measure::Ack).p50_ns));
        assert!(step.sites.iter().all(|site| site.messages > 0));
    }
}

#[test]
fn a_search_begins_anew_on_all_sites() {
    let server = DelayServer::start(DelayOptions {
        delay: Delay::Constant(Duration::from_millis(5)),
        ..DelayOptions::default()
    })
    .unwrap();
    let mut plan = plan(server.addr()).with(|plan| {
        plan.clients = Clients::Search(Search {
            of: SearchOf::Clients,
            first: 4,
            tries: 1,
            precision: 0.5,
        });
        plan.load = Load::closed(4, 4);
    });
    plan.limits.time = Nanos(1_000_000);
    let measured = run(&plan, 2);
    assert_eq!(measured.outcome.end, End::EdgeFound, "{measured:?}");
    let tried: Vec<u64> = measured.steps.iter().map(|step| step.clients).collect();
    assert_eq!(tried[0], 4);
    assert!(tried.contains(&1), "{tried:?}");
    assert!(measured.steps.iter().all(|step| step.over_limit));
}

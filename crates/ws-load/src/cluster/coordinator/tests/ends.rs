//! Runs that end before their time.

use super::{Field, plan, run};
use crate::Measured;
use crate::cluster::{ClockRelation, Report};
use ::plan::{Clients, Load, Plan};
use record::{End, Event, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, NullOptions, NullServer};

const SITES: [ClockRelation; 2] = [ClockRelation {
    offset_ns: 0,
    bound_ns: 0,
}; 2];

fn endless(server: &DelayServer) -> Plan {
    plan(server.addr()).with(|plan| {
        plan.load = Load::closed(4, 100_000);
        plan.clients = Clients::steps(10, 10, Some(2));
    })
}

fn slow_server() -> DelayServer {
    DelayServer::start(DelayOptions {
        delay: Delay::Constant(Duration::from_millis(5)),
        ..DelayOptions::default()
    })
    .unwrap()
}

/// Runs until ten samples are complete, and then `does` something, once.
fn after_ten_samples(
    field: Field,
    plan: &Plan,
    interrupted: &AtomicBool,
    does: impl Fn(),
) -> Measured {
    let mut done = false;
    field.run(plan, interrupted, &mut |event| {
        if let Event::Measuring { samples, .. } = event
            && *samples >= 10
            && !std::mem::replace(&mut done, true)
        {
            does();
        }
    })
}

#[test]
fn a_site_that_is_lost_in_a_step_is_named_and_what_was_measured_is_kept() {
    let server = slow_server();
    let plan = endless(&server);
    let field = Field::new(&plan, &SITES);
    let (channel, said) = (Arc::clone(&field.channels[1]), field.said.clone());
    let measured = after_ten_samples(field, &plan, &AtomicBool::new(false), || {
        Field::lose(&channel, 1, &said);
    });
    assert_eq!(measured.outcome.end, End::WorkerLost);
    assert_eq!(
        measured.outcome.detail,
        "worker site-1 was lost: it does not answer"
    );
    let [step] = &measured.steps[..] else {
        panic!("{measured:?}");
    };
    assert!((10..100_000).contains(&step.samples));
    assert_eq!(step.completion.as_ref().unwrap().count, step.samples);
    assert!(step.faults.is_empty() && step.verdict == Verdict::Noisy);
    assert!(
        step.verdict_reasons
            .iter()
            .any(|words| words.contains("site-1"))
    );
    assert!(step.sites[0].messages > 0 && step.sites[1].messages == 0);
}

#[test]
fn a_site_with_a_worker_that_hangs_is_left_out_and_named() {
    let server = slow_server();
    let plan = endless(&server);
    let field = Field::new(&plan, &SITES);
    let said = field.said.clone();
    let measured = after_ten_samples(field, &plan, &AtomicBool::new(false), || {
        let words = "worker thread 1 of 1 has not responded for 10 s".to_owned();
        said.send((1, Report::Lost(words))).unwrap();
    });
    assert_eq!(measured.outcome.end, End::WorkerLost);
    assert_eq!(
        measured.outcome.detail,
        "worker site-1 was lost: worker thread 1 of 1 has not responded for 10 s"
    );
    assert!(measured.steps[0].samples >= 10);
    assert!(measured.steps[0].faults.is_empty());
}

#[test]
fn a_site_that_is_lost_before_the_first_step_leaves_nothing() {
    let server = slow_server();
    let plan = endless(&server);
    let field = Field::new(&plan, &SITES);
    Field::lose(&field.channels[0], 0, &field.said);
    let measured = field.run(&plan, &AtomicBool::new(false), &mut |_| {});
    assert_eq!(measured.outcome.end, End::WorkerLost);
    assert!(measured.steps.is_empty());
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let server = slow_server();
    let plan = endless(&server);
    let interrupted = AtomicBool::new(false);
    let field = Field::new(&plan, &SITES);
    let measured = after_ten_samples(field, &plan, &interrupted, || {
        interrupted.store(true, Ordering::Relaxed);
    });
    assert_eq!(measured.outcome.end, End::Interrupted);
    assert!(measured.steps[0].samples >= 10 && measured.steps[0].faults.is_empty());
}

#[test]
fn a_server_that_is_not_there_is_named_by_the_site_that_missed_it() {
    // The system gives no listener a port below 1024 by itself.
    let measured = run(&plan(([127, 0, 0, 1], 1).into()), 2);
    assert_eq!(measured.outcome.end, End::ConnectFailed);
    let detail = &measured.outcome.detail;
    assert!(detail.starts_with("0 of 10 clients connected, then: worker site-"));
    assert!(detail.contains("refused the connection"), "{detail}");
}

#[test]
fn connections_that_end_in_a_step_are_the_server_s() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let plan = plan(server.addr()).with(|plan| {
        plan.load = Load::closed(4, u32::MAX / 4096);
    });
    let server = std::sync::Mutex::new(Some(server));
    let field = Field::new(&plan, &SITES);
    let measured = after_ten_samples(field, &plan, &AtomicBool::new(false), || {
        drop(server.lock().unwrap().take());
    });
    assert_eq!(measured.outcome.end, End::ServerLost, "{measured:?}");
    assert!(measured.steps[0].faults.disconnected > 0);
}

#[test]
fn a_run_without_sites_is_refused() {
    let plan = crate::test_plan("ws://127.0.0.1:1/");
    let (_, heard) = std::sync::mpsc::channel();
    let refused = super::run_on(&plan, Vec::new(), heard, None, &false.into(), &mut |_| {});
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("at least one process")
    );
}

#[test]
fn a_site_that_cannot_go_on_ends_the_run_with_its_name_and_reason() {
    let server = slow_server();
    let plan = endless(&server);
    let field = Field::new(&plan, &SITES);
    let said = field.said.clone();
    let measured = after_ten_samples(field, &plan, &AtomicBool::new(false), || {
        let report = Report::Broken("no file is left".to_owned());
        said.send((1, report)).unwrap();
    });
    assert_eq!(measured.outcome.end, End::MachineLimit);
    let detail = &measured.outcome.detail;
    assert!(
        detail.contains("worker site-1: no file is left"),
        "{detail}"
    );
}

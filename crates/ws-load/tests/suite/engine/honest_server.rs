//! Against a server that does everything right: every message is accounted for.

use super::plan;
use crate::engine::common::run;
use ::plan::{Audience, Clients, Dialect, Load, Measure, Nanos, Plan, Workload};
use record::{End, Event, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use test_servers::liar::{LiarServer, Lie};
use ws_load::Measured;
use test_servers::{Framework, NullOptions, NullServer, TlsServer};

fn server() -> NullServer {
    NullServer::start(NullOptions::default()).unwrap()
}

/// All counts that must add up, whatever the timing was.
fn assert_accounted_for(plan: &Plan) {
    let measured = run(plan);
    assert_eq!(
        measured.outcome.end,
        End::StepsDone,
        "{:?}",
        measured.outcome
    );
    assert_eq!(measured.steps.len(), 2);
    for (number, step) in measured.steps.iter().enumerate() {
        let clients = plan.clients_at(number as u32);
        let samples = u64::from(plan.samples());
        assert_eq!(step.clients, clients);
        assert_eq!(step.samples, samples);
        assert_eq!(step.verdict, Verdict::Pass, "{:?}", step.verdict_reasons);
        assert!(step.faults.is_empty(), "{}", step.faults);
        let count = |latency: &Option<record::Latency>| latency.as_ref().map_or(0, |l| l.count);
        assert_eq!(count(&step.completion), samples);
        let listened = plan.workload() == Workload::Broadcast;
        assert_eq!(
            count(&step.delivery),
            if listened { samples * clients } else { 0 }
        );
        assert_eq!(count(&step.ack), if listened { samples } else { 0 });
        assert_eq!(
            step.generator.messages,
            if listened {
                samples * (clients + 1)
            } else {
                samples
            }
        );
    }
    assert_eq!(
        measured.outcome.carried_clients,
        Some(plan.clients_at(1)),
        "{:?}",
        measured.outcome
    );
}

#[test]
fn every_delivery_echo_and_result_is_counted_in_both_dialects_and_any_number_of_threads() {
    let server = server();
    for audience in [Audience::Everyone, Audience::Sender] {
        for dialect in [Dialect::Text, Dialect::Binary] {
            for threads in [1, 3] {
                for padding in [0, 200, 70_000] {
                    assert_accounted_for(&plan(server.addr()).with(|plan| { plan.audience = audience; plan.message.dialect = dialect; plan.generator.threads = threads; plan.message.padding = padding; }));
                }
            }
        }
    }
}

#[test]
fn frameworks_are_joined_and_accounted_for_in_the_same_way() {
    for (dialect, framework, path) in [
        (Dialect::Phoenix, Framework::Phoenix, "/socket/websocket"),
        (
            Dialect::Phoenix,
            Framework::Phoenix,
            "/socket/websocket?vsn=2.0.0",
        ),
        (Dialect::ActionCable, Framework::ActionCable, "/cable"),
    ] {
        let server = LiarServer::start_as(Lie::None, framework).unwrap();
        for audience in [Audience::Everyone, Audience::Sender] {
            for padding in [0, 200, 70_000] {
                assert_accounted_for(&plan(server.addr()).with(|plan| { plan.target.url = format!("ws://{}{path}", server.addr()); plan.audience = audience; plan.message.dialect = dialect; plan.generator.threads = 2; plan.message.padding = padding; }));
            }
        }
    }
}

#[test]
fn more_threads_than_clients_is_fine() {
    let server = server();
    assert_accounted_for(&plan(server.addr()).with(|plan| { plan.generator.threads = 4; plan.clients = Clients::steps(1, 1, Some(2)); }));
}

#[test]
fn more_in_flight_than_samples_is_fine() {
    let server = server();
    assert_accounted_for(&plan(server.addr()).with(|plan| { plan.load = Load::closed(100, 7); }));
}

#[test]
fn completion_is_never_before_the_last_delivery_nor_before_the_first() {
    let server = server();
    let measured = run(&plan(server.addr()));
    for step in &measured.steps {
        let (completion, delivery) = (
            step.completion.as_ref().unwrap(),
            step.delivery.as_ref().unwrap(),
        );
        assert_eq!(completion.max_ns, delivery.max_ns);
        assert!(completion.min_ns >= delivery.min_ns);
        assert!(completion.p50_ns >= delivery.p50_ns);
    }
}

#[test]
fn source_addresses_are_used_in_turn() {
    let server = server();
    let local_addrs = vec![[127, 0, 0, 2].into(), [127, 0, 0, 3].into()];
    assert_accounted_for(&plan(server.addr()).with(|plan| { plan.target.local_addrs = local_addrs; }));
}

#[test]
fn the_limit_applies_to_the_chosen_latency_and_its_step_is_kept() {
    let server = server();
    for measure in [Measure::Completion, Measure::Delivery, Measure::Ack] {
        let mut plan = plan(server.addr());
        plan.limits.time = Nanos(1);
        plan.limits.of = measure;
        let measured = run(&plan);
        assert_eq!(measured.outcome.end, End::OverLimit, "{measured:?}");
        assert_eq!(measured.outcome.carried_clients, None);
        let [step] = &measured.steps[..] else {
            panic!("one step is measured and kept");
        };
        assert!(step.over_limit);
        assert_eq!(step.limited_ns, step.measured(measure).map(|l| l.p95_ns));
    }
}

#[test]
fn tls_is_spoken_and_certificates_are_checked() {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![issued.cert.der().clone()],
            rustls::pki_types::PrivateKeyDer::try_from(issued.signing_key.serialize_der()).unwrap(),
        )
        .unwrap();
    let server = TlsServer::start(([127, 0, 0, 1], 0).into(), Arc::new(config)).unwrap();
    let secure = plan(server.addr()).with(|plan| { plan.target.url = format!("wss://localhost:{}/ws", server.addr().port()); });

    let refused = run(&secure);
    assert_eq!(refused.outcome.end, End::ConnectFailed);
    assert!(
        refused.outcome.detail.contains("certificate"),
        "{}",
        refused.outcome.detail
    );

    assert_accounted_for(&secure.clone().with(|plan| { plan.target.verify_certificate = false; }));

    // The port is that of a server of this test alone.
    let ca = format!("ws-load-test-ca-{}-{}.pem", std::process::id(), server.addr().port());
    let ca = std::env::temp_dir().join(ca);
    std::fs::write(&ca, issued.cert.pem()).unwrap();
    assert_accounted_for(&secure.with(|plan| { plan.target.ca_file = Some(ca.clone()); }));
    std::fs::remove_file(ca).unwrap();
}

#[test]
fn an_interrupted_run_keeps_the_steps_before() {
    let server = server();
    let interrupted = AtomicBool::new(false);
    let endless = plan(server.addr()).with(|plan| { plan.clients = Clients::steps(10, 10, None); });
    let measured = ws_load::run(&endless, &interrupted, &mut |event| {
        if matches!(event, Event::Step { step: 2, .. }) {
            interrupted.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(measured.outcome.end, End::Interrupted);
    assert_eq!(measured.outcome.carried_clients, Some(30));
    assert!(measured.steps.iter().all(|step| step.faults.is_empty()));
}

#[test]
fn events_tell_the_story_of_a_run_in_order() {
    let server = server();
    let (mut story, measured) = story(&plan(server.addr()));
    assert_eq!(measured.warm_up, None);
    story.retain(|word| *word != "measuring");
    assert_eq!(story, ["connecting", "step", "connecting", "step", "end"]);
}

/// The events of a run, each as often as it follows another.
fn story(plan: &Plan) -> (Vec<&'static str>, Measured) {
    let mut story = Vec::new();
    let measured = ws_load::run(plan, &AtomicBool::new(false), &mut |event| {
        let word = match event {
            Event::WarmingUp { .. } => "warming up",
            Event::WarmedUp { .. } => "warmed up",
            Event::Connecting { .. } => "connecting",
            Event::Measuring { .. } | Event::Interval { .. } => "measuring",
            Event::Holding { .. } => "holding",
            Event::Watching { .. } => "watching",
            Event::Step { .. } => "step",
            Event::End { .. } => "end",
        };
        if story.last() != Some(&word) {
            story.push(word);
        }
    });
    (story, measured.unwrap())
}

#[test]
fn a_warm_up_repeats_the_first_step_and_changes_no_other() {
    let server = server();
    let warm = plan(server.addr()).with(|plan| { plan.warm_up = Nanos::millis(300); });
    // The first step alone may take a busy machine that long.
    let (mut story, measured) = (0..20)
        .map(|_| story(&warm))
        .find(|(_, measured)| measured.warm_up.as_ref().is_some_and(|of| of.steps > 1))
        .expect("a warm-up of several steps");
    story.retain(|word| !matches!(*word, "measuring" | "warming up"));
    assert_eq!(
        story,
        ["warmed up", "connecting", "step", "connecting", "step", "end"]
    );
    let warm_up = measured.warm_up.unwrap();
    assert!(warm_up.elapsed_ns >= 300_000_000, "{}", warm_up.steps);
    assert!(warm_up.faults.is_empty());
    let steps: Vec<_> = measured.steps.iter().chain([&warm_up.cold]).collect();
    let figures = steps.iter().map(|step| (step.clients, step.samples));
    assert!(figures.eq([(10, 20), (20, 20), (10, 20)]));
    for step in steps {
        let of = step.throughput.unwrap();
        assert_eq!((of.sent, of.received), (20, 20 * (step.clients + 1)));
    }
}

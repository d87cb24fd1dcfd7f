//! Records as a run would leave them.

use run_record::{
    Clients, End, Environment, Faults, GeneratorUse, Outcome, Plan, RUN_FORMAT, Recorder,
    RunRecord, StepRecord, Tool, VERSION, Verdict,
};

/// The plan of the second round of 2016, on loopback.
pub(crate) fn plan() -> Plan {
    let mut plan = Plan::new("ws://127.0.0.1:3334/ws");
    plan.target.local_addrs = vec![[127, 0, 0, 2].into()];
    plan.clients = Clients::steps(10_000, 1000, None);
    plan.message.padding = 200;
    plan
}

/// A step of so many clients that passed.
pub(crate) fn step(clients: u64) -> StepRecord {
    let mut recorder = Recorder::default();
    (1..=100).for_each(|n| recorder.record(n * 1_000_000));
    let latency = recorder.latency();
    StepRecord {
        clients,
        rate: None,
        samples_planned: 100,
        samples: 100,
        sent: None,
        elapsed_ns: 2_500_000_000,
        connecting_ns: 300_000_000,
        uncorrected: None,
        send_lag: None,
        limited_ns: latency.as_ref().map(|latency| latency.p95_ns),
        limited_at_least_ns: None,
        limited_at_least: None,
        throughput: None,
        series: None,
        completion: latency.clone(),
        delivery: latency.clone(),
        ack: latency,
        over_limit: false,
        timed_out: false,
        faults: Faults::default(),
        generator: GeneratorUse::default(),
        connections: None,
        in_flight: None,
        sites: Vec::new(),
        release_delay: None,
        backpressure: None,
        slow_readers: None,
        verdict: Verdict::Pass,
        verdict_reasons: Vec::new(),
    }
}

/// The record of a run with these steps.
#[allow(dead_code)]
pub(crate) fn record(steps: Vec<StepRecord>) -> RunRecord {
    RunRecord {
        format: RUN_FORMAT.into(),
        version: VERSION,
        tool: Tool {
            name: "websocket-bench".into(),
            version: "0.1.0".into(),
        },
        started: "2026-01-02T03:04:05Z".into(),
        ended: "2026-01-02T03:05:06Z".into(),
        command: vec!["websocket-bench".into(), "broadcast".into()],
        plan: plan(),
        environment: Environment::collect(),
        outcome: Outcome {
            end: End::StepsDone,
            detail: "all steps were measured".into(),
            carried_clients: RunRecord::carried(&steps),
            edge: None,
        },
        server: None,
        steps,
    }
}

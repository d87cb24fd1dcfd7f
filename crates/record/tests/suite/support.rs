//! Records as a run would leave them.

use plan::{Clients, Plan};
use record::{
    End, Environment, Json, Outcome, RUN_FORMAT, Recorder, RunRecord, StepRecord, Tool, VERSION,
};
use serde_json::Value;

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
        samples_planned: 100,
        samples: 100,
        elapsed_ns: 2_500_000_000,
        connecting_ns: 300_000_000,
        limited_ns: latency.as_ref().map(|latency| latency.p95_ns),
        completion: latency.clone(),
        delivery: latency.clone(),
        ack: latency,
        ..StepRecord::default()
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
        unchecked: None,
        payload_lines: None,
        environment: Environment::collect(),
        outcome: Outcome {
            end: End::StepsDone,
            detail: "all steps were measured".into(),
            carried_clients: RunRecord::carried(&steps),
            edge: None,
            unmeasured: Vec::new(),
        },
        server: None,
        warm_up: None,
        steps,
    }
}

/// What is written of a record.
pub(crate) fn value(of: &impl Json) -> Value {
    serde_json::from_str(&of.to_json().unwrap()).unwrap()
}

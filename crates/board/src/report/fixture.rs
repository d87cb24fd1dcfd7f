//! Measurements made up for tests. Their figures follow from their arguments; none was measured.
#![allow(dead_code, reason = "each test program uses its part")]

use plan::{Audience, Clients, Dialect, Nanos, Plan, Workload};
use record::{
    CheckOutcome, CheckVerdict, Conformance, End, Environment, FileLimit, GeneratorUse,
    MEASUREMENT_FORMAT, Measurement, Memory, Outcome, Pinning, RUN_FORMAT, Recorder, RunRecord,
    ServerIdentity, ServerStep, Status, StepRecord, Tool, VERSION, Verdict,
};

/// Idle resident memory of every made-up server.
const IDLE: Memory = Memory {
    resident_bytes: 10_000_000,
    proportional_bytes: Some(9_000_000),
    sockets_bytes: Some(0),
    processes: 1,
};

/// A measurement whose step of `clients` has a median of about `base_us` microseconds per
/// thousand clients, for steps of 1,000 up to `steps` thousand, and how it ended.
pub(crate) fn measured(name: &str, steps: u64, base_us: u64, end: End) -> Measurement {
    let limit_ns = 500_000_000;
    let records: Vec<StepRecord> = (1..=steps)
        .map(|thousand| {
            step(
                thousand * 1_000,
                base_us * thousand,
                limit_ns,
                end == End::OverLimit && thousand == steps,
            )
        })
        .collect();
    let server_steps = records
        .iter()
        .map(|record| ServerStep {
            clients: record.clients,
            cpu_ns: base_us * record.clients * 10,
            elapsed_ns: record.elapsed_ns,
            from_ns: None,
            user_ns: None,
            kernel_ns: None,
            switches: None,
            memory: Memory {
                resident_bytes: IDLE.resident_bytes + record.clients * (base_us % 13 + 4) * 1_024,
                proportional_bytes: Some(9_000_000 + record.clients * (base_us % 13 + 3) * 1_024),
                sockets_bytes: Some(record.clients * 1_536),
                processes: 1,
            },
        })
        .collect();
    let carried = RunRecord::carried(&records);
    let mut measurement = unmeasured(name, Status::Ok, "");
    measurement.reason = None;
    measurement.idle = Some(IDLE);
    measurement.server_steps = server_steps;
    measurement.pinning = Some(Pinning {
        server_cpus: vec![0],
        generator_cpus: vec![1],
    });
    measurement.conformance = Some(Conformance {
        checked: None,
        checks: vec![
            check("handshake-accept", CheckVerdict::Pass),
            check("echo-unicode", CheckVerdict::Pass),
        ],
    });
    measurement.run = Some(RunRecord {
        format: RUN_FORMAT.into(),
        version: VERSION,
        tool: Tool {
            name: "websocket-bench".into(),
            version: "0.1.0".into(),
        },
        started: "2026-01-02T03:04:05Z".into(),
        ended: "2026-01-02T03:05:05Z".into(),
        command: vec!["websocket-bench".into()],
        server: None,
        plan: plan(limit_ns),
        unchecked: None,
        payload_lines: None,
        environment: environment(),
        warm_up: None,
        steps: records,
        outcome: Outcome {
            end,
            detail: match end {
                End::OverLimit => format!("above the limit at {} clients", steps * 1_000).into(),
                End::MachineLimit => {
                    "no more than 20,000 open files; raise it with ulimit -n".into()
                }
                _ => "all steps measured".into(),
            },
            carried_clients: carried,
            edge: None,
            unmeasured: Vec::new(),
        },
    });
    measurement
}

/// A measurement without a result.
pub(crate) fn unmeasured(name: &str, status: Status, reason: &str) -> Measurement {
    Measurement {
        format: MEASUREMENT_FORMAT.into(),
        version: VERSION,
        server: ServerIdentity {
            name: name.into(),
            variant: "default".into(),
            variant_summary: Some(format!("how {name} does it")),
            language: "Any".into(),
            library: format!("lib{name}"),
            homepage: "https://example.org/library".into(),
            class: "idiomatic".into(),
            library_version: Some("1.2.3".into()),
            runtime: None,
            json: None,
            released: None,
            old_because: None,
        },
        workload: Workload::Broadcast,
        workload_name: None,
        dialect: Dialect::Text,
        repetition: 1,
        started: "2026-01-02T03:04:05Z".into(),
        status,
        reason: Some(reason.into()),
        log_tail: None,
        conformance: None,
        pinning: None,
        network: None,
        proxy: None,
        nodes: None,
        claim: None,
        faults: Vec::new(),
        busy_before: None,
        busy_during: None,
        idle: None,
        server_steps: Vec::new(),
        server_series: None,
        run: None,
    }
}

/// The same measurement as a later repetition.
pub(crate) fn repeated(mut measurement: Measurement, repetition: u32) -> Measurement {
    measurement.repetition = repetition;
    measurement
}

/// The same measurement of another variant.
pub(crate) fn variant(mut measurement: Measurement, variant: &str) -> Measurement {
    measurement.server.variant = variant.into();
    measurement
}

/// The same measurement with echo in place of broadcast.
pub(crate) fn echo(mut measurement: Measurement) -> Measurement {
    measurement.workload = Workload::Echo;
    if let Some(run) = &mut measurement.run {
        run.plan.audience = Audience::Sender;
        for step in &mut run.steps {
            step.delivery = None;
            step.ack = None;
        }
    }
    measurement
}

/// The same measurement with a check that its manifest waives.
pub(crate) fn waived(mut measurement: Measurement, id: &str, detail: &str) -> Measurement {
    let mut waived = check(id, CheckVerdict::Waived);
    waived.detail = Some(detail.into());
    waived.link = Some("https://example.org/why".into());
    if let Some(conformance) = &mut measurement.conformance {
        conformance.checks.push(waived);
    }
    measurement
}

/// A distribution around a median of so many microseconds, of `count` samples.
pub(crate) fn recorder(median_us: u64, count: u64) -> Recorder {
    let mut recorder = Recorder::default();
    for sample in 0..count {
        recorder.record(median_us * 1_000 * (60 + 80 * sample / count.max(1)) / 100);
    }
    recorder
}

fn step(clients: u64, median_us: u64, limit_ns: u64, broken: bool) -> StepRecord {
    let median_us = if broken { limit_ns / 900 } else { median_us };
    let completion = recorder(median_us, 100);
    let limited_ns = completion.percentile(95.0);
    StepRecord {
        clients,
        samples_planned: 100,
        samples: 100,
        elapsed_ns: median_us * 100_000,
        connecting_ns: 40_000_000,
        completion: completion.latency(),
        delivery: recorder(median_us * 4 / 5, 1_000).latency(),
        ack: recorder(median_us * 9 / 10, 100).latency(),
        limited_ns: Some(limited_ns),
        over_limit: limited_ns > limit_ns,
        generator: GeneratorUse {
            cpu_ns: median_us * 20_000,
            busiest_thread: 0.41,
            largest_lag_ns: 183_000,
            messages: 100 * clients,
            reads: 90 * clients,
            resident_bytes: 20_000_000,
            ..GeneratorUse::default()
        },
        verdict: if limited_ns > limit_ns {
            Verdict::Fail
        } else {
            Verdict::Pass
        },
        ..StepRecord::default()
    }
}

fn check(id: &str, verdict: CheckVerdict) -> CheckOutcome {
    CheckOutcome {
        id: id.into(),
        section: "RFC 6455, 5.5.1".into(),
        dialect: None,
        verdict,
        detail: None,
        link: None,
    }
}

fn plan(rtt_ns: u64) -> Plan {
    Plan::new("ws://127.0.0.1:3334/ws").with(|plan| {
        plan.clients = Clients::steps(1_000, 1_000, None);
        plan.message.padding = 200;
        plan.limits.time = Nanos(rtt_ns);
        plan.generator.seed = 7;
    })
}

fn environment() -> Environment {
    Environment {
        kernel: "Linux 9.9.9-test".into(),
        distribution: Some("Testian 1".into()),
        cpu_model: Some("Made-up processor".into()),
        cores: 2,
        allowed_cpus: vec![0, 1],
        memory_bytes: Some(8 << 30),
        file_limit: FileLimit {
            soft: 20_000,
            hard: 20_000,
        },
        local_ports: Some((32_768, 60_999)),
        somaxconn: Some(4_096),
        clock_source: Some("tsc".into()),
    }
}

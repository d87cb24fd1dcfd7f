//! What the tests of the parts share.

use super::bench::{Bench, SEED, in_process};
use run_record::{
    Check, Faults, GeneratorUse, Plan, ProofVerdict, StepRecord, Timestamps, Verdict,
};
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A record without a figure.
pub(super) fn step() -> StepRecord {
    StepRecord {
        clients: 1,
        rate: None,
        samples_planned: 0,
        samples: 0,
        sent: None,
        elapsed_ns: 1,
        connecting_ns: 0,
        completion: None,
        delivery: None,
        ack: None,
        uncorrected: None,
        send_lag: None,
        limited_ns: None,
        over_limit: false,
        timed_out: false,
        faults: Faults::default(),
        generator: GeneratorUse::default(),
        connections: None,
        in_flight: None,
        sites: Vec::new(),
        release_delay: None,
        backpressure: None,
        verdict: Verdict::Pass,
        verdict_reasons: Vec::new(),
    }
}

/// Milliseconds in nanoseconds.
pub(super) fn ms(ms: u32) -> f64 {
    f64::from(ms) * 1e6
}

/// The stamp of a sample of any plan here.
pub(super) fn stamp(sample: u64) -> u64 {
    ws_load::stamp_of_sample(SEED, sample)
}

/// The verdict of all checks together.
pub(super) fn worst(checks: &[Check]) -> ProofVerdict {
    checks.iter().map(|check| check.verdict).max().unwrap()
}

/// The names of the checks that failed.
pub(super) fn failed(checks: &[Check]) -> Vec<&str> {
    let failed = checks.iter().filter(|c| c.verdict == ProofVerdict::Fail);
    failed.map(|check| check.what.as_str()).collect()
}

/// The engine with a change to every plan that it is given.
pub(super) fn planted(change: impl Fn(&mut Plan)) -> impl Fn(&Plan) -> Result<StepRecord, String> {
    move |plan| {
        let mut plan = plan.clone();
        change(&mut plan);
        uninterrupted(&plan)
    }
}

/// The engine as it is.
pub(super) fn uninterrupted(plan: &Plan) -> Result<StepRecord, String> {
    in_process(plan, &AtomicBool::new(false))
}

/// A short bench on that generator.
pub(super) fn bench(generate: &dyn Fn(&Plan) -> Result<StepRecord, String>) -> Bench<'_> {
    Bench {
        short: true,
        timestamps: Timestamps::Kernel,
        io: run_record::Io::Epoll,
        prove_hindered: false,
        interrupted: &NEVER,
        generate,
    }
}

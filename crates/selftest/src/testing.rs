//! What the tests of the parts share.

use super::bench::{Bench, SEED, in_process, recorder};
use crate::error::Unmade;
use plan::{Plan, Timestamps};
use record::{
    Check, GeneratorUse, Heartbeats, Latency, ProofVerdict, Recorder, StepRecord, Throughput,
    TimeRow, TimeSeries,
};
use std::sync::atomic::AtomicBool;
use test_servers::{Answer, Truth, Write};

static NEVER: AtomicBool = AtomicBool::new(false);

/// A record without a figure.
pub(super) fn step() -> StepRecord {
    StepRecord {
        clients: 1,
        elapsed_ns: 1,
        ..StepRecord::default()
    }
}

/// The distribution that is reported of these times in nanoseconds.
pub(super) fn recorded(times: &[u64]) -> Option<Latency> {
    let mut recorder = Recorder::default();
    times.iter().for_each(|ns| recorder.record(*ns));
    recorder.latency()
}

/// Multiplies a reported distribution.
pub(super) fn scaled(latency: &mut Option<Latency>, factor: f64) {
    let mut changed = Recorder::default();
    for (ns, count) in recorder(latency.as_ref()).samples() {
        changed.record_n((ns as f64 * factor) as u64, count);
    }
    *latency = changed.latency();
}

/// Bytes of the frame of each answer.
const BYTES: u64 = 100;
/// Bytes of the frame of each answer to a heartbeat.
pub(super) const HEARTBEAT_BYTES: u64 = 90;
/// Length of each step. It is longer than the sends of any.
const ELAPSED_NS: u64 = 20_000_000_000;

/// Echoes at an even rate: what a server knows of them, and what a generator without error would
/// report.
pub(super) struct Served {
    pub(super) truth: Truth,
    /// Answers to heartbeats that are reported.
    pub(super) answered: u64,
    completion: Vec<u64>,
    uncorrected: Vec<u64>,
    lag: Vec<u64>,
}

impl Served {
    /// `count` echoes. The n-th is answered after `time(n)` nanoseconds.
    pub(super) fn new(count: u64, rate: f64, time: impl Fn(u64) -> u64) -> Self {
        Self::late(count, rate, time, |_| 3_000)
    }

    /// The same; the n-th is sent `lag(n)` nanoseconds late.
    pub(super) fn late(
        count: u64,
        rate: f64,
        time: impl Fn(u64) -> u64,
        lag: impl Fn(u64) -> u64,
    ) -> Self {
        let mut served = Self {
            truth: Truth::default(),
            answered: 0,
            completion: Vec::new(),
            uncorrected: Vec::new(),
            lag: Vec::new(),
        };
        for n in 0..count {
            let (time, late) = (time(n), lag(n));
            let due_ns = 1_000_000_000 + (n as f64 * 1e9 / rate) as u64;
            let arrival_ns = due_ns + late + 10_000;
            let before_ns = arrival_ns + time;
            served.truth.service.record(time);
            served.truth.answers.push(Answer {
                arrival_ns,
                written_ns: before_ns,
                stamp: Some(stamp(n)),
                shared: false,
            });
            served.truth.writes.push(Write {
                stamp: Some(stamp(n)),
                connection: n,
                result: false,
                bytes: BYTES,
                before_ns,
                after_ns: before_ns + 30_000,
            });
            let received_ns = before_ns + 15_000;
            served.completion.push(received_ns - due_ns);
            served.uncorrected.push(received_ns - due_ns - late);
            served.lag.push(late);
        }
        served
    }

    /// Changes what is reported of each latency.
    pub(super) fn report(&mut self, change: impl Fn(u64) -> u64) {
        for ns in self.completion.iter_mut().chain(&mut self.uncorrected) {
            *ns = change(*ns);
        }
    }

    /// What is reported.
    pub(super) fn step(&self) -> StepRecord {
        let count = self.completion.len() as u64;
        let received = count + self.answered;
        let received_bytes = count * BYTES + self.answered * HEARTBEAT_BYTES;
        StepRecord {
            samples_planned: count,
            samples: count,
            sent: Some(count),
            completion: recorded(&self.completion),
            uncorrected: recorded(&self.uncorrected),
            send_lag: recorded(&self.lag),
            throughput: Some(
                Throughput {
                    sent: count,
                    received,
                    received_bytes,
                    ..Throughput::default()
                }
                .over(ELAPSED_NS),
            ),
            series: Some(TimeSeries {
                interval_ns: ELAPSED_NS,
                rows: vec![TimeRow {
                    sent: count,
                    received,
                    received_bytes,
                    completed: count,
                    ..TimeRow::default()
                }],
            }),
            elapsed_ns: ELAPSED_NS,
            heartbeats: (self.answered > 0).then(|| {
                Box::new(Heartbeats {
                    sent: self.answered,
                    answered: self.answered,
                    ..Heartbeats::default()
                })
            }),
            generator: GeneratorUse {
                messages: received,
                reads: count,
                ..GeneratorUse::default()
            },
            ..step()
        }
    }
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

/// A change to every record, by the name of the check that it must fail.
pub(super) type Misreport = (&'static str, fn(&mut StepRecord));

/// The generator with a planted fault: a change to every plan that it is given.
pub(super) fn planted(change: impl Fn(&mut Plan)) -> impl Fn(&Plan) -> Result<StepRecord, Unmade> {
    move |plan| {
        let mut plan = plan.clone();
        change(&mut plan);
        uninterrupted(&plan)
    }
}

/// The generator without a change.
pub(super) fn uninterrupted(plan: &Plan) -> Result<StepRecord, Unmade> {
    in_process(plan, &AtomicBool::new(false))
}

/// A short bench on that generator.
pub(super) fn bench(generate: &dyn Fn(&Plan) -> Result<StepRecord, Unmade>) -> Bench<'_> {
    Bench {
        short: true,
        seed: 1,
        timestamps: Timestamps::Kernel,
        io: plan::Io::Epoll,
        prove_hindered: false,
        interrupted: &NEVER,
        generate,
    }
}

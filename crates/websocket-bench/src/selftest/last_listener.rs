//! (d) Completion waits for the last listener, the sender's result does not.

use super::bench::{Bench, at_rate, nanos, recorder, started};
use super::fit::{RESOLUTION, above};
use super::{Chapter, Findings};
use crate::args::Part;
use run_record::{Arrivals, Check, Latency, StepRecord, Unit, Workload};
use std::time::Duration;
use test_servers::{DelayOptions, DelayServer, Truth};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::D,
    id: "d",
    name: "last listener",
    proves: "A broadcast counts as complete when the last listener has it; \
             the sender's result alone would not show that one is kept waiting.",
    takes: (Duration::from_secs(4), Duration::from_secs(2)),
    measure,
};

const LATE: Duration = Duration::from_millis(50);
const CLIENTS: u32 = 10;
const RATE: f64 = 40.0;

fn measure(bench: &Bench<'_>) -> Result<Findings, String> {
    let server = started(DelayServer::start(DelayOptions {
        last_listener: LATE,
        ..DelayOptions::default()
    }))?;
    let time = bench.time(Duration::from_secs(3), Duration::from_secs(1));
    let mut plan = bench.plan(server.addr(), Workload::Broadcast, CLIENTS);
    plan.open_loop = at_rate(RATE, Arrivals::Constant, time);
    let step = bench.run(&plan)?;
    Ok(Findings {
        checks: judge(&step, &server.truth()),
        ..Findings::default()
    })
}

/// Holds the three latencies against a server that delays one listener of ten.
fn judge(step: &StepRecord, truth: &Truth) -> Vec<Check> {
    let completion = recorder(step.completion.as_ref());
    let delivery = recorder(step.delivery.as_ref());
    let half = nanos(LATE) as f64 / 2.0;
    let late = above(&delivery, half).count();
    let known = truth.service.percentile(50.0) as f64;
    let noise = noise(step, truth, half);
    let checks = [
        Check::exactly("broadcasts", truth.service.count(), completion.count()),
        Check::between(
            "completion, shortest",
            Unit::Nanoseconds,
            figure(&step.completion, |l| l.min_ns),
            Some(nanos(LATE) as f64 * (1.0 - RESOLUTION)),
            None,
        ),
        Check::within(
            "completion, median",
            Unit::Nanoseconds,
            known,
            figure(&step.completion, |l| l.p50_ns),
            1_000_000.0,
        ),
        Check::between(
            "ack, p95",
            Unit::Nanoseconds,
            figure(&step.ack, |l| l.p95_ns),
            None,
            Some(half),
        ),
        Check::exactly(
            "late deliveries, one per broadcast",
            completion.count(),
            late,
        ),
        Check::exactly(
            "deliveries",
            completion.count() * u64::from(CLIENTS),
            delivery.count(),
        ),
    ];
    checks.map(|check| check.unless(noise.clone())).into()
}

fn figure(latency: &Option<Latency>, of: fn(&Latency) -> u64) -> f64 {
    let reported = latency.as_ref().map(of);
    reported.map_or(f64::NAN, |ns| ns as f64)
}

/// Why times may be off: either side was late by much of what is to be told apart.
fn noise(step: &StepRecord, truth: &Truth, half_ns: f64) -> Option<String> {
    let sends = step.send_lag.as_ref().map_or(0, |lag| lag.p95_ns);
    let writes = truth.lateness.percentile(95.0);
    let worst = sends.max(writes) as f64;
    // Enough to shift the median by a millisecond, or a delivery by half of the delay.
    (worst > 1_000_000.0 || truth.lateness.percentile(100.0) as f64 > half_ns / 2.0).then(|| {
        format!(
            "too little CPU: 1 of 20 sends was {:.1} ms late, 1 of 20 writes of the server {:.1} ms",
            sends as f64 / 1e6,
            writes as f64 / 1e6
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failed, step, worst};
    use super::*;
    use run_record::{ProofVerdict, Recorder};

    fn broadcasts(completion_ns: u64, late: u64, ack_ns: u64) -> (StepRecord, Truth) {
        let mut truth = Truth::default();
        let [mut completion, mut delivery, mut ack] = std::array::from_fn(|_| Recorder::default());
        truth.service.record_n(50_100_000, 40);
        truth.lateness.record_n(60_000, 80);
        completion.record_n(completion_ns, 40);
        delivery.record_n(300_000, 400 - late);
        delivery.record_n(50_200_000, late);
        ack.record_n(ack_ns, 40);
        let step = StepRecord {
            completion: completion.latency(),
            delivery: delivery.latency(),
            ack: ack.latency(),
            ..step()
        };
        (step, truth)
    }

    fn judged(completion_ns: u64, late: u64, ack_ns: u64) -> Vec<Check> {
        let (step, truth) = broadcasts(completion_ns, late, ack_ns);
        judge(&step, &truth)
    }

    #[test]
    fn a_completion_that_waits_passes() {
        let checks = judged(50_200_000, 40, 300_000);
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{:?}", failed(&checks));
    }

    #[test]
    fn a_clock_that_stops_at_the_result_fails() {
        let checks = judged(300_000, 40, 300_000);
        assert_eq!(
            failed(&checks),
            ["completion, shortest", "completion, median"]
        );
        assert_eq!(failed(&judged(50_200_000, 40, 50_200_000)), ["ack, p95"]);
    }

    #[test]
    fn a_dropped_delivery_fails() {
        assert_eq!(
            failed(&judged(50_200_000, 39, 300_000)),
            ["late deliveries, one per broadcast"]
        );
        let (step, truth) = broadcasts(50_200_000, 40, 300_000);
        let without = StepRecord { ack: None, ..step };
        assert_eq!(failed(&judge(&without, &truth)), ["ack, p95"]);
    }

    #[test]
    fn a_late_server_is_inconclusive() {
        let (step, mut truth) = broadcasts(55_000_000, 40, 300_000);
        truth.lateness.record_n(6_000_000, 40);
        assert_eq!(worst(&judge(&step, &truth)), ProofVerdict::Inconclusive);
    }
}

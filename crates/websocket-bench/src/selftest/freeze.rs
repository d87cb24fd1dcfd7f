//! (b) A server that stops is late for everybody who comes meanwhile.

use super::bench::{Bench, at_rate, nanos, recorder, started};
use super::fit::{above, critical, distance};
use super::{Chapter, Findings};
use crate::args::Part;
use run_record::{Arrivals, Check, Latency, Recorder, StepRecord, Unit, Workload};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, Freeze};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::B,
    id: "b",
    name: "frozen server",
    proves: "When the server stops, everybody who would have come meanwhile counts as late, \
             and by how much.",
    takes: (Duration::from_secs(8), Duration::from_secs(4)),
    measure,
};

const RATE: f64 = 500.0;
const CLIENTS: u32 = 100;
const USUAL: Duration = Duration::from_millis(2);
/// Requests of the closed loop beside it, and how many of them at a time.
const CONCURRENT: u32 = 4;

/// How a server is frozen, and for how long it is asked.
#[derive(Clone, Copy)]
struct Terms {
    duration: Duration,
    freeze: Freeze,
}

impl Terms {
    /// One second in four, or the same in half the time.
    fn of(bench: &Bench<'_>) -> Self {
        let second = bench.time(Duration::from_secs(1), Duration::from_millis(500));
        Self {
            duration: 4 * second,
            freeze: Freeze {
                after: second,
                length: second,
            },
        }
    }

    fn server(&self) -> Result<DelayServer, String> {
        started(DelayServer::start(DelayOptions {
            delay: Delay::Constant(USUAL),
            freeze: Some(self.freeze),
            ..DelayOptions::default()
        }))
    }
}

fn measure(bench: &Bench<'_>) -> Result<Findings, String> {
    let terms = Terms::of(bench);
    let server = terms.server()?;
    let mut plan = bench.plan(server.addr(), Workload::Echo, CLIENTS);
    plan.open_loop = at_rate(RATE, Arrivals::Constant, terms.duration);
    let step = bench.run(&plan)?;
    let frozen = server.truth().frozen_ns;
    let frozen_ns = frozen.ok_or("the server was not frozen within the run")?;
    let closed = closed_loop(bench, terms)?;
    Ok(Findings {
        checks: judge(&step, terms.duration, frozen_ns),
        notes: vec![beside(&step, &closed, frozen_ns)],
        ceilings: Vec::new(),
    })
}

fn closed_loop(bench: &Bench<'_>, terms: Terms) -> Result<StepRecord, String> {
    let server = terms.server()?;
    let mut plan = bench.plan(server.addr(), Workload::Echo, CLIENTS);
    plan.concurrent = CONCURRENT;
    // As many as take the time that is not frozen, if each takes the usual delay and half of it.
    let working = terms.duration - terms.freeze.length;
    let each = USUAL.mul_f64(1.5).div_f64(f64::from(CONCURRENT));
    plan.sample_size = working.div_duration_f64(each) as u32;
    bench.run(&plan)
}

/// Later than this is late: one part in twenty of the freeze.
const fn threshold(frozen_ns: u64) -> f64 {
    frozen_ns as f64 / 20.0
}

/// Holds an open loop's latencies against a freeze.
fn judge(step: &StepRecord, duration: Duration, frozen_ns: u64) -> Vec<Check> {
    let all = recorder(step.completion.as_ref());
    let frozen = frozen_ns as f64;
    let threshold = threshold(frozen_ns);
    let late = above(&all, threshold);
    let gap = 1e9 / RATE;
    let known_late = (frozen - threshold) / gap;
    let planned = (RATE * duration.as_secs_f64()) as u64;
    // Everybody in the slowest twentieth came during the freeze, one after the other.
    let known_p95 = frozen - 0.05 * nanos(duration) as f64;
    let noise = late_for_itself(step, threshold);
    let uniform = |ns: f64| ((ns - threshold) / (frozen - threshold)).clamp(0.0, 1.0);
    let spread = Check {
        known: Some(0.0),
        ..Check::between(
            "late samples, unevenness over the freeze (KS)",
            Unit::Share,
            if late.count() == 0 {
                1.0
            } else {
                distance(&late, threshold / 2.0, uniform)
            },
            None,
            Some(critical(late.count())),
        )
    };
    let checks = [
        Check::exactly("samples", planned, all.count()),
        Check::within(
            "late samples, rate times freeze",
            Unit::Count,
            known_late.round(),
            late.count() as f64,
            (known_late * 0.03).max(4.0),
        ),
        spread,
        Check::within(
            "p95",
            Unit::Nanoseconds,
            known_p95,
            figure(step, |l| l.p95_ns),
            frozen * 0.05,
        ),
        Check::within(
            "longest",
            Unit::Nanoseconds,
            frozen,
            figure(step, |l| l.max_ns),
            frozen * 0.05,
        ),
    ];
    checks.map(|check| check.unless(noise.clone())).into()
}

fn figure(step: &StepRecord, of: fn(&Latency) -> u64) -> f64 {
    let reported = step.completion.as_ref().map(of);
    reported.map_or(f64::NAN, |ns| ns as f64)
}

/// Why samples may be late without the freeze: the generator's own sends were.
fn late_for_itself(step: &StepRecord, threshold: f64) -> Option<String> {
    let lag = step.send_lag.as_ref()?.p99_ns;
    (lag as f64 > threshold / 4.0).then(|| {
        format!(
            "the generator was short of CPU: 1 of 100 sends was more than {:.0} ms late",
            lag as f64 / 1e6
        )
    })
}

/// What the two loops say of the same server, in a sentence.
fn beside(open: &StepRecord, closed: &StepRecord, frozen_ns: u64) -> String {
    let late = |all: &Recorder| above(all, threshold(frozen_ns)).count();
    let [open, closed] = [open, closed].map(|step| recorder(step.completion.as_ref()));
    let p95 = |all: &Recorder| {
        crate::format::latency(all.percentile(95.0))
            .trim()
            .to_owned()
    };
    format!(
        "the same server, frozen for {:.1} s in four times that: p95 {} by this open loop ({} of \
         {} late), p95 {} by a closed loop of {CONCURRENT} ({} of {} late)",
        frozen_ns as f64 / 1e9,
        p95(&open),
        late(&open),
        open.count(),
        p95(&closed),
        late(&closed),
        closed.count(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bench, failed, planted, step, worst};
    use super::*;
    use run_record::ProofVerdict;

    const SECOND: u64 = 1_000_000_000;

    /// 2,000 samples in 4 s, those of one second late by what is left of it.
    fn frozen(late_of: impl Fn(u64) -> u64, lag_ns: u64) -> StepRecord {
        let [mut all, mut lag] = std::array::from_fn(|_| Recorder::default());
        for n in 0..2000u64 {
            let waited = if (500..1000).contains(&n) {
                late_of((1000 - n) * 2_000_000)
            } else {
                0
            };
            all.record(2_100_000 + waited);
            lag.record(lag_ns);
        }
        StepRecord {
            completion: all.latency(),
            send_lag: lag.latency(),
            ..step()
        }
    }

    fn judged(step: &StepRecord) -> Vec<Check> {
        judge(step, Duration::from_secs(4), SECOND)
    }

    #[test]
    fn a_freeze_that_everybody_saw_passes() {
        let checks = judged(&frozen(|waited| waited, 5_000));
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{:?}", failed(&checks));
    }

    #[test]
    fn a_freeze_that_only_some_saw_fails() {
        // As a closed loop of four sees it: four late, the rest never asked.
        let closed = frozen(
            |waited| if waited > 994_000_000 { waited } else { 0 },
            5_000,
        );
        let failed_checks = judged(&closed);
        assert_eq!(
            failed(&failed_checks),
            ["late samples, rate times freeze", "p95"]
        );
        // All late by the same, as from the send that the thaw let through.
        let bunched = judged(&frozen(|_| SECOND, 5_000));
        assert!(
            failed(&bunched)
                .iter()
                .any(|what| what.contains("unevenness"))
        );
        // One in ten of them dropped from the count.
        let dropped = frozen(
            |waited| if waited % 20_000_000 == 0 { 0 } else { waited },
            5_000,
        );
        assert!(
            failed(&judged(&dropped))
                .iter()
                .any(|what| what.contains("late samples"))
        );
    }

    #[test]
    fn a_generator_that_was_itself_late_is_inconclusive() {
        let step = frozen(|waited| waited / 2, 100_000_000);
        assert_eq!(worst(&judged(&step)), ProofVerdict::Inconclusive);
    }

    #[test]
    fn a_closed_loop_in_place_of_the_schedule_fails() {
        let generate = planted(|plan| {
            plan.open_loop = None;
            plan.concurrent = 4;
            plan.sample_size = plan.sample_size.max(1000);
        });
        let found = measure(&bench(&generate)).unwrap();
        assert_eq!(found.verdict(), ProofVerdict::Fail);
        let failed = failed(&found.checks);
        assert!(
            failed.iter().any(|what| what.contains("rate times freeze")),
            "{failed:?}"
        );
    }
}

//! (e) Requests are sent at the planned times, and the generator reports how late it was.

use super::bench::{Bench, SEED, at_rate, recorder, started};
use super::bounds::brief;
use super::fit::{above, critical, distance};
use super::ledger::{Ledger, SENT, Sends, own_clock};
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use plan::{Arrivals, Workload};
use record::{Check, Recorder, StepRecord, Unit};
use std::time::Duration;
use test_servers::{DelayOptions, DelayServer, Truth};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::E,
    id: "e",
    name: "arrivals",
    proves: "Requests leave when the plan says, evenly or as a Poisson process, \
             and the lateness that is reported is the real one.",
    takes: (Duration::from_secs(11), Duration::from_secs(3)),
    measure,
};

const RATE: f64 = 500.0;
const CLIENTS: u32 = 500;
/// Sends are on time when half of them are late by less than half of this, and 99 of 100 by less than
/// this.
const ON_TIME_NS: f64 = 1_000_000.0;
/// A gap between two arrivals may differ by so much from that of the plan, as long as neither send
/// was later than half of it.
const SLACK_NS: f64 = 400_000.0;
/// Gaps that a late send changes: the one before it and the one after it.
const GAPS_OF_A_SEND: f64 = 2.0;
/// Level of significance of the three random figures, those of a Poisson process: each of them fails a
/// correct generator once in a million runs (5 standard deviations of a normal distribution).
const LEVEL: f64 = 1e-6;
const DEVIATIONS: f64 = 5.2;
/// A test with a larger bound than this shows nothing: evenly spaced gaps are 0.5 from a Poisson
/// process, slack included.
const SHOWS: f64 = 0.4;

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let mut found = Findings::default();
    let time = bench.time(Duration::from_secs(5), Duration::from_millis(1200));
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let server = started(DelayServer::start(DelayOptions::default()))?;
        let mut plan = bench.plan(server.addr(), Workload::Echo, CLIENTS);
        plan.load = at_rate(RATE, arrivals, time);
        if arrivals == Arrivals::Poisson {
            plan.generator.seed = bench.seed;
        }
        let step = bench.run(&plan)?;
        let truth = server.truth();
        found.checks.extend(match arrivals {
            Arrivals::Constant => own_clock(bench.timestamps, judge_constant(&step, &truth, time)),
            Arrivals::Poisson | Arrivals::Recorded => judge_poisson(&step, &truth, time),
        });
    }
    Ok(found)
}

/// Evenly spaced: the n-th comes n gaps after the first, and no earlier.
fn judge_constant(step: &StepRecord, truth: &Truth, time: Duration) -> Vec<Check> {
    let planned = (RATE * time.as_secs_f64()) as u64;
    let ledger = Ledger::new(truth, step, SEED, Sends::Evenly(RATE));
    let said = recorder(step.send_lag.as_ref());
    let late = |p: f64| said.count() > 0 && said.percentile(p) as f64 > ON_TIME_NS / 2.0;
    let mut checks = Vec::new();
    // Lateness in the tail excuses errors of the tail alone.
    for (p, most, excused_by) in [
        (50.0, ON_TIME_NS / 2.0, 95.0),
        (95.0, ON_TIME_NS, 95.0),
        (99.0, ON_TIME_NS, 99.0),
    ] {
        let noise = late(excused_by).then(|| short_of_cpu(step));
        let check = Check::between(
            &format!("constant: lateness of arrivals, p{p}"),
            Unit::Nanoseconds,
            ledger.send_lag.most(p),
            None,
            Some(most),
        );
        checks.push(check.unless(noise));
    }
    let mut held = ledger.hold("constant", step, planned);
    held.extend(ledger.hold_open("constant", step, time));
    checks.extend(brief("constant", &["p50", "p95", "p99"], held));
    ledger.unless_given_up(checks, step, planned, time)
}

/// A Poisson process: independent gaps, exponentially distributed.
fn judge_poisson(step: &StepRecord, truth: &Truth, time: Duration) -> Vec<Check> {
    let answers = truth.by_arrival();
    let arrivals_ns: Vec<u64> = answers.iter().map(|answer| answer.arrival_ns).collect();
    let count = arrivals_ns.len() as u64;
    let expected = RATE * time.as_secs_f64();
    let mut gaps = Recorder::default();
    for pair in arrivals_ns.windows(2) {
        gaps.record(pair[1] - pair[0]);
    }
    // A send that was late by the generator's own records changes only the gaps beside it.
    let lag = recorder(step.send_lag.as_ref());
    let late = above(&lag, SLACK_NS / 2.0).count() as f64 / count.max(1) as f64;
    let limit = critical(gaps.count(), LEVEL) + GAPS_OF_A_SEND * late;
    let exponential = |ns: f64| 1.0 - (-ns.max(0.0) * RATE / 1e9).exp();
    let correlated = DEVIATIONS / expected.sqrt() + GAPS_OF_A_SEND * late;
    let noise = (limit > SHOWS).then(|| short_of_cpu(step));
    let zero = |check: Check| {
        Check {
            known: Some(0.0),
            ..check
        }
        .shows_nothing(noise.clone())
    };
    let enough = |count: u64| count as f64 >= step.samples_planned as f64 * SENT;
    let given_up = !enough(count) && step.sent.is_some_and(|sent| !enough(sent));
    let given_up = given_up.then(|| short_of_cpu(step));
    let checks = vec![
        Check::exactly(
            "Poisson: arrivals of the samples recorded",
            step.samples_planned,
            count,
        ),
        Check::within(
            "Poisson: arrivals of rate times duration",
            Unit::Count,
            expected,
            count as f64,
            DEVIATIONS * expected.sqrt(),
        ),
        zero(Check::between(
            "Poisson: gaps, distance from exponential (KS)",
            Unit::Share,
            distance(&gaps, SLACK_NS, exponential),
            None,
            Some(limit),
        )),
        zero(Check::between(
            "Poisson: correlation of one gap with the next",
            Unit::Share,
            correlation(&arrivals_ns),
            Some(-correlated),
            Some(correlated),
        )),
    ];
    let checks = checks.into_iter();
    checks.map(|check| check.unless(given_up.clone())).collect()
}

fn correlation(arrivals_ns: &[u64]) -> f64 {
    let gaps: Vec<f64> = arrivals_ns
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let products = gaps.windows(2).map(|p| (p[0] - mean) * (p[1] - mean));
    let squares = gaps.iter().map(|gap| (gap - mean).powi(2));
    products.sum::<f64>() / squares.sum::<f64>()
}

fn short_of_cpu(step: &StepRecord) -> String {
    let lag = recorder(step.send_lag.as_ref());
    format!(
        "the generator was short of CPU: by its own records 1 of 100 sends was {:.2} ms late",
        lag.percentile(99.0) as f64 / 1e6
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{HEARTBEAT_BYTES, Served, bench, failed, planted, worst};
    use super::*;
    use record::ProofVerdict;

    const TIME: Duration = Duration::from_secs(4);
    const GAP: u64 = 2_000_000;

    fn constant(served: &Served) -> Vec<Check> {
        judge_constant(&served.step(), &served.truth, TIME)
    }

    /// The same, reported by a generator that claims to have sent everything on time.
    fn constant_unsaid(served: &Served) -> Vec<Check> {
        let mut step = served.step();
        step.send_lag = even(|_| 1_000).step().send_lag;
        judge_constant(&step, &served.truth, TIME)
    }

    fn even(late: impl Fn(u64) -> u64) -> Served {
        Served::late(2000, RATE, |_| 100_000, late)
    }

    /// Arrivals at these moments, judged as a Poisson process whose requests were sent on time.
    fn poisson(arrivals_ns: &[u64]) -> Vec<Check> {
        let mut served = even(|_| 5_000);
        let step = served.step();
        served.truth.answers.truncate(arrivals_ns.len());
        for (answer, arrival_ns) in served.truth.answers.iter_mut().zip(arrivals_ns) {
            answer.arrival_ns = *arrival_ns;
        }
        judge_poisson(&step, &served.truth, TIME)
    }

    /// Arrivals whose gaps are the quantiles of the exponential distribution, in a scrambled order.
    fn exponential() -> Vec<u64> {
        let mut order: Vec<u64> = (0..2000).collect();
        // Mixes all bits, as SplitMix64 does.
        let mixed = |n: u64| {
            let n = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
        };
        order.sort_unstable_by_key(|n| mixed(*n));
        let mut at = 0;
        let arrivals = order.into_iter().map(|n| {
            let share = (n as f64 + 0.5) / 2000.0;
            at += (-(1.0 - share).ln() * GAP as f64) as u64;
            at
        });
        arrivals.collect()
    }

    #[test]
    fn answers_to_heartbeats_are_messages_and_no_more_than_the_server_gave() {
        let mut served = even(|_| 5_000);
        served.truth.heartbeats = vec![HEARTBEAT_BYTES; 3];
        for answered in [0, 2, 3, 4] {
            served.answered = answered;
            let checks = constant(&served);
            let due: &[&str] = match answered {
                4 => &["constant: answers to heartbeats"],
                _ => &[],
            };
            assert_eq!(failed(&checks), due, "{answered}");
        }
        served.answered = 2;
        let mut uncounted = served.step();
        uncounted.generator.messages -= 2;
        let checks = judge_constant(&uncounted, &served.truth, TIME);
        assert_ne!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
    }

    #[test]
    fn arrivals_by_the_plan_pass() {
        let checks = constant(&even(|n| n % 7 * 10_000));
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
        let checks = poisson(&exponential());
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
    }

    #[test]
    fn other_arrivals_fail() {
        let mut drifting = even(|_| 5_000);
        let step = drifting.step();
        for (n, answer) in (0..).zip(&mut drifting.truth.answers) {
            answer.arrival_ns += n * 2_000;
        }
        let checks = judge_constant(&step, &drifting.truth, TIME);
        for p in ["p95", "p99"] {
            let what = format!("constant: lateness of arrivals, {p}");
            assert!(failed(&checks).contains(&what.as_str()));
        }
        let evenly: Vec<u64> = (0..2000).map(|n| n * GAP).collect();
        let failures = |arrivals: &[u64], what: &str| {
            let checks = poisson(arrivals);
            failed(&checks).iter().any(|failed| failed.contains(what))
        };
        assert!(failures(&evenly, "exponential"));
        // The right gaps in rising order: the rate falls.
        let mut gaps: Vec<u64> = exponential().windows(2).map(|p| p[1] - p[0]).collect();
        gaps.sort_unstable();
        let mut at = 0;
        let sorted = gaps.iter().map(|gap| {
            at += gap;
            at
        });
        assert!(failures(&sorted.collect::<Vec<u64>>(), "correlation"));
    }

    #[test]
    fn lateness_is_excused_when_it_was_said_and_fails_when_it_was_not() {
        let late = |n: u64| if n.is_multiple_of(10) { 3_000_000 } else { 0 };
        let said = even(late);
        assert_eq!(worst(&constant(&said)), ProofVerdict::Inconclusive);
        let checks = constant_unsaid(&said);
        let hidden = failed(&checks);
        for what in [
            "lateness of arrivals, p95",
            "lateness of arrivals, p99",
            "completion, mean, as real send and lateness",
        ] {
            let what = format!("constant: {what}");
            assert!(hidden.contains(&what.as_str()), "{hidden:?}");
        }
    }

    #[test]
    fn a_late_tail_fails_when_it_was_not_said() {
        let late = |n: u64| if n.is_multiple_of(50) { 3_000_000 } else { 0 };
        let said = even(late);
        assert_eq!(worst(&constant(&said)), ProofVerdict::Inconclusive);
        let checks = constant_unsaid(&said);
        let hidden = failed(&checks);
        assert!(
            hidden.contains(&"constant: lateness of arrivals, p99"),
            "{hidden:?}"
        );
        assert!(
            !hidden.contains(&"constant: lateness of arrivals, p95"),
            "{hidden:?}"
        );
    }

    #[test]
    fn a_closed_loop_in_place_of_the_schedule_fails() {
        let generate = planted(|plan| {
            plan.load = plan::Load::closed(1, 750);
        });
        let found = measure(&bench(&generate)).unwrap();
        assert_eq!(found.verdict(), ProofVerdict::Fail);
        let failed = failed(&found.checks);
        for what in ["lateness of sends", "exponential"] {
            assert!(
                failed.iter().any(|failed| failed.contains(what)),
                "{failed:?}"
            );
        }
    }
}

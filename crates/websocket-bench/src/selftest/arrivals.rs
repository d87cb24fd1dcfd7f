//! (e) Requests reach the server when the plan says, by the stamps of the server's own kernel side.

use super::bench::{Bench, at_rate, recorder, started};
use super::fit::{critical, distance};
use super::{Chapter, Findings};
use crate::args::Part;
use run_record::{Arrivals, Check, Recorder, StepRecord, Unit, Workload};
use std::time::Duration;
use test_servers::{DelayOptions, DelayServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::E,
    id: "e",
    name: "arrivals",
    proves: "Requests leave when the plan says, evenly or as a Poisson process, \
             and the lateness that is reported is the real one.",
    takes: (Duration::from_secs(11), Duration::from_secs(4)),
    measure,
};

const RATE: f64 = 500.0;
const CLIENTS: u32 = 500;
/// On time: well under a millisecond for 99 of 100.
const ON_TIME_NS: f64 = 1_000_000.0;
/// What two clocks of one event may differ by, the way to the server included.
const MARGIN_NS: f64 = 100_000.0;

fn measure(bench: &Bench<'_>) -> Result<Findings, String> {
    let mut found = Findings::default();
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let server = started(DelayServer::start(DelayOptions::default()))?;
        let time = bench.time(Duration::from_secs(5), Duration::from_millis(1500));
        let mut plan = bench.plan(server.addr(), Workload::Echo, CLIENTS);
        plan.open_loop = at_rate(RATE, arrivals, time);
        let step = bench.run(&plan)?;
        let answers = server.truth().by_arrival();
        let arrivals_ns = answers.iter().map(|answer| answer.arrival_ns).collect();
        let seen = Seen { arrivals_ns, step };
        found.checks.extend(match arrivals {
            Arrivals::Constant => seen.judge_constant(time),
            Arrivals::Poisson => seen.judge_poisson(time),
        });
    }
    Ok(found)
}

/// What the server saw, and what the generator says.
struct Seen {
    /// In order.
    arrivals_ns: Vec<u64>,
    step: StepRecord,
}

impl Seen {
    fn count(&self) -> u64 {
        self.arrivals_ns.len() as u64
    }

    /// Evenly spaced: the n-th comes n gaps after the first, and no earlier.
    fn judge_constant(&self, time: Duration) -> Vec<Check> {
        let planned = (RATE * time.as_secs_f64()) as u64;
        let seen = self.lateness();
        let said = recorder(self.step.send_lag.as_ref());
        let noise = (said.count() > 0 && said.percentile(99.0) as f64 > ON_TIME_NS / 2.0)
            .then(|| self.short_of_cpu());
        let mut checks = vec![
            Check::exactly("constant: arrivals", planned, self.count()),
            Check::between(
                "constant: lateness of arrivals, p50",
                Unit::Nanoseconds,
                seen.percentile(50.0) as f64,
                None,
                Some(ON_TIME_NS / 2.0),
            )
            .unless(noise.clone()),
            Check::between(
                "constant: lateness of arrivals, p99",
                Unit::Nanoseconds,
                seen.percentile(99.0) as f64,
                None,
                Some(ON_TIME_NS),
            )
            .unless(noise),
        ];
        for p in [50.0, 90.0, 99.0] {
            let (known, reported) = (seen.percentile(p) as f64, said.percentile(p) as f64);
            checks.push(Check::within(
                &format!("constant: lateness as reported, p{p}"),
                Unit::Nanoseconds,
                known,
                if said.count() == 0 {
                    f64::NAN
                } else {
                    reported
                },
                MARGIN_NS.max(known * 0.05),
            ));
        }
        checks
    }

    /// How late each arrival is, if the promptest of them is on time.
    fn lateness(&self) -> Recorder {
        let after = |(n, at): (usize, &u64)| *at as i64 - (n as f64 * 1e9 / RATE) as i64;
        let offsets: Vec<i64> = self.arrivals_ns.iter().enumerate().map(after).collect();
        let promptest = offsets.iter().copied().min().unwrap_or_default();
        let mut lateness = Recorder::default();
        for offset in offsets {
            lateness.record((offset - promptest) as u64);
        }
        lateness
    }

    /// A Poisson process: independent gaps, exponentially distributed.
    fn judge_poisson(&self, time: Duration) -> Vec<Check> {
        let expected = RATE * time.as_secs_f64();
        let mut gaps = Recorder::default();
        for pair in self.arrivals_ns.windows(2) {
            gaps.record(pair[1] - pair[0]);
        }
        let lag = recorder(self.step.send_lag.as_ref());
        // Sends that were late together make gaps of nothing.
        let noise = (lag.percentile(95.0) as f64 > 2.0 * MARGIN_NS).then(|| self.short_of_cpu());
        let exponential = |ns: f64| 1.0 - (-ns.max(0.0) * RATE / 1e9).exp();
        vec![
            Check::exactly(
                "Poisson: arrivals of the samples recorded",
                self.step.samples_planned,
                self.count(),
            ),
            Check::within(
                "Poisson: arrivals of rate times duration",
                Unit::Count,
                expected,
                self.count() as f64,
                4.0 * expected.sqrt(),
            ),
            Check {
                known: Some(0.0),
                ..Check::between(
                    "Poisson: gaps, distance from exponential (KS)",
                    Unit::Share,
                    distance(&gaps, MARGIN_NS, exponential),
                    None,
                    Some(critical(gaps.count())),
                )
            }
            .unless(noise.clone()),
            Check {
                known: Some(0.0),
                ..Check::between(
                    "Poisson: correlation of one gap with the next",
                    Unit::Share,
                    self.correlation(),
                    Some(-4.0 / expected.sqrt()),
                    Some(4.0 / expected.sqrt()),
                )
            }
            .unless(noise),
        ]
    }

    fn correlation(&self) -> f64 {
        let gaps: Vec<f64> = self
            .arrivals_ns
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let products = gaps.windows(2).map(|p| (p[0] - mean) * (p[1] - mean));
        let squares = gaps.iter().map(|gap| (gap - mean).powi(2));
        products.sum::<f64>() / squares.sum::<f64>()
    }

    fn short_of_cpu(&self) -> String {
        let lag = recorder(self.step.send_lag.as_ref());
        format!(
            "the generator was short of CPU: by its own books 1 of 100 sends was {:.2} ms late",
            lag.percentile(99.0) as f64 / 1e6
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bench, failed, planted, step, worst};
    use super::*;
    use run_record::ProofVerdict;

    const TIME: Duration = Duration::from_secs(4);
    const GAP: u64 = 2_000_000;

    /// Arrivals at these moments; the generator says that each send was so late.
    fn seen(arrivals_ns: Vec<u64>, said: impl Fn(u64) -> u64) -> Seen {
        let mut lag = Recorder::default();
        let count = arrivals_ns.len() as u64;
        (0..count).for_each(|n| lag.record(said(n)));
        let step = StepRecord {
            samples_planned: count,
            send_lag: lag.latency(),
            ..step()
        };
        Seen { arrivals_ns, step }
    }

    fn even(late: impl Fn(u64) -> u64) -> Vec<u64> {
        (0..2000)
            .map(|n| 1_000_000_000 + n * GAP + late(n))
            .collect()
    }

    /// Quantiles of the exponential in an order without rhyme.
    fn poisson() -> Vec<u64> {
        let mut order: Vec<u64> = (0..2000).collect();
        // Multiplications that mix all bits, as in SplitMix64.
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
    fn arrivals_by_the_plan_pass() {
        let constant = seen(even(|n| n % 7 * 10_000), |n| n % 7 * 10_000);
        let checks = constant.judge_constant(TIME);
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
        let checks = seen(poisson(), |_| 5_000).judge_poisson(TIME);
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
    }

    #[test]
    fn other_arrivals_fail() {
        let drifting = seen(even(|n| n * 2_000), |_| 5_000).judge_constant(TIME);
        assert!(failed(&drifting).iter().any(|what| what.contains("p99")));
        let one_short = seen(even(|_| 0)[1..].to_vec(), |_| 0).judge_constant(TIME);
        assert_eq!(failed(&one_short), ["constant: arrivals"]);
        let even_for_poisson = seen(even(|_| 0), |_| 0).judge_poisson(TIME);
        assert!(
            failed(&even_for_poisson)
                .iter()
                .any(|what| what.contains("exponential"))
        );
        // The right gaps in rising order, as of a rate that falls.
        let mut gaps: Vec<u64> = poisson().windows(2).map(|p| p[1] - p[0]).collect();
        gaps.sort_unstable();
        let mut at = 0;
        let sorted = gaps.iter().map(|gap| {
            at += gap;
            at
        });
        let sorted = seen(sorted.collect(), |_| 0).judge_poisson(TIME);
        assert!(
            failed(&sorted)
                .iter()
                .any(|what| what.contains("correlation"))
        );
    }

    #[test]
    fn lateness_is_excused_when_it_was_said_and_fails_when_it_was_not() {
        let late = |n: u64| if n.is_multiple_of(20) { 3_000_000 } else { 0 };
        let said = seen(even(late), late).judge_constant(TIME);
        assert_eq!(worst(&said), ProofVerdict::Inconclusive);
        let hidden = seen(even(late), |_| 1_000).judge_constant(TIME);
        assert!(
            failed(&hidden)
                .iter()
                .any(|what| what.contains("as reported"))
        );
    }

    #[test]
    fn a_closed_loop_in_place_of_the_schedule_fails() {
        let generate = planted(|plan| {
            plan.open_loop = None;
            plan.sample_size = 750;
        });
        let found = measure(&bench(&generate)).unwrap();
        assert_eq!(found.verdict(), ProofVerdict::Fail);
        let failed = failed(&found.checks);
        for what in ["as reported", "exponential"] {
            assert!(
                failed.iter().any(|failed| failed.contains(what)),
                "{failed:?}"
            );
        }
    }
}

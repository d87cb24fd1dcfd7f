//! Messages that pile up on a connection share stamps. At every percentile, the server's time lies
//! within the reported bounds.

use crate::bench::{Bench, SEED, io_flag, recorder, started};
use crate::child::{self, Measured};
use crate::error::Unmade;
use record::{Check, Recorder, StepRecord, Unit};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, Truth};

const NAME: &str = "few connections, stopped for 50 of every 100 ms";
const DELAY: Duration = Duration::from_millis(30);
/// So many that several arrive on each connection during a stop ...
const RATE: u64 = 1_000;
/// ... and hardly ever more than ten, the initial congestion window (RFC 6928). The kernel of a reader
/// that is stopped delays its acknowledgments, and what is beyond the window waits for them in the
/// server's: it arrives later than it was written.
const CLIENTS: u32 = 10;
const GAP_NS: u64 = 1_000_000_000 / RATE;
/// Margin for times that count from the plan: its moments are placed on the server's clock by the
/// earliest request.
const MARGIN_NS: f64 = 300_000.0;
/// Two histograms of three digits are compared.
const DIGITS: f64 = 2e-3;
/// Of the messages that arrive during stops nearly all share a stamp, and stops take half the time.
const SHARED: f64 = 0.2;
const PERCENTILES: [f64; 5] = [50.0, 75.0, 90.0, 95.0, 99.0];

/// The step of a generator that was stopped, and what is known of it.
pub(super) struct Case {
    pub(super) step: StepRecord,
    pub(super) truth: Truth,
}

pub(super) fn hinder(bench: &Bench<'_>) -> Result<Case, Unmade> {
    let server = started(DelayServer::start(DelayOptions {
        delay: Delay::Constant(DELAY),
        ..DelayOptions::default()
    }))?;
    let lasting = bench.time(Duration::from_secs(3), Duration::from_secs(1));
    let arguments = format!(
        "echo ws://{}/ --rate {RATE} --arrivals constant --duration {}ms --initial-clients {CLIENTS} \
         --threads 1 --seed {SEED} --limit-rtt 20s --timestamps kernel --io {}",
        server.addr(),
        lasting.as_millis(),
        io_flag(bench.io)
    );
    let Measured { step, .. } = child::measure(&arguments, true, bench.interrupted)?;
    Ok(Case {
        step,
        truth: server.truth(),
    })
}

impl Case {
    /// Holds what is reported as the least and the most against the server's ledger.
    pub(super) fn judge(&self) -> Vec<Check> {
        let step = &self.step;
        let [earliest, latest] = self.known();
        let at_most = recorder(step.completion.as_ref());
        // Where none shared a stamp, the two are one.
        let at_least = match &step.limited_at_least {
            Some(at_least) => recorder(Some(at_least)),
            None => at_most.clone(),
        };
        let shared = step.generator.shared_stamps.as_ref();
        let shared = shared.map_or(0, |shared| shared.count);
        let stopped_ns = step.send_lag.as_ref().map_or(0, |lag| lag.max_ns);
        let unhindered = (stopped_ns < child::STOPS.as_nanos() as u64 / 2)
            .then(|| "the generator was not held up: it cannot be stopped here".to_owned());
        let mut checks = vec![
            Check::exactly(
                &format!("{NAME}: samples"),
                earliest.count(),
                at_most.count(),
            ),
            Check::exactly(
                &format!("{NAME}: samples at their earliest"),
                at_most.count(),
                at_least.count(),
            ),
            Check::between(
                &format!("{NAME}: messages without a stamp of their own"),
                Unit::Count,
                shared as f64,
                Some(SHARED * at_most.count() as f64),
                None,
            )
            .unless(unhindered),
        ];
        for p in PERCENTILES {
            let [earliest, latest, least, most] =
                [&earliest, &latest, &at_least, &at_most].map(|times| times.percentile(p) as f64);
            let margin = MARGIN_NS + most * DIGITS;
            for (end, reported, from, to) in [
                ("the most", most, Some(earliest - margin), None),
                ("the least", least, None, Some(latest + margin)),
            ] {
                let what = format!("{NAME}: p{p}, {end} that it can be");
                let check = Check::between(&what, Unit::Nanoseconds, reported, from, to);
                checks.push(Check {
                    known: Some(f64::midpoint(earliest, latest)),
                    ..check
                });
            }
        }
        checks
    }

    /// The times from the intended sends to the clocks before and after the writes of the answers.
    fn known(&self) -> [Recorder; 2] {
        let due_ns = |stamp: Option<u64>| {
            let sample = ws_load::sample_of_stamp(SEED, stamp?)?;
            Some(sample * GAP_NS)
        };
        let answers = self.truth.answers.iter();
        let promptest = answers
            .filter_map(|answer| Some(answer.arrival_ns.saturating_sub(due_ns(answer.stamp)?)))
            .min()
            .unwrap_or_default();
        let mut known = [Recorder::default(), Recorder::default()];
        for write in &self.truth.writes {
            let Some(due_ns) = due_ns(write.stamp) else {
                continue;
            };
            for (times, ns) in known.iter_mut().zip([write.before_ns, write.after_ns]) {
                times.record(ns.saturating_sub(promptest + due_ns));
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{failed, stamp, step};
    use record::GeneratorUse;
    use test_servers::{Answer, Write};

    const N: u64 = 1_000;
    const START_NS: u64 = 7_000_000_000;

    /// The generator is stopped for the second half of every 100 ms. Answers that come in that time
    /// are read at its end, with the stamp of the last.
    fn case(change: impl Fn(u64) -> u64, change_least: impl Fn(u64) -> u64) -> Case {
        let mut truth = Truth::default();
        let [mut at_most, mut at_least, mut errors, mut lag] =
            std::array::from_fn(|_| Recorder::default());
        for n in 0..N {
            let due_ns = START_NS + n * GAP_NS;
            let phase = due_ns / 1_000_000 % 100;
            let sent_ns = if phase < 50 {
                due_ns
            } else {
                due_ns + (100 - phase) * 1_000_000
            };
            lag.record(sent_ns - due_ns);
            let written_ns = sent_ns + 30_000_000;
            let stamp = Some(stamp(n));
            truth.answers.push(Answer {
                arrival_ns: sent_ns + 10_000,
                written_ns,
                stamp,
                shared: false,
            });
            truth.writes.push(Write {
                stamp,
                connection: 0,
                result: false,
                bytes: 100,
                before_ns: written_ns,
                after_ns: written_ns + 5_000,
            });
            let phase = written_ns / 1_000_000 % 100;
            let error_ns = if phase < 50 {
                0
            } else {
                (100 - phase) * 1_000_000
            };
            let seen_ns = written_ns + 20_000 - due_ns;
            at_most.record(change(seen_ns + error_ns));
            let earliest_ns = seen_ns
                - if error_ns > 0 {
                    (phase - 50) * 1_000_000
                } else {
                    0
                };
            at_least.record(change_least(earliest_ns));
            if error_ns > 0 {
                errors.record(50_000_000);
            }
        }
        Case {
            step: StepRecord {
                completion: at_most.latency(),
                limited_at_least: at_least.latency(),
                send_lag: lag.latency(),
                generator: GeneratorUse {
                    shared_stamps: errors.latency(),
                    ..GeneratorUse::default()
                },
                ..step()
            },
            truth,
        }
    }

    #[test]
    fn bounds_that_hold_pass() {
        let checks = case(|ns| ns, |ns| ns).judge();
        assert!(failed(&checks).is_empty(), "{:?}", failed(&checks));
    }

    #[test]
    fn a_least_that_is_no_bound_fails() {
        // The report claims that every message had its own stamp.
        let mut exact = case(|ns| ns, |ns| ns);
        exact.step.limited_at_least = exact.step.completion.clone();
        assert!(!failed(&exact.judge()).is_empty());
        let late = case(|ns| ns, |ns| ns + 60_000_000);
        assert!(!failed(&late.judge()).is_empty());
    }

    #[test]
    fn a_most_that_is_no_bound_fails() {
        let early = case(
            |ns| ns.saturating_sub(5_000_000),
            |ns| ns.saturating_sub(5_000_000),
        );
        assert!(
            failed(&early.judge())
                .iter()
                .all(|what| what.contains("the most"))
        );
        assert!(!failed(&early.judge()).is_empty());
    }
}

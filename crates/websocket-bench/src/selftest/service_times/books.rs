//! What a server's books say of the times from the intended sends, message by message. Pure.
//!
//! The generator's schedule is not asked: evenly spaced sends are due at their number times the gap.

use run_record::Recorder;
use std::collections::BTreeMap;
use test_servers::Truth;

/// Times from the intended sends, as the server knows them.
pub(super) struct SinceIntended {
    /// One for each sample that the server answered; one whose stamp came twice is in it once.
    pub(super) times: Recorder,
    /// How late each of them reached the server.
    pub(super) lateness: Recorder,
    /// Requests that carried the stamp of no sample of this run, or one that had come before.
    pub(super) strangers: u64,
}

impl SinceIntended {
    /// The books of a run at a constant `rate` under `seed`.
    ///
    /// Each request is known by its stamp, so that it counts from its own moment in whatever order
    /// the threads of a generator get to send. The plan is laid on the server's clock by the
    /// promptest request of all, which came at once.
    pub(super) fn of(truth: &Truth, rate: f64, seed: u64) -> Self {
        let mut strangers = 0;
        let mut samples = BTreeMap::new();
        for answer in &truth.answers {
            let sample = answer.stamp;
            let sample = sample.and_then(|stamp| ws_load::sample_of_stamp(seed, stamp));
            match sample {
                Some(sample) if !samples.contains_key(&sample) => {
                    samples.insert(sample, answer);
                }
                _ => strangers += 1,
            }
        }
        let after_plan = |sample: u64, ns: u64| ns as i64 - (sample as f64 * 1e9 / rate) as i64;
        let arrivals = samples.iter();
        let promptest = arrivals
            .map(|(sample, answer)| after_plan(*sample, answer.arrival_ns))
            .min()
            .unwrap_or_default();
        let [mut times, mut lateness] = [Recorder::default(), Recorder::default()];
        for (sample, answer) in samples {
            let took = after_plan(sample, answer.written_ns) - promptest;
            times.record(took.max(0) as u64);
            lateness.record((after_plan(sample, answer.arrival_ns) - promptest) as u64);
        }
        Self {
            times,
            lateness,
            strangers,
        }
    }
}

//! Distances between what was recorded and a distribution. Pure.

use run_record::Recorder;

/// One value in a thousand: the resolution of the histograms.
pub(super) const RESOLUTION: f64 = 1e-3;

/// The distance of Kolmogorov and Smirnov between recorded times and a distribution: the largest
/// difference of the shares below any time. Times may be off by `slack_ns` and the resolution.
pub(super) fn distance(samples: &Recorder, slack_ns: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let all = samples.count() as f64;
    let mut below = 0.0;
    let mut worst: f64 = 0.0;
    for (ns, count) in samples.samples() {
        let (at, slack) = (ns as f64, slack_ns + ns as f64 * RESOLUTION);
        let too_few = cdf(at - slack) - below / all;
        below += count as f64;
        let too_many = below / all - cdf(at + slack);
        worst = worst.max(too_few).max(too_many);
    }
    worst
}

/// The share of recorded times of at most so many nanoseconds.
pub(super) fn cdf(samples: &Recorder) -> impl Fn(f64) -> f64 {
    let all = samples.count().max(1) as f64;
    let mut below = 0;
    let steps: Vec<(f64, u64)> = samples
        .samples()
        .map(|(ns, count)| {
            below += count;
            (ns as f64, below)
        })
        .collect();
    move |ns| {
        let passed = steps.partition_point(|(at, _)| *at <= ns);
        let below = passed.checked_sub(1).map_or(0, |last| steps[last].1);
        below as f64 / all
    }
}

/// The distance that one sample of so many in a thousand passes by chance (the asymptotic value
/// of the test at 0.1 percent).
pub(super) fn critical(samples: u64) -> f64 {
    1.95 / (samples.max(1) as f64).sqrt()
}

/// Samples above a time.
pub(super) fn above(samples: &Recorder, ns: f64) -> Recorder {
    let mut late = Recorder::default();
    for (value, count) in samples.samples().filter(|(value, _)| *value as f64 > ns) {
        late.record_n(value, count);
    }
    late
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use test_servers::Delay;

    /// Ideal samples: the quantiles of the distribution themselves.
    fn quantiles(count: u32, of: impl Fn(f64) -> f64) -> Recorder {
        let mut recorder = Recorder::default();
        (0..count)
            .for_each(|n| recorder.record(of((f64::from(n) + 0.5) / f64::from(count)) as u64));
        recorder
    }

    fn exponential(mean_ns: f64) -> Recorder {
        quantiles(4000, |share| -mean_ns * (1.0 - share).ln())
    }

    #[test]
    fn a_distribution_fits_itself_and_not_its_neighbours() {
        let known = Delay::Exponential(Duration::from_millis(10));
        let of = |mean_ns| distance(&exponential(mean_ns), 0.0, |ns| known.cdf(ns));
        assert!(of(10e6) < 0.005);
        assert!(of(11.5e6) > critical(4000), "{}", of(11.5e6));
        assert!(of(8.5e6) > critical(4000), "{}", of(8.5e6));
    }

    #[test]
    fn jumps_are_found_where_they_are_and_as_high_as_they_are() {
        let known = Delay::bimodal(Duration::from_millis(2));
        let slack = 100_000.0;
        let with = |rare: u32, ms: f64| {
            let recorder = quantiles(4000, |share| {
                if share * 4000.0 < f64::from(4000 - rare) {
                    2.05e6
                } else {
                    ms * 1e6
                }
            });
            distance(&recorder, slack, |ns| known.cdf(ns))
        };
        assert!(with(48, 100.05) < 1e-9);
        assert!(with(200, 100.05) > critical(4000));
        // All of them elsewhere: only their own share is missing.
        assert!((with(48, 90.0) - 0.012).abs() < 1e-9);
    }

    #[test]
    fn recorded_times_are_a_distribution_too() {
        let samples = exponential(10e6);
        let known = cdf(&samples);
        assert_eq!((known(0.0), known(1e12)), (0.0, 1.0));
        let mean = f64::exp(-1.0);
        assert!(
            (known(10e6) - (1.0 - mean)).abs() < 0.001,
            "{}",
            known(10e6)
        );
        assert!(distance(&samples, 0.0, &known) < 1e-9);
        let longer = distance(&exponential(11.5e6), 0.0, &known);
        assert!(longer > critical(4000), "{longer}");
    }

    #[test]
    fn late_samples_are_cut_out_whole() {
        let late = above(&exponential(10e6), 10e6);
        // Of 4,000, a share of 1/e.
        assert!(late.count().abs_diff(1472) <= 2, "{}", late.count());
        assert!(late.percentile(0.0) as f64 > 10e6 * (1.0 - RESOLUTION));
    }
}

//! Distances between what was recorded and a distribution. Pure.

use record::Recorder;

/// One value in a thousand: the resolution of the histograms.
const RESOLUTION: f64 = 1e-3;

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

/// The distance that so many samples of the distribution exceed by chance at this level: the
/// asymptotic value, which is on the safe side for any number (Massart's inequality).
pub(super) fn critical(samples: u64, level: f64) -> f64 {
    (-(level / 2.0).ln() / 2.0).sqrt() / (samples.max(1) as f64).sqrt()
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

    /// Ideal samples of an exponential distribution: its quantiles.
    fn exponential(mean_ns: f64) -> Recorder {
        let mut recorder = Recorder::default();
        let shares = (0..4000).map(|n| (f64::from(n) + 0.5) / 4000.0);
        shares.for_each(|share| recorder.record((-mean_ns * (1.0 - share).ln()) as u64));
        recorder
    }

    #[test]
    fn a_distribution_fits_itself_and_not_its_neighbours() {
        let of = |mean_ns: f64| {
            let known = |ns: f64| 1.0 - (-ns.max(0.0) / 10e6).exp();
            distance(&exponential(mean_ns), 0.0, known)
        };
        assert!(of(10e6) < 0.005);
        assert!(of(11.5e6) > critical(4000, 1e-6), "{}", of(11.5e6));
        assert!(of(8.5e6) > critical(4000, 1e-6), "{}", of(8.5e6));
    }

    #[test]
    fn the_critical_distance_is_that_of_the_tables() {
        // The tables say 1.36 and 1.95 over the root of the number of samples, at 5 and at 0.1 percent.
        assert!((critical(100, 0.05) - 0.136).abs() < 5e-4);
        assert!((critical(100, 0.001) - 0.195).abs() < 5e-4);
    }

    #[test]
    fn late_samples_are_cut_out_whole() {
        let late = above(&exponential(10e6), 10e6);
        // A share of 1/e of the 4,000 samples is above the mean.
        assert!(late.count().abs_diff(1472) <= 2, "{}", late.count());
        assert!(late.percentile(0.0) as f64 > 10e6 * (1.0 - RESOLUTION));
    }
}

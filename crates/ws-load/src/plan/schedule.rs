//! When an open loop sends: the n-th arrival is a function of n, the seed and the rate.
//!
//! Arrivals of unit rate (every 1, or with exponential gaps) are mapped through the inverse of the
//! planned number of sends, so that a ramp bends time and not the arrival process. Nothing that a
//! server does can move an arrival.

use super::mix;
use super::script::{Recording, Script};
use plan::{Arrivals, OpenLoop};
use std::sync::Arc;

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// Number of the arrival, from 0.
    pub(crate) index: u64,
    /// Nanoseconds after the start of the schedule.
    pub(crate) offset_ns: u64,
}

/// The arrivals of one step, in order.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    load: OpenLoop,
    seed: u64,
    next: u64,
    /// Sum of the gaps of unit rate before `next`.
    reached: f64,
    /// Numbers from here on have no arrival.
    end: u64,
    /// In the place of gaps.
    recording: Option<Recording>,
}

impl Schedule {
    /// The arrivals of the step whose first sample has the number `first_sample` in the run.
    pub(crate) fn new(load: OpenLoop, seed: u64, first_sample: u64) -> Self {
        Self {
            load,
            seed: mix(seed ^ 0x0A, first_sample),
            next: 0,
            reached: 0.0,
            end: u64::MAX,
            recording: None,
        }
    }

    /// The same for clients that carry out a script, if there is one.
    pub(crate) fn with_script(mut self, script: Option<&Arc<Script>>, clients: u64) -> Self {
        let Some(script) = script.filter(|_| clients > 0) else {
            return self;
        };
        self.end = script.most_requests(clients).unwrap_or(u64::MAX);
        if self.load.arrivals == Arrivals::Recorded {
            let (rate, duration_ns) = (self.load.rate, self.load.duration.ns());
            let recording = Recording::new(Arc::clone(script), clients, rate, duration_ns);
            self.recording = Some(recording);
        }
        self
    }

    /// The load that it is the schedule of.
    pub(crate) const fn load(&self) -> &OpenLoop {
        &self.load
    }

    /// Arrivals in all, and those of them that belong to the warm-up.
    pub(crate) fn counts(&self) -> (u64, u64) {
        if let Some(recording) = self.recording.as_ref().filter(|of| of.is_dialogue()) {
            return (recording.requests(), 0);
        }
        let (mut all, mut warm_up) = (0, 0);
        for due in self.clone() {
            all += 1;
            warm_up += u64::from(due.offset_ns < self.load.warm_up.ns());
        }
        (all, warm_up)
    }

    /// The expected number of arrivals, found without going through them.
    pub(crate) fn expected(&self) -> f64 {
        if let Some(recording) = &self.recording {
            return recording.requests() as f64;
        }
        self.expected_by_rate().min(self.end as f64)
    }

    /// Requests per second at its start; of a recording in the mean. Of dialogues, how many begin.
    pub(crate) fn rate(&self) -> f64 {
        match &self.recording {
            Some(recording) if recording.is_dialogue() => self.load.rate,
            Some(recording) => recording.requests() as f64 * 1e9 / recording.length_ns() as f64,
            None => self.load.rate,
        }
    }

    /// True where it has the first request of each client alone: the others follow from answers.
    pub(crate) fn is_dialogue(&self) -> bool {
        self.recording.as_ref().is_some_and(Recording::is_dialogue)
    }

    fn expected_by_rate(&self) -> f64 {
        let length = self.load.length().ns() as f64 / 1e9;
        let from = self.load.rate;
        let Some(ramp) = self.load.ramp else {
            return from * length;
        };
        let ramp_length = ramp.over.ns() as f64 / 1e9;
        let ramped = length.min(ramp_length);
        let reached = from + (ramp.to - from) * ramped / ramp_length;
        (from + reached) / 2.0 * ramped + ramp.to * (length - ramped)
    }

    /// Nanoseconds from its start to its end.
    pub(crate) fn length_ns(&self) -> u64 {
        let by_rate = self.load.warm_up.ns() + self.load.duration.ns();
        let recorded = self.recording.as_ref().map_or(0, Recording::length_ns);
        by_rate.max(recorded)
    }

    /// The gap of unit rate before arrival `index`; the first comes at the start, or, of a Poisson
    /// process, after a gap like any other.
    fn gap(&self, index: u64) -> f64 {
        match self.load.arrivals {
            Arrivals::Constant | Arrivals::Recorded => f64::from(u8::from(index > 0)),
            Arrivals::Poisson => {
                // In (0, 1]: 53 random bits, and never the logarithm of nothing.
                let uniform = ((mix(self.seed, index) >> 11) + 1) as f64 / (1u64 << 53) as f64;
                -uniform.ln()
            }
        }
    }
}

impl Iterator for Schedule {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        if let Some(recording) = &mut self.recording {
            let (index, offset_ns) = recording.next()?;
            return Some(Due { index, offset_ns });
        }
        if self.next == self.end {
            return None;
        }
        let reached = self.reached + self.gap(self.next);
        let offset_ns = time_of(&self.load, reached) * 1e9;
        if offset_ns >= (self.load.warm_up.ns() + self.load.duration.ns()) as f64 {
            return None;
        }
        let due = Due {
            index: self.next,
            offset_ns: offset_ns as u64,
        };
        self.reached = reached;
        self.next += 1;
        Some(due)
    }
}

/// Seconds until `sends` sends are planned: the inverse of the integral of the rate, which goes in
/// a straight line from `rate` to `ramp_to` over `ramp_ns` and stays there.
fn time_of(load: &OpenLoop, sends: f64) -> f64 {
    let from = load.rate;
    let (to, ramp) = match load.ramp {
        Some(ramp) => (ramp.to, ramp.over.ns() as f64 / 1e9),
        None => (from, 0.0),
    };
    let of_ramp = (from + to) / 2.0 * ramp;
    if sends >= of_ramp {
        return ramp + (sends - of_ramp) / to;
    }
    let slope = (to - from) / ramp;
    if slope == 0.0 {
        return sends / from;
    }
    // The root of slope/2 t^2 + from t = sends in the form that does not cancel.
    2.0 * sends / (from + (from * from + 2.0 * slope * sends).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Nanos, Ramp};
    use proptest::prelude::*;

    fn open(rate: f64, arrivals: Arrivals, seconds: u64) -> OpenLoop {
        OpenLoop {
            rate,
            ramp: None,
            arrivals,
            duration: Nanos(seconds * 1_000_000_000),
            warm_up: Nanos(0),
        }
    }

    fn offsets(load: &OpenLoop, seed: u64) -> Vec<u64> {
        Schedule::new(load.clone(), seed, 0)
            .map(|due| due.offset_ns)
            .collect()
    }

    #[test]
    fn constant_arrivals_are_evenly_spaced_to_the_end_without_drift() {
        let load = open(3.0, Arrivals::Constant, 100);
        let offsets = offsets(&load, 1);
        assert_eq!(offsets.len(), 300);
        for (n, offset) in offsets.iter().enumerate() {
            assert!(offset.abs_diff(n as u64 * 1_000_000_000 / 3) <= 1, "{n}");
        }
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let offsets = offsets(&open(1000.0, Arrivals::Poisson, 100), 7);
        // 100,000 arrivals expected, standard deviation 316; six of them either way.
        assert!(
            (98_100..101_900).contains(&offsets.len()),
            "{}",
            offsets.len()
        );
        let mut gaps: Vec<f64> = offsets
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
            .collect();
        gaps.sort_unstable_by(f64::total_cmp);
        // Kolmogorov-Smirnov against 1 - exp(-x); 1.63/sqrt(n) is the critical value at 1 percent.
        let n = gaps.len() as f64;
        let distance = gaps
            .iter()
            .enumerate()
            .map(|(i, gap)| {
                let expected = 1.0 - (-gap).exp();
                (expected - i as f64 / n)
                    .abs()
                    .max((expected - (i + 1) as f64 / n).abs())
            })
            .fold(0.0, f64::max);
        assert!(distance < 1.63 / n.sqrt(), "{distance}");
    }

    #[test]
    fn a_ramp_sends_what_the_area_under_it_says() {
        let load = OpenLoop {
            ramp: Some(Ramp {
                to: 500.0,
                over: Nanos(60_000_000_000),
            }),
            ..open(100.0, Arrivals::Constant, 80)
        };
        let offsets = offsets(&load, 1);
        let before = |seconds: u64| {
            offsets
                .iter()
                .filter(|o| **o < seconds * 1_000_000_000)
                .count() as i64
        };
        for (seconds, sends) in [(30, 6_000), (60, 18_000), (80, 28_000)] {
            assert!(
                (before(seconds) - sends).abs() <= 1,
                "{seconds} s: {}",
                before(seconds)
            );
        }
    }

    #[test]
    fn a_ramp_to_the_same_rate_is_none() {
        let even = open(100.0, Arrivals::Constant, 2);
        let flat = OpenLoop {
            ramp: Some(Ramp {
                to: 100.0,
                over: Nanos(1_000_000_000),
            }),
            ..even.clone()
        };
        let (flat, even) = (offsets(&flat, 1), offsets(&even, 1));
        assert_eq!(flat.len(), even.len());
        let mut pairs = flat.iter().zip(&even);
        assert!(pairs.all(|(a, b)| a.abs_diff(*b) <= 1), "{flat:?}");
    }

    /// The generator's first output under this seed is 7: none of the bits that are taken is set.
    #[test]
    fn the_longest_gap_has_an_end() {
        const SEED: u64 = 0xF407_7B0D_BEBC_73C0;
        assert_eq!(mix(SEED, 0), 7);
        let schedule = Schedule {
            seed: SEED,
            ..Schedule::new(open(1.0, Arrivals::Poisson, 100), 1, 0)
        };
        assert_eq!(schedule.gap(0), 53.0 * std::f64::consts::LN_2);
    }

    #[test]
    fn a_schedule_knows_its_length_and_how_much_it_sends() {
        let load = OpenLoop {
            warm_up: Nanos(500_000_000),
            ..open(10.0, Arrivals::Constant, 3)
        };
        let plain = Schedule::new(load.clone(), 1, 0);
        assert_eq!((plain.length_ns(), plain.rate()), (3_500_000_000, 10.0));
        assert_eq!(plain.expected(), 35.0);
        // Two requests of each of 4 clients, and no clients that would send any.
        let script = Script::at(&[0, 5_000], None);
        let scripted = |clients| plain.clone().with_script(Some(&script), clients);
        assert_eq!((scripted(4).expected(), scripted(4).count()), (8.0, 8));
        assert_eq!((scripted(0).expected(), scripted(0).count()), (35.0, 35));
        assert_eq!(scripted(4).length_ns(), 3_500_000_000);
        let recorded = Schedule::new(open(10.0, Arrivals::Recorded, 3), 1, 0);
        let recorded = recorded.with_script(Some(&script), 4);
        // Four clients begin within 300 ms, and the last request of each is 5 s after its first.
        assert_eq!(recorded.length_ns(), 5_300_000_001);
        assert!(
            (recorded.rate() - 8.0 / 5.3).abs() < 1e-6,
            "{}",
            recorded.rate()
        );
        assert_eq!(recorded.map(|due| due.offset_ns).max(), Some(5_300_000_000));
    }

    #[test]
    fn the_warm_up_comes_first_and_is_counted_apart() {
        let load = OpenLoop {
            warm_up: Nanos(500_000_000),
            ..open(10.0, Arrivals::Constant, 1)
        };
        assert_eq!(Schedule::new(load, 1, 0).counts(), (15, 5));
    }

    proptest! {
        #[test]
        fn arrivals_rise_and_are_the_same_each_time(
            rate in 1.0f64..5_000.0, to in 1.0f64..5_000.0, seed: u64, poisson: bool,
        ) {
            let load = OpenLoop {
                ramp: Some(Ramp { to, over: Nanos(700_000_000) }),
                ..open(rate, if poisson { Arrivals::Poisson } else { Arrivals::Constant }, 1)
            };
            let first = offsets(&load, seed);
            prop_assert!(first.is_sorted());
            // Six standard deviations of a Poisson count.
            let expected = Schedule::new(load.clone(), seed, 0).expected();
            let difference = (first.len() as f64 - expected).abs();
            prop_assert!(difference <= 6.0 * expected.sqrt() + 2.0, "{} {}", first.len(), expected);
            prop_assert!(first.iter().all(|offset| *offset < 1_000_000_000));
            prop_assert_eq!(offsets(&load, seed), first);
        }
    }
}

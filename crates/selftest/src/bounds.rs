//! Checks a reported distribution against a known interval for each of its samples. Pure.
//!
//! Where *l* ≤ *x* ≤ *u* holds for every sample, it holds for the sorted ones as well: the sample of
//! a rank lies between the lower bound and the upper bound of that rank. This asks for no
//! distribution and leaves nothing to chance, so that what is outside is an error of the instrument.

use record::{Check, Latency, ProofVerdict, Recorder, Unit};

/// The histograms' resolution: one in a thousand (three digits) ...
const RESOLUTION: f64 = 1e-3;
/// ... and at least this much.
const STEP_NS: f64 = 1_000.0;
/// The server's stamps are of the realtime clock, whose lead over the monotonic one the generator
/// measures to less than this (three readings of a clock), twice in each latency.
pub(super) const CLOCKS_NS: f64 = 25_000.0;

/// What is known of one time, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// It cannot have been less ...
    pub(super) least: f64,
    /// ... nor more ...
    pub(super) most: f64,
    /// ... unless it came in one read with another message, whose stamp then stands for it.
    pub(super) together: f64,
    /// The same three if a thread was descheduled where its own records do not show it: between the
    /// clock reading and the write of a send, or long before a read.
    pub(super) least_aside: f64,
    pub(super) most_aside: f64,
    pub(super) together_aside: f64,
}

/// The intervals of a distribution.
#[derive(Debug)]
pub(super) struct Bounds {
    least: Vec<f64>,
    most: Most,
    least_aside: Vec<f64>,
    most_aside: Most,
}

/// Upper bounds of samples of which some came in one read with another; which of them is not known.
#[derive(Debug)]
struct Most {
    alone: Vec<f64>,
    together: Vec<f64>,
    /// How many did, at most.
    shared: usize,
    /// By how much the mean may be larger on their account.
    shared_ns: f64,
}

impl Most {
    fn new(intervals: &[Interval], shared: u64, of: fn(&Interval) -> (f64, f64)) -> Self {
        let later = intervals.iter().map(of).map(|(most, late)| late - most);
        let mut later: Vec<f64> = later.filter(|later| *later > 0.0).collect();
        later.sort_unstable_by(|a, b| b.total_cmp(a));
        let shared = later.len().min(shared as usize);
        Self {
            alone: sorted(intervals, |interval| of(interval).0),
            together: sorted(intervals, |interval| of(interval).1),
            shared,
            shared_ns: later.iter().take(shared).sum(),
        }
    }

    /// The most that the sample of a rank can be, counted from 0.
    fn at(&self, rank: usize) -> Option<f64> {
        let together = *self.together.get(rank)?;
        let alone = self.alone.get(rank + self.shared);
        Some(alone.map_or(together, |alone| alone.min(together)))
    }

    fn mean(&self) -> f64 {
        mean(&self.alone) + self.shared_ns / self.alone.len() as f64
    }
}

fn sorted(intervals: &[Interval], of: impl Fn(&Interval) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = intervals.iter().map(of).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The figures that people read.
const FIGURES: [(&str, f64); 8] = [
    ("min", 0.0),
    ("p50", 50.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
    ("max", 100.0),
    ("mean", f64::NAN),
];

/// How closely a figure must be known for a pass to show anything. An error of one percent in a
/// latency of 60 ms is to be found; the ends of a distribution rest on single samples. Where
/// messages shared a read, upper end and mean may rest on those: they are held to what is known.
fn tolerance(percentile: f64, at_ns: f64, shared: usize) -> f64 {
    let [share, least_ns] = match shared {
        _ if shared > 0 && (percentile > 95.0 || percentile.is_nan()) => [0.0, f64::INFINITY],
        _ if percentile > 99.0 || percentile == 0.0 => [0.04, 2_000_000.0],
        0 => [0.008, 500_000.0],
        _ => [0.05, 500_000.0],
    };
    (at_ns * share).max(least_ns)
}

impl Bounds {
    /// `shared` messages came in one read with another.
    pub(super) fn new(intervals: &[Interval], shared: u64) -> Self {
        Self {
            least: sorted(intervals, |i| i.least),
            most: Most::new(intervals, shared, |i| (i.most, i.together)),
            least_aside: sorted(intervals, |i| i.least_aside),
            most_aside: Most::new(intervals, shared, |i| (i.most_aside, i.together_aside)),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.least.len()
    }

    /// How many samples are above a time: at least, and at most.
    pub(super) fn above(&self, ns: f64) -> (usize, usize) {
        let above = |values: &[f64], ns: f64| values.len() - values.partition_point(|v| *v <= ns);
        let slack = CLOCKS_NS + STEP_NS + ns * RESOLUTION;
        (
            above(&self.least, ns + slack),
            above(&self.most_aside.together, ns - slack),
        )
    }

    /// The most that a percentile can be.
    pub(super) fn most(&self, percentile: f64) -> f64 {
        let [_, most, ..] = self.figure(percentile);
        most
    }

    /// The rank of the sample that so many percent do not exceed, counted from 0.
    fn rank(&self, percentile: f64) -> usize {
        // In whole numbers: 99.9 percent of 1,000 are 999.
        let rank = (self.len() * (percentile * 10.0).round() as usize).div_ceil(1000);
        rank.max(1) - 1
    }

    /// Least and most of a figure, and the same if a thread was put aside.
    fn figure(&self, percentile: f64) -> [f64; 4] {
        if percentile.is_nan() {
            return [
                mean(&self.least),
                self.most.mean(),
                mean(&self.least_aside),
                self.most_aside.mean(),
            ];
        }
        let rank = self.rank(percentile);
        let least = |values: &[f64]| values.get(rank).copied().unwrap_or(f64::NAN);
        let most = |most: &Most| most.at(rank).unwrap_or(f64::NAN);
        [
            least(&self.least),
            most(&self.most),
            least(&self.least_aside),
            most(&self.most_aside),
        ]
    }

    /// One figure.
    fn check(&self, what: &str, percentile: f64, reported: f64) -> Check {
        let wide = |[least, most]: [f64; 2]| {
            let least = (least - CLOCKS_NS) * (1.0 - RESOLUTION) - STEP_NS;
            let most = (most + CLOCKS_NS) * (1.0 + RESOLUTION) + STEP_NS;
            [least.max(0.0), most]
        };
        let [least, most, least_aside, most_aside] = self.figure(percentile);
        let at_ns = f64::midpoint(least, most);
        let open = most - least;
        let [least, most] = wide([least, most]);
        let [least_aside, most_aside] = wide([least_aside, most_aside]);
        let aside = (least_aside..=most_aside).contains(&reported).then(|| {
            "too little CPU: a thread may have been put aside between its clock and the write, or \
             for long before it read"
                .to_owned()
        });
        let check = Check::between(what, Unit::Nanoseconds, reported, Some(least), Some(most));
        Check {
            known: at_ns.is_finite().then_some(at_ns),
            ..check
        }
        .unless(aside)
        .shows_nothing((open > tolerance(percentile, at_ns, self.most.shared)).then(|| {
            format!(
                "too little CPU: the server knows this only to {:.2} ms, and {} messages may have \
                 come in one read with another",
                open / 1e6,
                self.most.shared
            )
        }))
    }

    /// Ranks at which a histogram has a sample that cannot be.
    fn strays(&self, reported: &Recorder) -> u64 {
        let mut strays = 0;
        let mut rank = 0;
        for (ns, count) in reported.samples() {
            let high = ns as f64 * (1.0 + RESOLUTION) + STEP_NS + CLOCKS_NS;
            let low = ns as f64 * (1.0 - RESOLUTION) - STEP_NS - CLOCKS_NS;
            for rank in rank..rank + count as usize {
                let least = self.least_aside.get(rank).copied();
                let most = self.most_aside.at(rank);
                let fits = least.is_some_and(|least| least <= high)
                    && most.is_some_and(|most| low <= most);
                strays += u64::from(!fits);
            }
            rank += count as usize;
        }
        strays + (self.len() as u64).saturating_sub(reported.count())
    }

    /// Holds a reported distribution against these bounds: its count, every figure, every rank.
    ///
    /// `excuse` says why samples may have been stamped later than they arrived.
    pub(super) fn hold(
        &self,
        name: &str,
        reported: Option<&Latency>,
        excuse: Option<&str>,
    ) -> Vec<Check> {
        let recorder = reported.and_then(|latency| latency.recorder().ok());
        let recorder = recorder.unwrap_or_default();
        let excused = |check: Check| check.unless(excuse.map(str::to_owned));
        let mut checks = vec![Check::exactly(
            &format!("{name}, count"),
            self.len() as u64,
            reported.map_or(0, |latency| latency.count),
        )];
        for (figure, percentile) in FIGURES {
            if figure == "p99.9" && self.len() < 1000 {
                continue;
            }
            let said = reported.map_or(f64::NAN, |latency| figure_of(latency, percentile));
            let check = self.check(&format!("{name}, {figure}"), percentile, said);
            checks.push(excused(check));
        }
        checks.push(excused(Check::exactly(
            &format!("{name}, ranks with a sample that cannot be"),
            0,
            self.strays(&recorder),
        )));
        checks
    }
}

fn figure_of(latency: &Latency, percentile: f64) -> f64 {
    let ns = match percentile {
        0.0 => latency.min_ns,
        50.0 => latency.p50_ns,
        90.0 => latency.p90_ns,
        95.0 => latency.p95_ns,
        99.0 => latency.p99_ns,
        99.9 => return latency.p999_ns.map_or(f64::NAN, |ns| ns as f64),
        100.0 => latency.max_ns,
        _ => return latency.mean_ns,
    };
    ns as f64
}

/// Many checks in a few lines: those that did not pass, the `figures` of each distribution, and the
/// number of the others.
pub(super) fn brief(name: &str, figures: &[&str], checks: Vec<Check>) -> Vec<Check> {
    let shown = |check: &Check| {
        let figure = check.what.rsplit(", ").next().unwrap_or_default();
        check.verdict != ProofVerdict::Pass || figures.contains(&figure)
    };
    let (mut shown, others): (Vec<Check>, Vec<Check>) = checks.into_iter().partition(shown);
    let others = others.len() as u64;
    shown.push(Check::exactly(
        &format!("{name}: all other counts, figures, ranks"),
        others,
        others,
    ));
    shown
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failed, worst};
    use super::*;

    fn interval(least: f64, most: f64) -> Interval {
        Interval {
            least,
            most,
            together: most,
            least_aside: least,
            most_aside: most,
            together_aside: most,
        }
    }

    /// 2,000 times from 40 to 60 ms. Each is known to within 100 us.
    fn known() -> Vec<Interval> {
        let times = (0..2000).map(|n| 40e6 + f64::from(n) * 10_000.0);
        times.map(|ns| interval(ns, ns + 100_000.0)).collect()
    }

    fn reported(intervals: &[Interval], change: impl Fn(f64) -> f64) -> Option<Latency> {
        let mut recorder = Recorder::default();
        for interval in intervals {
            recorder.record(change(interval.least + 50_000.0) as u64);
        }
        recorder.latency()
    }

    #[test]
    fn what_lies_between_the_bounds_passes_and_a_percent_more_or_less_fails() {
        let known = known();
        let bounds = Bounds::new(&known, 0);
        let held =
            |change: fn(f64) -> f64| bounds.hold("x", reported(&known, change).as_ref(), None);
        assert_eq!(
            worst(&held(|ns| ns)),
            ProofVerdict::Pass,
            "{:?}",
            held(|ns| ns)
        );
        for change in [|ns| ns * 1.01, |ns| ns * 0.99] {
            let checks = held(change);
            for figure in [
                "x, p50",
                "x, p95",
                "x, mean",
                "x, ranks with a sample that cannot be",
            ] {
                assert!(failed(&checks).contains(&figure), "{checks:?}");
            }
        }
        assert_eq!(failed(&bounds.hold("x", None, None)).len(), 10);
    }

    #[test]
    fn one_sample_more_or_less_fails() {
        let known = known();
        let short = reported(&known[1..], |ns| ns);
        let checks = Bounds::new(&known, 0).hold("x", short.as_ref(), None);
        assert!(failed(&checks).contains(&"x, count"));
        let checks =
            Bounds::new(&known[1..], 0).hold("x", reported(&known, |ns| ns).as_ref(), None);
        assert!(failed(&checks).contains(&"x, count"));
    }

    #[test]
    fn bounds_that_are_too_far_apart_show_nothing_and_still_fail_what_is_outside() {
        let wide: Vec<Interval> = known()
            .iter()
            .map(|i| interval(i.least, i.most + 2e6))
            .collect();
        let bounds = Bounds::new(&wide, 0);
        let inside = bounds.hold("x", reported(&wide, |ns| ns).as_ref(), None);
        assert_eq!(worst(&inside), ProofVerdict::Inconclusive);
        let outside = bounds.hold("x", reported(&wide, |ns| ns * 1.2).as_ref(), None);
        assert_eq!(worst(&outside), ProofVerdict::Fail);
    }

    #[test]
    fn messages_of_one_read_move_as_many_ranks_as_there_are_and_no_more() {
        let mut known = known();
        for interval in &mut known[0..10] {
            interval.together = interval.most + 30e6;
            interval.together_aside = interval.together;
        }
        let late = |count: usize| {
            let mut recorder = Recorder::default();
            for (n, interval) in known.iter().enumerate() {
                let later = if n < count { 25e6 } else { 0.0 };
                recorder.record((interval.least + 50_000.0 + later) as u64);
            }
            recorder.latency()
        };
        let verdict = |shared, count| {
            let checks = Bounds::new(&known, shared).hold("x", late(count).as_ref(), None);
            let max = checks.iter().find(|check| check.what == "x, max").cloned();
            max.unwrap().verdict
        };
        assert_eq!(verdict(0, 0), ProofVerdict::Pass);
        assert_ne!(verdict(0, 1), ProofVerdict::Pass);
        assert_ne!(verdict(1, 1), ProofVerdict::Fail);
    }

    #[test]
    fn a_brief_form_leaves_out_nothing_that_did_not_pass() {
        let known = known();
        let bounds = Bounds::new(&known, 0);
        let good = brief(
            "x",
            &["p50", "p95", "p99"],
            bounds.hold("x", reported(&known, |ns| ns).as_ref(), None),
        );
        assert_eq!((good.len(), worst(&good)), (4, ProofVerdict::Pass));
        let bad = brief("x", &["p50", "p95", "p99"], bounds.hold("x", None, None));
        assert_eq!(failed(&bad).len(), 10);
    }
}

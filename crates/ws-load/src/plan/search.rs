//! Where to look for the highest load that a server carries: upwards by doubling until a load
//! fails, then between the highest that passed and the lowest that failed, by halves.
//!
//! At first one try decides, and until a load has failed it is a brief one. When the two sides are
//! close, each is tried again until more than half of the planned tries agree, so that a disturbance of
//! the machine does not decide. When a side is not confirmed, the search goes back to the load where it
//! went wrong. Pure: from verdicts to the next load.

use plan::{Nanos, OpenLoop, Search};
use record::Edge;

/// How much shorter a brief try is.
const BRIEF: u32 = 4;
/// How many samples beyond the limit's percentile a brief try has at least.
const BEYOND: f64 = 5.0;

/// Makes a try brief, where enough samples for its percentile remain.
pub(crate) fn briefly(percentile: f64, open: &mut Option<OpenLoop>, samples: &mut u32) {
    let least = (BEYOND / (1.0 - percentile / 100.0).max(f64::EPSILON)).round();
    if let Some(open) = open {
        let least_ns = least / open.rate * 1e9;
        let brief_ns = (open.duration.ns() as f64 / f64::from(BRIEF)).max(least_ns);
        open.duration = open.duration.min(Nanos(brief_ns as u64));
    }
    *samples = (*samples).min((*samples / BRIEF).max(least.min(f64::from(u32::MAX)) as u32));
}

/// The state of a search.
#[derive(Clone, Debug)]
pub(crate) struct Hunt {
    terms: Search,
    /// Loads are whole numbers.
    whole: bool,
    first: f64,
    tried: Vec<Tried>,
}

/// The results of the tries of one load.
#[derive(Clone, Copy, Debug)]
struct Tried {
    load: f64,
    passes: u32,
    fails: u32,
}

impl Tried {
    const fn passed(&self) -> bool {
        self.passes > self.fails
    }

    const fn failed(&self) -> bool {
        self.fails > self.passes
    }

    /// More than half of the planned tries agree.
    fn is_confirmed(&self, tries: u32) -> bool {
        self.passes.max(self.fails) > tries / 2
    }
}

impl Hunt {
    /// A search from `first` upwards.
    pub(crate) const fn new(terms: Search, first: f64, whole: bool) -> Self {
        Self {
            terms,
            whole,
            first,
            tried: Vec::new(),
        }
    }

    /// The load to try next; `None` when the edge is known well enough, or when not even a
    /// thousandth of the first load passes.
    pub(crate) fn next(&self) -> Option<f64> {
        // A tie: one more try decides.
        let open = self.tried.iter().find(|t| t.passes == t.fails);
        if let Some(open) = open {
            return Some(open.load);
        }
        let (passed, failed) = self.sides();
        let wanted = match (passed.map(|t| t.load), failed.map(|t| t.load)) {
            (None, None) => self.first,
            (Some(low), None) => low * 2.0,
            (None, Some(high)) => high / 2.0,
            (Some(low), Some(high)) => low.midpoint(high),
        };
        let wanted = if self.whole { wanted.floor() } else { wanted };
        let is_close = match (passed, failed) {
            (Some(low), Some(high)) => {
                high.load - low.load <= self.terms.precision * high.load
                    || wanted <= low.load
                    || wanted >= high.load
            }
            (None, Some(_)) => wanted < self.first / 1000.0 || wanted < 1.0 && self.whole,
            (_, None) => false,
        };
        if !is_close {
            return Some(wanted);
        }
        let doubtful = [failed, passed].into_iter().flatten();
        let mut doubtful = doubtful.filter(|side| !side.is_confirmed(self.terms.tries));
        doubtful.next().map(|side| side.load)
    }

    /// Whether no load has failed yet: the edge is not near.
    pub(crate) fn is_far(&self) -> bool {
        self.sides().1.is_none() && !self.tried.iter().any(|tried| tried.fails > 0)
    }

    /// One try of the load that was next has passed or failed.
    pub(crate) fn tried(&mut self, load: f64, passed: bool) {
        let known = self.tried.iter().position(|tried| tried.load == load);
        let known = known.unwrap_or_else(|| {
            self.tried.push(Tried {
                load,
                passes: 0,
                fails: 0,
            });
            self.tried.len() - 1
        });
        let tried = &mut self.tried[known];
        if passed {
            tried.passes += 1;
        } else {
            tried.fails += 1;
        }
    }

    /// Both sides of the edge, as far as they are known.
    pub(crate) fn edge(&self) -> Edge {
        let (passed, failed) = self.sides();
        Edge {
            of: self.terms.of,
            passed: passed.map(|tried| tried.load),
            failed: failed.map(|tried| tried.load),
        }
    }

    /// The lowest load that failed, and the highest below it that passed.
    fn sides(&self) -> (Option<Tried>, Option<Tried>) {
        let by_load = |a: &Tried, b: &Tried| a.load.total_cmp(&b.load);
        let all = || self.tried.iter().copied();
        let failed = all().filter(Tried::failed).min_by(by_load);
        let below = |tried: &Tried| failed.is_none_or(|failed| tried.load < failed.load);
        let passed = all().filter(Tried::passed).filter(below).max_by(by_load);
        (passed, failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::SearchOf;
    use proptest::prelude::*;

    fn terms(tries: u32) -> Search {
        Search {
            of: SearchOf::Clients,
            first: 1,
            tries,
            precision: 0.05,
        }
    }

    /// Searches a server that carries exactly `edge`; the number of tries it took.
    fn find(edge: f64, first: f64, whole: bool, lies: &[usize]) -> (Edge, usize) {
        let mut hunt = Hunt::new(terms(if lies.is_empty() { 1 } else { 3 }), first, whole);
        let mut tries = 0;
        while let Some(load) = hunt.next() {
            hunt.tried(load, (load <= edge) != lies.contains(&tries));
            tries += 1;
            assert!(tries < 200, "no end: {hunt:?}");
        }
        (hunt.edge(), tries)
    }

    proptest! {
        #[test]
        fn the_edge_lies_between_the_two_sides_and_they_are_close(
            edge in 1.0f64..1_000_000.0, first in 1.0f64..10_000.0, whole: bool,
        ) {
            let edge = if whole { edge.floor() } else { edge };
            let first = if whole { first.floor() } else { first };
            let (found, tries) = find(edge, first, whole, &[]);
            let failed = found.failed.unwrap();
            prop_assert!(edge < failed);
            if let Some(passed) = found.passed {
                prop_assert!(passed <= edge);
                prop_assert!(failed - passed <= 0.05 * failed || (whole && failed - passed <= 1.0));
            } else {
                prop_assert!(edge < first / 500.0);
            }
            prop_assert!(tries <= 30, "{}", tries);
        }
    }

    proptest! {
        /// Wherever it comes, on the way or when a side is tried again.
        #[test]
        fn one_bad_moment_decides_nothing(
            edge in 1.0f64..100_000.0, first in 1.0f64..10_000.0, whole: bool, moment in 0usize..20,
        ) {
            let (edge, first) = if whole { (edge.floor(), first.floor()) } else { (edge, first) };
            let (found, tries) = find(edge, first, whole, &[moment]);
            prop_assert!(found.passed.is_none_or(|passed| passed <= edge), "{:?}", found);
            prop_assert!(found.failed.unwrap() > edge, "{:?}", found);
            prop_assert!(tries <= 45, "{}", tries);
        }
    }

    #[test]
    fn each_side_of_the_edge_is_confirmed_and_nothing_else() {
        let mut hunt = Hunt::new(terms(3), 1_000.0, true);
        let mut loads = Vec::new();
        while let Some(load) = hunt.next() {
            hunt.tried(load, load <= 5_120.0);
            loads.push(load);
        }
        let way = [1000, 2000, 4000, 8000, 6000, 5000, 5500, 5250];
        let expected: Vec<f64> = way.into_iter().chain([5250, 5000]).map(f64::from).collect();
        assert_eq!(loads, expected);
    }

    #[test]
    fn a_brief_try_keeps_what_its_percentile_needs() {
        let brief = |rate, percentile, samples| {
            let mut open = Some(OpenLoop {
                rate,
                ramp: None,
                arrivals: plan::Arrivals::Constant,
                duration: Nanos(8_000_000_000),
                // Longer than what is measured after it, which is all that is cut.
                warm_up: Nanos(10_000_000_000),
            });
            let mut samples = samples;
            briefly(percentile, &mut open, &mut samples);
            (open.unwrap().duration.ns(), samples)
        };
        assert_eq!(brief(1000.0, 95.0, 1000), (2_000_000_000, 250));
        assert_eq!(brief(25.0, 95.0, 240), (4_000_000_000, 100));
        assert_eq!(brief(1.0, 95.0, 20), (8_000_000_000, 20));
        assert_eq!(brief(1000.0, 100.0, 400), (8_000_000_000, 400));
    }

    #[test]
    fn as_many_for_as_against_is_no_side_of_the_edge() {
        let mut hunt = Hunt::new(terms(3), 100.0, false);
        hunt.tried(100.0, true);
        assert_eq!(
            (hunt.edge().passed, hunt.edge().failed),
            (Some(100.0), None)
        );
        hunt.tried(100.0, false);
        assert_eq!((hunt.edge().passed, hunt.edge().failed), (None, None));
        assert!(!hunt.is_far());
        assert_eq!(hunt.next(), Some(100.0));
        hunt.tried(100.0, false);
        assert_eq!(
            (hunt.edge().passed, hunt.edge().failed),
            (None, Some(100.0))
        );
    }

    #[test]
    fn only_the_way_up_is_brief() {
        let mut hunt = Hunt::new(terms(3), 100.0, false);
        let mut brief = 0;
        while let Some(load) = hunt.next() {
            brief += u32::from(hunt.is_far());
            hunt.tried(load, load <= 1_000.0);
        }
        // 100 to 1600.
        assert_eq!(brief, 5);
    }

    #[test]
    fn it_takes_a_few_tries_where_steps_of_a_twentieth_take_many() {
        // 1000, 2000, 4000, 8000, then 6000, 5000, 5500, 5250.
        assert_eq!(find(5_120.0, 1_000.0, true, &[]).1, 8);
    }

    #[test]
    fn a_server_that_carries_nothing_ends_it() {
        let (found, tries) = find(0.0, 1_000.0, true, &[]);
        assert_eq!((found.passed, found.failed), (None, Some(1.0)));
        assert!(tries <= 11, "{tries}");
    }
}

//! Where to look for the highest load that a server carries: upwards by doubling until a load
//! fails, then between the highest that passed and the lowest that failed, by halves.
//!
//! Each load is decided by the majority of several tries, so that one bad moment of the machine
//! decides nothing. Pure: from verdicts to the next load.

use run_record::{Edge, Search};

/// The state of a search.
#[derive(Clone, Debug)]
pub(crate) struct Hunt {
    terms: Search,
    /// Loads are whole numbers.
    whole: bool,
    /// Highest load that passed.
    passed: Option<f64>,
    /// Lowest load that failed.
    failed: Option<f64>,
    first: f64,
    candidate: f64,
    passes: u32,
    fails: u32,
}

impl Hunt {
    /// A search from `first` upwards.
    pub(crate) const fn new(terms: Search, first: f64, whole: bool) -> Self {
        Self {
            terms,
            whole,
            passed: None,
            failed: None,
            first,
            candidate: first,
            passes: 0,
            fails: 0,
        }
    }

    /// The load to try next; `None` when the edge is known well enough, or when not even a
    /// thousandth of the first load passes.
    pub(crate) fn next(&self) -> Option<f64> {
        let Some(high) = self.failed else {
            return Some(self.candidate);
        };
        let is_settled = match self.passed {
            Some(low) => {
                high - low <= self.terms.precision * high
                    || self.candidate <= low
                    || self.candidate >= high
            }
            None => self.candidate < self.first / 1000.0 || self.candidate < 1.0 && self.whole,
        };
        (!is_settled).then_some(self.candidate)
    }

    /// One try of the candidate has passed or failed.
    pub(crate) fn tried(&mut self, passed: bool) {
        if passed {
            self.passes += 1;
        } else {
            self.fails += 1;
        }
        let majority = self.terms.tries / 2 + 1;
        if self.passes >= majority {
            self.passed = Some(self.candidate);
        } else if self.fails >= majority {
            self.failed = Some(self.candidate);
        } else {
            return;
        }
        (self.passes, self.fails) = (0, 0);
        let middle = match (self.passed, self.failed) {
            (Some(low), None) => low * 2.0,
            (Some(low), Some(high)) => low.midpoint(high),
            (None, Some(high)) => high / 2.0,
            (None, None) => self.candidate,
        };
        self.candidate = if self.whole { middle.floor() } else { middle };
    }

    /// Both sides of the edge, as far as they are known.
    pub(crate) const fn edge(&self) -> Edge {
        Edge {
            of: self.terms.of,
            passed: self.passed,
            failed: self.failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use run_record::SearchOf;

    fn terms(tries: u32) -> Search {
        Search {
            of: SearchOf::Clients,
            tries,
            precision: 0.05,
        }
    }

    /// Searches a server that carries exactly `edge`; the number of tries it took.
    fn find(edge: f64, first: f64, whole: bool, lies: &[usize]) -> (Edge, usize) {
        let mut hunt = Hunt::new(terms(if lies.is_empty() { 1 } else { 3 }), first, whole);
        let mut tries = 0;
        while let Some(load) = hunt.next() {
            hunt.tried((load <= edge) != lies.contains(&tries));
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

    #[test]
    fn one_bad_moment_decides_nothing() {
        let (found, _) = find(5_000.0, 1_000.0, true, &[0, 3, 9]);
        assert!(
            found.passed.unwrap() <= 5_000.0 && found.failed.unwrap() > 5_000.0,
            "{found:?}"
        );
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

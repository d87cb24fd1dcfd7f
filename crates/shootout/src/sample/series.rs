//! Samples of one figure over time.

use std::collections::VecDeque;
use std::time::Instant;

/// Samples that are kept: more than an hour of ten a second. Windows end at the present. A curve of
/// a longer measurement lacks its beginning.
const KEPT: usize = 40_000;

/// Samples in the order in which they were taken.
#[derive(Debug)]
pub(super) struct Series<T> {
    samples: VecDeque<(Instant, T)>,
}

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self {
            samples: VecDeque::new(),
        }
    }
}

impl<T: Copy + Ord> Series<T> {
    pub(super) fn push(&mut self, at: Instant, value: T) {
        if self.samples.len() == KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back((at, value));
    }

    /// The largest sample between two moments, both included.
    pub(super) fn largest(&self, from: Instant, to: Instant) -> Option<T> {
        let first = self.samples.partition_point(|(at, _)| *at < from);
        self.samples
            .range(first..)
            .take_while(|(at, _)| *at <= to)
            .map(|(_, value)| *value)
            .max()
    }

    /// The oldest sample that is kept.
    pub(super) fn first(&self) -> Option<T> {
        self.samples.front().map(|(_, value)| *value)
    }

    /// The last sample that was taken before a moment.
    pub(super) fn last_before(&self, moment: Instant) -> Option<T> {
        let later = self.samples.partition_point(|(at, _)| *at < moment);
        let (_, value) = self.samples.get(later.checked_sub(1)?)?;
        Some(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    // timed: an origin for times that are made up; nothing is measured.
    #[test]
    fn the_window_includes_both_ends_and_nothing_else() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut series = Series::default();
        for (ms, value) in [(0, 9), (10, 4), (20, 7), (30, 8)] {
            series.push(at(ms), value);
        }
        assert_eq!(series.largest(at(10), at(20)), Some(7));
        assert_eq!(series.largest(at(0), at(30)), Some(9));
        assert_eq!(series.largest(at(11), at(19)), None);
        assert_eq!(series.largest(at(31), at(40)), None);
        assert_eq!((series.last_before(at(0)), series.first()), (None, Some(9)));
        assert_eq!(series.last_before(at(11)), Some(4));
        assert_eq!(series.last_before(at(99)), Some(8));
    }

    // timed: an origin for times that are made up; nothing is measured.
    #[test]
    fn the_oldest_samples_make_room() {
        let start = Instant::now();
        let mut series = Series::default();
        series.push(start, u64::MAX);
        (0..KEPT as u64).for_each(|value| series.push(start, value));
        assert_eq!(series.largest(start, start), Some(KEPT as u64 - 1));
    }
}

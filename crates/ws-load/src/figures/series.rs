//! A step in intervals: counts and completions of one worker, of one site, of all of them.
//!
//! An interval is cut when the first event after its end comes by; what is counted at that moment
//! belongs to the interval that was under way. So a message costs a comparison, and a histogram of
//! completions is looked at once per interval.

use record::{Recorder, Sketch, TimeRow, TimeSeries};
use serde::{Deserialize, Serialize};

const SECOND_NS: u64 = 1_000_000_000;
/// An hour of seconds; a longer step has wider intervals.
const MOST_ROWS: usize = 3_600;
/// Over a hundred years of rows.
const MOST_DOUBLINGS: u32 = 20;

/// What is counted from the beginning of a step on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    pub(crate) faults: u64,
}

impl Counts {
    pub(crate) const fn add(&mut self, other: Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
        self.received_bytes = self.received_bytes.saturating_add(other.received_bytes);
        self.faults = self.faults.saturating_add(other.faults);
    }

    const fn since(self, earlier: Self) -> Self {
        Self {
            sent: self.sent.saturating_sub(earlier.sent),
            received: self.received.saturating_sub(earlier.received),
            sent_bytes: self.sent_bytes.saturating_sub(earlier.sent_bytes),
            received_bytes: self.received_bytes.saturating_sub(earlier.received_bytes),
            faults: self.faults.saturating_sub(earlier.faults),
        }
    }
}

/// Cuts a step into intervals while it lasts.
#[derive(Debug)]
pub(crate) struct Cutter {
    began_ns: u64,
    /// When the interval under way ends; never before the beginning of the step is known.
    pub(crate) end_ns: u64,
    counted: Counts,
    completion: Recorder,
    rows: Rows,
}

impl Default for Cutter {
    fn default() -> Self {
        Self {
            began_ns: 0,
            end_ns: u64::MAX,
            counted: Counts::default(),
            completion: Recorder::default(),
            rows: Rows::default(),
        }
    }
}

impl Cutter {
    /// The first interval begins at this moment.
    pub(crate) const fn begin(&mut self, began_ns: u64) {
        self.began_ns = began_ns;
        self.end_ns = began_ns.saturating_add(SECOND_NS);
    }

    /// The interval under way ended before `now_ns`, by which so much has been counted since the
    /// step began. What it has.
    #[cold]
    pub(crate) fn cut(&mut self, now_ns: u64, counts: Counts, completion: &Recorder) -> Interval {
        let interval = self.close(counts, completion);
        let now = self.rows.position(now_ns.saturating_sub(self.began_ns));
        self.rows.have(now);
        let next = self.rows.rows.len() as u64;
        let since_ns = next.saturating_mul(self.rows.interval_ns());
        self.end_ns = self.began_ns.saturating_add(since_ns);
        interval
    }

    /// The step is over.
    pub(crate) fn finish(mut self, counts: Counts, completion: &Recorder) -> Rows {
        if self.end_ns != u64::MAX {
            self.close(counts, completion);
        }
        self.rows
    }

    fn close(&mut self, counts: Counts, completion: &Recorder) -> Interval {
        let interval = Interval {
            counts: counts.since(self.counted),
            completion: Sketch::since(&self.completion, completion),
        };
        if self.rows.rows.is_empty() {
            self.rows.have(0);
        }
        if let Some(row) = self.rows.rows.last_mut() {
            row.merge(&interval);
        }
        self.counted = counts;
        self.completion.clone_from(completion);
        interval
    }
}

/// The intervals of a step, or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rows {
    /// An interval is 2 to this power seconds long.
    doublings: u32,
    rows: Vec<Interval>,
}

/// What a worker has counted in an interval, and what became complete in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    pub(crate) counts: Counts,
    pub(crate) completion: Sketch,
}

impl Interval {
    /// Adds that of another part of the same interval, or a later interval.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.counts.add(other.counts);
        self.completion.merge(&other.completion);
    }

    /// As records and events have it, from this time of the step on.
    pub(crate) fn row(&self, from_ns: u64) -> TimeRow {
        let figures = self.completion.figures();
        TimeRow {
            from_ns,
            sent: self.counts.sent,
            received: self.counts.received,
            sent_bytes: self.counts.sent_bytes,
            received_bytes: self.counts.received_bytes,
            completed: figures.map_or(0, |(count, ..)| count),
            p50_ns: figures.map(|(_, p50_ns, _)| p50_ns),
            p99_ns: figures.map(|(.., p99_ns)| p99_ns),
            faults: self.counts.faults,
            buckets: self.completion.buckets(),
        }
    }
}

impl Rows {
    const fn interval_ns(&self) -> u64 {
        SECOND_NS << self.doublings
    }

    /// The interval that a moment of the step is in; makes intervals wider when that is too far.
    fn position(&mut self, since_ns: u64) -> usize {
        while since_ns / self.interval_ns() >= MOST_ROWS as u64 && self.doublings < MOST_DOUBLINGS {
            self.widen();
        }
        (since_ns / self.interval_ns()) as usize
    }

    fn widen(&mut self) {
        self.doublings += 1;
        let mut wide: Vec<Interval> = Vec::with_capacity(self.rows.len().div_ceil(2));
        for (number, row) in self.rows.drain(..).enumerate() {
            match wide.last_mut() {
                Some(last) if number % 2 == 1 => last.merge(&row),
                _ => wide.push(row),
            }
        }
        self.rows = wide;
    }

    fn have(&mut self, position: usize) {
        if self.rows.len() <= position {
            self.rows.resize_with(position + 1, Interval::default);
        }
    }

    /// Adds the intervals of another part of the same step.
    pub(crate) fn merge(&mut self, mut other: Self) {
        // It may come from another machine.
        if other.rows.len() > MOST_ROWS || other.doublings > MOST_DOUBLINGS {
            return;
        }
        while self.doublings < other.doublings {
            self.widen();
        }
        while other.doublings < self.doublings && other.rows.len() > 1 {
            other.widen();
        }
        if let Some(last) = other.rows.len().checked_sub(1) {
            self.have(last);
        }
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            row.merge(more);
        }
    }

    /// As the record has them; `None` without any.
    pub(crate) fn series(&self) -> Option<TimeSeries> {
        let interval_ns = self.interval_ns();
        let rows = self.rows.iter().enumerate();
        let rows = rows.map(|(number, row)| row.row(number as u64 * interval_ns));
        (!self.rows.is_empty()).then(|| TimeSeries {
            interval_ns,
            rows: rows.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN_NS: u64 = 5 * SECOND_NS + 123;

    fn sent(sent: u64) -> Counts {
        Counts {
            sent,
            ..Counts::default()
        }
    }

    fn sends(series: &TimeSeries) -> Vec<u64> {
        series.rows.iter().map(|row| row.sent).collect()
    }

    /// A part with so many sends in each of its seconds.
    fn part(sends: &[u64]) -> Rows {
        let (mut cutter, completion) = (Cutter::default(), Recorder::default());
        cutter.begin(BEGAN_NS);
        let mut all = 0;
        for (second, more) in (1..).zip(sends) {
            all += more;
            if second < sends.len() as u64 {
                cutter.cut(BEGAN_NS + second * SECOND_NS, sent(all), &completion);
            }
        }
        cutter.finish(sent(all), &completion)
    }

    #[test]
    fn each_second_has_what_was_counted_in_it() {
        let (mut cutter, mut completion) = (Cutter::default(), Recorder::default());
        assert_eq!(cutter.end_ns, u64::MAX);
        cutter.begin(BEGAN_NS);
        assert_eq!(cutter.end_ns, BEGAN_NS + SECOND_NS);
        completion.record(1_000_000);
        cutter.cut(BEGAN_NS + SECOND_NS + 7, sent(10), &completion);
        assert_eq!(cutter.end_ns, BEGAN_NS + 2 * SECOND_NS);
        // Nothing happens for two seconds.
        completion.record_n(9_000_000, 2);
        cutter.cut(BEGAN_NS + 4 * SECOND_NS, sent(12), &completion);
        let rows = cutter.finish(sent(15), &completion);
        let series = rows.series().unwrap();
        assert_eq!(series.interval_ns, SECOND_NS);
        assert_eq!(sends(&series), [10, 2, 0, 0, 3]);
        let completed: Vec<u64> = series.rows.iter().map(|row| row.completed).collect();
        assert_eq!(completed, [1, 2, 0, 0, 0]);
        assert_eq!(series.rows[4].from_ns, 4 * SECOND_NS);
        let p50_ns = series.rows[1].p50_ns.unwrap();
        assert!(p50_ns.abs_diff(9_000_000) <= 90_000, "{p50_ns}");
        assert_eq!(series.rows[2].p50_ns, None);
    }

    #[test]
    fn each_count_has_a_column_of_its_own() {
        let counts = |times: u64| Counts {
            sent: times,
            received: 20 * times,
            sent_bytes: 300 * times,
            received_bytes: 4_000 * times,
            faults: 50_000 * times,
        };
        let part = |first: u64, second: u64| {
            let (mut cutter, completion) = (Cutter::default(), Recorder::default());
            cutter.begin(BEGAN_NS);
            cutter.cut(BEGAN_NS + SECOND_NS, counts(first), &completion);
            cutter.finish(counts(first + second), &completion)
        };
        let mut all = part(2, 3);
        all.merge(part(5, 1));
        let rows = all.series().unwrap().rows;
        let columns = |row: &TimeRow| Counts {
            sent: row.sent,
            received: row.received,
            sent_bytes: row.sent_bytes,
            received_bytes: row.received_bytes,
            faults: row.faults,
        };
        let columns: Vec<Counts> = rows.iter().map(columns).collect();
        assert_eq!(columns, [counts(7), counts(4)]);
    }

    #[test]
    fn no_interval_is_wider_than_the_widest_and_no_part_longer_than_the_longest() {
        let mut rows = Rows::default();
        rows.position(u64::MAX);
        assert_eq!(rows.doublings, MOST_DOUBLINGS);
        let of = |count: usize, doublings| Rows {
            doublings,
            rows: vec![
                Interval {
                    counts: sent(1),
                    ..Interval::default()
                };
                count
            ],
        };
        let merged = |other: Rows| {
            let mut rows = Rows::default();
            rows.merge(other);
            (rows.rows.len(), rows.doublings)
        };
        assert_eq!(merged(of(MOST_ROWS, 0)), (MOST_ROWS, 0));
        assert_eq!(merged(of(3, MOST_DOUBLINGS)), (3, MOST_DOUBLINGS));
        for more in [1, 2] {
            assert_eq!(merged(of(MOST_ROWS + more, 0)), (0, 0));
            assert_eq!(merged(of(3, MOST_DOUBLINGS + more as u32)), (0, 0));
        }
    }

    #[test]
    fn a_step_that_never_began_has_no_series() {
        let rows = Cutter::default().finish(sent(3), &Recorder::default());
        assert_eq!(rows.series(), None);
    }

    #[test]
    fn parts_are_merged_by_second() {
        let mut all = part(&[1, 2]);
        all.merge(part(&[10, 20, 30]));
        all.merge(Rows::default());
        assert_eq!(sends(&all.series().unwrap()), [11, 22, 30]);
    }

    #[test]
    fn a_step_of_hours_has_wider_intervals_and_no_more_of_them() {
        let mut long = part(&vec![1; 3 * MOST_ROWS]);
        let series = long.series().unwrap();
        assert_eq!(series.interval_ns, 4 * SECOND_NS);
        assert_eq!(series.rows.len(), 3 * MOST_ROWS / 4);
        assert!(series.rows.iter().all(|row| row.sent == 4));
        let mut short = part(&[1, 1, 1, 1, 1]);
        long.merge(short.clone());
        short.merge(part(&vec![1; 3 * MOST_ROWS]));
        assert_eq!(long, short);
        assert_eq!(sends(&long.series().unwrap())[..3], [8, 5, 4]);
    }
}

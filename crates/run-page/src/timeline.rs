//! The intervals of all steps, one after the other.

use record::{Buckets, RunRecord, TimeRow};

/// Columns of a chart over time at most; longer runs have several intervals in each.
const COLUMNS: usize = 240;

/// The time of a run in which was measured: connecting and pauses between steps are not in it.
pub(crate) struct Timeline {
    pub(crate) columns: Vec<Column>,
    /// Where each step begins, in seconds, with its number of clients.
    pub(crate) steps: Vec<(f64, u64)>,
    /// Where the last ends.
    pub(crate) end_s: f64,
}

/// One or several intervals of a step. The rest of one at its end is in the column before it: rates of
/// some milliseconds say nothing.
pub(crate) struct Column {
    pub(crate) from_s: f64,
    pub(crate) length_s: f64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) completed: u64,
    pub(crate) faults: u64,
    pub(crate) buckets: Buckets,
}

impl Timeline {
    /// `None` where no step has intervals.
    pub(crate) fn new(record: &RunRecord) -> Option<Self> {
        let series = || {
            record
                .steps
                .iter()
                .filter_map(|step| Some((step, step.series.as_ref()?)))
        };
        let rows: usize = series().map(|(_, series)| series.rows.len()).sum();
        let together = rows.div_ceil(COLUMNS).max(1);
        let (mut columns, mut steps, mut begin_s) = (Vec::new(), Vec::new(), 0.0);
        for (step, series) in series() {
            let interval_s = series.interval_ns as f64 / 1e9;
            // The last interval ends with the step.
            let whole_s = interval_s * series.rows.len() as f64;
            let length_s = (step.elapsed_ns as f64 / 1e9).min(whole_s);
            if length_s <= 0.0 {
                continue;
            }
            steps.push((begin_s, step.clients));
            for (number, rows) in series.rows.chunks(together).enumerate() {
                let from_s = number as f64 * together as f64 * interval_s;
                let to_s = (from_s + rows.len() as f64 * interval_s).min(length_s);
                if to_s <= from_s {
                    continue;
                }
                let column = Column::new(rows, begin_s + from_s, to_s - from_s);
                let whole_s = together as f64 * interval_s;
                match columns.last_mut().filter(|_| number > 0) {
                    Some(last) if column.length_s * 2.0 < whole_s => Column::extend(last, column),
                    _ => columns.push(column),
                }
            }
            begin_s += length_s;
        }
        (!columns.is_empty()).then_some(Self {
            columns,
            steps,
            end_s: begin_s,
        })
    }
}

impl Column {
    /// Adds the column that follows.
    fn extend(&mut self, next: Self) {
        self.length_s += next.length_s;
        self.sent = self.sent.saturating_add(next.sent);
        self.received = self.received.saturating_add(next.received);
        self.completed = self.completed.saturating_add(next.completed);
        self.faults = self.faults.saturating_add(next.faults);
        self.buckets.merge(&next.buckets);
    }

    fn new(rows: &[TimeRow], from_s: f64, length_s: f64) -> Self {
        let mut buckets = Buckets::default();
        rows.iter().for_each(|row| buckets.merge(&row.buckets));
        let sum = |of: fn(&TimeRow) -> u64| rows.iter().map(of).fold(0, u64::saturating_add);
        Self {
            from_s,
            length_s,
            sent: sum(|row| row.sent),
            received: sum(|row| row.received),
            completed: sum(|row| row.completed),
            faults: sum(|row| row.faults),
            buckets,
        }
    }
}

//! The intervals of all steps as CSV (RFC 4180): a line for each, a second long but in long steps.

use record::{DropTimes, RunRecord, StepRecord, TimeRow};
use std::collections::BTreeMap;
use std::io::{self, Write};

const COLUMNS: [&str; 12] = [
    "step",
    "clients",
    "from_ns",
    "sent",
    "received",
    "sent_bytes",
    "received_bytes",
    "completed",
    "p50_ns",
    "p99_ns",
    "drops",
    "dropped",
];
const SECOND_NS: u64 = 1_000_000_000;

/// Writes the header and a line for each interval. `dropped` has the causes with their counts, such as
/// `closed 1001: 300; reset: 2`. What does not exist is an empty field.
///
/// # Errors
/// When `out` takes no more.
pub(super) fn write(out: &mut dyn Write, record: &RunRecord) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(COLUMNS)?;
    for (number, step) in record.steps.iter().enumerate() {
        for line in lines(number, step) {
            table.write_record(line)?;
        }
    }
    table.flush()
}

fn lines(number: usize, step: &StepRecord) -> Vec<[String; COLUMNS.len()]> {
    let rows = step.series.as_ref().map(|series| series.rows.as_slice());
    let rows = rows.unwrap_or_default();
    let drops = step.drops.as_deref();
    let interval_ns = interval_ns(step);
    let dropped = drops
        .map(|of| by_interval(of, interval_ns))
        .unwrap_or_default();
    let last = dropped.keys().next_back().map_or(0, |last| last + 1);
    let of_time = match rows.is_empty() {
        true => step.elapsed_ns.div_ceil(interval_ns),
        false => rows.len() as u64,
    };
    let line = |index: u64| {
        let row = rows.get(index as usize);
        let field = |of: fn(&TimeRow) -> Option<u64>| {
            let value = row.and_then(of);
            value.map(|value| value.to_string()).unwrap_or_default()
        };
        let (count, causes) = dropped
            .get(&index)
            .map_or((0, ""), |(count, causes)| (*count, causes));
        [
            number.to_string(),
            step.clients.to_string(),
            (index * interval_ns).to_string(),
            field(|row| Some(row.sent)),
            field(|row| Some(row.received)),
            field(|row| Some(row.sent_bytes)),
            field(|row| Some(row.received_bytes)),
            field(|row| Some(row.completed)),
            field(|row| row.p50_ns),
            field(|row| row.p99_ns),
            count.to_string(),
            causes.to_owned(),
        ]
    };
    (0..of_time.max(last)).map(line).collect()
}

/// Length of the lines of a step: that of its series. A step without one has no more lines than a series
/// could have.
fn interval_ns(step: &StepRecord) -> u64 {
    const MOST_LINES: u64 = 3_600;
    let series = step.series.as_ref().map(|series| series.interval_ns);
    series.unwrap_or_else(|| {
        let mut interval_ns = step
            .drops
            .as_ref()
            .map_or(SECOND_NS, |drops| drops.interval_ns);
        while step.elapsed_ns / interval_ns >= MOST_LINES {
            interval_ns *= 2;
        }
        interval_ns
    })
}

/// How many connections ended in each interval of this length, and how.
fn by_interval(drops: &DropTimes, interval_ns: u64) -> BTreeMap<u64, (u64, String)> {
    let mut all: BTreeMap<u64, (u64, String)> = BTreeMap::new();
    for cause in &drops.causes {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for (interval, count) in &cause.intervals {
            let from_ns = interval * drops.interval_ns;
            *counts.entry(from_ns / interval_ns).or_default() += count;
        }
        for (interval, count) in counts {
            let (sum, words) = all.entry(interval).or_default();
            *sum += count;
            let before = if words.is_empty() { "" } else { "; " };
            words.push_str(&format!("{before}{}: {count}", cause.name()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{DropCause, DropHow, TimeSeries, Told};

    fn cause(how: DropHow, code: Option<u16>, intervals: &[(u64, u64)]) -> DropCause {
        DropCause {
            how,
            code,
            count: intervals.iter().map(|(_, count)| count).sum(),
            first: Told::from("words"),
            intervals: intervals.iter().copied().collect(),
        }
    }

    fn dropped(step: &StepRecord) -> Vec<[String; 3]> {
        let of =
            |line: [String; COLUMNS.len()]| [line[2].clone(), line[10].clone(), line[11].clone()];
        lines(0, step).into_iter().map(of).collect()
    }

    #[test]
    fn a_step_without_a_series_has_a_line_for_each_second() {
        let step = StepRecord {
            elapsed_ns: 2_500_000_000,
            drops: Some(Box::new(DropTimes {
                interval_ns: SECOND_NS,
                causes: vec![
                    cause(DropHow::Closed, Some(1001), &[(1, 7)]),
                    cause(DropHow::Reset, None, &[(1, 2), (2, 1)]),
                ],
            })),
            ..StepRecord::default()
        };
        assert_eq!(
            dropped(&step),
            [
                ["0", "0", ""],
                ["1000000000", "9", "closed 1001: 7; reset: 2"],
                ["2000000000", "1", "reset: 1"],
            ]
        );
    }

    #[test]
    fn drops_are_in_the_intervals_of_the_series() {
        let row = |from_ns| TimeRow {
            from_ns,
            sent: 5,
            ..TimeRow::default()
        };
        let step = StepRecord {
            elapsed_ns: 8 * SECOND_NS,
            series: Some(TimeSeries {
                interval_ns: 4 * SECOND_NS,
                rows: vec![row(0), row(4 * SECOND_NS)],
            }),
            drops: Some(Box::new(DropTimes {
                interval_ns: 2 * SECOND_NS,
                causes: vec![cause(DropHow::Reset, None, &[(0, 1), (1, 2), (2, 4)])],
            })),
            ..StepRecord::default()
        };
        assert_eq!(
            dropped(&step),
            [["0", "3", "reset: 3"], ["4000000000", "4", "reset: 4"]]
        );
    }
}

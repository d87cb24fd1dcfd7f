//! What the last second of a step brought, and the last minute as a heat map of text.

use record::{Buckets, TimeRow, latency_text};
use std::collections::VecDeque;
use std::fmt::Write as _;

/// Columns of the heat map, one for about a second.
const COLUMNS: usize = 60;
/// Lines of it at most.
const LINES: usize = 10;
/// Shades from nothing to the most that is shown.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// What is shown of the step under way.
#[derive(Debug, Default)]
pub(super) struct Live {
    shows_heat: bool,
    step: Option<u32>,
    /// What came before the last event, in nanoseconds of the step.
    last: Option<TimeRow>,
    length_ns: u64,
    faults: u64,
    columns: VecDeque<Buckets>,
}

impl Live {
    pub(super) fn new(shows_heat: bool) -> Self {
        Self {
            shows_heat,
            ..Self::default()
        }
    }

    /// About a second has passed; it ended `length_ns` after the one before.
    pub(super) fn interval(&mut self, step: u32, row: &TimeRow, length_ns: u64) {
        if self.step != Some(step) {
            self.step = Some(step);
            self.faults = 0;
        }
        self.faults += row.faults;
        self.length_ns = length_ns.max(1);
        if self.columns.len() == COLUMNS {
            self.columns.pop_front();
        }
        self.columns.push_back(row.buckets.clone());
        self.last = Some(row.clone());
    }

    /// A step has ended: its line says more.
    pub(super) fn ended(&mut self) {
        self.last = None;
    }

    /// The lines above the bar, each with its end; none before the first second of a step.
    pub(super) fn lines(&self) -> String {
        let Some(row) = &self.last else {
            return String::new();
        };
        let mut out = match self.shows_heat {
            true => heat(&self.columns),
            false => String::new(),
        };
        let rate = |count: u64| format!("{:.0}/s", count as f64 * 1e9 / self.length_ns as f64);
        let time = |ns: Option<u64>| {
            ns.map_or_else(|| "-".to_owned(), |ns| latency_text(ns).trim().to_owned())
        };
        let _ = writeln!(
            out,
            "sent {}   received {}   p50 {}   p99 {}   faults {}",
            rate(row.sent),
            rate(row.received),
            time(row.p50_ns),
            time(row.p99_ns),
            self.faults
        );
        out
    }
}

/// One column for each interval; a line has the latencies up to what stands at its left.
fn heat(columns: &VecDeque<Buckets>) -> String {
    let ends = || {
        columns
            .iter()
            .flat_map(|column| column.iter().map(|(end_ns, _)| end_ns))
    };
    let (Some(first), Some(last)) = (ends().min(), ends().max()) else {
        return String::new();
    };
    let all: Vec<u64> = Buckets::ends()
        .filter(|end_ns| (first..=last).contains(end_ns))
        .collect();
    let lines: Vec<&[u64]> = all.chunks(all.len().div_ceil(LINES)).collect();
    let count = |column: &Buckets, line: &[u64]| {
        let of = column.iter().filter(|(end_ns, _)| line.contains(end_ns));
        of.map(|(_, count)| count).sum::<u64>()
    };
    let most = lines
        .iter()
        .flat_map(|line| columns.iter().map(|column| count(column, line)));
    let most = most.max().unwrap_or(1).max(1) as f64;
    let mut out = String::new();
    for line in lines.iter().rev() {
        let end_ns = line.last().copied().unwrap_or_default();
        let _ = write!(out, "{:>7} ", latency_text(end_ns).trim());
        for column in columns {
            // By its root, so that a tail of a few can be seen.
            let share = (count(column, line) as f64 / most).sqrt();
            let shade = (share * (SHADES.len() - 1) as f64).ceil() as usize;
            out.push(SHADES[shade.min(SHADES.len() - 1)]);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(samples: &[(u64, u64)]) -> TimeRow {
        TimeRow {
            sent: 100,
            received: 2_000,
            p50_ns: Some(1_500_000),
            p99_ns: Some(12_000_000),
            faults: 1,
            buckets: samples.iter().copied().collect(),
            ..TimeRow::default()
        }
    }

    #[test]
    fn the_last_second_is_a_line_of_rates_and_faults_are_those_of_the_step() {
        let mut live = Live::new(false);
        assert_eq!(live.lines(), "");
        live.interval(0, &row(&[]), 500_000_000);
        live.interval(0, &row(&[]), 500_000_000);
        let line = "sent 200/s   received 4000/s   p50 1.5ms   p99 12ms   faults 2\n";
        assert_eq!(live.lines(), line);
        live.ended();
        assert_eq!(live.lines(), "");
        live.interval(1, &row(&[]), 1_000_000_000);
        assert!(live.lines().ends_with("faults 1\n"));
    }

    #[test]
    fn the_heat_map_has_a_column_for_each_second_and_the_slowest_on_top() {
        let mut live = Live::new(true);
        for _ in 0..2 * COLUMNS {
            live.interval(0, &row(&[(1_000_000, 400)]), 1_000_000_000);
        }
        live.interval(
            0,
            &row(&[(1_000_000, 300), (900_000_000, 1)]),
            1_000_000_000,
        );
        let lines = live.lines();
        let lines: Vec<&str> = lines.lines().collect();
        assert!((2..=LINES + 1).contains(&lines.len()), "{lines:#?}");
        let shades = |line: &str| line.chars().skip(8).collect::<Vec<char>>();
        let (top, bottom) = (shades(lines[0]), shades(lines[lines.len() - 2]));
        assert_eq!((top.len(), bottom.len()), (COLUMNS, COLUMNS));
        assert_eq!((top[COLUMNS - 2], top[COLUMNS - 1]), (' ', '░'));
        assert!(bottom.iter().all(|shade| *shade == '█'), "{bottom:?}");
    }
}

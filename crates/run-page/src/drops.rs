//! Connections that ended although the generator did not close them: over time, and by how they ended.

use crate::axes::{Axis, Plot};
use crate::chart::{AREA, Chart, Line, SECONDS, steps};
use crate::{figures, scale};
use record::{DropCause, DropTimes, RunRecord, StepRecord};

/// Columns of the chart at most; of a longer run several seconds are in each.
const MOST_COLUMNS: u64 = 240;
/// Causes that have a line of their own; the others share one.
const LINES: usize = 4;
const OTHERS: &str = "others";

/// The columns of the table of causes.
pub(crate) const COLUMNS: [&str; 6] = [
    "clients",
    "connections",
    "how",
    "from",
    "until",
    "the first",
];

/// The steps of a run one after the other, as the other charts over time have them.
struct Course<'a> {
    /// Where a step begins in seconds, its clients, and its drops.
    steps: Vec<(f64, u64, Option<&'a DropTimes>)>,
    end_s: f64,
    /// Width of a column in seconds.
    column_s: f64,
}

impl<'a> Course<'a> {
    fn new(all: &'a [StepRecord]) -> Self {
        let (mut steps, mut end_s) = (Vec::new(), 0.0);
        for step in all {
            let drops = step.drops.as_deref();
            steps.push((end_s, step.clients, drops));
            let last = drops.and_then(|drops| drops.by_interval().into_keys().next_back());
            let told_s = drops.zip(last).map_or(0.0, |(drops, last)| {
                (last.saturating_add(1)) as f64 * seconds(drops.interval_ns)
            });
            end_s += seconds(step.elapsed_ns).max(told_s);
        }
        let column_s = (end_s / MOST_COLUMNS as f64).ceil().max(1.0);
        Self {
            steps,
            end_s,
            column_s,
        }
    }

    /// Drops per second in each column, of the causes of this name.
    fn rates(&self, is_meant: &dyn Fn(&str) -> bool) -> Vec<f64> {
        let columns = (self.end_s / self.column_s).ceil().max(1.0) as usize;
        let mut rates = vec![0.0; columns];
        for (begin_s, _, drops) in &self.steps {
            for (at_s, count) in drops.iter().flat_map(|of| of_causes(of, is_meant)) {
                let column = ((begin_s + at_s) / self.column_s) as usize;
                rates[column.min(columns - 1)] += count as f64 / self.column_s;
            }
        }
        rates
    }
}

/// When connections ended, in seconds of their step, and how many.
fn of_causes<'a>(
    drops: &'a DropTimes,
    is_meant: &'a dyn Fn(&str) -> bool,
) -> impl Iterator<Item = (f64, u64)> + 'a {
    let interval_s = seconds(drops.interval_ns);
    let meant = drops.causes.iter().filter(|cause| is_meant(&cause.name()));
    meant
        .flat_map(|cause| &cause.intervals)
        .map(move |(interval, count)| (*interval as f64 * interval_s, *count))
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Drops per second over the time of the run, a line for each of the most frequent causes; `None` where
/// no connection ended.
pub(crate) fn chart(record: &RunRecord) -> Option<Chart> {
    let names = by_count(&record.steps);
    if names.is_empty() {
        return None;
    }
    let course = Course::new(&record.steps);
    let own = &names[..names.len().min(LINES)];
    let mut curves: Vec<(String, Vec<f64>)> = own
        .iter()
        .map(|name| (name.clone(), course.rates(&|of| of == name)))
        .collect();
    if names.len() > LINES {
        let rates = course.rates(&|of| !own.iter().any(|name| name == of));
        curves.push((OTHERS.to_owned(), rates));
    }
    let most = curves.iter().flat_map(|(_, rates)| rates.iter().copied());
    let plot = Plot {
        area: AREA,
        x_axis: Axis::until(course.end_s, SECONDS),
        y_axis: Axis::linear(most.fold(0.0, f64::max), 1.0, 5, scale::label),
    };
    let mut lines: Vec<Line> = Vec::new();
    for (name, rates) in curves {
        let points = rates.iter().enumerate().flat_map(|(column, rate)| {
            let from_s = column as f64 * course.column_s;
            let to_s = (from_s + course.column_s).min(course.end_s);
            [(from_s, *rate), (to_s, *rate)]
        });
        let line = Line::through(&plot.places(points), name, &lines);
        lines.push(line);
    }
    let begins: Vec<(f64, u64)> = course.steps.iter().map(|of| (of.0, of.1)).collect();
    Some(Chart {
        title: "Connections that ended",
        axes: plot.axes("seconds of the steps", "per second", None),
        steps: steps(&begins, &plot),
        columns: Vec::new(),
        lines,
    })
}

/// The names of all causes, the most frequent first.
fn by_count(all: &[StepRecord]) -> Vec<String> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for cause in all
        .iter()
        .filter_map(|step| step.drops.as_deref())
        .flat_map(|of| &of.causes)
    {
        let name = cause.name();
        match counts.iter_mut().find(|(of, _)| *of == name) {
            Some((_, count)) => *count = count.saturating_add(cause.count),
            None => counts.push((name, cause.count)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(name, _)| name).collect()
}

/// A row of the table for each cause of each step.
pub(crate) fn rows(step: &StepRecord) -> Vec<[String; COLUMNS.len()]> {
    let Some(drops) = step.drops.as_deref() else {
        return Vec::new();
    };
    drops
        .causes
        .iter()
        .map(|cause| row(step, drops, cause))
        .collect()
}

fn row(step: &StepRecord, drops: &DropTimes, cause: &DropCause) -> [String; COLUMNS.len()] {
    let at = |interval: Option<u64>| {
        interval.map_or_else(
            || "–".to_owned(),
            |interval| {
                format!(
                    "{} s",
                    scale::label(interval as f64 * seconds(drops.interval_ns))
                )
            },
        )
    };
    let first = cause.intervals.keys().next().copied();
    let last = cause.intervals.keys().next_back();
    [
        figures::count(step.clients),
        figures::count(cause.count),
        cause.name(),
        at(first),
        at(last.map(|last| last.saturating_add(1))),
        cause.first.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{DropHow, Told};

    fn cause(how: DropHow, code: Option<u16>, intervals: &[(u64, u64)]) -> DropCause {
        DropCause {
            how,
            code,
            count: intervals.iter().map(|(_, count)| count).sum(),
            first: Told::from("how it ended"),
            intervals: intervals.iter().copied().collect(),
        }
    }

    fn step(clients: u64, seconds: u64, causes: Vec<DropCause>) -> StepRecord {
        StepRecord {
            clients,
            elapsed_ns: seconds * 1_000_000_000,
            drops: (!causes.is_empty()).then(|| {
                Box::new(DropTimes {
                    interval_ns: 1_000_000_000,
                    causes,
                })
            }),
            ..StepRecord::default()
        }
    }

    #[test]
    fn each_step_follows_the_one_before_it_and_every_drop_is_in_one_column() {
        let closed = || cause(DropHow::Closed, Some(1001), &[(2, 30)]);
        let steps = [
            step(100, 10, vec![closed()]),
            step(
                200,
                10,
                vec![closed(), cause(DropHow::Reset, None, &[(0, 5)])],
            ),
        ];
        let course = Course::new(&steps);
        assert_eq!((course.end_s, course.column_s), (20.0, 1.0));
        let rates = course.rates(&|name| name == "closed 1001");
        assert_eq!(
            (rates[2], rates[12], rates.iter().sum()),
            (30.0, 30.0, 60.0)
        );
        let resets = course.rates(&|name| name == "reset");
        assert_eq!((resets[10], resets.iter().sum()), (5.0, 5.0));
        assert_eq!(by_count(&steps), ["closed 1001", "reset"]);
    }

    #[test]
    fn of_a_long_run_columns_are_wider_and_a_drop_behind_the_end_of_its_step_is_shown() {
        let steps = [step(
            1,
            480,
            vec![cause(DropHow::Closed, None, &[(481, 8)])],
        )];
        let course = Course::new(&steps);
        assert_eq!((course.end_s, course.column_s), (482.0, 3.0));
        assert_eq!(course.rates(&|_| true)[160], 8.0 / 3.0);
    }

    #[test]
    fn a_step_without_drops_has_no_row() {
        assert!(rows(&step(5, 1, Vec::new())).is_empty());
        let rows = rows(&step(
            5,
            9,
            vec![cause(DropHow::Closed, Some(1012), &[(3, 2), (4, 1)])],
        ));
        assert_eq!(
            rows,
            [["5", "3", "closed 1012", "3 s", "5 s", "how it ended"]]
        );
    }
}

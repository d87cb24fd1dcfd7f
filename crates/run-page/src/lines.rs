//! Messages over time, latency by percentile, and latency by clients.

use crate::axes::{Axis, Plot, distribution, nines};
use crate::chart::{AREA, Chart, Line, SECONDS, TIMES, steps};
use crate::figures;
use crate::scale;
use crate::timeline::{Column, Timeline};
use record::{Latency, StepRecord};

/// Distributions that are drawn at most; of more steps some are left out.
const DISTRIBUTIONS: usize = 6;
/// Places along the axis of percentiles.
const POINTS: u32 = 120;

/// Requests and messages per second, over time.
pub(crate) fn messages(time: &Timeline) -> Chart {
    let rate = |column: &Column, count: u64| count as f64 / column.length_s;
    let most = time.columns.iter().map(|c| rate(c, c.sent.max(c.received)));
    let plot = Plot {
        area: AREA,
        x_axis: Axis::until(time.end_s, SECONDS),
        y_axis: Axis::linear(most.fold(0.0, f64::max), 1.0, 5, thousands),
    };
    let mut lines: Vec<Line> = Vec::new();
    for (name, of) in [
        (
            "messages received",
            (|column| column.received) as fn(&Column) -> u64,
        ),
        ("requests sent", |column| column.sent),
    ] {
        // Each column is a level, so that a short one is as high as it was.
        let points = time.columns.iter().flat_map(|column| {
            let value = rate(column, of(column));
            let to_s = column.from_s + column.length_s;
            [(column.from_s, value), (to_s, value)]
        });
        let line = Line::through(&plot.places(points), name.to_owned(), &lines);
        lines.push(line);
    }
    Chart {
        title: "Messages over time",
        axes: plot.axes("seconds of measurement", "per second", None),
        steps: steps(&time.steps, &plot),
        columns: Vec::new(),
        lines,
    }
}

/// Every percentile of the completion of some steps: each nine takes as much room as the one before.
pub(crate) fn percentiles(all: &[StepRecord], limit_ns: Option<u64>) -> Option<Chart> {
    let completed: Vec<(&StepRecord, &Latency)> = all
        .iter()
        .filter_map(|step| Some((step, step.completion.as_ref()?)))
        .collect();
    let every = completed.len().div_ceil(DISTRIBUTIONS).max(1);
    // The last one is among them.
    let drawn: Vec<_> = completed.iter().rev().step_by(every).rev().collect();
    let most = drawn.iter().map(|(_, of)| nines(of.count));
    let low = drawn.iter().map(|(_, of)| of.min_ns).min()?.max(1) as f64;
    let high = drawn.iter().map(|(_, of)| of.max_ns).max()? as f64;
    let plot = Plot {
        area: AREA,
        x_axis: Axis::percentiles(most.fold(1.0, f64::max)),
        y_axis: Axis::times(low, high, TIMES),
    };
    let rates = drawn.iter().map(|(step, _)| step.rate);
    let shows_rate = rates.clone().any(|rate| rate != drawn[0].0.rate);
    let mut lines: Vec<Line> = Vec::new();
    for (step, of) in &drawn {
        let Some(points) = distribution(of, POINTS) else {
            continue;
        };
        let name = match step.rate.filter(|_| shows_rate) {
            Some(rate) => format!(
                "{} clients, {} requests/s",
                figures::count(step.clients),
                scale::label(rate)
            ),
            None => format!("{} clients", figures::count(step.clients)),
        };
        let line = Line::through(&plot.places(points), name, &lines);
        lines.push(line);
    }
    let limit = limit_ns.map(|ns| ns as f64);
    let limit = limit.filter(|ns| plot.y_axis.holds(*ns));
    Some(Chart {
        title: "Latency by percentile",
        axes: plot.axes("percentile", "completion", limit),
        steps: Vec::new(),
        columns: Vec::new(),
        lines,
    })
}

fn thousands(value: f64) -> String {
    match value >= 10_000.0 {
        true => format!("{} k", scale::label(value / 1_000.0)),
        false => scale::label(value),
    }
}

//! Messages over time, latency by percentile, and latency by clients.

use crate::chart::{BOTTOM, Chart, LEFT, Line, RIGHT, TOP, Tick, seconds, steps};
use crate::figures;
use crate::scale::{self, Scale, linear_ticks, log_ticks};
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
    let y_values = linear_ticks(most.fold(0.0, f64::max), 5);
    let high = y_values.last().copied().unwrap_or(1.0);
    let x = |at_s: f64| LEFT + (RIGHT - LEFT) * at_s / time.end_s;
    let y = |value: f64| BOTTOM - (BOTTOM - TOP) * value / high;
    let mut lines: Vec<Line> = Vec::new();
    for (name, of) in [
        (
            "messages received",
            (|column| column.received) as fn(&Column) -> u64,
        ),
        ("requests sent", |column| column.sent),
    ] {
        // Each column is a level, so that a short one is as high as it was.
        let places: Vec<(f64, f64)> = time
            .columns
            .iter()
            .flat_map(|column| {
                let at = y(rate(column, of(column)));
                let to_s = column.from_s + column.length_s;
                [(x(column.from_s), at), (x(to_s), at)]
            })
            .collect();
        let line = Line::through(&places, name.to_owned(), &lines);
        lines.push(line);
    }
    Chart {
        title: "Messages over time".to_owned(),
        x_name: "seconds of measurement".to_owned(),
        y_name: "per second".to_owned(),
        x_ticks: seconds(time.end_s, x),
        y_ticks: y_values
            .iter()
            .map(|value| Tick {
                at: y(*value),
                label: thousands(*value),
            })
            .collect(),
        limit: None,
        steps: steps(&time.steps, x),
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
    let nines = |count: u64| (count.max(10) as f64).log10();
    let most = drawn
        .iter()
        .map(|(_, of)| nines(of.count))
        .fold(1.0, f64::max);
    let low = drawn.iter().map(|(_, of)| of.min_ns).min()?.max(1) as f64;
    let high = drawn.iter().map(|(_, of)| of.max_ns).max()? as f64;
    let ticks = log_ticks(low, high.max(low * 1.01));
    let scale = Scale::logarithmic(&ticks);
    let x = |nines: f64| LEFT + (RIGHT - LEFT) * nines / most;
    let y = |ns: f64| BOTTOM - (BOTTOM - TOP) * scale.share(ns);
    let rates = drawn.iter().map(|(step, _)| step.rate);
    let shows_rate = rates.clone().any(|rate| rate != drawn[0].0.rate);
    let mut lines: Vec<Line> = Vec::new();
    for (step, of) in &drawn {
        let Ok(recorder) = of.recorder() else {
            continue;
        };
        let end = nines(of.count);
        let places: Vec<(f64, f64)> = (0..=POINTS)
            .map(|point| {
                let at = end * f64::from(point) / f64::from(POINTS);
                let percentile = 100.0 * (1.0 - 10f64.powf(-at));
                (x(at), y(recorder.percentile(percentile) as f64))
            })
            .collect();
        let name = match step.rate.filter(|_| shows_rate) {
            Some(rate) => format!(
                "{} clients, {} requests/s",
                figures::count(step.clients),
                scale::label(rate)
            ),
            None => format!("{} clients", figures::count(step.clients)),
        };
        let line = Line::through(&places, name, &lines);
        lines.push(line);
    }
    let names = [
        "0", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999",
    ];
    let x_ticks = names
        .iter()
        .enumerate()
        .filter(|(nines, _)| *nines as f64 <= most);
    let limit = limit_ns.filter(|ns| scale.holds(*ns as f64));
    Some(Chart {
        title: "Latency by percentile".to_owned(),
        x_name: "percentile".to_owned(),
        y_name: "completion".to_owned(),
        x_ticks: x_ticks
            .map(|(nines, name)| Tick {
                at: x(nines as f64),
                label: (*name).to_owned(),
            })
            .collect(),
        y_ticks: ticks
            .iter()
            .filter(|tick| tick.main || ticks.len() < 10)
            .map(|tick| Tick {
                at: y(tick.value),
                label: figures::time(tick.value),
            })
            .collect(),
        limit: limit.map(|ns| Tick {
            at: y(ns as f64),
            label: format!("limit {}", figures::time(ns as f64)),
        }),
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

//! Latency over time: how many requests became complete after how long, as shades.

use crate::axes::{Axis, Plot};
use crate::chart::{AREA, Cell, Cells, Chart, SECONDS, TIMES, steps};
use crate::figures;
use crate::timeline::{Column, Timeline};
use record::Buckets;

/// The faintest cell can still be seen.
const FAINTEST: f64 = 0.12;

/// The chart; `None` where nothing became complete, or the record is from before there were buckets.
pub(crate) fn chart(time: &Timeline, limit_ns: Option<u64>) -> Option<Chart> {
    let ends = || {
        let columns = time.columns.iter();
        columns.flat_map(|column| column.buckets.iter().map(|(end_ns, _)| end_ns))
    };
    let (first, last) = (ends().min()?, ends().max()?);
    let smallest = Buckets::begin(first).max(first / 2).max(1) as f64;
    let plot = Plot {
        area: AREA,
        x_axis: Axis::until(time.end_s, SECONDS),
        y_axis: Axis::times(smallest, last as f64, TIMES),
    };
    // By second: the last interval of a step may be short.
    let density = |column: &Column, count: u64| count as f64 / column.length_s;
    let most = time.columns.iter().flat_map(|column| {
        let counts = column.buckets.iter();
        counts.map(|(_, count)| density(column, count))
    });
    let most = most.fold(f64::MIN_POSITIVE, f64::max);
    let columns = time.columns.iter().map(|column| {
        let left = plot.x(column.from_s);
        let right = plot.x(column.from_s + column.length_s);
        let cells = column.buckets.iter().map(|(end_ns, count)| {
            let top = plot.y(end_ns as f64);
            let bottom = plot.y(Buckets::begin(end_ns) as f64);
            // The eye sees differences of light, and not of numbers: a tail of a few must be seen.
            let share = (density(column, count) / most).sqrt();
            Cell {
                x: left,
                y: top,
                width: (right - left).max(0.5),
                height: (bottom - top).max(1.0),
                opacity: FAINTEST + (1.0 - FAINTEST) * share,
            }
        });
        Cells {
            title: title(column),
            cells: cells.collect(),
        }
    });
    let limit = limit_ns.map(|ns| ns as f64);
    let limit = limit.filter(|ns| plot.y_axis.holds(*ns));
    Some(Chart {
        title: "Latency over time",
        axes: plot.axes("seconds of measurement", "completion", limit),
        steps: steps(&time.steps, &plot),
        columns: columns.collect(),
        lines: Vec::new(),
    })
}

fn title(column: &Column) -> String {
    let (from, to) = (column.from_s, column.from_s + column.length_s);
    let mut words = format!(
        "{from:.1} to {to:.1} s: {} completed",
        figures::count(column.completed)
    );
    let longest = column.buckets.iter().next_back();
    if let Some((end_ns, count)) = longest {
        let (begin, end) = (Buckets::begin(end_ns) as f64, end_ns as f64);
        words.push_str(&format!(
            ", the slowest {} in {} to {}",
            figures::count(count),
            figures::time(begin),
            figures::time(end)
        ));
    }
    if column.faults > 0 {
        words.push_str(&format!(", {} faults", figures::count(column.faults)));
    }
    words
}

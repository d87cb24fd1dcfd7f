//! What each server used over the time of its measurement.

use super::super::super::ranking::Row;
use super::super::super::{ReportError, figures};
use super::curves::{
    BELOW, BOTTOM, Curves, LABEL_GAP, LEFT, Mark, Path, TOP, WIDTH, path, place_labels,
};
use super::{Curve, Figure, LETTER, OverTime, cut, scale};
use askama::Template as _;
use record::{ServerRow, ServerSeries};

/// Points of a curve at most: a page has many curves, and a chart a few hundred pixels.
const POINTS: usize = 120;

/// A curve and its points, in seconds and bytes or cores.
type Drawn<'a> = (&'a Curve<'a>, Vec<(f64, f64)>);

/// The chart; `None` when no row has a series.
pub(in super::super) fn figure(
    curves: &[Curve<'_>],
    of: OverTime,
) -> Result<Option<Figure>, ReportError> {
    let drawn: Vec<Drawn<'_>> = curves
        .iter()
        .filter_map(|curve| Some((curve, points(curve.row, of)?)))
        .collect();
    let all = || drawn.iter().flat_map(|(_, points)| points);
    let Some(last) = all().map(|(at, _)| *at).reduce(f64::max) else {
        return Ok(None);
    };
    let most = all().map(|(_, value)| *value).fold(0.0, f64::max);
    let letters = drawn
        .iter()
        .map(|(curve, _)| cut(curve.label).chars().count())
        .max();
    let bottom = BOTTOM.max(TOP + drawn.len() as f64 * LABEL_GAP);
    let right = WIDTH - 22.0 - letters.unwrap_or(0) as f64 * LETTER;
    let (unit, y_name) = unit(most, of);
    let x_values = scale::linear_ticks(last, 6);
    let y_values = scale::linear_ticks(most / unit, 5);
    let (x_last, y_last) = (end(&x_values), end(&y_values) * unit);
    let x = |at: f64| LEFT + (right - LEFT) * at / x_last;
    let y = |value: f64| bottom - (bottom - TOP) * value / y_last;
    let mark = |at: f64, value: f64| Mark {
        at,
        label: scale::label(value),
        main: true,
    };
    let mut lines: Vec<Path> = drawn
        .iter()
        .map(|(curve, points)| {
            let places: Vec<(f64, f64)> = points
                .iter()
                .map(|(at, value)| (x(*at), y(*value)))
                .collect();
            Path {
                series: curve.series,
                classes: curve.style.classes(),
                d: path(&places),
                points: Vec::new(),
                label: cut(curve.label),
                label_y: 0.0,
                end: places[places.len() - 1],
                title: told(curve, points, of),
            }
        })
        .collect();
    place_labels(&mut lines, bottom);
    let svg = Curves {
        title: match of {
            OverTime::Memory => "Memory of the server over time".to_owned(),
            OverTime::Cpu => "Cores that the server used over time".to_owned(),
        },
        x_name: "seconds since the server was ready",
        y_name: y_name.to_owned(),
        width: WIDTH,
        height: bottom + BELOW,
        left: LEFT,
        right,
        top: TOP,
        bottom,
        x_ticks: x_values.iter().map(|at| mark(x(*at), *at)).collect(),
        y_ticks: y_values.iter().map(|v| mark(y(*v * unit), *v)).collect(),
        limit: None,
        lines,
    }
    .render()?;
    Ok(Some(Figure {
        caption: caption(of),
        svg,
    }))
}

/// The points of a row: the largest memory, and the mean use of the processor, of as many intervals
/// as make one point.
fn points(row: &Row<'_>, of: OverTime) -> Option<Vec<(f64, f64)>> {
    let ServerSeries { interval_ns, rows } = row.series()?;
    let seconds = *interval_ns as f64 / 1e9;
    let together = rows.len().div_ceil(POINTS);
    let value = |part: &[ServerRow]| match of {
        OverTime::Memory => part.iter().map(memory).max().unwrap_or_default() as f64,
        OverTime::Cpu => {
            let used: u64 = part.iter().map(|row| row.cpu_ns).sum();
            used as f64 / 1e9 / (seconds * part.len() as f64)
        }
    };
    let parts = rows.chunks(together).enumerate();
    let points = parts.map(|(number, part)| {
        let begin = (number * together) as f64 * seconds;
        (begin + part.len() as f64 * seconds / 2.0, value(part))
    });
    Some(points.collect())
}

/// Memory of the processes and of their sockets.
fn memory(row: &ServerRow) -> u64 {
    let processes = row.proportional_bytes.unwrap_or(row.resident_bytes);
    processes + row.sockets_bytes.unwrap_or_default()
}

fn told(curve: &Curve<'_>, points: &[(f64, f64)], of: OverTime) -> String {
    let most = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let shown = match of {
        OverTime::Memory => figures::bytes(most),
        OverTime::Cpu => format!("{most:.2} cores"),
    };
    format!("{}: at most {shown}", curve.label)
}

fn caption(of: OverTime) -> String {
    let what = match of {
        OverTime::Memory => {
            "Memory of the process tree (shared pages once, where the kernel tells) and of its \
             sockets in the kernel. The record has both apart."
        }
        OverTime::Cpu => "Processor time of the process tree over the time in which it was used.",
    };
    format!(
        "{what} From when the server was ready until the generator ended, connecting included; of \
         several repetitions the first."
    )
}

fn unit(most: f64, of: OverTime) -> (f64, &'static str) {
    const MIB: f64 = 1024.0 * 1024.0;
    match of {
        OverTime::Cpu => (1.0, "cores"),
        OverTime::Memory if most >= 1024.0 * MIB => (1024.0 * MIB, "GiB"),
        OverTime::Memory => (MIB, "MiB"),
    }
}

fn end(ticks: &[f64]) -> f64 {
    ticks.last().copied().unwrap_or(1.0)
}

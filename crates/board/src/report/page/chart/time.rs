//! What each server used over the time of its measurement.

use super::super::super::ReportError;
use super::super::super::over_time::OverTime;
use super::curves::{Curves, Path, area, place_labels};
use super::{Curve, Figure, cut};
use askama::Template as _;
use run_page::axes::{Axis, Plot, path};
use run_page::scale;

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
        .filter_map(|curve| Some((curve, of.points(curve.row.series()?, POINTS))))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    let all = || drawn.iter().flat_map(|(_, points)| points);
    let Some(last) = all().map(|(at, _)| *at).reduce(f64::max) else {
        return Ok(None);
    };
    let most = all().map(|(_, value)| *value).fold(0.0, f64::max);
    let plot = Plot {
        area: area(drawn.iter().map(|(curve, _)| *curve)),
        x_axis: Axis::linear(last, 1.0, 6, scale::label),
        y_axis: of.axis(most, 5, false),
    };
    let mut lines: Vec<Path> = drawn
        .iter()
        .map(|(curve, points)| {
            let places = plot.places(points.iter().copied());
            Path {
                series: curve.series,
                classes: curve.style.classes(),
                d: path(&places),
                points: Vec::new(),
                label: cut(curve.label),
                label_y: 0.0,
                end: places[places.len() - 1],
                title: format!("{}: {}", curve.label, of.told(points)),
            }
        })
        .collect();
    place_labels(&mut lines, plot.area.bottom);
    let name = match of {
        OverTime::Memory => "Memory of the server over time",
        OverTime::Cpu => "Cores that the server used over time",
    };
    let axes = plot.axes("seconds since the server was ready", of.unit(most).1, None);
    Ok(Some(Figure {
        caption: caption(of),
        svg: Curves::new(name, plot.area, axes, lines).render()?,
    }))
}

fn caption(of: OverTime) -> String {
    let what = match of {
        OverTime::Memory => {
            "Memory of the process tree (shared pages once, where the kernel tells) and of its \
             sockets in the kernel. The record has both apart."
        }
        OverTime::Cpu => "CPU time of the process tree over the time in which it was used.",
    };
    format!(
        "{what} From when the server was ready until the generator ended, connecting included; of \
         several repetitions the first."
    )
}

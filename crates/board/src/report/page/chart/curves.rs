//! Latency over clients: a curve for each row, and the limit.

use super::super::super::ranking::Step;
use super::super::super::{ReportError, figures, words};
use super::super::filters;
use super::{Curve, Figure, Percentile, Style, cut};
use askama::Template;
use plan::Measure;
use record::Latency;
use run_page::axes::{Area, Axes, Axis, LETTER, Plot, is_in_sight, path};
use run_page::scale;

const WIDTH: f64 = 780.0;
const TOP: f64 = 34.0;
/// Where the plot ends at least; it is made higher for the labels of many curves.
const BOTTOM: f64 = 378.0;
const BELOW: f64 = 52.0;
const LABEL_GAP: f64 = 15.0;

#[derive(Template)]
#[template(path = "report/curves.svg")]
pub(super) struct Curves {
    title: &'static str,
    height: f64,
    right: f64,
    axes: Axes,
    lines: Vec<Path>,
}

impl Curves {
    pub(super) fn new(title: &'static str, area: Area, axes: Axes, lines: Vec<Path>) -> Self {
        Self {
            title,
            height: area.bottom + BELOW,
            right: area.right,
            axes,
            lines,
        }
    }
}

/// Room for these curves, and for their names beside them.
pub(super) fn area<'c>(curves: impl Iterator<Item = &'c Curve<'c>>) -> Area {
    let letters: Vec<usize> = curves
        .map(|curve| cut(curve.label).chars().count())
        .collect();
    let longest = letters.iter().max().copied().unwrap_or(0);
    Area {
        left: 70.0,
        right: WIDTH - 22.0 - longest as f64 * LETTER,
        top: TOP,
        bottom: BOTTOM.max(TOP + letters.len() as f64 * LABEL_GAP),
    }
}

pub(super) struct Path {
    pub(super) series: usize,
    pub(super) classes: String,
    pub(super) d: String,
    pub(super) points: Vec<Point>,
    pub(super) label: String,
    pub(super) label_y: f64,
    /// Where the curve ends.
    pub(super) end: (f64, f64),
    /// What the curve shows, in words.
    pub(super) title: String,
}

pub(super) struct Point {
    x: f64,
    y: f64,
    marker: &'static str,
    /// The step was within the limit in every repetition.
    passed: bool,
    title: String,
}

#[derive(Template)]
#[template(path = "report/sample.svg")]
struct Sample {
    classes: String,
    marker: &'static str,
}

/// A short piece of a line for the legend.
pub(in super::super) fn sample(style: Style) -> Result<String, ReportError> {
    let sample = Sample {
        classes: style.classes(),
        marker: style.marker(),
    };
    Ok(sample.render()?)
}

/// The chart; `None` when no row has a figure to draw.
pub(in super::super) fn figure(
    curves: &[Curve<'_>],
    percentile: Percentile,
) -> Result<Option<Figure>, ReportError> {
    let drawn: Vec<(&Curve<'_>, Vec<(&Step, u64)>)> = curves
        .iter()
        .map(|curve| (curve, figures_of(curve, percentile)))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    let values = || drawn.iter().flat_map(|(_, values)| values);
    let Some(smallest) = values().map(|(_, ns)| *ns).min() else {
        return Ok(None);
    };
    let slowest = values().map(|(_, ns)| *ns).max().unwrap_or(smallest);
    let limit = limit(curves).map(|ns| ns as f64);
    let limit = limit
        .filter(|_| percentile == Percentile::P95)
        .filter(|limit| is_in_sight(*limit, slowest as f64));
    let largest = limit.unwrap_or(0.0).max(slowest as f64);
    let most_clients = values().map(|(step, _)| step.clients).max().unwrap_or(1);
    let plot = Plot {
        area: area(drawn.iter().map(|(curve, _)| *curve)),
        x_axis: Axis::linear(most_clients as f64, 1.0, 6, |clients| {
            figures::count(clients as u64)
        }),
        y_axis: Axis::times(smallest as f64, largest, usize::MAX),
    };
    let mut lines: Vec<Path> = drawn
        .iter()
        .map(|(curve, values)| {
            let points = values
                .iter()
                .map(|(step, ns)| (step.clients as f64, *ns as f64));
            let places = plot.places(points);
            Path {
                series: curve.series,
                classes: curve.style.classes(),
                d: path(&places),
                points: values
                    .iter()
                    .zip(&places)
                    .map(|((step, ns), (x, y))| Point {
                        x: *x,
                        y: *y,
                        marker: curve.style.marker(),
                        passed: step.passed == step.repetitions,
                        title: told(curve, step, *ns, percentile),
                    })
                    .collect(),
                label: cut(curve.label),
                label_y: 0.0,
                end: places[places.len() - 1],
                title: curve.label.to_owned(),
            }
        })
        .collect();
    place_labels(&mut lines, plot.area.bottom);
    let name = match percentile {
        Percentile::P95 => "95th percentile of completion over clients",
        Percentile::P50 => "Median completion over clients",
    };
    let axes = plot.axes("clients connected", "latency (logarithmic)", limit);
    Ok(Some(Figure {
        caption: caption(curves, percentile, slowest),
        svg: Curves::new(name, plot.area, axes, lines).render()?,
    }))
}

fn figures_of<'a>(curve: &Curve<'a>, percentile: Percentile) -> Vec<(&'a Step, u64)> {
    let of = |latency: &Latency| match percentile {
        Percentile::P50 => latency.p50_ns,
        Percentile::P95 => latency.p95_ns,
    };
    curve
        .row
        .steps
        .iter()
        .filter_map(|step| Some((step, of(step.completion.as_ref()?))))
        .collect()
}

/// The limit, where it is one on what is drawn and the same for all rows.
fn limit(curves: &[Curve<'_>]) -> Option<u64> {
    let mut limits = curves
        .iter()
        .flat_map(|curve| curve.row.runs())
        .map(|run| &run.plan.limits);
    let first = limits.next()?;
    let drawn = first.of == Measure::Completion && first.percentile == 95.0;
    (drawn && limits.all(|limit| limit == first)).then_some(first.time.ns())
}

fn caption(curves: &[Curve<'_>], percentile: Percentile, slowest: u64) -> String {
    let scale = "The latency axis is logarithmic. Open markers are steps that broke the limit or \
                 had faults.";
    match (percentile, limit(curves)) {
        (Percentile::P50, _) => format!("Half of the samples completed faster. {scale}"),
        (Percentile::P95, Some(ns)) if !is_in_sight(ns as f64, slowest as f64) => format!(
            "The limit of {} is far above this chart. {scale}",
            figures::time(ns as f64)
        ),
        (Percentile::P95, Some(_)) => {
            format!("A step below the dashed line is within the limit. {scale}")
        }
        (Percentile::P95, None) => {
            let rules: Vec<String> = curves
                .iter()
                .filter_map(|curve| Some(words::rule(curve.row.workload(), curve.row.limit()?)))
                .take(1)
                .collect();
            format!(
                "The limit is on another figure: {}. {scale}",
                rules.join("")
            )
        }
    }
}

fn told(curve: &Curve<'_>, step: &Step, ns: u64, percentile: Percentile) -> String {
    let name = match percentile {
        Percentile::P50 => "p50",
        Percentile::P95 => "p95",
    };
    let samples = step.completion.as_ref().map_or(0, |latency| latency.count);
    format!(
        "{}: {} clients, {name} {} ({ns} ns), {} samples{}",
        curve.label,
        figures::count(step.clients),
        figures::time(ns as f64),
        figures::count(samples),
        if step.passed == step.repetitions {
            ""
        } else {
            ", not within the limit"
        }
    )
}

/// Puts the names at the ends of their curves, apart from each other.
pub(super) fn place_labels(lines: &mut [Path], bottom: f64) {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|a, b| lines[*a].end.1.total_cmp(&lines[*b].end.1));
    let places: Vec<f64> = order.iter().map(|index| lines[*index].end.1).collect();
    let spread = scale::spread(&places, LABEL_GAP, TOP, bottom);
    for (index, place) in order.into_iter().zip(spread) {
        lines[index].label_y = place;
    }
}

//! Latency over clients: a curve for each row, and the limit.

use super::super::super::ranking::Step;
use super::super::super::{ReportError, figures, words};
use super::super::filters;
use super::scale::{self, Scale, Tick};
use super::{Curve, Figure, LETTER, Percentile, Style, cut};
use askama::Template;
use plan::Measure;
use record::Latency;

pub(super) const WIDTH: f64 = 780.0;
pub(super) const LEFT: f64 = 70.0;
pub(super) const TOP: f64 = 34.0;
/// Where the plot ends at least; it is made higher for the labels of many curves.
pub(super) const BOTTOM: f64 = 378.0;
pub(super) const BELOW: f64 = 52.0;
pub(super) const LABEL_GAP: f64 = 15.0;
/// A limit that is more than so many times the slowest figure is mentioned and not drawn: it would
/// flatten all curves.
const LIMIT_IN_SIGHT: u64 = 10;

#[derive(Template)]
#[template(path = "report/curves.svg")]
pub(super) struct Curves {
    pub(super) title: String,
    pub(super) x_name: &'static str,
    pub(super) y_name: String,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x_ticks: Vec<Mark>,
    pub(super) y_ticks: Vec<Mark>,
    pub(super) limit: Option<Mark>,
    pub(super) lines: Vec<Path>,
}

pub(super) struct Mark {
    pub(super) at: f64,
    pub(super) label: String,
    pub(super) main: bool,
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
    let limit = (percentile == Percentile::P95)
        .then(|| limit(curves))
        .flatten()
        .filter(|limit| *limit <= slowest.saturating_mul(LIMIT_IN_SIGHT));
    let largest = limit.unwrap_or(slowest).max(slowest);
    let most_clients = values().map(|(step, _)| step.clients).max().unwrap_or(1);
    let letters = drawn
        .iter()
        .map(|(curve, _)| cut(curve.label).chars().count())
        .max();
    let bottom = BOTTOM.max(TOP + drawn.len() as f64 * LABEL_GAP);
    let right = WIDTH - 22.0 - letters.unwrap_or(0) as f64 * LETTER;

    let x_values = scale::linear_ticks(most_clients as f64, 6);
    let x_last = x_values.last().copied().unwrap_or(1.0);
    let y_ticks = scale::log_ticks(smallest.max(1) as f64, largest.max(1) as f64);
    let scale = Scale::logarithmic(&y_ticks);
    let x = |clients: f64| LEFT + (right - LEFT) * clients / x_last;
    let y = |ns: f64| bottom - (bottom - TOP) * scale.share(ns);

    let mut lines: Vec<Path> = drawn
        .iter()
        .map(|(curve, values)| {
            let places: Vec<(f64, f64)> = values
                .iter()
                .map(|(step, ns)| (x(step.clients as f64), y(*ns as f64)))
                .collect();
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
    place_labels(&mut lines, bottom);
    let name = match percentile {
        Percentile::P95 => "95th percentile of completion over clients",
        Percentile::P50 => "Median completion over clients",
    };
    let svg = Curves {
        title: name.to_owned(),
        x_name: "clients connected",
        y_name: "latency (logarithmic)".to_owned(),
        width: WIDTH,
        height: bottom + BELOW,
        left: LEFT,
        right,
        top: TOP,
        bottom,
        x_ticks: x_values
            .iter()
            .map(|clients| Mark {
                at: x(*clients),
                label: figures::count(*clients as u64),
                main: true,
            })
            .collect(),
        y_ticks: y_ticks
            .iter()
            .map(|tick| y_mark(tick, y(tick.value)))
            .collect(),
        limit: limit.map(|ns| Mark {
            at: y(ns as f64),
            label: format!("limit {}", figures::time(ns as f64)),
            main: true,
        }),
        lines,
    }
    .render()?;
    Ok(Some(Figure {
        caption: caption(curves, percentile, slowest),
        svg,
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
        (Percentile::P95, Some(ns)) if ns > slowest.saturating_mul(LIMIT_IN_SIGHT) => format!(
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

fn y_mark(tick: &Tick, at: f64) -> Mark {
    Mark {
        at,
        label: scale::time_label(tick.value),
        main: tick.main,
    }
}

pub(super) fn path(places: &[(f64, f64)]) -> String {
    let points: Vec<String> = places
        .iter()
        .map(|(x, y)| format!("{x:.1} {y:.1}"))
        .collect();
    format!("M{}", points.join("L"))
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

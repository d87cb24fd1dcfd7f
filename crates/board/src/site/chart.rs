//! Small multiples: one small chart for each row, all with the same axes, and one that has all of
//! their curves. With forty rows no single picture tells them apart.

use super::board::{CEILING, Ranked, Ranking, figure, key};
use crate::report::figures;
use crate::report::ranking::{Row, Step};
use crate::report::words;
use askama::Template;
use record::ServerSeries;
use run_page::scale::{self, Scale, Tick};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 132.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = WIDTH - 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = HEIGHT - 22.0;
/// Points of a curve at most.
const POINTS: usize = 60;
/// Places along the axis of percentiles.
const PERCENTILES: u32 = 40;
/// A limit that is more than so many times the slowest figure would flatten all curves.
const LIMIT_IN_SIGHT: f64 = 10.0;

/// What a curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The limited latency over the clients.
    Clients,
    /// The latency of one step by percentile.
    Percentiles,
    /// Memory over time.
    Memory,
    /// Cores over time.
    Cpu,
}

/// A curve: its figures, and in words what it shows.
pub(super) struct Curve {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) server: String,
    pub(super) place: String,
    pub(super) is_ceiling: bool,
    points: Vec<(f64, f64)>,
    words: String,
}

/// Charts with the same axes.
#[derive(Template)]
#[template(path = "site/multiples.html")]
pub(super) struct Multiples {
    id: String,
    title: String,
    caption: String,
    x_name: &'static str,
    frame: Frame,
    panels: Vec<Panel>,
    /// The curves behind that of each panel.
    background: Vec<String>,
    /// Whether there is a chart of all curves.
    with_all: bool,
}

/// Axes, ticks and the limit, in a chart of 240 by 132.
struct Frame {
    left: String,
    right: String,
    top: String,
    bottom: String,
    width: f64,
    height: f64,
    x_ticks: Vec<(String, String)>,
    y_ticks: Vec<(String, String)>,
    limit: Option<(String, String)>,
}

struct Panel {
    key: String,
    name: String,
    href: String,
    place: String,
    classes: &'static str,
    d: String,
    words: String,
}

/// Which curves a ranking has: those over clients where these grow, else percentiles.
pub(super) fn of(ranking: &Ranking<'_>) -> Of {
    match ranking.subject().grows() {
        true => Of::Clients,
        false => Of::Percentiles,
    }
}

/// The curves of those rows of a ranking that are wanted, in its order.
pub(super) fn curves(
    ranking: &Ranking<'_>,
    what: Of,
    is_wanted: impl Fn(&Ranked) -> bool,
) -> Vec<Curve> {
    let lines = ranking
        .lines
        .iter()
        .chain(&ranking.ceilings)
        .zip(&ranking.rows);
    let subject = ranking.subject();
    lines
        .filter(|(line, _)| is_wanted(line))
        .filter_map(|(line, row)| {
            let points = points(row, what)?;
            let words = match (what, figure(row, &subject)) {
                (Of::Clients | Of::Percentiles, Some(_)) => {
                    format!("{}: {}", line.figure.text, told(&points, what))
                }
                _ => told(&points, what),
            };
            Some(Curve {
                key: key(&row.server().name, &row.server().variant),
                name: words::contestant(row),
                server: row.server().name.clone(),
                place: line.place.text.clone(),
                is_ceiling: line.place.text == CEILING,
                points,
                words,
            })
        })
        .collect()
}

fn points(row: &Row<'_>, what: Of) -> Option<Vec<(f64, f64)>> {
    let points: Vec<(f64, f64)> = match what {
        Of::Clients => {
            let measured = |step: &Step| Some((step.clients as f64, step.limited_ns? as f64));
            row.steps.iter().filter_map(measured).collect()
        }
        Of::Percentiles => {
            let latency = row.shown_step()?.completion.as_ref()?;
            let recorder = latency.recorder().ok()?;
            let end = nines(latency.count);
            let at = |point| end * f64::from(point) / f64::from(PERCENTILES);
            (0..=PERCENTILES)
                .map(|point| {
                    let percentile = 100.0 * (1.0 - 10f64.powf(-at(point)));
                    (at(point), recorder.percentile(percentile) as f64)
                })
                .collect()
        }
        Of::Memory | Of::Cpu => over_time(row.series()?, what),
    };
    (!points.is_empty()).then_some(points)
}

/// How many nines a distribution of so many samples can show.
fn nines(count: u64) -> f64 {
    (count.max(10) as f64).log10()
}

fn over_time(series: &ServerSeries, what: Of) -> Vec<(f64, f64)> {
    let seconds = series.interval_ns as f64 / 1e9;
    let together = series.rows.len().div_ceil(POINTS).max(1);
    let parts = series.rows.chunks(together).enumerate();
    parts
        .map(|(number, part)| {
            let at = ((number * together) as f64 + part.len() as f64 / 2.0) * seconds;
            let memory = part.iter().map(|row| {
                row.proportional_bytes.unwrap_or(row.resident_bytes)
                    + row.sockets_bytes.unwrap_or(0)
            });
            let value = match what {
                Of::Memory => memory.max().unwrap_or(0) as f64,
                _ => {
                    let used: u64 = part.iter().map(|row| row.cpu_ns).sum();
                    used as f64 / 1e9 / (seconds * part.len() as f64)
                }
            };
            (at, value)
        })
        .collect()
}

/// A curve in words: for readers who do not see it.
fn told(points: &[(f64, f64)], what: Of) -> String {
    let (first, last) = (points[0], points[points.len() - 1]);
    let most = points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    match what {
        Of::Clients => format!(
            "from {} at {} clients to {} at {}",
            figures::time(first.1),
            figures::count(first.0 as u64),
            figures::time(last.1),
            figures::count(last.0 as u64)
        ),
        Of::Percentiles => {
            let median = points
                .iter()
                .rfind(|(at, _)| *at <= 0.31)
                .map_or(first.1, |(_, y)| *y);
            format!(
                "median near {}, slowest {}",
                figures::time(median),
                figures::time(last.1)
            )
        }
        Of::Memory => format!("at most {}", figures::bytes(most)),
        Of::Cpu => format!("at most {most:.2} cores"),
    }
}

/// What is drawn, and where.
pub(super) struct Drawing<'d> {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) what: Of,
    /// The limit of the latencies, where there is one on what is drawn.
    pub(super) limit_ns: Option<u64>,
    pub(super) with_all: bool,
    /// The page of a server.
    pub(super) page: &'d dyn Fn(&str) -> String,
}

/// The charts of these curves, before those of `others` if there are some and of each other if not;
/// nothing where there are none.
pub(super) fn draw(
    curves: &[Curve],
    others: &[Curve],
    drawing: &Drawing<'_>,
) -> askama::Result<String> {
    if curves.is_empty() {
        return Ok(String::new());
    }
    let all = || curves.iter().chain(others).flat_map(|curve| &curve.points);
    let Some(slowest) = all().map(|(_, y)| *y).reduce(f64::max) else {
        return Ok(String::new());
    };
    let is_latency = matches!(drawing.what, Of::Clients | Of::Percentiles);
    let limit = drawing.limit_ns.map(|ns| ns as f64).filter(|_| is_latency);
    let limit = limit.filter(|limit| *limit <= slowest * LIMIT_IN_SIGHT);
    let axis = Axis::of(all(), slowest.max(limit.unwrap_or(0.0)), is_latency);
    let last_x = all().map(|(x, _)| *x).fold(0.0, f64::max);
    let (x_ticks, end) = x_ticks(last_x, drawing.what);
    let x = |value: f64| LEFT + (RIGHT - LEFT) * value / end;
    let frame = Frame {
        left: px(LEFT),
        right: px(RIGHT),
        top: px(TOP),
        bottom: px(BOTTOM),
        width: WIDTH,
        height: HEIGHT,
        x_ticks: x_ticks
            .into_iter()
            .map(|(at, name)| (px(x(at)), name))
            .collect(),
        y_ticks: axis
            .ticks
            .iter()
            .map(|(at, name)| (px(axis.y(*at)), name.clone()))
            .collect(),
        limit: limit.map(|limit| (px(axis.y(limit)), format!("limit {}", figures::time(limit)))),
    };
    let line = |curve: &Curve| {
        path(
            curve
                .points
                .iter()
                .map(|(at, value)| (x(*at), axis.y(*value))),
        )
    };
    let behind = match (others.is_empty(), curves.len()) {
        (false, _) => others,
        (true, 1) => &[],
        (true, _) => curves,
    };
    let background = behind.iter().map(line).collect();
    let panels = curves.iter().map(|curve| Panel {
        key: curve.key.clone(),
        name: curve.name.clone(),
        href: (drawing.page)(&curve.server),
        place: curve.place.clone(),
        classes: if curve.is_ceiling { "ceiling" } else { "" },
        d: line(curve),
        words: curve.words.clone(),
    });
    Multiples {
        id: drawing.id.clone(),
        title: drawing.title.clone(),
        caption: caption(drawing.what, limit.is_some()),
        x_name: match drawing.what {
            Of::Clients => "clients",
            Of::Percentiles => "percentile",
            Of::Memory | Of::Cpu => "seconds",
        },
        frame,
        panels: panels.collect(),
        background,
        with_all: drawing.with_all && curves.len() > 1,
    }
    .render()
}

fn caption(what: Of, with_limit: bool) -> String {
    let limit = if with_limit {
        " The dashed line is the limit."
    } else {
        ""
    };
    match what {
        Of::Clients => format!(
            "The latency that the limit is on, over the clients, on a logarithmic axis.{limit} All \
             charts have the same axes; the grey curves are those of the other rows."
        ),
        Of::Percentiles => format!(
            "Completion by percentile, each nine as wide as the one before, on a logarithmic axis. All \
             charts have the same axes; the grey curves are those of the other rows.{limit}"
        ),
        Of::Memory => "Memory of the process tree and of its sockets in the kernel, from when the \
                       server was ready until the load ended; of several repetitions the first."
            .to_owned(),
        Of::Cpu => "Cores that the process tree used over the same time.".to_owned(),
    }
}

/// The upward axis.
struct Axis {
    scale: Scale,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    fn of<'p>(
        points: impl Iterator<Item = &'p (f64, f64)>,
        largest: f64,
        is_latency: bool,
    ) -> Self {
        if !is_latency {
            let is_bytes = largest > 4096.0;
            let unit = if is_bytes { 1024.0 * 1024.0 } else { 1.0 };
            let values = scale::linear_ticks(largest / unit, 3);
            let name = |value: f64| match is_bytes {
                true => format!("{} MiB", scale::label(value)),
                false => scale::label(value),
            };
            let ends: Vec<f64> = values.iter().map(|value| value * unit).collect();
            return Self {
                scale: Scale::linear(&ends),
                ticks: ends
                    .into_iter()
                    .zip(values.iter().map(|value| name(*value)))
                    .collect(),
            };
        }
        let smallest = points.map(|(_, y)| *y).fold(largest, f64::min).max(1.0);
        let ticks: Vec<Tick> = scale::log_ticks(smallest, largest.max(smallest * 1.01));
        let decades = ticks.iter().filter(|tick| tick.main).count();
        // Of many ticks the whole decades are enough.
        let named = ticks.iter().filter(|tick| decades < 2 || tick.main);
        Self {
            scale: Scale::logarithmic(&ticks),
            ticks: named
                .map(|tick| (tick.value, scale::time_label(tick.value)))
                .collect(),
        }
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * self.scale.share(value)
    }
}

/// Ticks and the end of the axis to the right.
fn x_ticks(last: f64, what: Of) -> (Vec<(f64, String)>, f64) {
    if what == Of::Percentiles {
        let names = ["0", "90", "99", "99.9", "99.99", "99.999", "99.9999"];
        let ticks = names
            .iter()
            .enumerate()
            .map(|(at, name)| (at as f64, (*name).to_owned()));
        let ticks = ticks.filter(|(at, _)| *at <= last);
        return (ticks.collect(), last.max(1.0));
    }
    let values = scale::linear_ticks(last, 2);
    let name = |value: f64| match what {
        Of::Clients if value >= 10_000.0 => format!("{}k", scale::label(value / 1_000.0)),
        Of::Clients => figures::count(value as u64),
        _ => scale::label(value),
    };
    let end = values.last().copied().unwrap_or(1.0);
    (
        values.iter().map(|value| (*value, name(*value))).collect(),
        end,
    )
}

fn path(places: impl Iterator<Item = (f64, f64)>) -> String {
    let points: Vec<String> = places.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    match points.as_slice() {
        // A curve of one point is a short stroke.
        [one] => format!("M{one}h3"),
        _ => format!("M{}", points.join("L")),
    }
}

fn px(place: f64) -> String {
    format!("{place:.1}")
}

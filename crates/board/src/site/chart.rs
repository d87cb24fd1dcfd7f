//! Small multiples: one small chart for each row, all with the same axes, and one that has all of
//! their curves. With forty rows no single picture tells them apart.

use super::board::{CEILING, Ranked, Ranking, figure, key};
use crate::report::figures;
use crate::report::over_time::OverTime;
use crate::report::ranking::{Row, Step};
use crate::report::words;
use askama::Template;
use run_page::axes::{Area, Axes, Axis, Plot, distribution, is_in_sight, path};
use run_page::scale;

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 132.0;
const AREA: Area = Area {
    left: 50.0,
    right: WIDTH - 8.0,
    top: 8.0,
    bottom: HEIGHT - 22.0,
};
/// Points of a curve at most.
const POINTS: usize = 60;
/// Places along the axis of percentiles.
const PERCENTILES: u32 = 40;
/// Ticks of an axis of times that all have a name.
const TIMES: usize = 5;

/// What a curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The limited latency over the clients.
    Clients,
    /// The latency of one step by percentile.
    Percentiles,
    /// What the server used.
    Time(OverTime),
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
    axes: Axes,
    panels: Vec<Panel>,
    /// The curves behind that of each panel.
    background: Vec<String>,
    /// Whether there is a chart of all curves.
    with_all: bool,
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
pub(super) fn chart(ranking: &Ranking<'_>) -> Of {
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
        Of::Percentiles => distribution(row.shown_step()?.completion.as_ref()?, PERCENTILES)?,
        Of::Time(of) => of.points(row.series()?, POINTS),
    };
    (!points.is_empty()).then_some(points)
}

/// A curve in words: for readers who do not see it.
fn told(points: &[(f64, f64)], what: Of) -> String {
    let (first, last) = (points[0], points[points.len() - 1]);
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
        Of::Time(of) => of.told(points),
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
    let limit = limit.filter(|limit| is_in_sight(*limit, slowest));
    let largest = slowest.max(limit.unwrap_or(0.0));
    let smallest = all().map(|(_, y)| *y).fold(largest, f64::min).max(1.0);
    let last_x = all().map(|(x, _)| *x).fold(0.0, f64::max);
    let plot = Plot {
        area: AREA,
        x_axis: x_axis(last_x, drawing.what),
        y_axis: match drawing.what {
            Of::Time(of) => of.axis(largest, 3, true),
            Of::Clients | Of::Percentiles => Axis::times(smallest, largest, TIMES),
        },
    };
    let line = |curve: &Curve| path(&plot.places(curve.points.iter().copied()));
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
            Of::Time(_) => "seconds",
        },
        axes: plot.axes("", "", limit),
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
        Of::Time(OverTime::Memory) => {
            "Memory of the process tree and of its sockets in the kernel, from when the \
                       server was ready until the load ended; of several repetitions the first."
                .to_owned()
        }
        Of::Time(OverTime::Cpu) => {
            "Cores that the process tree used over the same time.".to_owned()
        }
    }
}

/// The axis to the right.
fn x_axis(last: f64, what: Of) -> Axis {
    match what {
        Of::Percentiles => Axis::percentiles(last),
        Of::Clients => Axis::linear(last, 1.0, 2, |clients| match clients >= 10_000.0 {
            true => format!("{}k", scale::label(clients / 1_000.0)),
            false => figures::count(clients as u64),
        }),
        Of::Time(_) => Axis::linear(last, 1.0, 2, scale::label),
    }
}

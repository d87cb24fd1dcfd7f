//! What became of watched messages over time, in one picture: deliveries, losses by kind, clients that were
//! ready, and the slowest delivery, with what was done to the server.

use crate::axes::{Area, Axes, Axis, Plot, path, px};
use crate::figures;
use crate::scale;
use askama::Template;
use record::{Timeline, Watched};

const WIDTH: f64 = 360.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 8.0;
/// The height of a lane, and from its end to the next.
const LANE: f64 = 52.0;
const GAP: f64 = 24.0;
/// Below the last lane: ticks and the name of the axis.
const BELOW: f64 = 36.0;
/// The height of a line of names of faults, and how many there are at most.
const NAMES: f64 = 12.0;
const MOST_NAMES: usize = 5;
/// A letter is at most so wide.
const LETTER: f64 = 5.4;
/// Columns at most; of a longer step each has several parts.
const COLUMNS: usize = 150;
/// Ticks, about.
const SECONDS: usize = 5;
const TICKS: usize = 3;
/// What is drawn in the lane of what came, beside the line of what came live.
const MADE_GOOD: (&str, usize) = ("made good later", 5);
/// Kinds of losses: name and colour in the style sheet.
const KINDS: [(&str, usize); 4] = [("silent", 1), ("cut", 3), ("away", 4), ("joining", 6)];

/// Something that was done to the server.
#[derive(Clone, Debug)]
pub struct FaultMark {
    /// When, in nanoseconds after the first message.
    pub at_ns: u64,
    /// What, in a few words.
    pub label: String,
}

/// The picture of a watched step, as SVG.
#[derive(Template)]
#[template(path = "watched.svg")]
pub struct WatchedChart {
    words: String,
    height: f64,
    top: f64,
    bottom: f64,
    lanes: Vec<Lane>,
    stacks: Vec<Stack>,
    kinds: Vec<Kind>,
    marks: Vec<Drawn>,
}

struct Lane {
    name: &'static str,
    y: f64,
    axes: Axes,
    colour: usize,
    /// The line; empty where there is none.
    d: String,
}

/// The bars of a column.
struct Stack {
    title: String,
    bars: Vec<Bar>,
}

struct Bar {
    colour: usize,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// A kind of bars in the legend.
struct Kind {
    name: &'static str,
    colour: usize,
    x: f64,
    y: f64,
}

struct Drawn {
    x: f64,
    title: String,
    name: Option<Name>,
}

/// What is written, where, and which end of it is there.
struct Name {
    text: String,
    x: f64,
    y: f64,
    anchor: &'static str,
}

/// Parts of the timeline together.
struct Column {
    from_s: f64,
    to_s: f64,
    sent: u64,
    live: u64,
    made_good: u64,
    lost: [u64; KINDS.len()],
    ready: u64,
    slowest_ns: u64,
}

impl WatchedChart {
    /// The picture of what was watched; `None` where the timeline has no parts.
    pub fn new(watched: &Watched, clients: u64, marks: &[FaultMark]) -> Option<Self> {
        let columns = columns(&watched.timeline);
        let end_s = columns.last()?.to_s;
        let (marks, rows) = named(marks, end_s);
        let top = 4.0 + rows as f64 * NAMES + 14.0;
        let y = |lane: usize| top + lane as f64 * (LANE + GAP);
        let plot = |lane: usize, y_axis: Axis| Plot {
            area: Area {
                left: LEFT,
                right: RIGHT,
                top: y(lane),
                bottom: y(lane) + LANE,
            },
            x_axis: Axis::until(end_s, SECONDS),
            y_axis,
        };
        let count = |most: f64| Axis::linear(most.max(1.0), 1.0, TICKS, thousands);
        let most = |of: &dyn Fn(&Column) -> f64| columns.iter().map(of).fold(0.0, f64::max);
        let came = |column: &Column| column.rate(column.live.saturating_add(column.made_good));
        let live = |column: &Column| column.rate(column.live);
        let lost = |column: &Column| column.rate(column.all_lost());
        let slowest = |column: &Column| column.slowest_ns as f64;
        let fastest = columns.iter().map(slowest).filter(|ns| *ns > 0.0);
        let fastest = fastest.fold(f64::INFINITY, f64::min);
        let times = match fastest.is_finite() {
            true => Axis::times(fastest, most(&slowest), TICKS),
            false => Axis::times(1e6, 1e9, TICKS),
        };
        let of_came = plot(0, count(most(&came)));
        let of_lost = plot(1, count(most(&lost)));
        let of_ready = plot(
            2,
            count((clients as f64).max(most(&|one| one.ready as f64))),
        );
        let of_slowest = plot(3, times);
        let lane = |name, plot: &Plot, colour, d| Lane {
            name,
            y: plot.area.top - 5.0,
            axes: plot.axes("", "", None).without_x_ticks(),
            colour,
            d,
        };
        let level = |plot: &Plot, of: &dyn Fn(&Column) -> Option<f64>| levels(&columns, plot, of);
        let mut lanes = vec![
            lane(
                "came, a second",
                &of_came,
                0,
                level(&of_came, &|one| Some(live(one)).filter(|_| one.sent > 0)),
            ),
            lane("lost, a second", &of_lost, 1, String::new()),
            lane(
                "clients ready",
                &of_ready,
                2,
                level(&of_ready, &|one| Some(one.ready as f64)),
            ),
        ];
        let d = level(&of_slowest, &|one| {
            Some(slowest(one)).filter(|ns| *ns > 0.0)
        });
        lanes.push(Lane {
            axes: of_slowest.axes("", "", None),
            ..lane("slowest that came", &of_slowest, 7, d)
        });
        Some(Self {
            words: words(watched),
            height: y(3) + LANE + BELOW,
            top: top - 14.0,
            bottom: y(3) + LANE,
            lanes,
            stacks: columns
                .iter()
                .flat_map(|one| [made_good(one, &of_came), loss(one, &of_lost)])
                .flatten()
                .collect(),
            kinds: kinds(&columns, [&of_came, &of_lost]),
            marks: marks
                .into_iter()
                .map(|mark| Drawn {
                    x: of_came.x(mark.x),
                    ..mark
                })
                .collect(),
        })
    }
}

impl Column {
    fn rate(&self, count: u64) -> f64 {
        count as f64 / (self.to_s - self.from_s)
    }

    fn all_lost(&self) -> u64 {
        self.lost.iter().copied().fold(0, u64::saturating_add)
    }
}

/// No column has parts of both the time in which messages were sent and the time after it.
fn columns(timeline: &Timeline) -> Vec<Column> {
    let parts = timeline.parts();
    let together = parts.div_ceil(COLUMNS).max(1);
    let tick_s = timeline.tick_ns.max(1) as f64 / 1e9;
    let column = |from: usize, to: usize| {
        let part = |list: &[u64]| list.get(from..to).unwrap_or_default().to_vec();
        let sum = |list: &[u64]| part(list).into_iter().fold(0, u64::saturating_add);
        Column {
            from_s: from as f64 * tick_s,
            to_s: to as f64 * tick_s,
            sent: sum(&timeline.sent),
            live: sum(&timeline.live),
            made_good: sum(&timeline.made_good),
            lost: [
                sum(&timeline.lost_silent),
                sum(&timeline.lost_cut),
                sum(&timeline.lost_away),
                sum(&timeline.lost_joining),
            ],
            ready: part(&timeline.ready).into_iter().min().unwrap_or_default(),
            slowest_ns: part(&timeline.slowest_ns)
                .into_iter()
                .max()
                .unwrap_or_default(),
        }
    };
    let sending = timeline.sent.iter().rposition(|sent| *sent > 0);
    let sending = sending.map_or(0, |last| last + 1);
    let both = [(0, sending), (sending, parts)].into_iter();
    let all = both.flat_map(|(first, end)| {
        let begins = (first..end).step_by(together);
        begins.map(move |from| (from, (from + together).min(end)))
    });
    all.map(|(from, to)| column(from, to)).collect()
}

/// A line that is level for the time of each column, with a gap where a column has no figure.
fn levels(columns: &[Column], plot: &Plot, of: &dyn Fn(&Column) -> Option<f64>) -> String {
    let parts = columns.chunk_by(|a, b| of(a).is_some() == of(b).is_some());
    let line = |part: &[Column]| {
        let points = part
            .iter()
            .filter_map(|one| Some([(one.from_s, of(one)?), (one.to_s, of(one)?)]));
        let places = plot.places(points.flatten());
        (!places.is_empty()).then(|| path(&places))
    };
    parts.filter_map(line).collect()
}

/// What came later than live, on top of what came live.
fn made_good(column: &Column, plot: &Plot) -> Option<Stack> {
    let parts = [(MADE_GOOD.1, column.made_good)];
    let title = format!("{} made good later", figures::count(column.made_good));
    stack(column, plot, column.live, &parts, title)
}

fn loss(column: &Column, plot: &Plot) -> Option<Stack> {
    let of_kinds = || KINDS.into_iter().zip(column.lost);
    let by_kind = of_kinds().filter(|(_, count)| *count > 0);
    let by_kind: Vec<String> = by_kind
        .map(|((name, _), count)| format!("{} {name}", figures::count(count)))
        .collect();
    let lost = figures::count(column.all_lost());
    let title = format!("{lost} lost ({})", by_kind.join(", "));
    let parts: Vec<(usize, u64)> = of_kinds()
        .map(|((_, colour), count)| (colour, count))
        .collect();
    stack(column, plot, 0, &parts, title)
}

/// Bars on one another, from so many on; `None` where all are empty.
fn stack(
    column: &Column,
    plot: &Plot,
    mut below: u64,
    parts: &[(usize, u64)],
    title: String,
) -> Option<Stack> {
    let (left, right) = (plot.x(column.from_s), plot.x(column.to_s));
    let mut bars = Vec::new();
    for &(colour, count) in parts {
        let bottom = plot.y(column.rate(below));
        below = below.saturating_add(count);
        let y = plot.y(column.rate(below));
        if count > 0 {
            bars.push(Bar {
                colour,
                x: left,
                y,
                width: right - left,
                height: (bottom - y).max(0.4),
            });
        }
    }
    (!bars.is_empty()).then(|| Stack {
        title: format!("{:.1} to {:.1} s: {title}", column.from_s, column.to_s),
        bars,
    })
}

/// The legend of the bars that there are.
fn kinds(columns: &[Column], [of_came, of_lost]: [&Plot; 2]) -> Vec<Kind> {
    let has = |of: &dyn Fn(&Column) -> u64| columns.iter().any(|column| of(column) > 0);
    let first = LEFT + 84.0;
    let above = |plot: &Plot| plot.area.top - 5.0;
    let mut all = Vec::new();
    if has(&|column| column.made_good) {
        let (name, colour) = MADE_GOOD;
        all.push(Kind {
            name,
            colour,
            x: first,
            y: above(of_came),
        });
    }
    let mut x = first;
    for (index, (name, colour)) in KINDS.into_iter().enumerate() {
        if has(&|column| column.lost[index]) {
            let y = above(of_lost);
            all.push(Kind { name, colour, x, y });
            x += 20.0 + name.len() as f64 * LETTER;
        }
    }
    all
}

/// The marks of faults, whose place is still a time in seconds, and how many lines of names they need.
fn named(marks: &[FaultMark], end_s: f64) -> (Vec<Drawn>, usize) {
    let mut free: Vec<f64> = Vec::new();
    let drawn = marks.iter().map(|mark| {
        let at_s = mark.at_ns as f64 / 1e9;
        let x = LEFT + (RIGHT - LEFT) * (at_s / end_s).clamp(0.0, 1.0);
        let width = mark.label.chars().count() as f64 * LETTER;
        let (place, from, anchor) = match x + 3.0 + width <= WIDTH {
            true => (x + 3.0, x, "start"),
            false => (x - 3.0, x - 3.0 - width, "end"),
        };
        let row = free
            .iter()
            .position(|free| *free <= from)
            .unwrap_or(free.len());
        let name = (row < MOST_NAMES).then(|| {
            let to = from + 3.0 + width + 6.0;
            match free.get_mut(row) {
                Some(free) => *free = to,
                None => free.push(to),
            }
            Name {
                text: mark.label.clone(),
                x: place,
                y: 4.0 + (row + 1) as f64 * NAMES,
                anchor,
            }
        });
        Drawn {
            x: at_s,
            title: format!("{} at {at_s:.2} s", mark.label),
            name,
        }
    });
    let drawn = drawn.collect();
    (drawn, free.len())
}

/// The picture in words, for readers who do not see it.
fn words(watched: &Watched) -> String {
    let mut all = watched.of_confirmed;
    all.add(watched.of_unconfirmed);
    let lost = [
        (all.lost_silent, "silently"),
        (all.lost_cut, "on a cut connection"),
        (all.lost_away, "while the client was away"),
        (all.lost_joining, "while the client joined"),
    ];
    let lost = lost.into_iter().filter(|(count, _)| *count > 0);
    let lost: Vec<String> = lost
        .map(|(count, how)| format!("{} {how}", figures::count(count)))
        .collect();
    let lost = match lost.is_empty() {
        true => "none was lost".to_owned(),
        false => format!("lost: {}", lost.join(", ")),
    };
    format!(
        "Over time: {} deliveries came live and {} later; {lost}",
        figures::count(all.live),
        figures::count(all.made_good)
    )
}

fn thousands(value: f64) -> String {
    match value >= 1_000.0 {
        true => format!("{}k", scale::label(value / 1_000.0)),
        false => scale::label(value),
    }
}

mod filters {
    pub(super) use super::px;
}

#[cfg(test)]
mod tests;

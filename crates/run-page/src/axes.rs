//! What all charts of all pages are drawn with: axes, ticks, the limit, and curves between them.
//!
//! Drawn here, since no library draws these charts. Each point and curve has its figures as a title and
//! a class, latencies stand on a logarithmic axis, colours follow the reader's light or dark setting by
//! the style sheet, and pages need no script. charming leaves the drawing to a script. plotters
//! (plotters-svg 0.3), plotlib 0.5 and charts-rs 2.3 write their colours into the SVG; the first two
//! have no titles. poloto 19 leaves colours to the style sheet, but has linear axes only and no titles.

use crate::figures;
use crate::scale::{self, Scale};
use askama::Template;
use record::Latency;

/// A letter of a label is at most so wide, in units of the view box.
pub const LETTER: f64 = 6.7;
/// A limit that is more than so many times the slowest figure is not drawn: it would flatten all curves.
const LIMIT_IN_SIGHT: f64 = 10.0;
/// The names of percentiles with so many nines.
const PERCENTILES: [&str; 8] = [
    "0", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999",
];

/// Where figures stand along one direction, and which of them are named.
#[derive(Clone, Debug)]
pub struct Axis {
    scale: Scale,
    named: Vec<Named>,
}

#[derive(Clone, Debug)]
struct Named {
    value: f64,
    label: String,
    main: bool,
}

impl Axis {
    /// From zero to a round figure that is not below `largest`, with about `wanted` ticks. They are
    /// round in `unit`s, of which `label` writes so many.
    pub fn linear(largest: f64, unit: f64, wanted: usize, label: impl Fn(f64) -> String) -> Self {
        let ticks = scale::linear_ticks(largest / unit, wanted);
        let ends: Vec<f64> = ticks.iter().map(|tick| tick * unit).collect();
        Self {
            scale: Scale::linear(&ends),
            named: named(ends.into_iter().zip(ticks.into_iter().map(label))),
        }
    }

    /// From zero to exactly `end`, with about `wanted` ticks.
    pub fn until(end: f64, wanted: usize) -> Self {
        let ticks = scale::linear_ticks(end, wanted).into_iter();
        let ticks = ticks.filter(|tick| *tick <= end * (1.0 + 1e-9));
        Self {
            scale: Scale::linear(&[end]),
            named: named(ticks.map(|tick| (tick, scale::label(tick)))),
        }
    }

    /// Times in nanoseconds, each tenfold as far as the one before. Of more than `most` ticks only the
    /// powers of ten are named.
    pub fn times(smallest: f64, largest: f64, most: usize) -> Self {
        let ticks = scale::log_ticks(smallest, largest.max(smallest * 1.01));
        let wanted = ticks.iter().filter(|tick| tick.main || ticks.len() <= most);
        Self {
            scale: Scale::logarithmic(&ticks),
            named: wanted
                .map(|tick| Named {
                    value: tick.value,
                    label: scale::time_label(tick.value),
                    main: tick.main,
                })
                .collect(),
        }
    }

    /// Percentiles up to so many nines, each nine as wide as the one before.
    pub fn percentiles(nines: f64) -> Self {
        let names = PERCENTILES.iter().enumerate();
        let names = names.map(|(at, name)| (at as f64, (*name).to_owned()));
        Self {
            scale: Scale::linear(&[nines.max(1.0)]),
            named: named(names.filter(|(at, _)| *at <= nines)),
        }
    }

    /// True of a figure that is not beyond an end.
    pub fn holds(&self, value: f64) -> bool {
        self.scale.holds(value)
    }

    /// True where each tenfold is as far as the one before.
    pub const fn is_logarithmic(&self) -> bool {
        matches!(self.scale, Scale::Logarithmic(..))
    }

    /// The place of a figure on an axis between two places. A figure beyond an end is placed at that end.
    pub fn place(&self, value: f64, (from, to): (f64, f64)) -> f64 {
        from + (to - from) * self.scale.share(value)
    }

    /// Its ticks, between two places.
    pub fn ticks(&self, between: (f64, f64)) -> Vec<TickMark> {
        let ticks = self.named.iter().map(|tick| TickMark {
            at: self.place(tick.value, between),
            label: tick.label.clone(),
            main: tick.main,
        });
        ticks.collect()
    }
}

fn named(ticks: impl Iterator<Item = (f64, String)>) -> Vec<Named> {
    ticks
        .map(|(value, label)| Named {
            value,
            label,
            main: false,
        })
        .collect()
}

/// A place along an axis, in units of the view box, and what is written there.
#[derive(Clone, Debug, PartialEq)]
pub struct TickMark {
    /// Where it is.
    pub at: f64,
    /// What is written there.
    pub label: String,
    /// Whether its line is a strong one.
    pub main: bool,
}

/// The room between the axes of a chart, in units of the view box.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// Where the axis upward stands.
    pub left: f64,
    /// Where the other ends.
    pub right: f64,
    /// Where the axis upward ends.
    pub top: f64,
    /// Where the axis to the right stands.
    pub bottom: f64,
}

/// Two axes around an area.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The room between them.
    pub area: Area,
    /// To the right.
    pub x_axis: Axis,
    /// Upward.
    pub y_axis: Axis,
}

impl Plot {
    /// Where a figure of the axis to the right stands.
    pub fn x(&self, value: f64) -> f64 {
        self.x_axis.place(value, (self.area.left, self.area.right))
    }

    /// Where a figure of the axis upward stands.
    pub fn y(&self, value: f64) -> f64 {
        self.y_axis.place(value, (self.area.bottom, self.area.top))
    }

    /// Where the points of a curve stand.
    pub fn places(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let points = points.into_iter();
        points.map(|(x, y)| (self.x(x), self.y(y))).collect()
    }

    /// The axes as they are drawn, with a limit in nanoseconds where there is one. A small chart has
    /// no room for names: two empty ones leave them out, and that of the limit.
    pub fn axes(&self, x_name: &str, y_name: &str, limit_ns: Option<f64>) -> Axes {
        Axes {
            area: self.area,
            x_name: x_name.to_owned(),
            y_name: y_name.to_owned(),
            x_ticks: self.x_axis.ticks((self.area.left, self.area.right)),
            y_ticks: self.y_axis.ticks((self.area.bottom, self.area.top)),
            limit: limit_ns.map(|ns| TickMark {
                at: self.y(ns),
                label: format!("limit {}", figures::time(ns)),
                main: true,
            }),
        }
    }
}

/// Axes as they are drawn.
#[derive(Clone, Debug)]
pub struct Axes {
    area: Area,
    x_name: String,
    y_name: String,
    x_ticks: Vec<TickMark>,
    y_ticks: Vec<TickMark>,
    limit: Option<TickMark>,
}

/// What is behind the curves: ticks and their lines.
#[derive(Template)]
#[template(path = "grid.svg")]
pub struct Grid<'a>(&'a Axes);

/// What is before the curves: the axes, their names, and the limit.
#[derive(Template)]
#[template(path = "axes.svg")]
pub struct Front<'a>(&'a Axes);

impl Axes {
    /// What is drawn before the curves are.
    pub const fn grid(&self) -> Grid<'_> {
        Grid(self)
    }

    /// The same for an area that has another below it with the same axis to the right.
    pub(crate) fn without_x_ticks(mut self) -> Self {
        self.x_ticks.clear();
        self
    }

    /// What is drawn over them.
    pub const fn front(&self) -> Front<'_> {
        Front(self)
    }

    /// The name of the limit, where one is drawn.
    pub fn limit(&self) -> Option<&str> {
        self.limit.as_ref().map(|limit| &*limit.label)
    }
}

/// A line through these places; one place is a short stroke.
pub fn path(places: &[(f64, f64)]) -> String {
    let points: Vec<String> = places
        .iter()
        .map(|(x, y)| format!("{x:.1} {y:.1}"))
        .collect();
    match points.as_slice() {
        [one] => format!("M{one}h3"),
        _ => format!("M{}", points.join("L")),
    }
}

/// True of a limit that can be drawn without flattening curves whose slowest figure is this.
pub fn is_in_sight(limit_ns: f64, slowest_ns: f64) -> bool {
    limit_ns <= slowest_ns * LIMIT_IN_SIGHT
}

/// So many points of a distribution, on [`Axis::percentiles`]: the nines of a percentile, and its
/// latency in nanoseconds. `None` where the record has no histogram.
pub fn distribution(latency: &Latency, points: u32) -> Option<Vec<(f64, f64)>> {
    let recorder = latency.recorder().ok()?;
    let end = nines(latency.count);
    let points = (0..=points).map(|point| end * f64::from(point) / f64::from(points));
    let latencies = points.map(|nines| {
        let percentile = 100.0 * (1.0 - 10f64.powf(-nines));
        (nines, recorder.percentile(percentile) as f64)
    });
    Some(latencies.collect())
}

/// How many nines a distribution of so many samples can show.
pub fn nines(count: u64) -> f64 {
    (count.max(10) as f64).log10()
}

/// A place as it is written in SVG, to a tenth of a unit: a filter of the templates.
///
/// # Errors
/// None.
pub fn px(place: &f64, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(format!("{place:.1}"))
}

mod filters {
    pub(super) use super::px;
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area {
        left: 50.0,
        right: 250.0,
        top: 10.0,
        bottom: 110.0,
    };

    fn labels(axis: &Axis) -> Vec<String> {
        let ticks = axis.ticks((0.0, 1.0)).into_iter();
        ticks.map(|tick| tick.label).collect()
    }

    #[test]
    fn an_axis_is_round_in_its_unit() {
        let axis = Axis::linear(7.3 * 1024.0, 1024.0, 4, |kib| format!("{kib} KiB"));
        assert_eq!(labels(&axis), ["0 KiB", "2 KiB", "4 KiB", "6 KiB", "8 KiB"]);
        assert_eq!(axis.place(4096.0, (100.0, 300.0)), 200.0);
        assert_eq!(axis.place(1e9, (100.0, 300.0)), 300.0);
        assert!(!axis.is_logarithmic());
    }

    #[test]
    fn an_axis_of_time_ends_with_the_time() {
        let axis = Axis::until(7.3, 4);
        assert_eq!(labels(&axis), ["0", "2", "4", "6"]);
        assert_eq!(axis.place(7.3, (0.0, 100.0)), 100.0);
    }

    #[test]
    fn of_many_times_the_powers_of_ten_are_named() {
        let few = Axis::times(2e6, 9e6, 4);
        assert_eq!(labels(&few), ["2 ms", "5 ms", "10 ms"]);
        let many = Axis::times(2e6, 3e9, 4);
        assert_eq!(labels(&many), ["10 ms", "100 ms", "1 s"]);
        assert!(many.is_logarithmic() && many.holds(3e9) && !many.holds(9e9));
    }

    #[test]
    fn each_nine_is_as_wide_as_the_one_before() {
        let axis = Axis::percentiles(nines(1_000));
        assert_eq!(labels(&axis), ["0", "90", "99", "99.9"]);
        let ticks = axis.ticks((0.0, 300.0));
        let places: Vec<f64> = ticks.iter().map(|tick| tick.at.round()).collect();
        assert_eq!(places, [0.0, 100.0, 200.0, 300.0]);
    }

    #[test]
    fn curves_stand_between_the_axes_and_the_limit_is_named() {
        let plot = Plot {
            area: AREA,
            x_axis: Axis::until(10.0, 2),
            y_axis: Axis::times(1e6, 1e8, 9),
        };
        let places = plot.places([(0.0, 1e6), (5.0, 1e7), (10.0, 1e8)]);
        assert_eq!(path(&places), "M50.0 110.0L150.0 60.0L250.0 10.0");
        assert_eq!(path(&places[..1]), "M50.0 110.0h3");
        let axes = plot.axes("seconds", "", Some(1e7));
        assert_eq!(axes.limit(), Some("limit 10.0 ms"));
        let (grid, front) = (axes.grid().to_string(), axes.front().to_string());
        assert_eq!(grid.matches("class=\"grid main\"").count(), 3, "{grid}");
        assert!(front.contains("M50.0 60.0H250.0"), "{front}");
        assert_eq!(front.matches("class=\"axis-name\"").count(), 1, "{front}");
    }

    #[test]
    fn a_limit_far_above_all_is_not_drawn() {
        assert!(is_in_sight(5e8, 5e7) && !is_in_sight(5.1e8, 5e7));
    }
}

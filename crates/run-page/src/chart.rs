//! A chart as SVG: its place on the page, its axes, and what is drawn between them.

use askama::Template;

pub(crate) const WIDTH: f64 = 900.0;
pub(crate) const HEIGHT: f64 = 300.0;
pub(crate) const LEFT: f64 = 74.0;
pub(crate) const RIGHT: f64 = WIDTH - 20.0;
pub(crate) const TOP: f64 = 44.0;
pub(crate) const BOTTOM: f64 = HEIGHT - 50.0;
/// Ticks of an axis of time are at least so far from each other.
const TICK_GAP: f64 = 52.0;

#[derive(Template)]
#[template(path = "chart.svg")]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x_name: String,
    pub(crate) y_name: String,
    pub(crate) x_ticks: Vec<Tick>,
    pub(crate) y_ticks: Vec<Tick>,
    pub(crate) limit: Option<Tick>,
    /// Where steps begin.
    pub(crate) steps: Vec<Tick>,
    pub(crate) columns: Vec<Cells>,
    pub(crate) lines: Vec<Line>,
}

/// A place on an axis, in pixels, and its label.
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

/// The cells of a column, and its figures in words.
pub(crate) struct Cells {
    pub(crate) title: String,
    pub(crate) cells: Vec<Cell>,
}

pub(crate) struct Cell {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// From 0 to 1.
    pub(crate) opacity: f64,
}

pub(crate) struct Line {
    /// Its colour in the style sheet.
    pub(crate) colour: usize,
    pub(crate) name: String,
    /// Where its name stands in the legend.
    pub(crate) legend_x: f64,
    pub(crate) d: String,
}

impl Line {
    /// Through these places; the legend is filled from the left, in the order of the lines.
    pub(crate) fn through(places: &[(f64, f64)], name: String, before: &[Self]) -> Self {
        let mut d = String::new();
        for (number, (x, y)) in places.iter().enumerate() {
            let letter = if number == 0 { 'M' } else { 'L' };
            d.push_str(&format!("{letter}{x:.1} {y:.1}"));
        }
        let legend_x = before.last().map_or(LEFT, |line| {
            line.legend_x + 34.0 + line.name.chars().count() as f64 * 6.7
        });
        Self {
            colour: before.len(),
            name,
            legend_x,
            d,
        }
    }
}

/// Where steps begin on an axis of time; a step whose name would stand on that of the one before it has
/// none.
pub(crate) fn steps(begins: &[(f64, u64)], x: impl Fn(f64) -> f64) -> Vec<Tick> {
    let mut free = f64::MIN;
    let named = begins.iter().map(|(at_s, clients)| {
        let at = x(*at_s);
        let name = format!("{} clients", crate::figures::count(*clients));
        let end = at + name.chars().count() as f64 * 6.7 + 10.0;
        let label = match at >= free && end <= WIDTH {
            true => {
                free = end;
                name
            }
            false => String::new(),
        };
        Tick { at, label }
    });
    named.collect()
}

/// Ticks of an axis of time, as many as fit.
pub(crate) fn seconds(end_s: f64, x: impl Fn(f64) -> f64) -> Vec<Tick> {
    let wanted = ((RIGHT - LEFT) / TICK_GAP / 1.6) as usize;
    crate::scale::linear_ticks(end_s, wanted)
        .into_iter()
        .filter(|at_s| *at_s <= end_s * (1.0 + 1e-9))
        .map(|at_s| Tick {
            at: x(at_s),
            label: crate::scale::label(at_s),
        })
        .collect()
}

mod filters {
    use askama::Values;

    pub(crate) fn px(place: &f64, _: &dyn Values) -> askama::Result<String> {
        Ok(format!("{place:.1}"))
    }

    pub(crate) fn share(share: &f64, _: &dyn Values) -> askama::Result<String> {
        Ok(format!("{share:.2}"))
    }
}

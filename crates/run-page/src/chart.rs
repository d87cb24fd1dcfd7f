//! A chart of the page of a run: its size, its title, and what is drawn between its axes.

use crate::axes::{Area, Axes, LETTER, Plot, TickMark, path, px};
use crate::figures;
use askama::Template;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 300.0;
/// The room between the axes.
pub(crate) const AREA: Area = Area {
    left: 74.0,
    right: WIDTH - 20.0,
    top: 44.0,
    bottom: HEIGHT - 50.0,
};
/// Ticks of an axis of time, about.
pub(crate) const SECONDS: usize = 9;
/// Ticks of an axis of times that all have a name.
pub(crate) const TIMES: usize = 9;

#[derive(Template)]
#[template(path = "chart.svg")]
pub(crate) struct Chart {
    pub(crate) title: &'static str,
    pub(crate) axes: Axes,
    /// Where steps begin.
    pub(crate) steps: Vec<TickMark>,
    pub(crate) columns: Vec<Cells>,
    pub(crate) lines: Vec<Line>,
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
        let legend_x = before.last().map_or(AREA.left, |line| {
            line.legend_x + 34.0 + line.name.chars().count() as f64 * LETTER
        });
        Self {
            colour: before.len(),
            name,
            legend_x,
            d: path(places),
        }
    }
}

/// Where steps begin on an axis of time; a step whose name would stand on that of the one before it has
/// none.
pub(crate) fn steps(begins: &[(f64, u64)], plot: &Plot) -> Vec<TickMark> {
    let mut free = f64::MIN;
    let named = begins.iter().map(|(at_s, clients)| {
        let at = plot.x(*at_s);
        let name = format!("{} clients", figures::count(*clients));
        let end = at + name.chars().count() as f64 * LETTER + 10.0;
        let label = match at >= free && end <= WIDTH {
            true => {
                free = end;
                name
            }
            false => String::new(),
        };
        let main = false;
        TickMark { at, label, main }
    });
    named.collect()
}

mod filters {
    use askama::Values;

    pub(super) use super::px;

    pub(super) fn share(share: &f64, _: &dyn Values) -> askama::Result<String> {
        Ok(format!("{share:.2}"))
    }
}

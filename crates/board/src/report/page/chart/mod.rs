//! The charts of a report, from templates, between the axes that all pages share.

mod axis;
pub(super) mod bars;
pub(super) mod curves;
pub(super) mod time;

use super::super::ranking::Row;

/// A row that is drawn.
pub(super) struct Curve<'a> {
    /// Its number in the legend.
    pub(super) series: usize,
    pub(super) style: Style,
    pub(super) label: &'a str,
    pub(super) row: &'a Row<'a>,
}

/// A rendered chart.
pub(super) struct Figure {
    pub(super) caption: String,
    pub(super) svg: String,
}

/// Which percentile of completion is drawn over the clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Percentile {
    P50,
    P95,
}

/// What is drawn as bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bars {
    /// The figure that rows are ranked by.
    Score,
    /// Memory for one connection, that of the sockets apart.
    Memory,
    /// CPU time for one message.
    Cpu,
}

/// Labels are cut to so many letters; the whole name is in the legend.
const LETTERS: usize = 36;

/// A label that fits: both ends are kept, since one names the contestant and the other the run.
fn cut(label: &str) -> String {
    let letters: Vec<char> = label.chars().collect();
    if letters.len() <= LETTERS {
        return label.to_owned();
    }
    let half = (LETTERS - 1) / 2;
    let (head, tail) = (&letters[..half], &letters[letters.len() - half..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// Colours in the style sheet.
const COLOURS: usize = 8;
/// Dashes in the style sheet.
const DASHES: usize = 4;

/// How a row is told from the others: by colour and marker the contestant, by dash the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// Number of the contestant.
    pub(super) contestant: usize,
    /// Number of the run.
    pub(super) run: usize,
}

impl Style {
    /// Its classes in the style sheet.
    fn classes(self) -> String {
        let dash = self.run + self.contestant / COLOURS;
        format!("c{} d{}", self.contestant % COLOURS, dash % DASHES)
    }

    /// The outline of its marker around 0,0. Seven of them beside eight colours: two contestants
    /// share both only after 56.
    fn marker(self) -> &'static str {
        const MARKERS: [&str; 7] = [
            "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
            "M-3.6-3.6h7.2v7.2h-7.2z",
            "M0-4.8L4.6 3.4H-4.6z",
            "M0-5L5 0L0 5L-5 0z",
            "M0 4.8L4.6-3.4H-4.6z",
            "M-1.6-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",
            "M0-5L1.5-1.7L5-1.4L2.4 1L3.2 4.6L0 2.7L-3.2 4.6L-2.4 1L-5-1.4L-1.5-1.7z",
        ];
        MARKERS[self.contestant % MARKERS.len()]
    }
}

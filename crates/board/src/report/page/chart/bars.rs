//! The figure that rows are ranked by, and what each server used at the step that is shown of it, as
//! bars, or as points where they are too far apart for bars.

use super::super::super::ranking::{MemoryKind, Step};
use super::super::super::subject::Subject;
use super::super::super::{ReportError, figures, words};
use super::super::filters;
use super::axis::Across;
use super::{Bars, Curve, Figure, cut};
use crate::stats::Interval;
use askama::Template;
use run_page::axes::{LETTER, TickMark};

const WIDTH: f64 = 780.0;
const TOP: f64 = 34.0;
const LANE: f64 = 30.0;
const BAR: f64 = 16.0;
/// Between a bar and its figures.
const GAP: f64 = 8.0;

#[derive(Template)]
#[template(path = "report/bars.svg")]
struct Chart {
    title: String,
    /// Tells the hatching of this chart from that of the others on the page.
    pattern: String,
    axis: &'static str,
    width: f64,
    height: f64,
    left: f64,
    top: f64,
    bottom: f64,
    ticks: Vec<TickMark>,
    lanes: Vec<Lane>,
}

struct Lane {
    series: usize,
    classes: String,
    label: String,
    y: f64,
    bar: f64,
    middle: f64,
    /// None where a marker stands at `end`.
    parts: Vec<Part>,
    marker: Option<&'static str>,
    /// The ends of the interval.
    interval: Option<(f64, f64)>,
    end: f64,
    /// Where the figure is written.
    after: f64,
    shown: String,
    title: String,
}

struct Part {
    x: f64,
    width: f64,
    /// Kernel memory of the sockets.
    sockets: bool,
}

/// The figures of one bar, first to last.
struct Use<'a> {
    curve: &'a Curve<'a>,
    clients: u64,
    parts: Vec<f64>,
    interval: Option<Interval>,
    shown: String,
    exact: String,
}

/// The chart; `None` when no row has a figure to draw.
pub(in super::super) fn figure(
    curves: &[Curve<'_>],
    bars: Bars,
    subject: &Subject<'_>,
    section: &str,
) -> Result<Option<Figure>, ReportError> {
    let mut uses: Vec<Use<'_>> = curves
        .iter()
        .filter_map(|curve| match bars {
            Bars::Score => scored(curve, subject),
            Bars::Memory => memory(curve, curve.row.shown_step()?),
            Bars::Cpu => cpu(curve, curve.row.shown_step()?),
        })
        .collect();
    uses.sort_by(|a, b| total(a).total_cmp(&total(b)));
    if bars == Bars::Score && subject.score.is_higher_better() {
        uses.reverse();
    }
    let lows = uses.iter().map(|used| reach(used).0);
    let highs = uses.iter().map(|used| reach(used).1);
    let (Some(smallest), Some(largest)) = (lows.reduce(f64::min), highs.reduce(f64::max)) else {
        return Ok(None);
    };
    let left = 24.0 + longest(&uses, |used| cut(used.curve.label));
    let room = 2.0 * GAP + longest(&uses, |used| used.shown.clone());
    let of = (bars, subject.score);
    let axis = Across::new(smallest, largest, of, (left, WIDTH - room));
    let bottom = TOP + uses.len() as f64 * LANE;
    let lanes = uses
        .iter()
        .enumerate()
        .map(|(index, used)| lane(used, TOP + index as f64 * LANE, &axis))
        .collect();
    let caption = caption(&uses, bars, subject, axis.is_logarithmic());
    let svg = Chart {
        title: match bars {
            Bars::Score => words::capital(&subject.name()),
            Bars::Memory => "Memory for one connection".to_owned(),
            Bars::Cpu => "CPU time for one message delivered".to_owned(),
        },
        pattern: format!("{section}-{bars:?}"),
        axis: axis.name,
        width: WIDTH,
        height: bottom + 46.0,
        left,
        top: TOP,
        bottom,
        ticks: axis.ticks(),
        lanes,
    }
    .render()?;
    Ok(Some(Figure { caption, svg }))
}

/// The score; `None` where there is none, or it never came.
fn scored<'a>(curve: &'a Curve<'a>, subject: &Subject<'_>) -> Option<Use<'a>> {
    let score = curve.row.figure(subject.score, subject.common);
    let score = score.filter(|score| score.is_finite())?;
    let shown = subject.show(score);
    Some(Use {
        curve,
        clients: curve.row.shown_step()?.clients,
        parts: vec![score],
        interval: curve
            .row
            .figure_interval(subject.score, subject.common)
            .filter(|interval| interval.high.is_finite()),
        exact: format!("{}: {shown} ({score})", curve.label),
        shown,
    })
}

fn memory<'a>(curve: &'a Curve<'a>, step: &Step) -> Option<Use<'a>> {
    let memory = step.memory?;
    let mut parts = vec![memory.bytes];
    let mut shown = figures::bytes(memory.bytes);
    let kind = match memory.kind {
        MemoryKind::Proportional => "proportional",
        MemoryKind::Resident => "resident",
    };
    let mut exact = format!("{} bytes of {kind} memory", memory.bytes);
    if let Some(sockets) = step.sockets {
        parts.push(sockets);
        shown = format!("{shown} + {} kernel", figures::bytes(sockets));
        exact = format!("{exact}, {sockets} bytes in sockets");
    }
    Some(at_step(curve, step, parts, (&shown, &exact)))
}

fn cpu<'a>(curve: &'a Curve<'a>, step: &Step) -> Option<Use<'a>> {
    let ns = step.cpu_per_message_ns?;
    let words = (figures::time(ns), format!("{ns} ns"));
    Some(at_step(curve, step, vec![ns], (&words.0, &words.1)))
}

fn at_step<'a>(
    curve: &'a Curve<'a>,
    step: &Step,
    parts: Vec<f64>,
    (shown, exact): (&str, &str),
) -> Use<'a> {
    let at = format!("at {} clients", figures::count(step.clients));
    Use {
        curve,
        clients: step.clients,
        parts,
        interval: None,
        shown: format!("{shown} {at}"),
        exact: format!("{}: {exact} {at}", curve.label),
    }
}

/// Room for the longest of some labels.
fn longest<'u>(uses: &[Use<'u>], label: impl Fn(&Use<'u>) -> String) -> f64 {
    let letters = uses.iter().map(|used| label(used).chars().count()).max();
    letters.unwrap_or(0) as f64 * LETTER
}

/// Length of a bar. Memory that was given back has none.
fn total(used: &Use<'_>) -> f64 {
    used.parts.iter().map(|part| part.max(0.0)).sum()
}

/// From where to where its figure and its interval go.
fn reach(used: &Use<'_>) -> (f64, f64) {
    let total = total(used);
    let ends = used
        .interval
        .map(|of| (of.low.min(total), of.high.max(total)));
    ends.unwrap_or((total, total))
}

fn lane(used: &Use<'_>, top: f64, axis: &Across) -> Lane {
    let end = axis.x(total(used));
    let interval = used.interval.map(|of| (axis.x(of.low), axis.x(of.high)));
    let marker = axis.is_logarithmic().then(|| used.curve.style.marker());
    Lane {
        series: used.curve.series,
        classes: used.curve.style.classes(),
        label: cut(used.curve.label),
        y: top + (LANE - BAR) / 2.0,
        bar: BAR,
        middle: top + LANE / 2.0,
        parts: match marker {
            Some(_) => Vec::new(),
            None => parts(used, axis),
        },
        marker,
        interval,
        end,
        after: interval.map_or(end, |(_, high)| end.max(high)) + GAP,
        shown: used.shown.clone(),
        title: used.exact.clone(),
    }
}

fn parts(used: &Use<'_>, axis: &Across) -> Vec<Part> {
    let mut from = 0.0;
    used.parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            let start = from;
            from += part.max(0.0);
            Part {
                x: axis.x(start),
                width: axis.x(from) - axis.x(start),
                sockets: index == 1,
            }
        })
        .collect()
}

fn caption(uses: &[Use<'_>], bars: Bars, subject: &Subject<'_>, is_logarithmic: bool) -> String {
    let mut clients: Vec<u64> = uses.iter().map(|used| used.clients).collect();
    clients.sort_unstable();
    clients.dedup();
    let differ = if clients.len() > 1 {
        " Each at the clients that it carried, so the rows are not at the same load."
    } else {
        ""
    };
    match bars {
        Bars::Score => {
            let better = match (is_logarithmic, subject.score.is_higher_better()) {
                (true, _) => "The further left the better; each line is ten times the one before.",
                (false, true) => "Longer bars are better.",
                (false, false) => "Shorter bars are better.",
            };
            let interval = match uses.iter().any(|used| used.interval.is_some()) {
                true => {
                    " A thin line is the 95 % interval of 6 repetitions or more, else their range."
                }
                false => "",
            };
            let rule = subject.ranked_by().unwrap_or_default();
            format!("{better}{interval} {rule} Rows without a figure are not drawn.")
        }
        Bars::Memory => format!(
            "What the process tree has more than when it was idle, divided by the clients; the \
             hatched part is kernel memory of its sockets. The fixed size of a socket in the \
             kernel is not in it.{differ}"
        ),
        Bars::Cpu => format!(
            "User and system time of the process tree, divided by the messages that arrived and \
             were verified.{differ}"
        ),
    }
}

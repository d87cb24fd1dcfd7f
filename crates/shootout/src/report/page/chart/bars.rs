//! What each server used at the last step that it carried, as bars.

use super::super::super::ranking::{MemoryKind, Step};
use super::super::super::{ReportError, figures};
use super::super::filters;
use super::{Bars, Curve, Figure, LETTER, cut, scale};
use askama::Template;

const WIDTH: f64 = 780.0;
const TOP: f64 = 34.0;
const LANE: f64 = 30.0;
const BAR: f64 = 16.0;
/// Room to the right of the longest bar for its figures.
const FIGURES: f64 = 250.0;

#[derive(Template)]
#[template(path = "report/bars.svg")]
struct Chart {
    title: &'static str,
    /// Tells the hatching of this chart from that of the others on the page.
    pattern: String,
    axis: &'static str,
    width: f64,
    height: f64,
    left: f64,
    top: f64,
    bottom: f64,
    ticks: Vec<(f64, String)>,
    lanes: Vec<Lane>,
}

struct Lane {
    series: usize,
    classes: String,
    label: String,
    y: f64,
    bar: f64,
    middle: f64,
    parts: Vec<Part>,
    end: f64,
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
    shown: String,
    exact: String,
}

/// The chart; `None` when no row has a figure to draw.
pub(in super::super) fn figure(
    curves: &[Curve<'_>],
    bars: Bars,
    section: &str,
) -> Result<Option<Figure>, ReportError> {
    let mut uses: Vec<Use<'_>> = curves
        .iter()
        .filter_map(|curve| used(curve, curve.row.at_carried()?, bars))
        .collect();
    uses.sort_by(|a, b| total(a).total_cmp(&total(b)));
    let Some(largest) = uses.iter().map(total).reduce(f64::max) else {
        return Ok(None);
    };
    let letters = uses
        .iter()
        .map(|used| cut(used.curve.label).chars().count())
        .max();
    let left = 24.0 + letters.unwrap_or(0) as f64 * LETTER;
    let unit = unit(largest, bars);
    let ticks = scale::linear_ticks(largest / unit.0, 4);
    let last = ticks.last().copied().unwrap_or(1.0) * unit.0;
    let x = |value: f64| left + (WIDTH - FIGURES - left) * value / last;
    let bottom = TOP + uses.len() as f64 * LANE;
    let lanes = uses
        .iter()
        .enumerate()
        .map(|(index, used)| lane(used, TOP + index as f64 * LANE, &x))
        .collect();
    let svg = Chart {
        title: match bars {
            Bars::Memory => "Memory for one connection",
            Bars::Cpu => "Processor time for one message delivered",
        },
        pattern: format!("{section}-{bars:?}"),
        axis: unit.1,
        width: WIDTH,
        height: bottom + 46.0,
        left,
        top: TOP,
        bottom,
        ticks: ticks
            .iter()
            .map(|tick| (x(tick * unit.0), format!("{tick}")))
            .collect(),
        lanes,
    }
    .render()?;
    Ok(Some(Figure {
        caption: caption(&uses, bars),
        svg,
    }))
}

fn used<'a>(curve: &'a Curve<'a>, step: &Step, bars: Bars) -> Option<Use<'a>> {
    let at = format!("at {} clients", figures::count(step.clients));
    let (parts, shown, exact) = match bars {
        Bars::Memory => {
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
            (parts, shown, exact)
        }
        Bars::Cpu => {
            let ns = step.cpu_per_message_ns?;
            (vec![ns], figures::time(ns), format!("{ns} ns"))
        }
    };
    Some(Use {
        curve,
        clients: step.clients,
        parts,
        shown: format!("{shown} {at}"),
        exact: format!("{}: {exact} {at}", curve.label),
    })
}

/// Length of a bar. Memory that was given back has none.
fn total(used: &Use<'_>) -> f64 {
    used.parts.iter().map(|part| part.max(0.0)).sum()
}

fn lane(used: &Use<'_>, top: f64, x: &impl Fn(f64) -> f64) -> Lane {
    let mut parts = Vec::new();
    let mut from = 0.0;
    for (index, part) in used.parts.iter().enumerate() {
        let to = from + part.max(0.0);
        parts.push(Part {
            x: x(from),
            width: x(to) - x(from),
            sockets: index == 1,
        });
        from = to;
    }
    Lane {
        series: used.curve.series,
        classes: used.curve.style.classes(),
        label: cut(used.curve.label),
        y: top + (LANE - BAR) / 2.0,
        bar: BAR,
        middle: top + LANE / 2.0,
        parts,
        end: x(from),
        shown: used.shown.clone(),
        title: used.exact.clone(),
    }
}

fn caption(uses: &[Use<'_>], bars: Bars) -> String {
    let mut clients: Vec<u64> = uses.iter().map(|used| used.clients).collect();
    clients.sort_unstable();
    clients.dedup();
    let differ = if clients.len() > 1 {
        " Each at the clients that it carried, so the rows are not at the same load."
    } else {
        ""
    };
    match bars {
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

/// Size and name of the unit of an axis that ends at `largest`.
fn unit(largest: f64, bars: Bars) -> (f64, &'static str) {
    match bars {
        Bars::Memory if largest >= 1024.0 * 1024.0 => (1024.0 * 1024.0, "MiB per connection"),
        Bars::Memory if largest >= 1024.0 => (1024.0, "KiB per connection"),
        Bars::Memory => (1.0, "bytes per connection"),
        Bars::Cpu if largest >= 1e6 => (1e6, "ms per message"),
        Bars::Cpu if largest >= 1e3 => (1e3, "µs per message"),
        Bars::Cpu => (1.0, "ns per message"),
    }
}

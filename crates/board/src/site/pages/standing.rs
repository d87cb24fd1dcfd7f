//! Where a server stands among the servers of the round, in sentences.

use crate::site::field::{Cell, Column, Field, Line, digits};
use crate::stats::Median;

/// A figure stands out that is so many times better or worse than that of the median server.
const STANDS_OUT: f64 = 1.5;
/// The median of fewer servers says little.
const ENOUGH: usize = 5;
/// Figures of which less is better whatever else a server does. What it keeps for slow readers depends
/// on whether it cuts them off.
const HELD_AGAINST_OTHERS: [Column; 4] =
    [Column::Memory, Column::Rooms, Column::Storm, Column::Echo];

/// What its figures say of a server; nothing where it has none.
pub(super) fn sentences(field: &Field<'_>, server: &str) -> Vec<String> {
    let Some(line) = field.lines.iter().find(|line| line.server == server) else {
        return Vec::new();
    };
    let (mut better, mut worse) = (Vec::new(), Vec::new());
    for column in HELD_AGAINST_OTHERS {
        let all = field
            .lines
            .iter()
            .filter_map(|line| line.cell(column)?.value);
        let (Some(cell), Some(usual)) = (line.cell(column), of_most(all)) else {
            continue;
        };
        match cell.value.map(|value| value / usual) {
            Some(share) if share <= 1.0 / STANDS_OUT => better.push(held(column, cell, usual)),
            Some(share) if share < STANDS_OUT => {}
            _ => worse.push(held(column, cell, usual)),
        }
    }
    let stands_out = |how: &str, figures: Vec<String>| {
        let words = || format!("Much {how} than the median server: {}.", figures.join("; "));
        (!figures.is_empty()).then(words)
    };
    cost(field, line)
        .into_iter()
        .chain(stands_out("better", better))
        .chain(stands_out("worse", worse))
        .chain(slow_readers(line))
        .collect()
}

/// What a broadcast costs, beside the row that all are held against.
fn cost(field: &Field<'_>, line: &Line) -> Option<String> {
    let bar = line.bar.as_ref()?;
    if !bar.kept_up {
        return Some(
            "It had no time to spare under the broadcasts whose cost ranks the servers.".to_owned(),
        );
    }
    let of = field
        .yardstick
        .as_ref()
        .map_or("the cheapest server", |of| &of.name);
    let all = field.lines.iter().filter_map(|line| line.bar.as_ref());
    let usual = of_most(all.filter(|bar| bar.kept_up).map(|bar| bar.times));
    let beside = usual.map_or_else(String::new, |usual| {
        format!("; the median server costs {usual:.2} times")
    });
    Some(format!(
        "A delivered broadcast costs {:.2} times what it costs with {of}{beside}.",
        bar.times
    ))
}

fn slow_readers(line: &Line) -> Option<String> {
    let words = match line.cell(Column::Slow)?.fate? {
        "cut off" => "It cuts off clients that do not read.",
        "kept" => "It keeps clients that do not read.",
        _ => "It cuts off some of the clients that do not read.",
    };
    Some(words.to_owned())
}

fn of_most(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let figures: Vec<f64> = figures.collect();
    Median::Usual
        .of(&figures)
        .filter(|_| figures.len() >= ENOUGH)
}

/// A figure with the median beside it.
fn held(column: Column, cell: &Cell, usual: f64) -> String {
    let unit = column.unit();
    let figure = match cell.value {
        Some(_) => format!("{} {unit}", cell.text),
        None => cell.text.clone(),
    };
    let variant = cell.variant.as_ref();
    let variant = variant.map_or_else(String::new, |name| format!(", {name}"));
    format!(
        "{} {figure} (median {} {unit}{variant})",
        column.words(),
        digits(usual)
    )
}

//! A figure of a column in the unit of the column.

use super::{Cell, Column};
use crate::report::ranking::{Row, Score};
use plan::Measure;
use record::Status;

const KIB: f64 = 1024.0;

impl Column {
    /// The unit of its figures.
    pub(in crate::site) const fn unit(self) -> &'static str {
        match self {
            Self::Cost | Self::Echo => "µs",
            Self::Memory => "KiB",
            Self::Rooms => "ms",
            Self::Storm => "s",
            Self::Slow => "MiB",
        }
    }

    /// What the unit is, in nanoseconds or bytes.
    const fn size(self) -> f64 {
        match self {
            Self::Cost | Self::Echo => 1e3,
            Self::Memory => KIB,
            Self::Rooms => 1e6,
            Self::Storm => 1e9,
            Self::Slow => KIB * KIB,
        }
    }
}

/// The figure of a row; `None` where it has none.
pub(super) fn cell(column: Column, row: &Row<'_>) -> Option<Cell> {
    let slow = (column == Column::Slow).then(|| fate(row)).flatten();
    let figure = figure(column, row, slow.is_some())?;
    let value = figure / column.size();
    Some(Cell {
        value: value.is_finite().then_some(value),
        text: match value.is_finite() {
            true => digits(value),
            false => "never".to_owned(),
        },
        fate: slow,
        variant: None,
    })
}

/// In nanoseconds or bytes; infinite where clients never came back. What a server that was given up
/// used until then is no figure, save with clients that do not read: these are why.
fn figure(column: Column, row: &Row<'_>, has_fate: bool) -> Option<f64> {
    let is_whole = matches!(row.status, Status::Ok | Status::GeneratorLimited);
    if !is_whole && !has_fate {
        return None;
    }
    match column {
        Column::Cost => row.figure(Score::Cost, None),
        Column::Echo => row.shown_step()?.cpu_per_message_ns,
        Column::Memory => row.figure(Score::Memory, None),
        Column::Rooms => row.latency(Measure::Delivery, 99.0),
        Column::Storm => row.figure(Score::Return, None),
        Column::Slow => {
            let step = row.shown_step()?;
            Some(step.memory?.bytes * step.clients as f64)
        }
    }
}

/// What became of the clients that read slowly or not at all, over all repetitions.
fn fate(row: &Row<'_>) -> Option<&'static str> {
    let slow = row.shown_step()?.extra.slow.as_ref()?;
    match slow.cut_off {
        _ if slow.clients == 0 => None,
        0 => Some("kept"),
        all if all >= slow.clients => Some("cut off"),
        _ => Some("some cut off"),
    }
}

/// Three digits, or more where the whole part has more.
pub(in crate::site) fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

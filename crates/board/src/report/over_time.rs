//! What a server used over the time of its measurement, as points of a curve.

use super::figures;
use record::{ServerRow, ServerSeries};
use run_page::axes::Axis;
use run_page::scale;

/// What is drawn over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverTime {
    /// Memory of the process tree and of its sockets, in bytes.
    Memory,
    /// Cores that it used.
    Cpu,
}

impl OverTime {
    /// At most so many points, in seconds since the server was ready: the largest memory, and the mean
    /// use of the processor, of as many intervals as make one point.
    pub(crate) fn points(self, series: &ServerSeries, most: usize) -> Vec<(f64, f64)> {
        let seconds = series.interval_ns as f64 / 1e9;
        let together = series.rows.len().div_ceil(most).max(1);
        let value = |part: &[ServerRow]| match self {
            Self::Memory => part.iter().map(memory).max().unwrap_or_default() as f64,
            Self::Cpu => {
                let used: u64 = part.iter().map(|row| row.cpu_ns).sum();
                used as f64 / 1e9 / (seconds * part.len() as f64)
            }
        };
        let parts = series.rows.chunks(together).enumerate();
        let points = parts.map(|(number, part)| {
            let begin = (number * together) as f64 * seconds;
            (begin + part.len() as f64 * seconds / 2.0, value(part))
        });
        points.collect()
    }

    /// A curve in words.
    pub(crate) fn told(self, points: &[(f64, f64)]) -> String {
        let most = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        match self {
            Self::Memory => format!("at most {}", figures::bytes(most)),
            Self::Cpu => format!("at most {most:.2} cores"),
        }
    }

    /// Size and name of the unit of an axis up to `most`.
    pub(crate) fn unit(self, most: f64) -> (f64, &'static str) {
        const MIB: f64 = 1024.0 * 1024.0;
        match self {
            Self::Cpu => (1.0, "cores"),
            Self::Memory if most >= 1024.0 * MIB => (1024.0 * MIB, "GiB"),
            Self::Memory => (MIB, "MiB"),
        }
    }

    /// The axis of these figures, with about so many ticks. Only memory can be in more than one unit, so
    /// `with_unit` writes it.
    pub(crate) fn axis(self, most: f64, wanted: usize, with_unit: bool) -> Axis {
        let (unit, name) = self.unit(most);
        Axis::linear(most, unit, wanted, |value| {
            match with_unit && self == Self::Memory {
                true => format!("{} {name}", scale::label(value)),
                false => scale::label(value),
            }
        })
    }
}

/// Memory of the processes and of their sockets.
fn memory(row: &ServerRow) -> u64 {
    let processes = row.proportional_bytes.unwrap_or(row.resident_bytes);
    processes + row.sockets_bytes.unwrap_or_default()
}

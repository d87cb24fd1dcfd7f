//! Axes that lie below a chart of rows.

use super::super::super::ranking::Score;
use super::Bars;
use run_page::scale::{self, Scale};

/// How many times the smallest the largest may be before bars from zero no longer show the smallest.
const WIDEST: f64 = 10.0;

/// An axis from `left` to `right`.
pub(super) struct Axis {
    left: f64,
    right: f64,
    scale: Scale,
    pub(super) name: &'static str,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// One for these figures: from zero, or logarithmic where they are times too far apart for bars
    /// from zero.
    pub(super) fn of(
        smallest: f64,
        largest: f64,
        (bars, score): (Bars, Score),
        (left, right): (f64, f64),
    ) -> Self {
        let are_times = bars == Bars::Score && matches!(score, Score::Latency | Score::Return);
        match are_times && smallest > 0.0 && largest > WIDEST * smallest {
            true => Self::logarithmic(smallest, largest, (left, right)),
            false => Self::from_zero(largest, unit(largest, bars, score), (left, right)),
        }
    }

    fn from_zero(largest: f64, unit: (f64, &'static str), (left, right): (f64, f64)) -> Self {
        let values = scale::linear_ticks(largest / unit.0, 4);
        let ends: Vec<f64> = values.iter().map(|tick| tick * unit.0).collect();
        let mut axis = Self {
            left,
            right,
            scale: Scale::linear(&ends),
            name: unit.1,
            ticks: Vec::new(),
        };
        let names = values.iter().map(|tick| scale::label(*tick));
        axis.ticks = ends.iter().map(|at| axis.x(*at)).zip(names).collect();
        axis
    }

    fn logarithmic(smallest: f64, largest: f64, (left, right): (f64, f64)) -> Self {
        let ticks = scale::log_ticks(smallest, largest);
        let mut axis = Self {
            left,
            right,
            scale: Scale::logarithmic(&ticks),
            name: "logarithmic",
            ticks: Vec::new(),
        };
        let named = ticks.iter().filter(|tick| tick.main);
        axis.ticks = named
            .map(|tick| (axis.x(tick.value), scale::time_label(tick.value)))
            .collect();
        axis
    }

    /// Where a figure is; one beyond an end is at the end.
    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.scale.share(value)
    }

    pub(super) const fn is_logarithmic(&self) -> bool {
        matches!(self.scale, Scale::Logarithmic(..))
    }
}

/// Size and name of the unit of an axis that ends at `largest`.
fn unit(largest: f64, bars: Bars, score: Score) -> (f64, &'static str) {
    match (bars, score) {
        (Bars::Memory, _) | (Bars::Score, Score::Memory) => memory_unit(largest),
        (Bars::Cpu, _) | (Bars::Score, Score::Cost) if largest >= 1e6 => (1e6, "ms per message"),
        (Bars::Cpu, _) | (Bars::Score, Score::Cost) if largest >= 1e3 => (1e3, "µs per message"),
        (Bars::Cpu, _) | (Bars::Score, Score::Cost) => (1.0, "ns per message"),
        (Bars::Score, Score::Rate) => (1.0, "requests a second"),
        (Bars::Score, _) if largest >= 1e9 => (1e9, "s"),
        (Bars::Score, _) if largest >= 1e6 => (1e6, "ms"),
        (Bars::Score, _) => (1e3, "µs"),
    }
}

fn memory_unit(largest: f64) -> (f64, &'static str) {
    if largest >= 1024.0 * 1024.0 {
        (1024.0 * 1024.0, "MiB per connection")
    } else if largest >= 1024.0 {
        (1024.0, "KiB per connection")
    } else {
        (1.0, "bytes per connection")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: (Bars, Score) = (Bars::Score, Score::Latency);

    #[test]
    fn times_far_apart_stand_on_a_logarithmic_axis() {
        let axis = Axis::of(4.4e6, 18.7e9, TIME, (100.0, 700.0));
        assert!(axis.is_logarithmic());
        let names: Vec<&str> = axis.ticks.iter().map(|tick| &*tick.1).collect();
        assert_eq!(names, ["10 ms", "100 ms", "1 s", "10 s"]);
        // A tenfold is as long everywhere.
        let step = axis.x(1e8) - axis.x(1e7);
        assert!((axis.x(1e10) - axis.x(1e9) - step).abs() < 1e-6);
        assert!(step > 100.0);
        assert!(axis.x(0.0) >= 100.0 && axis.x(f64::INFINITY) <= 700.0);
    }

    #[test]
    fn times_close_together_and_what_is_no_time_begin_at_zero() {
        for (smallest, largest, of) in [
            (1e6, 9e6, TIME),
            (0.0, 9e6, TIME),
            (1e3, 1e9, (Bars::Score, Score::Rate)),
            (1e3, 1e9, (Bars::Memory, Score::Latency)),
            (1e3, 1e9, (Bars::Cpu, Score::Latency)),
        ] {
            let axis = Axis::of(smallest, largest, of, (100.0, 700.0));
            assert!(!axis.is_logarithmic(), "{of:?}");
            assert_eq!(axis.x(0.0), 100.0);
            assert_eq!(axis.ticks[0], (100.0, "0".to_owned()));
        }
    }
}

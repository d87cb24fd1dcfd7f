//! Axes that lie below a chart of rows.

use super::super::super::ranking::Score;
use super::Bars;
use run_page::axes::{Axis, TickMark};
use run_page::scale;

/// How many times the smallest the largest may be before bars from zero no longer show the smallest.
const WIDEST: f64 = 10.0;

/// An axis from left to right, and the name of its unit.
pub(super) struct Across {
    axis: Axis,
    between: (f64, f64),
    pub(super) name: &'static str,
}

impl Across {
    /// One for these figures: from zero, or logarithmic where they are times too far apart for bars
    /// from zero.
    pub(super) fn new(
        smallest: f64,
        largest: f64,
        (bars, score): (Bars, Score),
        between: (f64, f64),
    ) -> Self {
        let are_times = bars == Bars::Score && matches!(score, Score::Latency | Score::Return);
        let (axis, name) = match are_times && smallest > 0.0 && largest > WIDEST * smallest {
            true => (Axis::times(smallest, largest, 0), "logarithmic"),
            false => {
                let (unit, name) = unit(largest, bars, score);
                (Axis::linear(largest, unit, 4, scale::label), name)
            }
        };
        Self {
            axis,
            between,
            name,
        }
    }

    /// Where a figure is; one beyond an end is at the end.
    pub(super) fn x(&self, value: f64) -> f64 {
        self.axis.place(value, self.between)
    }

    pub(super) fn ticks(&self) -> Vec<TickMark> {
        self.axis.ticks(self.between)
    }

    pub(super) const fn is_logarithmic(&self) -> bool {
        self.axis.is_logarithmic()
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
        (Bars::Score, Score::Loss) => (0.01, "% of the deliveries"),
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
        let axis = Across::new(4.4e6, 18.7e9, TIME, (100.0, 700.0));
        assert!(axis.is_logarithmic());
        let ticks = axis.ticks();
        let names: Vec<&str> = ticks.iter().map(|tick| &*tick.label).collect();
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
            let axis = Across::new(smallest, largest, of, (100.0, 700.0));
            assert!(!axis.is_logarithmic(), "{of:?}");
            assert_eq!(axis.x(0.0), 100.0);
            let zero = &axis.ticks()[0];
            assert_eq!((zero.at, &*zero.label), (100.0, "0"));
        }
    }
}

//! From figures to places in a chart, and the ticks between.

/// A place on an axis, its label, and whether it is a main one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it is.
    pub value: f64,
    /// Whether it is a main one.
    pub main: bool,
}

/// How far along an axis a figure stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// From zero to this.
    Linear(f64),
    /// From one to the other, each tenfold as far as the one before.
    Logarithmic(f64, f64),
}

impl Scale {
    /// From zero to the last of some ticks.
    pub fn linear(ticks: &[f64]) -> Self {
        Self::Linear(ticks.last().copied().unwrap_or(1.0).max(f64::MIN_POSITIVE))
    }

    /// From the first to the last of some ticks.
    pub fn logarithmic(ticks: &[Tick]) -> Self {
        let ends = ticks.first().zip(ticks.last());
        ends.map_or(Self::Logarithmic(1.0, 10.0), |(first, last)| {
            Self::Logarithmic(first.value, last.value)
        })
    }

    /// True of a figure that is not beyond an end.
    pub fn holds(self, value: f64) -> bool {
        let (first, last) = match self {
            Self::Linear(last) => (0.0, last),
            Self::Logarithmic(first, last) => (first, last),
        };
        (first..=last).contains(&value)
    }

    /// The share of the axis before a figure, from 0 to 1; one beyond an end is at the end.
    pub fn share(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear(last) => value / last,
            Self::Logarithmic(first, last) => (value / first).ln() / (last / first).ln(),
        };
        share.clamp(0.0, 1.0)
    }
}

/// Round values from 0 to at least `largest`, at most about `wanted` of them.
pub fn linear_ticks(largest: f64, wanted: usize) -> Vec<f64> {
    let rough = largest.max(f64::MIN_POSITIVE) / wanted as f64;
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * magnitude)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * magnitude);
    let steps = (largest / step - 1e-9).ceil().max(1.0) as usize;
    (0..=steps).map(|index| index as f64 * step).collect()
}

/// A tick without the digits that sums of binary fractions leave behind.
pub fn label(tick: f64) -> String {
    format!("{}", (tick * 1e6).round() / 1e6)
}

/// A tick in nanoseconds, in the largest unit that it fills.
pub fn time_label(tick: f64) -> String {
    let (value, unit) = match tick {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "µs"),
        ns => (ns, "ns"),
    };
    format!("{value:.0} {unit}")
}

/// The values 1, 2 and 5 of every decade that touches the range, both ends enclosed; whole
/// decades are the main ones.
pub fn log_ticks(smallest: f64, largest: f64) -> Vec<Tick> {
    let first = smallest.log10().floor() as i32;
    let last = largest.log10().ceil() as i32;
    let all: Vec<Tick> = (first..=last)
        .flat_map(|decade| {
            [1.0, 2.0, 5.0].map(|digit| Tick {
                value: digit * 10f64.powi(decade),
                main: digit == 1.0,
            })
        })
        .collect();
    let below = all
        .iter()
        .rposition(|tick| tick.value <= smallest * (1.0 + 1e-9));
    let above = all
        .iter()
        .position(|tick| tick.value >= largest * (1.0 - 1e-9));
    let (below, above) = (below.unwrap_or(0), above.unwrap_or(all.len() - 1));
    all[below..=above.max(below + 1)].to_vec()
}

/// Moves places apart until each has `gap` to the next, within `from` and `to`, and keeps their
/// order; `places` must be sorted.
pub fn spread(places: &[f64], gap: f64, from: f64, to: f64) -> Vec<f64> {
    let mut spread: Vec<f64> = places.to_vec();
    let mut next = from;
    for place in &mut spread {
        *place = place.max(next);
        next = *place + gap;
    }
    let mut last = to;
    for place in spread.iter_mut().rev() {
        *place = place.min(last);
        last = *place - gap;
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_where_its_ticks_do() {
        let linear = Scale::linear(&linear_ticks(7.3, 4));
        assert_eq!(
            [0.0, 2.0, 8.0, 9.0].map(|at| linear.share(at)),
            [0.0, 0.25, 1.0, 1.0]
        );
        let log = Scale::logarithmic(&log_ticks(1.0, 100.0));
        let shares = [0.0, 1.0, 10.0, 100.0, f64::INFINITY].map(|at| log.share(at));
        assert_eq!(shares, [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert!(log.holds(1.0) && !log.holds(0.9) && !linear.holds(8.1));
    }

    #[test]
    fn linear_ticks_are_round_and_cover_the_largest() {
        assert_eq!(linear_ticks(5_000.0, 6), [0.0, 1e3, 2e3, 3e3, 4e3, 5e3]);
        assert_eq!(linear_ticks(7.3, 4), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(linear_ticks(1.0, 2), [0.0, 0.5, 1.0]);
        assert!(linear_ticks(0.0, 5).len() >= 2);
        let labels: Vec<String> = linear_ticks(0.45, 5).into_iter().map(label).collect();
        assert_eq!(labels, ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
    }

    #[test]
    fn log_ticks_enclose_the_range() {
        let values = |smallest, largest| -> Vec<f64> {
            let ticks = log_ticks(smallest, largest);
            ticks.iter().map(|tick| tick.value).collect()
        };
        assert_eq!(values(0.3, 7.0), [0.2, 0.5, 1.0, 2.0, 5.0, 10.0]);
        assert_eq!(values(1.0, 100.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(values(2.0, 2.0), [2.0, 5.0]);
        assert!(log_ticks(0.3, 7.0)[2].main);
    }

    #[test]
    fn labels_are_moved_apart_and_stay_inside() {
        assert_eq!(
            spread(&[10.0, 11.0, 50.0], 12.0, 0.0, 100.0),
            [10.0, 22.0, 50.0]
        );
        assert_eq!(spread(&[95.0, 96.0], 12.0, 0.0, 100.0), [88.0, 100.0]);
    }
}

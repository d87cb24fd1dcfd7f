//! The median of a few figures: the one definition that a point, its order and its interval share.

/// Which median. They differ of an even number of values alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Median {
    /// The mean of the two in the middle.
    Usual,
    /// The lower of the two, for what must be one of the values. Clients carried are a step that was
    /// measured: the other figures of a row are of that step, and at least half of the repetitions
    /// carried it.
    Measured,
}

impl Median {
    /// The median; `None` without values.
    pub(crate) fn of(self, values: &[f64]) -> Option<f64> {
        self.of_mut(&mut values.to_vec())
    }

    /// The same, with the values in another order afterwards.
    pub(super) fn of_mut(self, values: &mut [f64]) -> Option<f64> {
        let last = values.len().checked_sub(1)?;
        let (_, lower, above) = values.select_nth_unstable_by(last / 2, f64::total_cmp);
        if self == Self::Measured || last.is_multiple_of(2) {
            return Some(*lower);
        }
        let upper = above.iter().copied().fold(f64::INFINITY, f64::min);
        Some(f64::midpoint(*lower, upper))
    }
}

/// The usual median; not a number without values.
pub fn median(values: &[f64]) -> f64 {
    Median::Usual.of(values).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert!(median(&[]).is_nan());
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&[9.0, 1.0, 5.0, 6.0]), 5.5);
        assert_eq!(
            median(&[9.0, f64::INFINITY, 5.0, f64::INFINITY]),
            f64::INFINITY
        );
    }

    #[test]
    fn one_that_must_be_measured_is_one_of_the_values() {
        let of = |values: &[f64]| Median::Measured.of(values);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7.0]), Some(7.0));
        assert_eq!(of(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(of(&[9.0, 1.0, 5.0, f64::INFINITY]), Some(5.0));
    }
}

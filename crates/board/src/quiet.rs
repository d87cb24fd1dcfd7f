//! A quiet machine: how much of it other programs may use around a measurement.

/// Share of all cores that may be busy just before a server is started. This program is a part.
pub const BEFORE: f64 = 0.15;
/// Share of all cores that other programs may use while a row is measured.
pub(crate) const DURING: f64 = 0.05;

/// Why another program spoils a row that was measured beside it.
pub fn disturbance(during: Option<f64>) -> Option<String> {
    let share = during.filter(|share| *share > DURING)?;
    Some(format!(
        "other programs used {:.0}% of the machine while it was measured; at most {:.0}% is permitted",
        share * 100.0,
        DURING * 100.0
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_above_the_bound_is_named_with_it() {
        assert_eq!(disturbance(None), None);
        assert_eq!(disturbance(Some(DURING)), None);
        let words = disturbance(Some(0.31)).unwrap();
        assert!(words.contains("31%") && words.contains("5%"), "{words}");
    }
}

//! Corrections of p values for several tests at once.

/// The p values, corrected by Holm (1979), in the order given: when every one of at most five
/// percent is called a difference, the probability that any of them is wrong is at most five
/// percent.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    for (done, index) in ascending(p).into_iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - done) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// The p values, corrected by Benjamini and Hochberg (1995), in the order given: when every one of at
/// most five percent is called a difference, at most five percent of these are expected to be wrong.
/// That holds for independent tests; Williams, Jones and Tukey (1999) found it to hold for all pairs of
/// several means, too.
pub(crate) fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut smallest: f64 = 1.0;
    for (before, index) in ascending(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[index] * p.len() as f64 / (before + 1) as f64);
        adjusted[index] = smallest;
    }
    adjusted
}

/// The indices of the values, of the smallest first.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(ours: &[f64], theirs: &[f64]) {
        let is_close = |(ours, theirs): (&f64, &f64)| (ours - theirs).abs() < 1e-12;
        assert_eq!(ours.len(), theirs.len());
        assert!(ours.iter().zip(theirs).all(is_close), "{ours:?}");
    }

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`, and `"BH"`.
    #[test]
    fn as_r_adjusts() {
        let p = [0.01, 0.04, 0.03, 0.005];
        assert_close(&holm(&p), &[0.03, 0.06, 0.06, 0.02]);
        assert_close(&benjamini_hochberg(&p), &[0.02, 0.04, 0.04, 0.02]);
        for adjust in [holm, benjamini_hochberg] {
            assert_close(&adjust(&[0.04]), &[0.04]);
            assert!(adjust(&[]).is_empty());
        }
        assert_close(&holm(&[0.7, 0.9]), &[1.0, 1.0]);
        assert_close(&benjamini_hochberg(&[0.7, 0.9]), &[0.9, 0.9]);
    }
}

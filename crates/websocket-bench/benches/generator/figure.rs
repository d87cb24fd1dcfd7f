//! What a round of one generator brings, and how rounds are put side by side.

use crate::common::{Spread, median};

/// CPU per delivery, and what explains it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    /// CPU time of the generator's process alone, in nanoseconds per delivery (or echo).
    pub(crate) cpu_ns: f64,
    /// Deliveries per receive; `None` of a peer that does not say.
    pub(crate) per_read: Option<f64>,
}

/// The rounds of one generator.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) name: String,
    pub(crate) figures: Vec<Figure>,
}

impl Rounds {
    pub(crate) fn cpu_ns(&self) -> f64 {
        median(self.figures.iter().map(|figure| figure.cpu_ns))
    }

    /// Ratios to another generator, round by round: each compares figures of the same minute.
    fn ratios_to(&self, other: &Self) -> impl Iterator<Item = f64> {
        let pairs = self.figures.iter().zip(&other.figures);
        pairs.map(|(ours, theirs)| ours.cpu_ns / theirs.cpu_ns)
    }

    /// One line of the table; with the ratios to each of `bases`.
    pub(crate) fn row(&self, bases: &[&Self]) -> String {
        let reads = self.figures.iter().filter_map(|figure| figure.per_read);
        let per_read = match reads.clone().next() {
            Some(_) => format!("{:.2}", median(reads)),
            None => "-".to_owned(),
        };
        let ratios: String = bases.iter().map(|base| self.ratio(base)).collect();
        format!(
            "| {:<44} | {:>5.2} us | {per_read:>5} |{ratios}",
            self.name,
            self.cpu_ns() / 1e3
        )
    }

    fn ratio(&self, base: &Self) -> String {
        format!(" {} |", Spread::new(self.ratios_to(base)))
    }
}
